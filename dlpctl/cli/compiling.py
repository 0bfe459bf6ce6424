"""Compile patterns for the cache: in the background after the first command at a terminal.

The first command compiles no more than its text needs, so later ones would have to compile again.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.engine import Detector

_CLAIM, _CLAIM_SECONDS = "compiling", 300
_LOW_PRIORITY = 19
_BAR = 30


def compile_afterwards(detector: Detector, cache: Cache) -> None:
    """Compile the library in another process after this one ends, if run at a terminal.

    Pipelines should call 'dlpctl cache build' where it is worthwhile.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        atexit.register(_start, detector, cache)


def _start(detector: Detector, cache: Cache) -> None:
    if detector.is_compiled or not cache.claim(_CLAIM, _CLAIM_SECONDS):
        return
    import subprocess

    from dlpctl.processes.child import python

    nothing = subprocess.DEVNULL
    subprocess.Popen(
        python("dlpctl.cli.compiling", str(cache.folder.absolute())),
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        start_new_session=True,
        cwd=cache.folder,
    )


def compile_visibly(detector: Detector, *, quiet: bool = False) -> None:
    """Compile the library now, with a progress bar on a terminal, and a line elsewhere."""
    from dlpctl.cli.progress import ERASE, can_be_redrawn

    stream = None if quiet or not can_be_redrawn(sys.stderr) else sys.stderr

    def show(compiled: int, total: int) -> None:
        if stream is not None:
            bar = ("#" * (_BAR * compiled // total)).ljust(_BAR, ".")
            stream.write(f"{ERASE}dlpctl: compiling {total} patterns, once [{bar}]")
            stream.flush()

    if detector.is_compiled:
        return
    if stream is None and not quiet:
        sys.stderr.write("dlpctl: compiling patterns, once\n")
    try:
        detector.compile(show)
    finally:
        if stream is not None:
            stream.write(ERASE)
            stream.flush()


def main(folder: str) -> None:
    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.engine import Detector

    if hasattr(os, "nice"):
        os.nice(_LOW_PRIORITY)
    Detector(cache=Cache(Path(folder))).compile()


if __name__ == "__main__":
    main(sys.argv[1])
