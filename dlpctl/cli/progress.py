"""The progress of a long scan, in one line of the terminal that the next output replaces."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from dlpctl.scan.results import Summary

_SHOWN_AFTER, _SHOWN_EVERY, _TICKS_EVERY = 1.0, 0.2, 0.5
ERASE = "\r\x1b[K"


class Progress:
    """Called for every step; writes nothing for short scans or without a terminal.

    A single file may take long, so a timer updates the elapsed time until `end`. It is a timer and
    not a thread, since the scan forks.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if can_be_redrawn(stream) else None
        self._started = time.monotonic()
        self._next = self._started + _SHOWN_AFTER
        self._is_shown = False
        self._looked = "scanning"
        self._descriptor = _descriptor_of(self._stream)
        if self._descriptor is not None:
            signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, _SHOWN_AFTER, _TICKS_EVERY)

    def __call__(self, summary: Summary) -> None:
        now = time.monotonic()
        if self._stream is None or now < self._next:
            return
        from dlpctl.scan.reports import counted, size_of

        self._next = now + _SHOWN_EVERY
        self._is_shown = True
        rate = size_of(int(summary.bytes / (now - self._started)))
        size = f"{size_of(summary.bytes)}, {rate}/s"
        skipped = sum(summary.skipped.values())
        self._looked = (
            f"{counted(summary.files, summary.noun)}, {size}:"
            f" {counted(summary.findings, 'finding')}{f', {skipped:,} skipped' if skipped else ''}"
        )
        self._stream.write(f"{ERASE}dlpctl: {self._looked} ...")
        self._stream.flush()

    def _tick(self, _number: int, _frame: object) -> None:
        now = time.monotonic()
        if self._descriptor is None or now < self._next:
            return
        self._next = now + _SHOWN_EVERY
        self._is_shown = True
        # The handler may interrupt a write to the stream, which is not reentrant.
        shown = f"{ERASE}dlpctl: {self._looked} ... {now - self._started:.0f} s"
        with suppress(OSError):
            os.write(self._descriptor, shown.encode())

    def end(self) -> None:
        """Erase the line and stop."""
        if self._descriptor is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        self.erase()

    def erase(self) -> None:
        if self._stream is not None and self._is_shown:
            self._stream.write(ERASE)
            self._stream.flush()
            self._is_shown = False


def can_be_redrawn(stream: TextIO | None) -> bool:
    """Return whether a line of the stream can be written again."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _descriptor_of(stream: TextIO | None) -> int | None:
    """Return the descriptor that a timer can write to; None if there can be no timer."""
    if (
        stream is None
        or sys.platform == "win32"
        or threading.current_thread() is not threading.main_thread()
    ):
        return None
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
