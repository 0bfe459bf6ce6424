"""`dlpctl` and `python -m dlpctl`."""

from __future__ import annotations

import gc
import os
import signal
import sys


def _keep_closed() -> None:
    """Keep closed standard streams closed: files opened later must not take their descriptors.

    Reading such a stdin and writing to such a stdout fails; output to such a stderr is lost.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # it takes the lowest free descriptor
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def main() -> None:
    _keep_closed()
    # Imports make no garbage, and looking for it a dozen times costs a start some percent.
    gc.set_threshold(50_000)
    is_interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_interruptible:
        # Nothing needs to be undone yet: the signal ends the process without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    if len(sys.argv) > 2 and sys.argv[1] == "__complete":
        from dlpctl.cli.completion.answers import main as complete

        sys.exit(complete(sys.argv[2:]))

    from dlpctl.cli.main import run
    from dlpctl.system import signals

    signals.insist()
    if is_interruptible:
        signal.signal(signal.SIGINT, signals.interrupt)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
