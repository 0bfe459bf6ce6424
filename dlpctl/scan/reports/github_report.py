"""Commands of a GitHub workflow, which the runner shows as annotations."""

from __future__ import annotations

from dlpctl.scan.reports import BaseReport, counted, message_of, printable, shortcomings
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


class GitHub(BaseReport):
    def add(self, result: Result) -> None:
        command = _COMMANDS[self.level(result)]
        location = f"file={_property(result.path)},line={result.line}"
        if result.has_columns:
            location += (
                f",endLine={result.end_line},col={result.column},endColumn={result.end_column}"
            )
        title = _property(f"{result.type} ({result.category})")
        self._write(f"::{command} {location},title={title}::{_message(message_of(result))}\n")

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES:
            file, message = _property(skip.path), _message(f"{skip.path}: {skip.reason}")
            self._write(f"::error file={file},title=not scanned::{message}\n")

    def finish(self, summary: Summary) -> None:
        level = "warning" if summary.is_complete else "error"
        for sentence in shortcomings(summary):
            self._write(f"::{level} title=dlpctl::{_message(sentence)}\n")
        total = f"{counted(summary.findings, 'finding')} in {counted(summary.files, summary.noun)}"
        self._write(f"::notice title=dlpctl::{total}\n")


def _message(text: str) -> str:
    return "%0A".join(
        "%0D".join(map(printable, line.split("\r")))
        for line in text.replace("%", "%25").split("\n")
    )


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


REPORT = GitHub
