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


class Human(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._group: list[Result] = []
        self._files = 0

    def add(self, result: Result) -> None:
        if self._group and _file(self._group[0]) != _file(result):
            self._end_group()
        self._group.append(result)

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES or self._setting.verbose:
            self._end_group()
            detail = f": {skip.detail}" if skip.detail else ""
            colour = "red" if skip.why in FAILURES else "dim"
            self._write(
                self._style(f"{printable(skip.path)}: {skip.why.value}{detail}", colour) + "\n"
            )

    def finish(self, summary: Summary) -> None:
        self._end_group()
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

    def _end_group(self) -> None:
        group, self._group = self._group, []
        if not group:
            return
        self._files += 1
        self._write(self._style(_heading(group[0]), "bold") + "\n")
        positions = [*map(_position, group)]
        position_width = max(map(len, positions))
        type_width = max(map(len, {result.type for result in group}))
        for position, result in zip(positions, group, strict=True):
            score, shown = f"{result.score:.2f}", result.sample or "(hidden)"
            columns = f"{position:{position_width}}  {result.type:{type_width}}  {score}"
            self._write(f"  {columns}  {shown}\n")
        self._write("\n")

    def _style(self, text: str, name: str) -> str:
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self._setting.coloured else text


def _file(result: Result) -> tuple[str, str, str]:
    return result.path, result.commit, result.date


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
