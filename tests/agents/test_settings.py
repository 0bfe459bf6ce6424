"""Hooks in the settings of agents, installed next to other entries and removed without a trace."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dlpctl.agents import jsonc
from dlpctl.agents.adapters import adapters
from dlpctl.agents.settings import Settings, State
from dlpctl.agents.settings_files import BACKUP, SettingsFile
from dlpctl.errors import ConfigError, DlpctlError, OutputError, UsageError

THEIRS = """\
{
  // our own checks
  "permissions": {"allow": ["Bash(ls:*)"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}, // first
    ],
  },
}
"""


def settings(agent: str, home: Path, **options: bool) -> Settings:
    return Settings.of(adapters()[agent], {"HOME": str(home)}, **options)


@pytest.mark.parametrize("agent", sorted(adapters()))
def test_install_and_uninstall(agent: str, tmp_path: Path) -> None:
    one = settings(agent, tmp_path)
    assert one.state() is State.ABSENT
    assert one.install() is State.ABSENT
    assert one.state() is State.INSTALLED
    written = one.file.read_text()
    assert one.install() is State.INSTALLED
    assert one.file.read_text() == written
    assert one.uninstall()
    assert not one.file.exists()
    assert not one.uninstall()


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "codex", "cursor", "windsurf"])
def test_other_entries_stay(agent: str, tmp_path: Path) -> None:
    one = settings(agent, tmp_path)
    one.file.parent.mkdir(parents=True)
    one.file.write_text(THEIRS)
    one.install()
    text = one.file.read_text()
    assert "// our own checks" in text
    assert "// first" in text
    data = jsonc.loads(text)
    assert data["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "./check.sh"
    assert data["permissions"] == {"allow": ["Bash(ls:*)"]}
    assert one.file.with_name(one.file.name + BACKUP).read_text() == THEIRS
    one.uninstall()
    left = jsonc.loads(one.file.read_text())
    assert {key: left[key] for key in ("permissions", "hooks")} == jsonc.loads(THEIRS)
    assert "// first" in one.file.read_text()
    assert not one.file.with_name(one.file.name + BACKUP).exists()


def test_a_stale_launcher_is_repaired(tmp_path: Path) -> None:
    one = settings("claude-code", tmp_path)
    one.install()
    text = one.file.read_text()
    one.file.write_text(text.replace(one.command[0], "/gone/bin/python"))
    assert one.state() is State.STALE
    assert one.install() is State.STALE
    assert one.state() is State.INSTALLED
    assert jsonc.loads(one.file.read_text()) == jsonc.loads(text)
    assert one.uninstall()
    assert not one.file.exists()
    assert list(one.file.parent.iterdir()) == []


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "codex", "cursor", "windsurf"])
def test_repaired_hooks_are_removed_completely(agent: str, tmp_path: Path) -> None:
    one = settings(agent, tmp_path)
    one.file.parent.mkdir(parents=True)
    one.file.write_text(THEIRS)
    one._replace(command=("/gone/bin/python", *one.command[1:])).install()
    assert one.install() is State.STALE
    one.uninstall()
    assert one.file.read_text() == THEIRS


def test_a_launcher_that_cannot_start_refuses(tmp_path: Path) -> None:
    one = settings("claude-code", tmp_path)
    broken = one._replace(command=("/gone/python", *one.command[1:]))
    assert os.waitstatus_to_exitcode(os.system(f"({broken.line}) 2>/dev/null")) == 2
    assert "exit 2" not in settings("claude-code", tmp_path, allow=True).line


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    one = settings("claude-code", tmp_path)
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    real.chmod(0o640)
    one.file.parent.mkdir()
    one.file.symlink_to(real)
    one.install()
    assert one.file.is_symlink()
    assert "hooks" in json.loads(real.read_text())
    assert real.stat().st_mode & 0o777 == 0o640


def test_the_first_backup_remains_and_changes_of_others_are_not_overwritten(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "settings.json")
    file.path.write_text("{}")
    file.write("{}", "first", keeps=True)
    file.write("first", "second", keeps=True)
    assert file.before() == "{}"
    with pytest.raises(OutputError, match="meanwhile"):
        file.write("first", "third", keeps=False)
    assert file.read() == "second"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every file")
def test_a_read_only_file(tmp_path: Path) -> None:
    one = settings("claude-code", tmp_path)
    one.file.parent.mkdir()
    one.file.write_text("{}")
    one.file.chmod(0o400)
    with pytest.raises(OutputError, match="read-only"):
        one.install()


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"hooks": []}', b"\xff\xfe", b'{"hooks": 1}'])
def test_unparsable_settings_stay_unchanged(content: bytes, tmp_path: Path) -> None:
    one = settings("claude-code", tmp_path)
    one.file.parent.mkdir()
    one.file.write_bytes(content)
    with pytest.raises(ConfigError, match="nothing was changed"):
        one.install()
    assert one.file.read_bytes() == content


def test_a_foreign_plugin(tmp_path: Path) -> None:
    one = settings("opencode", tmp_path)
    one.file.parent.mkdir(parents=True)
    one.file.write_text("export const Other = 1\n")
    with pytest.raises(UsageError, match="not a plugin of dlpctl"):
        one.install()
    assert not one.uninstall()


def test_a_pipe_in_place_of_settings(tmp_path: Path) -> None:
    one = settings("claude-code", tmp_path)
    one.file.parent.mkdir()
    os.mkfifo(one.file)
    with pytest.raises(DlpctlError, match="it is a pipe"):
        one.install()


def test_folders_named_by_variables(tmp_path: Path) -> None:
    environ = {"HOME": "/home/x", "CLAUDE_CONFIG_DIR": str(tmp_path)}
    assert Settings.of(adapters()["claude-code"], environ).file == tmp_path / "settings.json"
    project = Settings.of(adapters()["claude-code"], environ, project=tmp_path)
    assert project.file == tmp_path / ".claude" / "settings.local.json"
