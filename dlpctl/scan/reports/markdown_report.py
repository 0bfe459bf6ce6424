"""A comment for a pull request: short enough to be posted, whatever was found."""

from __future__ import annotations

from dlpctl.scan.reports import Setting, Write, fell_short, headline, level_of, printable
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_MOST_ROWS = 200
"""GitHub takes comments of up to 65,536 characters."""
_MARKS = {"error": "🔴", "warning": "🟡", "note": "⚪"}


class Markdown:
    def __init__(self, write: Write, setting: Setting) -> None:
        self._write = write
        self._setting = setting
        self._rows = 0
        self._unread: list[Skip] = []
        write("## dlpctl scan\n\n")

    def add(self, result: Result) -> None:
        self._rows += 1
        if self._rows == 1:
            self._write("| | where | type | score | value |\n| --- | --- | --- | --- | --- |\n")
        if self._rows > _MOST_ROWS:
            return
        place = result.inner or f"{result.line}:{result.column}"
        commit = f" @ {result.commit[:12]}" if result.commit else ""
        cells = (
            _MARKS[level_of(result, self._setting)],
            _code(f"{result.path}:{place}{commit}"),
            result.type,
            f"{result.score:.2f}",
            _code(result.sample) if result.sample else "*hidden*",
        )
        self._write(f"| {' | '.join(cells)} |\n")

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES and len(self._unread) < _MOST_ROWS:
            self._unread.append(skip)

    def finish(self, summary: Summary) -> None:
        if self._rows > _MOST_ROWS:
            self._write(f"\n... and {self._rows - _MOST_ROWS:,} more.\n")
        if self._rows:
            self._write("\n")
        found, where = headline(summary)
        self._write(f"**{found}**{where}.\n")
        for skip in self._unread:
            self._write(
                f"\n- {_code(skip.path)} could not be read{f': {_plain(skip.detail)}' if skip.detail else ''}"
            )
        if self._unread:
            self._write("\n")
        for sentence in fell_short(summary):
            self._write(f"\n> {_plain(sentence)}\n")


def _code(text: str) -> str:
    """Text as code in a cell of a table, whatever it holds."""
    flat = printable(text).replace("|", "\\|")
    fence = "``" if "`" in flat else "`"
    space = " " if "`" in flat else ""
    return f"{fence}{space}{flat}{space}{fence}"


def _plain(text: str) -> str:
    return "".join(
        f"\\{char}" if char in "\\`*_[]<>|#" else char for char in " ".join(text.split())
    )


REPORT = Markdown
