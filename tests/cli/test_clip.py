from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake clipboard, which programs named as on macOS read and write."""
    file, programs = tmp_path / "clipboard", tmp_path / "programs"
    programs.mkdir()
    for name, line in (("pbpaste", f"cat '{file}'"), ("pbcopy", f"cat > '{file}'")):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    file.write_text("Write to jane.doe@example.com")
    return file


def test_mask(dlpctl: Callable[..., Any], clipboard: Path) -> None:
    ran = dlpctl("clip")
    assert ran.status == 0
    assert clipboard.read_text() == "Write to j***@example.com"
    assert "jane" not in ran.out


def test_mask_with_a_vault_and_unmask(
    dlpctl: Callable[..., Any], clipboard: Path, tmp_path: Path
) -> None:
    vault = str(tmp_path / "a.vault")
    dlpctl("clip", "--mask", "--vault", vault)
    assert clipboard.read_text() == "Write to <EMAIL_1>"
    assert dlpctl("unmask", "--vault", vault, str(clipboard)).out == "Write to jane.doe@example.com"


def test_check_changes_nothing(dlpctl: Callable[..., Any], clipboard: Path) -> None:
    ran = dlpctl("clip", "--check")
    assert ran.status == 10
    assert clipboard.read_text() == "Write to jane.doe@example.com"


def test_a_program_that_fails(dlpctl: Callable[..., Any], clipboard: Path) -> None:
    clipboard.unlink()
    ran = dlpctl("clip")
    assert ran.status == 1
    assert "may hold no text" in ran.err
