"""Claude Code: a prompt can only be blocked; arguments and results of tools can be replaced.

A replaced result is ignored unless it has exactly the form of the original. The error of a failed
tool cannot be replaced; the user is told of sensitive values in one.
"""

from __future__ import annotations

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
    by_name,
    field,
    text_field,
)
from dlpctl.agents.installing import CommandHooks, Installation
from dlpctl.agents.leaves import withheld

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "claude-code"
TITLE = "Claude Code"
TOOLS = {
    ToolClass.WRITES: "Write Edit MultiEdit NotebookEdit Grep Glob TodoWrite ExitPlanMode"
    " AskUserQuestion",
    ToolClass.READS: "Read NotebookRead",
    ToolClass.SHELL: "Bash PowerShell",
    ToolClass.LOCAL: "Agent BashOutput EnterPlanMode EnterWorktree ExitWorktree KillBash KillShell"
    " LS LSP ListMcpResourcesTool Skill Task TaskCreate TaskGet TaskList TaskOutput TaskStop"
    " TaskUpdate ToolSearch",
}
CLASSES = by_name(TOOLS)
_EVENTS = by_name(
    {
        EventKind.PROMPT: "UserPromptSubmit UserPromptExpansion",
        EventKind.INPUT: "PreToolUse",
        EventKind.RESULT: "PostToolUse",
        EventKind.FAILURE: "PostToolUseFailure",
        EventKind.DISPLAY: "MessageDisplay",
        EventKind.NOTHING: "ConfigChange CwdChanged Elicitation ElicitationResult FileChanged"
        " InstructionsLoaded Notification PermissionDenied PermissionRequest PostCompact"
        " PostToolBatch PreCompact SessionEnd SessionStart Setup Stop"
        " StopFailure SubagentStart SubagentStop TaskCompleted TaskCreated TeammateIdle"
        " WorktreeCreate WorktreeRemove",
    }
)
INSTALLATION = Installation(
    user_file="~/.claude/settings.json",
    project_file=".claude/settings.local.json",
    program="claude",
    variable="CLAUDE_CONFIG_DIR",
    hooks=CommandHooks(
        dict.fromkeys(("PreToolUse", "PostToolUse", "PostToolUseFailure"), "*")
        | dict.fromkeys(("UserPromptSubmit", "UserPromptExpansion", "MessageDisplay"), None)
    ),
    mcp_file="~/.claude.json",
    project_mcp_file=".mcp.json",
)


def matches(payload: Mapping[str, Any]) -> bool:
    return (
        "hook_event_name" in payload
        and "session_id" in payload
        and "transcript_path" in payload
        and not payload.keys() & {"cursor_version", "model", "timestamp"}
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
    if event_kind is EventKind.DISPLAY:
        return event._replace(content=text_field(payload, "delta"), can_replace=True)
    if event_kind is EventKind.FAILURE:
        return event._replace(
            content=text_field(payload, "error"), tool=text_field(payload, "tool_name")
        )
    if event_kind in (EventKind.INPUT, EventKind.RESULT):
        tool = text_field(payload, "tool_name")
        source = "tool_input" if event_kind is EventKind.INPUT else "tool_response"
        return event._replace(
            content=field(payload, source),
            can_replace=True,
            tool=tool,
            tool_class=CLASSES.get(tool, ToolClass.REMOTE),
            masks_results=True,
            masks_errors=False,
        )
    return event


def reply(event: Event, outcome: Outcome) -> Reply:
    if outcome.action is Action.PASS:
        return Reply()
    if event.purpose is EventKind.PROMPT:
        return as_json({"decision": "block", "reason": outcome.reason})
    if event.purpose is EventKind.FAILURE:
        return as_json({"systemMessage": outcome.reason})
    replaced: dict[str, object] = {"hookEventName": event.name}
    refused = outcome.action is Action.REFUSE
    if event.purpose is EventKind.DISPLAY:
        replaced["displayContent"] = outcome.content
    elif event.purpose is EventKind.RESULT:
        replaced["updatedToolOutput"] = (
            withheld(event.content, outcome.reason) if refused else outcome.content
        )
    elif refused:
        replaced |= {"permissionDecision": "deny", "permissionDecisionReason": outcome.reason}
    else:
        replaced["updatedInput"] = outcome.content
    return as_json({"hookSpecificOutput": replaced})
