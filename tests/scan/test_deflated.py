"""Deflated texts in files of a scan: their values are found, and bombs are not read."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.scan.content import Examiner
from dlpctl.scan.results import Result, Skip, Why
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection


def test_a_value_is_found_and_a_bomb_leaves_the_other_files(
    library: Detector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.txt", bytes(8 << 20)), ("b.txt", b"write to jane.roe@acme.example")):
        Path(name).write_text(f"see {base64.b64encode(gzip.compress(text)).decode()} there\n")
    found = list(Scan(Examiner(library, 0.5, AllowList()), Selection(), jobs=1).files(["."]))
    (bomb,) = [one for one in found if isinstance(one, Skip)]
    assert (bomb.path, bomb.why) == ("a.txt", Why.UNREADABLE)
    assert [(one.path, one.type) for one in found if isinstance(one, Result)] == [
        ("b.txt", "EMAIL")
    ]
