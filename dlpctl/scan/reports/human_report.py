"""The report for people at a terminal."""

from __future__ import annotations

from dlpctl.scan.reports import (
    BaseReport,
    Setting,
    Write,
    counted,
    printable,
    shortcomings,
    size_of,
    skipped_by_reason,
)
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_CODES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33"}


_TOGETHER = 1_000
"""Findings of a file whose columns are aligned at once: a table may have a hundred thousand."""


class Human(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._named: tuple[str, str, str] | None = None
        """The file, commit and date that the findings are listed below."""
        self._rows: list[Result] = []
        self._widths = 0, 0
        self._files = 0

    def add(self, result: Result) -> None:
        named = result.path, result.commit, result.date
        if named != self._named:
            self._end_file()
            self._named = named
            self._files += 1
            self._write(self._style(_heading(result), "bold") + "\n")
        self._rows.append(result)
        if len(self._rows) == _TOGETHER:
            self._write_rows()

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES or self._setting.verbose:
            self._end_file()
            detail = f": {skip.detail}" if skip.detail else ""
            colour = "red" if skip.why in FAILURES else "dim"
            self._write(
                self._style(f"{printable(skip.path)}: {skip.why.value}{detail}", colour) + "\n"
            )

    def finish(self, summary: Summary) -> None:
        self._end_file()
        if len(summary.types) > 1:
            rows = sorted(summary.types.items(), key=lambda item: (-item[1], item[0]))
            width = max(len(name) for name, _ in rows)
            for name, count in rows:
                self._write(f"{name:{width}}  {count:,}\n")
            self._write("\n")
        if not summary.is_empty:  # else a note says so
            self._write(self._style(_total(summary, self._files), "bold") + "\n")
        if summary.accepted:
            self._write(
                f"{counted(summary.accepted, 'finding')} accepted by exceptions or an allow list\n"
            )
        if summary.skipped:
            self._write(f"not scanned: {skipped_by_reason(summary)}\n")
        if self._setting.limits:
            self._write(f"looked only for {self._setting.limits}\n")
        for sentence in shortcomings(summary):
            self._write(self._style(sentence, "yellow") + "\n")

    def _end_file(self) -> None:
        if self._named is not None:
            self._write_rows()
            self._write("\n")
            self._named, self._widths = None, (0, 0)

    def _write_rows(self) -> None:
        rows, self._rows = self._rows, []
        positions = [*map(_position, rows)]
        position_width = max(self._widths[0], *map(len, positions), 0)
        type_width = max(self._widths[1], *map(len, {row.type for row in rows}), 0)
        self._widths = position_width, type_width
        for position, row in zip(positions, rows, strict=True):
            score, shown = f"{row.score:.2f}", row.sample or "(hidden)"
            columns = f"{position:{position_width}}  {row.type:{type_width}}  {score}"
            self._write(f"  {columns}  {shown}\n")

    def _style(self, text: str, name: str) -> str:
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self._setting.coloured else text


def _position(result: Result) -> str:
    return printable(result.inner) if result.inner else f"{result.line}:{result.column}"


def _heading(result: Result) -> str:
    path = printable(result.path)
    return f"{path}  (commit {result.commit[:12]}, {result.date[:10]})" if result.commit else path


def _total(summary: Summary, files: int) -> str:
    if not summary.files and not summary.findings:
        return "no file was scanned"
    looked = f"{counted(summary.files, 'file')}, {size_of(summary.bytes)}"
    if not summary.findings:
        return f"nothing found in {looked}"
    return f"{counted(summary.findings, 'finding')} in {files:,} of {looked}"


REPORT = Human
