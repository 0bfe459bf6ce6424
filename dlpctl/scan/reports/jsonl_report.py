"""A JSON object a line: findings and unreadable files as they come, then the summary."""

from __future__ import annotations

from dlpctl.scan.reports import BaseReport
from dlpctl.scan.reports.json_report import dumped, record, skip_record
from dlpctl.scan.results import FAILURES, Result, Skip, Summary


class JsonLines(BaseReport):
    def add(self, result: Result) -> None:
        self._write(dumped(record(result)) + "\n")

    def skip(self, skip: Skip) -> None:
        if self._setting.verbose or skip.why in FAILURES:
            self._write(dumped({"skipped": skip_record(skip)}) + "\n")

    def finish(self, summary: Summary) -> None:
        self._write(dumped({"summary": summary.to_dict()}) + "\n")


REPORT = JsonLines
