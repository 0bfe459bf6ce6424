"""The first minute: a call without a command, the demonstration and the set-up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dlpctl.cli.setting_up import settings_file
from dlpctl.config import Layer, load_config


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    return tmp_path / "home"


@pytest.mark.parametrize("columns", [20, 40, 80, 400])
def test_a_call_without_a_command_shows_five_existing_commands(dlpctl, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    result = dlpctl()
    commands = [line.split()[1] for line in result.out.splitlines() if "  dlpctl " in line]
    assert commands == ["demo", "mask", "check", "scan", "setup"]
    assert result.status == 2
    assert max(map(len, result.out.splitlines())) <= max(columns, 40)


def test_commands_of_the_control_plane_take_one_heading(dlpctl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = dlpctl("--help").out.splitlines()
    assert "  init, org, group, license, token," in lines
    assert max(len(line) for line in lines if "dlpctl " not in line) <= 40


def test_the_demonstration_masks_and_restores(dlpctl):
    result = dlpctl("demo")
    assert result.status == 0
    before, _, rest = result.out.partition("What the AI tool gets")
    masked, _, rest = rest.partition("What it answers")
    answer, _, rest = rest.partition("What you read")
    restored, _, rest = rest.partition("A made-up PDF")
    original, _, copy = rest.partition("Its masked copy")
    for value in ("4111 1111 1111", "amara.okafor@example.com", "sk_live_"):
        assert value in " ".join(before.split())
        assert value not in " ".join((masked + answer + copy).split())
    assert "<PERSON_NAME_1>" in masked
    assert "Dear Amara Okafor" in restored
    assert "536-90-4399" in original
    assert "***-**-4399" in copy
    assert "0 of 4 values remain" in copy


def test_setup_takes_every_step_once(dlpctl, home):
    subprocess.run(["git", "init", "-q"], check=True)
    result = dlpctl("setup", "--yes")
    assert result.status == 0
    hook = Path(".git/hooks/pre-commit").read_text()
    assert "hook run" in hook
    assert "--types" not in hook  # hooks look only for secrets by default
    assert (home / ".config" / "fish" / "completions" / "dlpctl.fish").exists()
    written = Path("dlpctl.toml").read_bytes()
    assert Path("dlpctl.toml").stat().st_mode & 0o444 == 0o444  # readable for other users
    again = dlpctl("setup", "--yes")
    assert again.status == 0
    assert "commit? No: already installed." in again.out
    assert "commented dlpctl.toml? No: " in again.out
    assert Path("dlpctl.toml").read_bytes() == written
    assert "in your shell? No: it does." in again.out


def test_setup_outside_a_repository_does_the_rest(dlpctl, home, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    result = dlpctl("setup", "--yes")
    assert result.status == 0
    assert "commit? No: this is not a git repository." in result.out
    assert "shell? No: your shell is not known." in result.out
    assert Path("dlpctl.toml").exists()


def test_a_step_that_fails_leaves_the_others(dlpctl, home):
    home.write_text("in the way")
    result = dlpctl("setup", "--yes")
    assert result.status == 1
    assert result.out.count("not done: ") == 1
    assert "cannot be written" in result.out
    assert Path("dlpctl.toml").exists()


def test_setup_asks_nobody(dlpctl, piped):
    done = piped("setup")
    assert done.returncode == 2
    assert b"pass --yes to take the defaults" in done.stderr
    assert not Path("dlpctl.toml").exists()


def test_the_settings_that_are_written_are_the_defaults(tmp_path):
    file = tmp_path / "dlpctl.toml"
    environ = {"DLPCTL_HOME": str(tmp_path / "home")}
    file.write_text(settings_file())
    config = load_config(environ=environ, working=tmp_path)
    assert all(origin.layer is not Layer.PROJECT for _, origin in config.origins)
    blocks = [block.splitlines()[-1] for block in settings_file().split("\n\n")[1:]]
    file.write_text("\n".join(block.removeprefix("# ") for block in blocks))
    set_to_defaults = load_config(environ=environ, working=tmp_path)
    assert set_to_defaults.get("allow.paths") == config.get("allow.paths")
    assert set_to_defaults.get("min_score") == config.get("min_score")
    assert set_to_defaults.origin("policy").layer is Layer.PROJECT
