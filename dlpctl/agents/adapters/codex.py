"""Codex: events like those of Claude Code, with fewer possible answers.

Codex ignores an answer that has an unknown field and proceeds, so answers have none. The result of
a tool is replaced by the reason for refusing it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.events import Action, Event, EventKind, Outcome, Reply, ToolClass, by_name
from dlpctl.agents.installing import CommandHooks, Installation, McpFiles
from dlpctl.agents.tables import EventSource, EventTable, ignored

NAME = "codex"
TITLE = "Codex"
TABLE = EventTable(
    NAME,
    TITLE,
    {
        "UserPromptSubmit": EventSource(EventKind.PROMPT, "prompt"),
        "PreToolUse": EventSource(EventKind.INPUT, "tool_input", can_replace=True),
        "PostToolUse": EventSource(EventKind.RESULT, "tool_response", can_replace=True),
    }
    | ignored(
        "Interrupt PermissionRequest PostCompact PreCompact SessionEnd SessionStart Stop"
        " StopFailure SubagentStart SubagentStop"
    ),
    by_name(
        {
            ToolClass.WRITES: "apply_patch Edit Write",
            ToolClass.READS: "read_file view_image",
            ToolClass.SHELL: "Bash exec_command local_shell shell shell_command unified_exec",
            ToolClass.LOCAL: "update_plan",
        }
    ),
)
INSTALLATION = Installation(
    user_file="~/.codex/hooks.json",
    project_file=".codex/hooks.json",
    program="codex",
    variable="CODEX_HOME",
    hooks=CommandHooks({"UserPromptSubmit": None, "PreToolUse": None, "PostToolUse": None}),
    remark="Codex runs new and changed hooks only once you trust them: open /hooks in Codex",
    mcp=McpFiles("~/.codex/config.toml", ".codex/config.toml", "mcp_servers"),
)
read = TABLE.read


def matches(payload: Mapping[str, Any]) -> bool:
    return (
        "model" in payload
        and "turn_id" in payload
        and "hook_event_name" in payload
        and "session_id" in payload
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
    """Return the masked result as text, the form in which it replaces the original."""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False)
