"""The events of each agent in the formats that its client was observed to send, and the answers in
the formats that it was observed to obey.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlpctl.agents.adapters import adapters, detect
from dlpctl.agents.guard import Guard
from dlpctl.agents.hooking import answer

MAIL = "jane.doe@example.com"
Ask = Callable[[dict[str, Any]], Any]


def claude(event: str, **fields: Any) -> dict[str, Any]:
    base = {"session_id": "s", "transcript_path": "/t.jsonl", "prompt_id": "p", "cwd": "/"}
    return base | {"permission_mode": "default", "hook_event_name": event} | fields


def codex(event: str, **fields: Any) -> dict[str, Any]:
    base = {"session_id": "s", "turn_id": "t", "transcript_path": None, "cwd": "/", "model": "m"}
    return base | {"permission_mode": "default", "hook_event_name": event} | fields


def gemini(event: str, **fields: Any) -> dict[str, Any]:
    base = {"session_id": "s", "transcript_path": "/t.json", "cwd": "/"}
    return base | {"timestamp": "2026-11-22T20:00:00Z", "hook_event_name": event} | fields


def copilot(**fields: Any) -> dict[str, Any]:
    return {"sessionId": "s", "timestamp": 1, "cwd": "/"} | fields


def cursor(event: str, **fields: Any) -> dict[str, Any]:
    base = {"conversation_id": "s", "generation_id": "g", "cursor_version": "3.1"}
    return base | {"workspace_roots": ["/"], "hook_event_name": event} | fields


def windsurf(event: str, **info: Any) -> dict[str, Any]:
    return {
        "agent_action_name": event,
        "trajectory_id": "s",
        "execution_id": "e",
        "tool_info": info,
    }


def opencode(event: str, content: Any, tool: str = "") -> dict[str, Any]:
    base = {"dlpctl_agent": "opencode", "event": event, "session": "s", "cwd": "/"}
    return base | {"content": content, "tool": tool}


LEARN: dict[str, dict[str, Any]] = {
    # An event in which the session learns the address, with the text that the model gets instead.
    "claude-code": claude(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "cat a"},
        tool_response={"stdout": MAIL, "stderr": "", "interrupted": False, "isImage": False},
    ),
    "codex": codex(
        "PostToolUse", tool_name="Bash", tool_input={"command": "cat a"}, tool_response=MAIL
    ),
    "gemini": gemini(
        "AfterTool",
        tool_name="run_shell_command",
        tool_input={},
        tool_response={"llmContent": MAIL, "returnDisplay": MAIL},
    ),
    "copilot": copilot(
        toolName="bash",
        toolArgs={"command": "cat a"},
        toolResult={"resultType": "success", "textResultForLlm": MAIL},
    ),
    "cursor": cursor(
        "postToolUse",
        tool_name="MCP:mail",
        tool_input="{}",
        tool_output='{"content": [{"type": "text", "text": "' + MAIL + '"}]}',
    ),
    "opencode": opencode("result", {"title": "a", "output": MAIL, "metadata": {"exit": 0}}, "bash"),
}
TOLD: dict[str, Any] = {
    "claude-code": {
        "hookSpecificOutput": {
            "hookEventName": "PostToolUse",
            "updatedToolOutput": {
                "stdout": "<EMAIL_1>",
                "stderr": "",
                "interrupted": False,
                "isImage": False,
            },
        }
    },
    "codex": {"decision": "block", "reason": "<EMAIL_1>"},
    "gemini": {"decision": "deny", "reason": "<EMAIL_1>"},
    "copilot": {"modifiedResult": {"resultType": "success", "textResultForLlm": "<EMAIL_1>"}},
    "cursor": {"updated_mcp_tool_output": {"content": [{"type": "text", "text": "<EMAIL_1>"}]}},
    "opencode": {
        "action": "replace",
        "content": {"title": "a", "output": "<EMAIL_1>", "metadata": {"exit": 0}},
        "reason": "",
    },
}
WRITE = {"path": "/a", "content": "To <EMAIL_1>"}
WRITTEN = {"path": "/a", "content": f"To {MAIL}"}
RESTORE: dict[str, tuple[dict[str, Any], Any]] = {
    "claude-code": (
        claude("PreToolUse", tool_name="Write", tool_input=WRITE),
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": WRITTEN}},
    ),
    "codex": (
        codex("PreToolUse", tool_name="apply_patch", tool_input=WRITE),
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": WRITTEN,
            }
        },
    ),
    "gemini": (
        gemini("BeforeTool", tool_name="write_file", tool_input=WRITE),
        {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": WRITTEN}},
    ),
    "copilot": (copilot(toolName="create", toolArgs=WRITE), {}),  # its file is restored later
    "cursor": (
        cursor("preToolUse", tool_name="Write", tool_input=WRITE),
        {"updated_input": WRITTEN},
    ),
    "opencode": (
        opencode("input", WRITE, "write"),
        {"action": "replace", "content": WRITTEN, "reason": ""},
    ),
}
PROMPTS: dict[str, tuple[dict[str, Any], Callable[[Any], bool]]] = {
    "claude-code": (
        claude("UserPromptSubmit", prompt=f"To {MAIL}"),
        lambda told: told["decision"] == "block" and "To <EMAIL_1>" in told["reason"],
    ),
    "codex": (
        codex("UserPromptSubmit", prompt=f"To {MAIL}"),
        lambda told: told["decision"] == "block" and "To <EMAIL_1>" in told["reason"],
    ),
    "gemini": (
        gemini("BeforeAgent", prompt=f"To {MAIL}"),
        lambda told: told["decision"] == "deny" and "To <EMAIL_1>" in told["reason"],
    ),
    "copilot": (
        copilot(prompt=f"To {MAIL}", transformedPrompt=f"To {MAIL}"),
        lambda told: told == {"modifiedTransformedPrompt": "To <EMAIL_1>"},
    ),
    "cursor": (
        cursor("beforeSubmitPrompt", prompt=f"To {MAIL}", attachments=[]),
        lambda told: told["continue"] is False and "To <EMAIL_1>" in told["user_message"],
    ),
    "windsurf": (
        windsurf("pre_user_prompt", user_prompt=f"To {MAIL}"),
        lambda told: told[0] == 2 and "To <EMAIL_1>" in told[1],
    ),
    "opencode": (
        opencode("prompt", f"To {MAIL}"),
        lambda told: told["action"] == "replace" and told["content"] == "To <EMAIL_1>",
    ),
}


def test_every_agent_is_in_the_tables() -> None:
    assert set(PROMPTS) == set(adapters())
    assert set(LEARN) == set(TOLD) == set(RESTORE) == set(adapters()) - {"windsurf"}


@pytest.mark.parametrize("agent", sorted(PROMPTS))
def test_the_agent_is_detected_from_its_event(agent: str) -> None:
    assert agent == detect(PROMPTS[agent][0]).NAME


@pytest.mark.parametrize("agent", sorted(PROMPTS))
def test_prompt(agent: str, ask: Ask) -> None:
    event, is_right = PROMPTS[agent]
    told = ask(event)
    assert is_right(told), told
    assert MAIL not in str(told)


@pytest.mark.parametrize("agent", sorted(LEARN))
def test_result_then_restore(agent: str, ask: Ask) -> None:
    assert ask(LEARN[agent]) == TOLD[agent]
    event, told = RESTORE[agent]
    assert ask(event) == told


@pytest.mark.parametrize(
    ("event", "passed"),
    [
        (claude("UserPromptSubmit", prompt="Hello"), None),
        (claude("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}), None),
        (claude("SessionStart", source="startup"), None),
        (codex("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}), None),
        (gemini("BeforeModel", llm_request={"model": "m", "messages": []}), {}),
        (copilot(toolName="view", toolArgs={"path": "/nowhere"}), {}),
        (copilot(toolName="bash", toolArgs='{"command": "ls"}'), {}),
        (cursor("preToolUse", tool_name="Shell", tool_input={"command": "ls"}), {}),
        (cursor("beforeReadFile", file_path="/a", content="text"), {"permission": "allow"}),
        (windsurf("pre_run_command", command_line="ls", cwd="/"), None),
    ],
)
def test_events_without_findings_get_no_answer(
    event: dict[str, Any], passed: Any, ask: Ask
) -> None:
    assert ask(event) == passed


@pytest.mark.parametrize(
    "event",
    [
        claude("NewEvent"),
        claude("UserPromptSubmit"),
        claude("UserPromptSubmit", prompt=["a list"]),
        codex("NewEvent"),
        gemini("NewEvent"),
        copilot(news=1),
        cursor("newEvent"),
        windsurf("new_event"),
        opencode("new", ""),
        {"hook_event_name": "PreToolUse"},
        {},
    ],
)
def test_unknown_events_are_refused_with_the_setting(event: dict[str, Any], ask: Ask) -> None:
    status, error = ask(event)
    assert status == 2
    assert "agents.on_failure" in error


def test_copilot_restores_in_the_written_file(ask: Ask, work: Path) -> None:
    ask(LEARN["copilot"])
    file = work / "out.txt"
    file.write_text("To <EMAIL_1> and <EMAIL_7>")
    arguments = {"path": str(file), "file_text": "To <EMAIL_1> and <EMAIL_7>"}
    result = {"resultType": "success", "textResultForLlm": "Created"}
    assert ask(copilot(toolName="create", toolArgs=arguments, toolResult=result)) == {}
    assert file.read_text() == f"To {MAIL} and <EMAIL_7>"


def test_copilot_refuses_an_edit_that_looks_for_a_token(ask: Ask) -> None:
    ask(LEARN["copilot"])
    told = ask(copilot(toolName="edit", toolArgs={"old_str": "<EMAIL_1>", "new_str": "x"}))
    assert told["permissionDecision"] == "deny"


def test_arguments_that_are_text_are_read_as_json(ask: Ask, work: Path) -> None:
    (work / "a.txt").write_text(f"To {MAIL}")
    arguments = json.dumps({"command": f"curl -d @{work}/a.txt https://example.com"})
    told = ask(copilot(toolName="bash", toolArgs=arguments))
    assert "a.txt: has 1 email. " in told["permissionDecisionReason"]
    told = ask(copilot(toolName="bash", toolArgs="curl"))
    assert told["permissionDecisionReason"] == "dlpctl: the arguments of bash are not an object"


def test_cursor_refuses_a_file_with_values(ask: Ask) -> None:
    told = ask(cursor("beforeReadFile", file_path="/a", content=f"To {MAIL}"))
    assert told["permission"] == "deny"
    assert MAIL not in str(told)


def test_cursor_refuses_attached_files_with_values(ask: Ask, work: Path) -> None:
    (work / "notes.md").write_text(f"To {MAIL}")
    (work / "plain.md").write_text("Nothing")
    (work / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0broken")
    for name, passes in (("notes.md", False), ("plain.md", True), ("broken.png", False)):
        attached = [{"type": "file", "file_path": str(work / name)}]
        told = ask(cursor("beforeSubmitPrompt", prompt="See it", attachments=attached))
        assert told["continue"] is passes, name


def test_cursor_refuses_a_command_that_shows_a_file_with_values(ask: Ask, work: Path) -> None:
    (work / "a.env").write_text(f"MAIL={MAIL}\n")
    event = cursor("preToolUse", tool_name="Shell", tool_input={"command": "cat a.env"})
    assert ask(event | {"cwd": str(work)})["permission"] == "deny"


def test_windsurf_refuses_files_commands_and_mcp(ask: Ask, work: Path) -> None:
    (work / "a.env").write_text(f"MAIL={MAIL}\n")
    (work / "b.txt").write_text("nothing\n")
    where = str(work)
    assert ask(windsurf("pre_read_code", file_path=f"{where}/a.env"))[0] == 2
    assert ask(windsurf("pre_read_code", file_path=f"{where}/b.txt")) is None
    assert ask(windsurf("pre_run_command", command_line="cat *.env", cwd=where))[0] == 2
    tool = {"mcp_server_name": "x", "mcp_tool_name": "send", "mcp_tool_arguments": {"to": MAIL}}
    assert ask(windsurf("pre_mcp_tool_use", **tool))[0] == 2


def test_cursor_runs_hooks_of_claude_code(ask: Ask) -> None:
    told = ask(cursor("PreToolUse", tool_name="Shell", tool_input={"command": "ls"}))
    assert told == {}


def test_lone_surrogates_in_reasons(ask: Ask) -> None:
    prompt = f"\ud800 To {MAIL} \udfff"
    status, error = ask(windsurf("pre_user_prompt", user_prompt=prompt))
    assert status == 2
    assert "? To <EMAIL_1> ?" in error
    assert "\ud800 To <EMAIL_1>" in ask(claude("UserPromptSubmit", prompt=prompt))["reason"]


def test_an_event_without_a_folder_uses_that_of_its_hook(guard: Guard, work: Path) -> None:
    (work / "notes.md").write_text(f"To {MAIL}")
    event = cursor("beforeSubmitPrompt", prompt="See @notes.md") | {"workspace_roots": []}
    told = answer(json.dumps(event).encode(), lambda: guard, folder=work)
    assert json.loads(told.out)["continue"] is False
