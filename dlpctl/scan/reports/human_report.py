"""The report for terminals: lines with carets, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, islice

from dlpctl.detect.patterns.rotation import Rotation
from dlpctl.detect.possible import possible_note
from dlpctl.scan.excerpts import HIDDEN, draw_carets, printable_line
from dlpctl.scan.reports import (
    BaseReport,
    Marks,
    Setting,
    Write,
    counted,
    no_finding,
    printable,
    shortcomings,
    size_of,
    skipped_by_reason,
)
from dlpctl.scan.reports.advice import rotation
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_CODES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "cyan": "36", "bold red": "1;31"}
_COLOURS = {"SECRETS": "bold red", "PHI": "yellow", "FINANCIAL": "yellow"}
_MOST = {"SECRETS": 100}
"""The number of findings of a type that are listed, by category."""
_MOST_OF_OTHERS = 10
_MOST_OF_A_TYPE = 30
"""The number with the first one of each further file, so that no file hides all others."""
_MOST_ISSUERS = 5
_RULE = " | "


class Human(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._group: list[Result] = []
        self._commit = ""
        self._files = 0
        self._file: tuple[str, str] | None = None
        self._listed: Counter[str] = Counter()
        self._in_file: set[str] = set()
        """The types that the file has so far."""
        self._folded: Counter[str] = Counter()
        self._secrets: dict[str, dict[Rotation, str]] = {}

    def add(self, result: Result) -> None:
        if self._file != (result.path, result.commit):
            self._file = (result.path, result.commit)
            self._files += 1
            self._in_file.clear()
        if how := rotation(result):
            self._secrets.setdefault(result.type, {}).setdefault(how, result.label)
        if not self._is_listed(result):
            self._folded[result.type] += 1
            return
        self._listed[result.type] += 1
        if self._group and _line(self._group[0]) != _line(result):
            previous = self._group[0].path
            self._end_group()
            if previous != result.path:
                self._write("\n")
        self._group.append(result)

    def _is_listed(self, result: Result) -> bool:
        most = _MOST.get(result.category, _MOST_OF_OTHERS)
        if result.type not in self._in_file:
            self._in_file.add(result.type)
            most = max(most, _MOST_OF_A_TYPE)
        return self._setting.all_findings or self._listed[result.type] < most

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES or self._setting.verbose:
            self._end_group()
            colour = "red" if skip.why in FAILURES else "dim"
            self._write(self._style(f"{printable(skip.path)}: {skip.reason}", colour) + "\n")

    def finish(self, summary: Summary) -> None:
        self._end_group()
        if self._listed:
            self._write("\n")
        if folded := self._folded:
            named = ", ".join(f"{count:,} {name}" for name, count in folded.most_common())
            self._write(self._style(f"and {folded.total():,} more: {named}; see --all", "dim"))
            self._write("\n\n")
        self._write_rotations()
        if len(summary.types) > 1:
            rows = sorted(summary.types.items(), key=lambda item: (-item[1], item[0]))
            width = max(len(name) for name, _ in rows)
            for name, count in rows:
                self._write(f"{name:{width}}  {count:,}\n")
            self._write("\n")
        if not summary.is_empty:  # a note reports that no file was scanned
            self._write(self._style(_total(summary, self._files), "bold") + "\n")
        if summary.accepted:
            self._write(
                f"{counted(summary.accepted, 'finding')} accepted by exceptions or an allow list\n"
            )
        if left_out := possible_note(summary.possible, at_least=summary.counted < summary.files):
            self._write(f"{left_out}\n")
        if summary.skipped:
            self._write(f"not scanned: {skipped_by_reason(summary)}\n")
        if self._setting.limits:
            self._write(f"searched only for {self._setting.limits}\n")
        for sentence in shortcomings(summary):
            self._write(self._style(sentence, "yellow") + "\n")

    def _end_group(self) -> None:
        """Write the findings of one line, and the line."""
        group, self._group = self._group, []
        if not group:
            return
        first = group[0]
        if first.commit != self._commit:
            self._commit = first.commit
            self._write(self._style(f"commit {first.commit[:12]}, {first.date[:10]}", "bold"))
            self._write("\n")
        locations = [_location(result) for result in group]
        widths = max(map(len, locations)), max(len(result.type) for result in group)
        for location, result in zip(locations, group, strict=True):
            self._write_finding(result, location, widths)
        for excerpt, those in groupby(group, lambda result: result.excerpt):
            if excerpt:
                self._write_line(first, excerpt, [*those])

    def _write_finding(self, result: Result, location: str, widths: tuple[int, int]) -> None:
        shown = printable_line(result.sample or HIDDEN)
        type_name = self._style(result.type.ljust(widths[1]), self._colour(result))
        rest = f"{result.score:.2f}  {shown}"
        if self._setting.verbose:
            rest += f"  id {result.identity}"
        if widths[0] + widths[1] + len(rest) + 4 > self._setting.width:
            self._write(f"{self._style(location, 'bold')}\n  {type_name}  {rest}\n")
        else:
            self._write(f"{self._style(location.ljust(widths[0]), 'bold')}  {type_name}  {rest}\n")

    def _write_line(self, first: Result, excerpt: str, group: Sequence[Result]) -> None:
        """Write a line, and carets below its findings; both are cut to the terminal's width."""
        marks: Marks = [
            (result.mark, len(printable_line(result.sample or HIDDEN))) for result in group
        ]
        if self._setting.conceal is not None:
            excerpt, marks = self._setting.conceal(excerpt, marks)
        number = "" if first.inner else str(first.line)
        width = max(self._setting.width - len(number) - len(_RULE) - 2, 10)
        line, drawn = draw_carets(excerpt, marks, width)
        carets = "".join(
            gap + self._style(below, self._colour(result))
            for (gap, below), result in zip(drawn, group, strict=True)
        )
        rule = self._style(_RULE, "dim")
        self._write(f"  {self._style(number, 'dim')}{rule}{line}\n")
        self._write(f"  {' ' * len(number)}{rule}{carets}\n")

    def _write_rotations(self) -> None:
        """Write how to replace the secrets that were found, once per type."""
        for name, issuers in sorted(self._secrets.items()):
            advice = next(iter(issuers)).advice
            self._write(f"{self._style(name, 'bold red')}: {advice}\n")
            for how, label in islice(issuers.items(), _MOST_ISSUERS):
                for step in filter(None, (how.page, how.command)):
                    self._write(f"  {label}: {step}\n")
        if self._secrets:
            self._write("\n")

    def _colour(self, result: Result) -> str:
        if result.score < self._setting.fail_on:
            return "dim"
        return _COLOURS.get(result.category, "cyan")

    def _style(self, text: str, name: str) -> str:
        if not self._setting.coloured or not text:
            return text
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m"


def _line(result: Result) -> tuple[str, str, int, str]:
    return result.path, result.commit, result.line, result.inner


def _location(result: Result) -> str:
    """Return the position of a finding in the form that terminals and editors can open."""
    path = printable(result.path)
    if result.inner:
        return f"{path} > {printable(result.inner)}"
    return f"{path}:{result.line}:{result.column}"


def _total(summary: Summary, files: int) -> str:
    if not summary.files and not summary.findings:
        return "no file was scanned"
    looked = f"{counted(summary.files, summary.noun)}, {size_of(summary.bytes)}"
    if not summary.findings:
        return f"{no_finding(summary)} in {looked}"
    return f"{counted(summary.findings, 'finding')} in {files:,} of {looked}"


REPORT = Human
