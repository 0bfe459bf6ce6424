"""One JSON object per line: findings and unreadable files as they come, then the summary."""

from __future__ import annotations

from dlpctl.scan.reports import BaseReport, Setting, Write
from dlpctl.scan.reports.advice import Rotations
from dlpctl.scan.reports.json_report import dumped, record, skip_record
from dlpctl.scan.results import FAILURES, Result, Skip, Summary


class JsonLines(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._rotations = Rotations()

    def add(self, result: Result) -> None:
        self._write(dumped(record(result)) + "\n")
        self._rotations.add(result)

    def skip(self, skip: Skip) -> None:
        if self._setting.verbose or skip.why in FAILURES:
            self._write(dumped({"skipped": skip_record(skip)}) + "\n")

    def finish(self, summary: Summary) -> None:
        self._write(dumped(self._rotations.to_dict() | {"summary": summary.to_dict()}) + "\n")


REPORT = JsonLines
