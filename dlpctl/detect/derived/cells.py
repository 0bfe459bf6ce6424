"""Cells of tables with their headers."""

from __future__ import annotations

from typing import NamedTuple


class Cells(NamedTuple):
    """Cells in the order of the text."""

    headers: list[bytes]
    starts: list[int]
    texts: list[bytes]

    @property
    def end(self) -> int:
        return self.starts[-1] + len(self.texts[-1]) if self.starts else 0
