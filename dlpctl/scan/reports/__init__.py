"""What a scan writes: one module a form, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from dlpctl.scan.results import Result, Skip, Summary

Write = Callable[[str], object]


class Setting(NamedTuple):
    """What a report should know of the run that it is about."""

    version: str
    fail_on: float
    """The score from which on a finding is an error."""
    coloured: bool = False
    verbose: bool = False
    """Whether everything that was skipped is to be listed, not only what could not be read."""
    limits: str = ""
    """The limits of the search, for people; empty if it looked for everything."""


class Report(Protocol):
    """Takes what is found as it comes, file by file."""

    def add(self, result: Result) -> None: ...

    def skip(self, skip: Skip) -> None: ...

    def finish(self, summary: Summary) -> None: ...


FORMS = {
    "human": "for people: what is found by file, and totals",
    "json": "one JSON object",
    "jsonl": "a JSON object a line, as things are found",
    "sarif": "SARIF 2.1.0, for code scanning",
    "junit": "JUnit XML, a test suite a file",
    "github": "annotations of a GitHub workflow",
    "gitlab": "GitLab code quality",
    "html": "one page to look at and filter",
    "markdown": "a comment for a pull request",
}


def report_named(form: str, write: Write, setting: Setting) -> Report:
    module = import_module(f"dlpctl.scan.reports.{form}_report")
    return cast("Callable[[Write, Setting], Report]", module.REPORT)(write, setting)


def level_of(result: Result, setting: Setting) -> str:
    """How bad a finding is, in the words of SARIF."""
    return (
        "error" if result.score >= setting.fail_on else "warning" if result.score >= 0.5 else "note"
    )


def message_of(result: Result) -> str:
    """One sentence about a finding."""
    shown = f": {result.sample}" if result.sample else ""
    where = f" ({result.inner})" if result.inner else ""
    return f"{result.label}{where}{shown}"


def fell_short(summary: Summary) -> list[str]:
    """Why the report does not say all, one sentence each."""
    said = list(summary.notes)
    if summary.partial:
        said.insert(0, "The scan was stopped before its end; this is what it had found.")
    if summary.failures:
        said.append(f"{counted(summary.failures, 'file')} could not be read.")
    return said


def headline(summary: Summary) -> tuple[str, str]:
    """Return a summary in two parts: `Nothing found` and ` in 3 files, 1.2 KB`."""
    if not summary.files and not summary.findings:
        return "No file was scanned", ""
    found = counted(summary.findings, "finding") if summary.findings else "Nothing found"
    return found, f" in {counted(summary.files, 'file')}, {size_of(summary.bytes)}"


def skipped_by_reason(summary: Summary) -> str:
    """Return what was not scanned, such as `3 ignored, 1 symbolic link`."""
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


def printable(text: str) -> str:
    """A name without what would end the line or move the cursor."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable()
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text
    )
