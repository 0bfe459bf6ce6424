"""GitLab's code quality: an array in a subset of the Code Climate format."""

from __future__ import annotations

import json

from dlpctl.scan.reports import BaseReport, Setting, Write, message_of, shortcomings
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_SEVERITY = {
    "SECRETS": "blocker",
    "PHI": "critical",
    "FINANCIAL": "critical",
    "PII": "major",
    "CUSTOM": "major",
}


class GitLab(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        write("[")

    def add(self, result: Result) -> None:
        severe = result.score >= self._setting.fail_on
        self._entry(
            result.pattern_id,
            message_of(result),
            result.identity,
            _SEVERITY[result.category] if severe else "minor",
            result.path,
            result.line,
            result.end_line,
        )

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES:
            message = f"could not be scanned{f': {skip.detail}' if skip.detail else ''}"
            self._entry("unreadable", message, f"unreadable:{skip.path}", "major", skip.path, 1, 1)

    def finish(self, summary: Summary) -> None:
        severity = "info" if summary.is_complete else "major"
        for sentence in shortcomings(summary):
            self._entry("incomplete", sentence, f"incomplete:{sentence}", severity, ".", 1, 1)
        self._write("\n]\n")

    def _entry(
        self,
        check: str,
        text: str,
        fingerprint: str,
        severity: str,
        path: str,
        first: int,
        last: int,
    ) -> None:
        entry = {
            "description": text,
            "check_name": check,
            "fingerprint": fingerprint,
            "severity": severity,
            "location": {"path": path, "lines": {"begin": first, "end": last}},
        }
        self.write_item(json.dumps(entry))


REPORT = GitLab
