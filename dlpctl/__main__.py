"""`dlpctl` and `python -m dlpctl`."""

from __future__ import annotations

import gc
import signal
import sys


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. Where that itself leaves code that was made from a text, as that of named tuples is, Python ends the process by the signal
    in the end, whatever was caught, and the exit status is lost.
    """


def _interrupt(_number: int, _frame: object) -> None:
    raise Interrupted


def main() -> None:
    # Imports make no garbage, and looking for it a dozen times on the way costs a start some percent.
    gc.set_threshold(50_000)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)

    if len(sys.argv) > 2 and sys.argv[1] == "__complete":
        from dlpctl.cli.completion.answers import main as complete

        sys.exit(complete(sys.argv[2:]))

    from dlpctl.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
