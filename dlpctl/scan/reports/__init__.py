"""The reports of a scan: one module per format, and the code that formats share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from dlpctl.scan.excerpts import printable as printable
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

Write = Callable[[str], object]
Marks = Sequence[tuple[int, int]]
"""Starts and lengths of masked values in a line."""
Conceal = Callable[[str, Marks], tuple[str, Marks]]


class Setting(NamedTuple):
    """The settings of the run that a report describes."""

    version: str
    fail_on: float
    """The score from which on a finding is an error."""
    coloured: bool = False
    verbose: bool = False
    """True to list everything that was skipped and, in the human report, ids of findings."""
    limits: str = ""
    """The limits of the search, as text; empty if the search was not limited."""
    all_findings: bool = False
    """True to list every finding in the human report, however many there are of a type."""
    width: int = 120
    """The number of columns of the terminal."""
    about: Sequence[tuple[str, str]] = ()
    """Names and values that describe what was scanned and when, for a page."""
    conceal: Conceal | None = None
    """Masks values in the shown lines that a limited search did not look for."""


class Report(Protocol):
    """Receives findings as they come, file by file."""

    def add(self, result: Result) -> None: ...

    def skip(self, skip: Skip) -> None: ...

    def finish(self, summary: Summary) -> None: ...


class BaseReport:
    """The shared part of reports: the output, and the files that could not be read."""

    def __init__(self, write: Write, setting: Setting) -> None:
        self._write = write
        self._setting = setting
        self._unread: list[Skip] = []
        self._separator = ""

    def write_item(self, item: str) -> None:
        """Write the next item of a JSON array."""
        self._write(f"{self._separator}\n{item}")
        self._separator = ","

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES:
            self._unread.append(skip)

    def level(self, result: Result) -> str:
        """Return the severity of a finding, in the terms of SARIF."""
        if result.score >= self._setting.fail_on:
            return "error"
        return "warning" if result.score >= 0.5 else "note"


FORMS = {
    "human": "for people: findings by file, and totals",
    "json": "one JSON object",
    "jsonl": "a JSON object a line, as they are found",
    "sarif": "SARIF 2.1.0, for code scanning",
    "junit": "JUnit XML, a test suite a file",
    "github": "annotations of a GitHub workflow",
    "gitlab": "GitLab code quality",
    "html": "one page to read and filter",
    "markdown": "a comment for a pull request",
}


def report_named(form: str, write: Write, setting: Setting) -> Report:
    module = import_module(f"dlpctl.scan.reports.{form}_report")
    return cast("Callable[[Write, Setting], Report]", module.REPORT)(write, setting)


def message_of(result: Result) -> str:
    """Return one sentence about a finding."""
    shown = f": {result.sample}" if result.sample else ""
    where = f" ({result.inner})" if result.inner else ""
    return f"{result.label}{where}{shown}"


def shortcomings(summary: Summary) -> list[str]:
    """Return the reasons why the report is incomplete, one sentence each."""
    message = list(summary.remarks)
    if summary.partial:
        message.insert(0, "The scan was stopped before its end; findings up to then are listed.")
    if summary.failures:
        message.append(f"{counted(summary.failures, summary.noun)} could not be read.")
    return message


def no_finding(summary: Summary) -> str:
    """Return the words for a scan without findings, which may have been stopped."""
    return "nothing found before it was stopped" if summary.partial else "nothing found"


def headline(summary: Summary) -> tuple[str, str]:
    """Return a summary in two parts: `Nothing found` and ` in 3 files, 1.2 KB`."""
    if not summary.files and not summary.findings:
        return "No file was scanned", ""
    found = counted(summary.findings, "finding") if summary.findings else no_finding(summary)
    return (
        found.capitalize(),
        f" in {counted(summary.files, summary.noun)}, {size_of(summary.bytes)}",
    )


def skipped_by_reason(summary: Summary) -> str:
    """Return the counts of skipped contents, such as `3 ignored, 1 symbolic link`."""
    return ", ".join(f"{count:,} {why.value}" for why, count in sorted(summary.skipped.items()))


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_of(count: int) -> str:
    size, units = float(count), ("bytes", "KB", "MB", "GB")
    at = 0
    while size >= 1024 and at < len(units) - 1:
        size /= 1024
        at += 1
    return (
        f"{count:,} {'byte' if count == 1 else 'bytes'}" if at == 0 else f"{size:.1f} {units[at]}"
    )


def place_of(result: Result) -> str:
    """Return the position of a finding: line and column, or a location in a document."""
    return result.inner or f"{result.line}:{result.column}"
