"""Print results as text, with colours on a terminal, or as JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}
_DECISION_COLOURS = {"ALLOWED": "green", "ALLOWED_WITH_MASKING": "yellow", "BLOCKED": "red"}


def coloured(stream: IO[str], when: str = "auto") -> bool:
    """Return whether to use colours, by setting, NO_COLOR, FORCE_COLOR and terminal."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (
        stream.isatty() and os.environ.get("TERM") != "dumb"
    )


class Printer:
    """Writes to stdout, or nothing if quiet."""

    def __init__(self, color: str = "auto", *, quiet: bool = False) -> None:
        self._stream = sys.stdout
        self._quiet = quiet
        self._coloured = coloured(self._stream, color)

    def line(self, text: str = "") -> None:
        if not self._quiet:
            self._stream.write(f"{text}\n")

    def json(self, value: Any, *, compact: bool = False) -> None:
        self.line(json.dumps(value, ensure_ascii=False, indent=None if compact else 2))

    def style(self, text: str, *names: str) -> str:
        if not self._coloured or not text:
            return text
        codes = ";".join(_CODES[name] for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"

    def decision(self, decision: str) -> str:
        return self.style(decision, _DECISION_COLOURS[decision], "bold")

    def table(
        self, rows: Iterable[Sequence[str]], *, head: Sequence[str] = (), indent: str = ""
    ) -> None:
        """Print columns as wide as their widest cells; the last column is not padded."""
        cells = [tuple(head), *map(tuple, rows)] if head else [tuple(row) for row in rows]
        if not cells:
            return
        widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
        for number, row in enumerate(cells):
            padded = "  ".join(
                cell.ljust(width) for cell, width in zip(row, widths, strict=True)
            ).rstrip()
            self.line(indent + (self.style(padded, "dim") if head and number == 0 else padded))
