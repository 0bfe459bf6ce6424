"""Faults of the world around the product, and of what was installed with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dlpctl.detect.entities import finder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def damaged_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed data of names is damaged."""
    data = tmp_path / "tagger.bin"
    data.write_bytes(b"x" * 100)
    monkeypatch.setattr(finder, "DATA", data)
