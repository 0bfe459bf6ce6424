"""Cursor: prompts and files can be refused; arguments and results of MCP tools can be replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.events import Action, Event, EventKind, Outcome, Reply, ToolClass, by_name
from dlpctl.agents.installing import FileHooks, Installation, McpFiles
from dlpctl.agents.leaves import withheld
from dlpctl.agents.tables import EventSource, EventTable, from_json, ignored

NAME = "cursor"
TITLE = "Cursor"
_SOURCES = {
    "beforeSubmitPrompt": EventSource(EventKind.PROMPT, "prompt"),
    "beforeReadFile": EventSource(EventKind.FILE, "content", tool="Read"),
    "beforeTabFileRead": EventSource(EventKind.FILE, "content", tool="Read"),
    "preToolUse": EventSource(EventKind.INPUT, "tool_input", can_replace=True),
    "postToolUse": EventSource(EventKind.RESULT, "tool_output"),
} | ignored(
    "afterAgentResponse afterAgentThought afterFileEdit afterMCPExecution afterShellExecution"
    " afterTabFileEdit beforeMCPExecution beforeShellExecution postToolUseFailure preCompact"
    " sessionEnd sessionStart stop subagentStart subagentStop"
)
_FOREIGN = {name[:1].upper() + name[1:]: source for name, source in _SOURCES.items()} | {
    "UserPromptSubmit": _SOURCES["beforeSubmitPrompt"]
}
"""Claude Code's names for these events, since Cursor runs its hooks too."""
TABLE = EventTable(
    NAME,
    TITLE,
    _SOURCES | _FOREIGN,
    by_name(
        {
            ToolClass.WRITES: "EditNotebook Glob Grep StrReplace Write",
            ToolClass.READS: "Read",
            ToolClass.SHELL: "Shell",
            ToolClass.LOCAL: "Delete LS ReadLints Task TodoWrite",
        }
    ),
    session="conversation_id session_id",
    folder="cwd workspace_roots",
    files="attachments",
    masks_results=False,
)
INSTALLATION = Installation(
    user_file="~/.cursor/hooks.json",
    project_file=".cursor/hooks.json",
    program="cursor-agent",
    hooks=FileHooks(
        ("beforeSubmitPrompt", "beforeReadFile", "preToolUse", "postToolUse"),
        "timeout",
        {"failClosed": True},
        typed=False,
    ),
    mcp=McpFiles("~/.cursor/mcp.json", ".cursor/mcp.json"),
)


def matches(payload: Mapping[str, Any]) -> bool:
    return "hook_event_name" in payload and (
        "cursor_version" in payload or "conversation_id" in payload
    )


def read(payload: Mapping[str, Any]) -> Event:
    event = TABLE.read(payload)
    is_result = event.purpose is EventKind.RESULT
    is_mcp = event.tool.startswith("MCP:")
    return event._replace(
        content=from_json(event.content) if is_result else event.content,
        can_replace=event.can_replace or is_mcp,
        masks_results=is_mcp,
    )


def reply(event: Event, outcome: Outcome) -> Reply:
    passed, refused = outcome.action is Action.PASS, outcome.action is Action.REFUSE
    told = {"user_message": outcome.reason, "agent_message": outcome.reason}
    if event.purpose is EventKind.PROMPT:
        if passed:
            return as_json({"continue": True})
        return as_json({"continue": False, "user_message": outcome.reason})
    if event.purpose is EventKind.FILE:
        return as_json({"permission": "allow"} if passed else {"permission": "deny"} | told)
    if passed:
        return as_json({})  # `allow` would approve actions that the user is normally asked about
    if event.purpose is EventKind.RESULT:
        if not event.can_replace:
            # Too late to change: files and commands were inspected before they were used.
            return as_json({"additional_context": outcome.reason})
        content = withheld(event.content, outcome.reason) if refused else outcome.content
        return as_json({"updated_mcp_tool_output": content})
    if refused:
        return as_json({"permission": "deny"} | told)
    return as_json({"updated_input": outcome.content})
