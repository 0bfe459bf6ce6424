"""`dlpctl` and `python -m dlpctl`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    # Imports make no garbage, and looking for it a dozen times on the way costs a start some percent.
    gc.set_threshold(50_000)

    if len(sys.argv) == 3 and sys.argv[1] == "__complete":
        from dlpctl.cli.completion.values import main as complete

        sys.exit(complete(sys.argv[2]))

    from dlpctl.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
