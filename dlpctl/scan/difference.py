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
    """Findings by the identity that they have in the reports of all runs."""

    new: list[Record]
    gone: list[Record]
    kept: int


def difference(old: Path, new: Path) -> Difference:
    """Return what two reports of `scan`, as JSON or JSON lines, do not have in common."""
    before, after = _findings(old), _findings(new)
    return Difference(
        [one for identity, one in after.items() if identity not in before],
        [one for identity, one in before.items() if identity not in after],
        len(before.keys() & after.keys()),
    )


def _findings(file: Path) -> dict[str, Record]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not UTF-8"
        raise InputError(f"{file}: cannot be read: {reason}") from None
    records = _records(text)
    if records is None or not all(_is_finding(one) for one in records):
        raise InputError(f"{file}: is no report of 'dlpctl scan --format json' or jsonl")
    return {one["id"]: one for one in records}


def _records(text: str) -> list[Any] | None:
    try:
        whole = json.loads(text)
        return whole["findings"] if isinstance(whole.get("findings"), list) else _lines(text)
    except (ValueError, AttributeError, RecursionError):
        return _lines(text)


def _lines(text: str) -> list[Any] | None:
    """Return the findings of JSON lines; None without the summary at the end."""
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except (ValueError, RecursionError):
        return None
    if not lines or not isinstance(lines[-1], dict) or "summary" not in lines[-1]:
        return None
    return [one for one in lines[:-1] if not (isinstance(one, dict) and "skipped" in one)]


def _is_finding(one: object) -> bool:
    return isinstance(one, dict) and all(
        isinstance(one.get(name), kind) for name, kind in _FIELDS.items()
    )
