"""`dlpctl` and `python -m dlpctl`."""

from __future__ import annotations

import sys


def main() -> None:
    from dlpctl.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
