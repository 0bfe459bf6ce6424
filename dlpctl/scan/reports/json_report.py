"""One JSON object, written as findings come, then `skipped`, `rotation` and `summary`."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any

from dlpctl.scan.reports import BaseReport, Setting, Write
from dlpctl.scan.reports.advice import Rotations
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_FIELDS = (
    *("line", "column", "end_line", "end_column", "type", "category", "score", "sample"),
    *("pattern_id", "start", "end"),
)
_OPTIONAL = ("fingerprint", "place", "commit", "date")
_fields_of = attrgetter(*_FIELDS)
_optional_of = attrgetter("fingerprint", "inner", "commit", "date")
dumped = json.JSONEncoder(ensure_ascii=False).encode


class Json(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._skipped: list[Skip] = []
        self._rotations = Rotations()
        write('{\n  "findings": [')

    def add(self, result: Result) -> None:
        self.write_item(f"    {dumped(record(result))}")
        self._rotations.add(result)

    def skip(self, skip: Skip) -> None:
        if self._setting.verbose or skip.why in FAILURES:
            self._skipped.append(skip)

    def finish(self, summary: Summary) -> None:
        self._write("\n  ],\n" if self._separator else "],\n")
        self._write(f'  "skipped": {dumped([skip_record(skip) for skip in self._skipped])},\n')
        for name, value in self._rotations.to_dict().items():
            self._write(f'  "{name}": {dumped(value)},\n')
        self._write(f'  "summary": {dumped(summary.to_dict())}\n}}\n')


def record(result: Result) -> dict[str, Any]:
    """Return a finding as JSON data; fields that do not apply are omitted."""
    fields: dict[str, Any] = {"file": result.path}
    fields.update(zip(_FIELDS, _fields_of(result), strict=True))
    fields["id"] = result.identity
    optional = zip(_OPTIONAL, _optional_of(result), strict=True)
    return fields | {name: value for name, value in optional if value}


def skip_record(skip: Skip) -> dict[str, str]:
    return {"file": skip.path, "why": skip.why.value, "detail": skip.detail}


REPORT = Json
