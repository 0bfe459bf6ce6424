"""How far a long scan has got, in one line on a terminal that whatever is written next takes the place of."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from dlpctl.scan.results import Summary

_SHOWN_AFTER, _SHOWN_EVERY = 1.0, 0.2
_ERASE = "\r\x1b[K"


class Progress:
    """Told of every step; silent where the stream is no terminal, and for what is done soon."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._next = time.monotonic() + _SHOWN_AFTER
        self._is_shown = False

    def __call__(self, summary: Summary) -> None:
        now = time.monotonic()
        if self._stream is None or now < self._next:
            return
        from dlpctl.scan.reports import counted, size_of

        self._next = now + _SHOWN_EVERY
        self._is_shown = True
        looked = f"{counted(summary.files, 'file')}, {size_of(summary.bytes)}"
        self._stream.write(f"{_ERASE}dlpctl: {looked}: {counted(summary.findings, 'finding')} ...")
        self._stream.flush()

    def erase(self) -> None:
        if self._stream is not None and self._is_shown:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._is_shown = False
