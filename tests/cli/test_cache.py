"""The cache of compiled patterns on the command line, and a first use without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, as on a new machine."""
    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def shown(dlpctl):
    return json.loads(dlpctl("cache", "show", "--format", "json").out)


def test_a_complete_cache(dlpctl):
    known = shown(dlpctl)
    assert known["compiled"]
    assert known["entries"] > 5
    assert dlpctl("cache", "build").out.startswith("all patterns are compiled in ")
    assert dlpctl("cache", "build", "--quiet").out == ""


def test_a_fresh_cache_is_shown_and_cleared(dlpctl, fresh):
    assert shown(dlpctl) == {
        "folder": str(fresh / "cache"),
        "entries": 0,
        "bytes": 0,
        "compiled": False,
    }
    Path("in.txt").write_text("mail jane.doe@example.com\n")
    assert dlpctl("mask", "in.txt").out == "mail j***@example.com\n"
    assert shown(dlpctl)["entries"] > 0
    assert not shown(dlpctl)["compiled"]
    assert dlpctl("cache", "clear").status == 0
    assert shown(dlpctl)["entries"] == 0
    assert dlpctl("cache", "clear").status == 0


def test_without_a_writable_cache_everything_is_found_and_build_says_why(dlpctl, fresh):
    fresh.mkdir()
    (fresh / "cache").write_text("in the way")
    Path("in.txt").write_text("mail jane.doe@example.com\n")
    assert dlpctl("mask", "in.txt").out == "mail j***@example.com\n"
    result = dlpctl("cache", "build")
    assert result.status == 1
    assert "cannot be written" in result.err
    assert result.out == ""


def test_a_first_use_in_a_pipeline_leaves_no_process(fresh):
    command = [sys.executable, "-m", "dlpctl", "mask"]
    done = subprocess.run(
        command, input=b"mail jane.doe@example.com\n", capture_output=True, check=True, timeout=300
    )
    assert done.stdout == b"mail j***@example.com\n"
    assert done.stderr == b""
    assert not (fresh / "cache" / "compiling").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_a_first_use_at_a_terminal_compiles_the_rest_in_the_background(dlpctl, fresh, wait_for):
    Path("in.txt").write_text("mail jane.doe@example.com\n")
    mine, theirs = os.openpty()
    command = [sys.executable, "-m", "dlpctl", "mask", "in.txt"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True, timeout=300)
    os.close(theirs)
    os.close(mine)
    assert done.stdout == b"mail j***@example.com\n"
    wait_for(lambda: shown(dlpctl)["compiled"])


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_the_demonstration_compiles_all_with_a_bar_on_a_terminal(dlpctl, fresh):
    mine, theirs = os.openpty()
    environ = {**os.environ, "TERM": "xterm"}
    command = [sys.executable, "-m", "dlpctl", "demo"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environ, check=True, timeout=300
    )
    os.close(theirs)
    shown = os.read(mine, 1 << 20).decode()
    os.close(mine)
    assert b"Try it" in done.stdout
    assert "#" * 30 + "]" in shown
    assert shown.endswith("\r\x1b[K")
    assert "all patterns  yes" in dlpctl("cache", "show").out
