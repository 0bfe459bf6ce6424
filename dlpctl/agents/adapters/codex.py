"""Codex: events like those of Claude Code, with a smaller set of answers.

It ignores an answer with an unknown field and goes on, so none is sent. A refused result is
replaced by the reason.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.events import (
    Action,
    Event,
    EventKind,
    Outcome,
    Reply,
    ToolClass,
    UnknownEventError,
    field,
    text_field,
)
from dlpctl.agents.installing import CommandHooks, Installation

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "codex"
TITLE = "Codex"
_CLASSES = (
    {
        "apply_patch": ToolClass.WRITES,
        "Edit": ToolClass.WRITES,
        "Write": ToolClass.WRITES,
        "update_plan": ToolClass.LOCAL,
    }
    | dict.fromkeys(
        ("Bash", "shell", "shell_command", "exec_command", "local_shell", "unified_exec"),
        ToolClass.SHELL,
    )
    | dict.fromkeys(("view_image", "read_file"), ToolClass.READS)
)
_EVENTS = {
    "UserPromptSubmit": EventKind.PROMPT,
    "PreToolUse": EventKind.INPUT,
    "PostToolUse": EventKind.RESULT,
} | dict.fromkeys(
    [
        "Interrupt",
        "PermissionRequest",
        "PostCompact",
        "PreCompact",
        "SessionEnd",
        "SessionStart",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
    ],
    EventKind.NOTHING,
)
INSTALLATION = Installation(
    user_file="~/.codex/hooks.json",
    project_file=".codex/hooks.json",
    program="codex",
    variable="CODEX_HOME",
    hooks=CommandHooks({"UserPromptSubmit": None, "PreToolUse": None, "PostToolUse": None}),
    remark="Codex runs new and changed hooks only once you trust them: open /hooks in Codex",
    mcp_file="~/.codex/config.toml",
)


def matches(payload: Mapping[str, Any]) -> bool:
    return (
        "model" in payload
        and "turn_id" in payload
        and "hook_event_name" in payload
        and "session_id" in payload
    )


def read(payload: Mapping[str, Any]) -> Event:
    name = text_field(payload, "hook_event_name")
    if name not in _EVENTS:
        raise UnknownEventError(f"{TITLE} has sent an unknown event {name[:40]!r}")
    event_kind = _EVENTS[name]
    event = Event(
        NAME, name, event_kind, text_field(payload, "session_id"), Path(text_field(payload, "cwd"))
    )
    if event_kind is EventKind.PROMPT:
        return event._replace(content=text_field(payload, "prompt"))
    if event_kind is EventKind.NOTHING:
        return event
    tool = text_field(payload, "tool_name")
    source = "tool_input" if event_kind is EventKind.INPUT else "tool_response"
    return event._replace(
        content=field(payload, source),
        can_replace=True,
        tool=tool,
        tool_class=_CLASSES.get(tool, ToolClass.REMOTE),
        masks_results=True,
    )


def reply(event: Event, outcome: Outcome) -> Reply:
    if outcome.action is Action.PASS:
        return Reply()
    if event.purpose is EventKind.PROMPT:
        return as_json({"decision": "block", "reason": outcome.reason})
    if event.purpose is EventKind.RESULT:
        return as_json({"decision": "block", "reason": outcome.reason or _shown(outcome.content)})
    decided: dict[str, object] = {"hookEventName": event.name}
    if outcome.action is Action.REFUSE:
        decided |= {"permissionDecision": "deny", "permissionDecisionReason": outcome.reason}
    else:
        decided |= {"permissionDecision": "allow", "updatedInput": outcome.content}
    return as_json({"hookSpecificOutput": decided})


def _shown(content: object) -> str:
    """Return the masked result as the text that replaces it."""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False)
