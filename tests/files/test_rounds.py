"""Masking in several rounds: each copy is read once, by the verifier, which also masks it again."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from dlpctl.files import checking
from dlpctl.files.checking import FileChecker
from dlpctl.formats.files import Files
from dlpctl.masking.rounds import Residue
from dlpctl.preflight import checker_for
from dlpctl.types import Decision

if TYPE_CHECKING:
    import pytest

    from dlpctl.detect.engine import Detector


def test_a_copy_is_read_once_a_round(library: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[bytes] = []
    residues = iter([Residue.FINDING, Residue.FINDING, Residue.NOTHING])
    read = Files.open

    def open_and_count(self: Files, data: bytes, *arguments: object, **options: object) -> object:
        opened.append(data)
        return read(self, data, *arguments, **options)

    monkeypatch.setattr(Files, "open", open_and_count)
    monkeypatch.setattr(checking, "_residue_of", lambda *_, **__: next(residues))
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("a.txt", "Write to jane.roe@example.com")
    checker = FileChecker(checker_for("VENDOR", None, library, "redact", None))
    report = checker.check(output.getvalue(), "a.zip")
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert report.masked is not None
    assert len(opened) == 4
    assert opened[1:] == [report.masked] * 3
