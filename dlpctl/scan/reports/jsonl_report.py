"""A JSON object a line: each finding as it is found, each file that could not be read, and the
summary at the end.
"""

from __future__ import annotations

from dlpctl.scan.reports import Setting, Write
from dlpctl.scan.reports.json_report import dumped, record, skip_record
from dlpctl.scan.results import FAILURES, Result, Skip, Summary


class JsonLines:
    def __init__(self, write: Write, setting: Setting) -> None:
        self._write = write
        self._setting = setting

    def add(self, result: Result) -> None:
        self._write(dumped(record(result)) + "\n")

    def skip(self, skip: Skip) -> None:
        if self._setting.verbose or skip.why in FAILURES:
            self._write(dumped({"skipped": skip_record(skip)}) + "\n")

    def finish(self, summary: Summary) -> None:
        self._write(dumped({"summary": summary.to_dict()}) + "\n")


REPORT = JsonLines
