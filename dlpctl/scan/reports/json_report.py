"""One JSON object, written as things are found: `findings`, then `skipped`, then `summary`."""

from __future__ import annotations

import json
from typing import Any

from dlpctl.scan.reports import Setting, Write
from dlpctl.scan.results import FAILURES, Result, Skip, Summary


class Json:
    def __init__(self, write: Write, setting: Setting) -> None:
        self._write = write
        self._setting = setting
        self._separator = ""
        self._skipped: list[Skip] = []
        write('{\n  "findings": [')

    def add(self, result: Result) -> None:
        self._write(f"{self._separator}\n    {dumped(record(result))}")
        self._separator = ","

    def skip(self, skip: Skip) -> None:
        if self._setting.verbose or skip.why in FAILURES:
            self._skipped.append(skip)

    def finish(self, summary: Summary) -> None:
        self._write("\n  ],\n" if self._separator else "],\n")
        self._write(f'  "skipped": {dumped([skip_record(skip) for skip in self._skipped])},\n')
        self._write(f'  "summary": {dumped(summary.to_dict())}\n}}\n')


def record(result: Result) -> dict[str, Any]:
    """What programs get of a finding; what does not apply is left out."""
    fields: dict[str, Any] = {
        "file": result.path,
        "line": result.line,
        "column": result.column,
        "end_line": result.end_line,
        "end_column": result.end_column,
        "type": result.type,
        "category": result.category,
        "score": result.score,
        "sample": result.sample,
        "pattern_id": result.pattern_id,
        "start": result.start,
        "end": result.end,
        "id": result.identity,
    }
    optional = {
        "fingerprint": result.fingerprint,
        "place": result.inner,
        "commit": result.commit,
        "date": result.date,
    }
    return fields | {name: value for name, value in optional.items() if value}


def skip_record(skip: Skip) -> dict[str, str]:
    return {"file": skip.path, "why": skip.why.value, "detail": skip.detail}


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


REPORT = Json
