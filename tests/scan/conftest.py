from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.model import Pattern
from dlpctl.scan.content import Examiner
from dlpctl.types import Category

Git = Callable[..., str]


@pytest.fixture(scope="session")
def badges() -> Detector:
    """A detector for one kind of value, which compiles in no time: badges such as AC-12345678."""
    return Detector(
        [
            Pattern("badge", "BADGE", Category.CUSTOM, "Badge", r"\bAC-(?P<value>[0-9]{8})\b", 0.8),
            Pattern("token", "TOKEN", Category.SECRETS, "Token", r"\btok_[a-z]{12}\b", 0.9),
        ]
    )


@pytest.fixture
def examiner(badges: Detector) -> Examiner:
    return Examiner(badges, 0.5, AllowList())


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in a new repository, which is the working folder."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    names = {"NAME": "A", "EMAIL": "a@example.com", "DATE": "2024-05-06T07:08:09+02:00"}
    for role in ("AUTHOR", "COMMITTER"):
        for name, content in names.items():
            monkeypatch.setenv(f"GIT_{role}_{name}", content)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape")

    run("init", "-q", "-b", "main")
    return run
