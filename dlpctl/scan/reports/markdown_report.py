"""A comment for a pull request, short enough for GitHub."""

from __future__ import annotations

from dlpctl.regex import lazy
from dlpctl.scan.reports import (
    BaseReport,
    Setting,
    Write,
    headline,
    place_of,
    printable,
    shortcomings,
)
from dlpctl.scan.results import Result, Skip, Summary

_MOST_ROWS = 200
"""GitHub accepts comments of up to 65,536 characters."""
_TICKS = lazy("`+")
_MARKS = {"error": "🔴", "warning": "🟡", "note": "⚪"}


class Markdown(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._rows = 0
        write("## dlpctl scan\n\n")

    def add(self, result: Result) -> None:
        self._rows += 1
        if self._rows == 1:
            self._write("| | where | type | score | value |\n| --- | --- | --- | --- | --- |\n")
        if self._rows > _MOST_ROWS:
            return
        commit = f" @ {result.commit[:12]}" if result.commit else ""
        cells = (
            _MARKS[self.level(result)],
            _code(f"{result.path}:{place_of(result)}{commit}"),
            result.type,
            f"{result.score:.2f}",
            _code(result.sample) if result.sample else "*hidden*",
        )
        self._write(f"| {' | '.join(cells)} |\n")

    def skip(self, skip: Skip) -> None:
        if len(self._unread) < _MOST_ROWS:
            super().skip(skip)

    def finish(self, summary: Summary) -> None:
        if self._rows > _MOST_ROWS:
            self._write(f"\n... and {self._rows - _MOST_ROWS:,} more.\n")
        if self._rows:
            self._write("\n")
        found, where = headline(summary)
        self._write(f"**{found}**{where}.\n")
        for skip in self._unread:
            detail = f": {_plain(skip.detail)}" if skip.detail else ""
            self._write(f"\n- {_code(skip.path)} could not be read{detail}")
        if self._unread:
            self._write("\n")
        for sentence in shortcomings(summary):
            self._write(f"\n> {_plain(sentence)}\n")


def _code(text: str) -> str:
    """Return text as code in a table cell."""
    flat = printable(text).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, _TICKS.findall(flat)), default=0))
    space = " " if "`" in flat else ""
    return f"{fence}{space}{flat}{space}{fence}"


def _plain(text: str) -> str:
    return "".join(
        f"\\{char}" if char in "\\`*_[]<>|#" else char for char in " ".join(text.split())
    )


REPORT = Markdown
