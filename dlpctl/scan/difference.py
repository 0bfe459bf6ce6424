"""The difference between two scans, from their JSON reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.errors import InputError

_FIELDS = {"id": str, "file": str, "line": int, "column": int, "type": str, "score": float}

Record = Mapping[str, Any]


class Difference(NamedTuple):
    """Findings by their identity, which is the same in the reports of all runs."""

    new: list[Record]
    gone: list[Record]
    kept: int


def difference(old: Path, new: Path) -> Difference:
    """Return the findings that only one of two JSON or JSON lines reports of `scan` contains."""
    before, after = _findings(old), _findings(new)
    return Difference(
        [record for identity, record in after.items() if identity not in before],
        [record for identity, record in before.items() if identity not in after],
        len(before.keys() & after.keys()),
    )


def _findings(file: Path) -> dict[str, Record]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not UTF-8"
        raise InputError(f"{file}: cannot be read: {reason}") from None
    records = _records(text)
    if records is None or not all(_is_finding(record) for record in records):
        raise InputError(f"{file}: is not a report of 'dlpctl scan --format json' or jsonl")
    return {record["id"]: record for record in records}


def _records(text: str) -> list[Any] | None:
    try:
        report = json.loads(text)
        return report["findings"] if isinstance(report.get("findings"), list) else _lines(text)
    except (ValueError, AttributeError, RecursionError):
        return _lines(text)


def _lines(text: str) -> list[Any] | None:
    """Return the findings of JSON lines; None if the final summary is missing."""
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except (ValueError, RecursionError):
        return None
    if not lines or not isinstance(lines[-1], dict) or "summary" not in lines[-1]:
        return None
    return [
        record for record in lines[:-1] if not (isinstance(record, dict) and "skipped" in record)
    ]


def _is_finding(record: object) -> bool:
    return isinstance(record, dict) and all(
        isinstance(record.get(name), expected) for name, expected in _FIELDS.items()
    )
