"""Two reports of scans are compared by the identities of their findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlpctl.errors import InputError
from dlpctl.scan.difference import difference

SUMMARY = {"summary": {"findings": 0}}


def finding(identity: str) -> dict[str, object]:
    return {
        "id": identity,
        "file": "a.txt",
        "line": 1,
        "column": 2,
        "type": "EMAIL",
        "score": 0.9,
        "sample": "j***@example.com",
    }


def as_json(*identities: str) -> str:
    return json.dumps({"findings": [finding(one) for one in identities]} | SUMMARY)


def as_lines(*identities: str) -> str:
    lines = [*map(finding, identities), {"skipped": {"file": "x"}}, SUMMARY]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.parametrize("write_old", [as_json, as_lines])
@pytest.mark.parametrize("write_new", [as_json, as_lines])
def test_new_and_gone(tmp_path: Path, write_old: object, write_new: object) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text(write_old("a", "b"))  # type: ignore[operator]
    new.write_text(write_new("b", "c", "c-2"))  # type: ignore[operator]
    found = difference(old, new)
    assert [one["id"] for one in found.new] == ["c", "c-2"]
    assert [one["id"] for one in found.gone] == ["a"]
    assert found.kept == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "3",
        "no JSON",
        '{"findings": [{}]}',
        '{"findings": {}}',
        as_json("a").replace('"line": 1', '"line": "x"'),
        as_lines("a").rpartition('{"summary"')[0],
        "[" * 100_000,
        "\xff",
    ],
)
def test_files_other_than_reports_are_an_error(tmp_path: Path, text: str) -> None:
    report, other = tmp_path / "report.json", tmp_path / "other.json"
    report.write_bytes(text.encode("latin-1"))
    other.write_text(as_json())
    with pytest.raises(InputError, match=r"report\.json"):
        difference(other, report)
    with pytest.raises(InputError, match="missing"):
        difference(other, tmp_path / "missing")
