from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dlpctl.cli.main import run


class Result(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, compiled_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings and keys of each test are its own; compiled patterns are shared, since they are the
    same.
    """
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    for variable, folder in (("CONFIG", tmp_path / "config"), ("DATA", tmp_path / "data")):
        folder.mkdir(mode=0o700, exist_ok=True)
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled_cache.parent))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def dlpctl(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs a command in this process."""

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        status = run(arguments)
        out, err = capfd.readouterr()
        return Result(status, out, err)

    return call


@pytest.fixture
def piped() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a command as a process of its own, with bytes on its stdin."""

    def call(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "dlpctl", *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, timeout=300, check=False)

    return call
