"""The commands around the hooks of coding agents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s",
    "transcript_path": "",
    "prompt": "Write to jane.doe@example.com",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/proc/nowhere")  # leaves no warm process
    return tmp_path


def test_install_status_uninstall(dlpctl: Run, home: Path) -> None:
    ran = dlpctl("hook", "install", "claude-code")
    assert ran.out.startswith("Claude Code: installed in ")
    assert (home / ".claude" / "settings.json").is_file()
    assert "unchanged" in dlpctl("hook", "install", "claude-code").out
    assert "claude-code  installed" in dlpctl("hook", "status").out
    assert "removed from" in dlpctl("hook", "uninstall", "claude-code").out
    assert "not installed" in dlpctl("hook", "status", "claude-code").out


def test_install_all_finds_the_installed_agents(dlpctl: Run, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".cursor").mkdir()
    ran = dlpctl("hook", "install", "--all")
    assert ran.status == 0
    assert [line for line in ran.out.splitlines() if not line.startswith("  ")] == [
        f"Codex: installed in {home}/.codex/hooks.json",
        f"Cursor: installed in {home}/.cursor/hooks.json",
    ]
    assert "open /hooks in Codex" in ran.out


def test_install_in_a_project(dlpctl: Run, home: Path) -> None:
    dlpctl("hook", "install", "gemini", "--project")
    assert (home / "work" / ".gemini" / "settings.json").is_file()


@pytest.mark.parametrize("command", ["doctor", "uninstall --all", "install --all"])
def test_no_agent_is_said(command: str, dlpctl: Run, home: Path) -> None:
    ran = dlpctl("hook", *command.split())
    assert (ran.status, ran.out) == (2, "")
    assert "no coding agent was found" in ran.err
    said = dlpctl("hook", "status").out
    assert "git  this is not a git repository" in said
    assert said.endswith("no coding agent was found\n")


def test_hooks_of_all_agents_change_only_if_asked(dlpctl: Run, home: Path) -> None:
    (home / ".codex").mkdir()
    assert "or give --all" in dlpctl("hook", "install").err
    dlpctl("hook", "install", "--all")
    assert "or give --all" in dlpctl("hook", "uninstall").err
    assert "codex  installed" in dlpctl("hook", "status").out


@pytest.mark.parametrize(
    "arguments", [("claude",), (), ("git", "--all"), ("codex", "--types", "X")]
)
def test_wrong_targets(arguments: tuple[str, ...], dlpctl: Run, home: Path) -> None:
    ran = dlpctl("hook", "install", *arguments)
    assert ran.status in (1, 2)
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("agent", ["claude-code", "copilot", "opencode"])
def test_doctor(agent: str, dlpctl: Run, home: Path, compiled_cache: Path) -> None:
    dlpctl("hook", "install", agent)
    ran = dlpctl("hook", "doctor", agent)
    assert ran.status == 0, ran.out
    assert "a made-up secret was caught" in ran.out


def test_doctor_finds_a_broken_launcher(dlpctl: Run, home: Path) -> None:
    dlpctl("hook", "install", "claude-code")
    file = home / ".claude" / "settings.json"
    file.write_text(file.read_text().replace("-I -S", "-I -S -c 'pass' #"))
    ran = dlpctl("hook", "doctor", "claude-code")
    assert ran.status == 1
    assert "NOT caught" in ran.out
    assert "dlpctl hook install claude-code" in ran.out


def test_an_event_and_its_vault(piped: Run, dlpctl: Run, tmp_path: Path) -> None:
    event = json.dumps(PROMPT | {"cwd": str(tmp_path)}).encode()
    told = json.loads(piped("hook", "agent", stdin=event).stdout)
    assert told["decision"] == "block"
    (vault,) = json.loads(dlpctl("vault", "list", "--format", "json").out)
    assert vault["vault"].startswith("claude-code.")
    shown = dlpctl("vault", "show", vault["vault"])
    assert shown.out == "<EMAIL_1>\n"
    assert dlpctl("vault", "show", vault["vault"], "--counts").out == "EMAIL  1\n"
    assert dlpctl("vault", "show", "other").status == 2
    assert dlpctl("vault", "purge", "--days", "1").out == "0 vaults removed\n"
    assert dlpctl("vault", "purge").out == "1 vault removed\n"


def test_on_failure_is_personal(piped: Run, tmp_path: Path) -> None:
    (tmp_path / "work" / "dlpctl.toml").write_text('[agents]\non_failure = "allow"\n')
    refused = piped("hook", "agent", stdin=b"no event")
    assert refused.returncode == 2
    (tmp_path / "work" / "dlpctl.toml").unlink()
    (tmp_path / "config" / "dlpctl").mkdir()
    (tmp_path / "config" / "dlpctl" / "config.toml").write_text('[agents]\non_failure = "allow"\n')
    assert piped("hook", "agent", stdin=b"no event").returncode == 0


def test_mcp_needs_its_extra(dlpctl: Run) -> None:
    try:
        import mcp  # noqa: F401
    except ImportError:
        ran = dlpctl("mcp")
        assert ran.status == 2
        assert "dlpctl[mcp]" in ran.err


SERVERS = (
    '{"mcpServers": {"crm": {"command": "npx", "args": ["crm"]}, "far": {"url": "https://x"}}}\n'
)


def test_mcp_servers_are_wrapped_if_asked(dlpctl: Run, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(SERVERS)
    ran = dlpctl("hook", "install", "cursor")
    assert "MCP servers not inspected: crm; give --wrap-mcp" in ran.out
    assert "over the network, not inspected: far" in ran.out
    assert "0 of 2 inspected" in dlpctl("hook", "status", "cursor").out
    assert file.read_text() == SERVERS
    ran = dlpctl("hook", "install", "cursor", "--wrap-mcp")
    assert f"MCP servers inspected: crm in {file}" in ran.out
    assert "1 of 2 inspected" in dlpctl("hook", "status", "cursor").out
    wrapped = file.read_text()
    assert "not inspected: crm" not in dlpctl("hook", "install", "cursor").out
    assert file.read_text() == wrapped
    ran = dlpctl("hook", "uninstall", "cursor")
    assert "no longer before MCP servers crm" in ran.out
    assert file.read_text() == SERVERS


def test_no_wrapping(dlpctl: Run, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(SERVERS)
    assert "MCP" not in dlpctl("hook", "install", "cursor", "--no-wrap-mcp").out


def test_an_unreadable_file_of_mcp_servers(dlpctl: Run, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{")
    ran = dlpctl("hook", "install", "cursor", "--wrap-mcp")
    assert ran.status == 2
    assert "nothing was changed" in ran.err
    assert "unreadable" in dlpctl("hook", "status", "cursor").out


def test_hooks_over_http(dlpctl: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = dlpctl("hook", "install", "claude-code", "--transport", "http")
    assert "DLPCTL_API_KEY" in ran.out
    assert "events that the service does not answer pass" in ran.out
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    (handler,) = hooks["PreToolUse"][0]["hooks"]
    assert handler["type"] == "http"
    assert handler["url"] == "http://127.0.0.1:8686/api/hooks/claude-code"
    assert handler["headers"] == {"X-Service-API-Key": "$DLPCTL_API_KEY"}
    assert handler["allowedEnvVars"] == ["DLPCTL_API_KEY"]
    assert "unchanged" in dlpctl("hook", "install", "claude-code", "--transport", "http").out
    monkeypatch.setenv("DLPCTL_SERVER", "http://127.0.0.1:9")
    assert "repaired" in dlpctl("hook", "install", "claude-code", "--transport", "http").out
    ran = dlpctl("hook", "doctor", "claude-code")
    assert ran.status == 1
    assert "NOT caught" in ran.out
    assert "removed from" in dlpctl("hook", "uninstall", "claude-code").out
    assert not (home / ".claude" / "settings.json").exists()


def test_only_claude_code_asks_over_http(dlpctl: Run, home: Path) -> None:
    ran = dlpctl("hook", "install", "codex", "--transport", "http")
    assert ran.status == 2
    assert "no hooks over HTTP" in ran.err
