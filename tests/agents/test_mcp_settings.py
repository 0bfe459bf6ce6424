"""`dlpctl mcp wrap` in the MCP settings of agents, added and removed without a trace."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlpctl.agents import jsonc, toml
from dlpctl.agents.adapters import adapters
from dlpctl.agents.mcp_settings import McpSettings
from dlpctl.agents.settings import Settings
from dlpctl.agents.settings_files import BACKUP, SettingsFile
from dlpctl.errors import ConfigError, OutputError

WRAP = ["-P", "-m", "dlpctl", "mcp", "wrap", "--"]
SERVERS = """\
{
  // servers of the team
  "KEY": {
    "crm": {"command": "npx", "args": ["-y", "crm-server"], "env": {"A": "1"}}, // first
    "notes": {
      "args": [
        "--folder",   "notes"
      ],
      "command": "/opt/notes"
    },
    "bare": {"command": "bare"},
    "empty": {"args": [ ], "command": "empty"},
    "far": {"type": "http", "url": "https://mcp.example.com"}
  },
  "theme": "dark"
}
"""
TOML = """\
# settings
model = "m"

[mcp_servers.crm]   # first
command = 'npx'
args = [
  "-y", # yes
  "crm-server",
]
[mcp_servers.crm.env]
A = "1"

[mcp_servers."my notes"]
args = ["--folder", "notes"]
command = "/opt/notes"

[mcp_servers.bare]
command = "bare"

[mcp_servers.far]
url = "https://mcp.example.com"
"""
OPENCODE = """\
{
  "mcp": {
    "crm": {"type": "local", "command": ["npx", "-y", "crm-server"], "enabled": true},
    "far": {"type": "remote", "url": "https://mcp.example.com"}
  }
}
"""


def settings(agent: str, home: Path) -> McpSettings:
    found = Settings.of(adapters()[agent], {"HOME": str(home)}).mcp
    assert found is not None
    return found


def configured(agent: str, home: Path, content: str = "") -> McpSettings:
    found = settings(agent, home)
    found.file.parent.mkdir(parents=True, exist_ok=True)
    found.file.write_text(content or SERVERS.replace("KEY", found.key))
    return found


@pytest.mark.parametrize("agent", ["claude-code", "copilot", "cursor", "gemini", "windsurf"])
def test_servers_in_json(agent: str, tmp_path: Path) -> None:
    found = configured(agent, tmp_path)
    before = found.file.read_text()
    assert found.wrap() == ["crm", "notes", "bare", "empty"]
    text = found.file.read_text()
    servers = jsonc.loads(text)[found.key]
    assert {server["command"] for name, server in servers.items() if name != "far"} == {
        sys.executable
    }
    assert servers["crm"]["args"] == [*WRAP, "npx", "-y", "crm-server"]
    assert servers["crm"]["env"] == {"A": "1"}
    assert servers["notes"]["args"] == [*WRAP, "/opt/notes", "--folder", "notes"]
    assert servers["bare"]["args"] == [*WRAP, "bare"]
    assert "// first" in text
    assert found.wrap() == []
    assert found.file.read_text() == text
    assert found.unwrap() == ["crm", "notes", "bare", "empty"]
    assert found.file.read_text() == before
    assert found.unwrap() == []
    assert [file.name for file in found.file.parent.iterdir() if BACKUP in file.name] == []


def test_servers_in_toml(tmp_path: Path) -> None:
    found = configured("codex", tmp_path, TOML)
    assert found.wrap() == ["crm", "my notes", "bare"]
    text = found.file.read_text()
    servers = toml.loads(text)["mcp_servers"]
    assert servers["crm"] == {
        "command": sys.executable,
        "args": [*WRAP, "npx", "-y", "crm-server"],
        "env": {"A": "1"},
    }
    assert servers["my notes"]["args"] == [*WRAP, "/opt/notes", "--folder", "notes"]
    assert "# yes" in text
    assert found.wrap() == []
    found.unwrap()
    assert found.file.read_text() == TOML


def test_a_long_string_in_toml(tmp_path: Path) -> None:
    content = '[mcp_servers.crm]\ncommand = """npx"""\n'
    found = configured("codex", tmp_path, content)
    assert found.wrap() == ["crm"]
    assert found.unwrap() == ["crm"]
    assert found.file.read_text() == content


def test_servers_of_opencode(tmp_path: Path) -> None:
    found = configured("opencode", tmp_path, OPENCODE)
    assert found.wrap() == ["crm"]
    wrapped = jsonc.loads(found.file.read_text())["mcp"]["crm"]["command"]
    assert wrapped == [sys.executable, *WRAP, "npx", "-y", "crm-server"]
    assert found.unwrap() == ["crm"]
    assert found.file.read_text() == OPENCODE


def test_servers_of_projects_in_the_file_of_claude(tmp_path: Path) -> None:
    inner = '{"mcpServers": {"crm": {"command": "npx"}}}'
    found = configured("claude-code", tmp_path, f'{{"projects": {{"/work": {inner}}}, "n": 1}}')
    assert found.wrap() == ["crm"]
    assert found.unwrap() == ["crm"]


def test_a_folder_named_by_a_variable(tmp_path: Path) -> None:
    environ = {"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(tmp_path)}
    found = Settings.of(adapters()["claude-code"], environ).mcp
    assert found is not None
    assert found.file == tmp_path / ".claude.json"


def test_a_project(tmp_path: Path) -> None:
    found = Settings.of(adapters()["cursor"], {"HOME": "/x"}, project=tmp_path).mcp
    assert found is not None
    assert found.file == tmp_path / ".cursor" / "mcp.json"
    assert Settings.of(adapters()["windsurf"], {"HOME": "/x"}, project=tmp_path).mcp is None


def test_a_server_wrapped_by_hand_stays(tmp_path: Path) -> None:
    content = '{"mcpServers": {"a": {"command": "dlpctl", "args": ["mcp", "wrap", "--", "x"]}}}'
    found = configured("cursor", tmp_path, content)
    assert found.wrap() == []
    assert found.unwrap() == []
    assert found.file.read_text() == content


def test_a_stale_launcher_is_repaired(tmp_path: Path) -> None:
    found = configured("cursor", tmp_path)
    before = found.file.read_text()
    found.wrap()
    wrapped = found.file.read_text()
    found.file.write_text(wrapped.replace(sys.executable, "/gone/python"))
    assert found.wrap() == ["crm", "notes", "bare", "empty"]
    assert found.file.read_text() == wrapped
    found.unwrap()
    assert found.file.read_text() == before


@pytest.mark.parametrize(
    ("agent", "content"),
    [
        ("cursor", "{"),
        ("codex", "[mcp_servers"),
        ("codex", 'mcp_servers = {crm = {command = "npx"}}\n'),
        ("codex", '[mcp_servers]\ncrm.command = "npx"\n'),
    ],
)
def test_files_that_cannot_be_edited_stay_unchanged(
    agent: str, content: str, tmp_path: Path
) -> None:
    found = configured(agent, tmp_path, content)
    with pytest.raises(ConfigError, match=r"nothing was\s+changed"):
        found.wrap()
    assert found.file.read_text() == content


def test_a_file_changed_meanwhile(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "settings.json")
    file.path.write_text("{}")
    read = file.read()
    file.path.write_text('{"new": 1}')
    with pytest.raises(OutputError, match="changed meanwhile"):
        file.write(read, "{}\n", keeps=True)
    assert file.path.read_text() == '{"new": 1}'


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ('a = "x" # c\n', ("a",), '"x"'),
        ("[t]\na = [1, \n 2] # c ]\nb = 'y'", ("t", "b"), "'y'"),
        ('[t]\na = """\n[x]\nb = "no"\n"""\n[x]\nb = "yes"\n', ("x", "b"), '"yes"'),
        ('[t."a.b".c]\nd = "]" \n', ("t", "a.b", "c", "d"), '"]"'),
        ('[[t]]\na = "x"\n', ("t", "a"), None),
        ('[t]\r\na = "x"\r\n', ("t", "a"), '"x"'),
        ("", ("a",), None),
    ],
)
def test_spans_of_values_in_toml(text: str, path: tuple[str, ...], value: str | None) -> None:
    span = toml.span(text, path)
    assert (None if span is None else text[slice(*span)]) == value
