"""Claude Code: prompts can only be blocked; arguments and results of tools can be replaced.

A replacement is ignored unless it has exactly the shape of the original result. The error of a
failed tool cannot be replaced; the user is warned of sensitive values in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.events import Action, Event, EventKind, Outcome, Reply, ToolClass, by_name
from dlpctl.agents.installing import CommandHooks, Installation, McpFiles
from dlpctl.agents.leaves import withheld
from dlpctl.agents.tables import EventSource, EventTable, ignored

NAME = "claude-code"
TITLE = "Claude Code"
CLASSES = by_name(
    {
        ToolClass.WRITES: "Write Edit MultiEdit NotebookEdit Grep Glob TodoWrite ExitPlanMode"
        " AskUserQuestion",
        ToolClass.READS: "Read NotebookRead",
        ToolClass.SHELL: "Bash PowerShell",
        ToolClass.LOCAL: "Agent BashOutput EnterPlanMode EnterWorktree ExitWorktree KillBash"
        " KillShell LS LSP ListMcpResourcesTool Skill Task TaskCreate TaskGet TaskList TaskOutput"
        " TaskStop TaskUpdate ToolSearch",
    }
)
TABLE = EventTable(
    NAME,
    TITLE,
    {
        "UserPromptSubmit": EventSource(EventKind.PROMPT, "prompt"),
        "UserPromptExpansion": EventSource(EventKind.PROMPT, "prompt"),
        "PreToolUse": EventSource(EventKind.INPUT, "tool_input", can_replace=True),
        "PostToolUse": EventSource(EventKind.RESULT, "tool_response", can_replace=True),
        "PostToolUseFailure": EventSource(EventKind.FAILURE, "error"),
        "MessageDisplay": EventSource(EventKind.DISPLAY, "delta", can_replace=True),
    }
    | ignored(
        "ConfigChange CwdChanged Elicitation ElicitationResult FileChanged InstructionsLoaded"
        " Notification PermissionDenied PermissionRequest PostCompact PostToolBatch PreCompact"
        " SessionEnd SessionStart Setup Stop StopFailure SubagentStart SubagentStop TaskCompleted"
        " TaskCreated TeammateIdle WorktreeCreate WorktreeRemove"
    ),
    CLASSES,
    masks_errors=False,
)
INSTALLATION = Installation(
    user_file="~/.claude/settings.json",
    project_file=".claude/settings.local.json",
    program="claude",
    variable="CLAUDE_CONFIG_DIR",
    hooks=CommandHooks(
        dict.fromkeys(("PreToolUse", "PostToolUse", "PostToolUseFailure"), "*")
        | dict.fromkeys(("UserPromptSubmit", "UserPromptExpansion", "MessageDisplay"), None),
        speaks_http=True,
    ),
    mcp=McpFiles("~/.claude.json", ".mcp.json"),
)
read = TABLE.read


def matches(payload: Mapping[str, Any]) -> bool:
    return (
        "hook_event_name" in payload
        and "session_id" in payload
        and "transcript_path" in payload
        and not payload.keys() & {"cursor_version", "model", "timestamp"}
    )


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
