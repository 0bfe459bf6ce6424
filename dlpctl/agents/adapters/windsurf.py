"""Windsurf: exit status 2 refuses an action beforehand; nothing can be replaced."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dlpctl.agents.events import Action, Event, EventKind, Outcome, Reply, ToolClass
from dlpctl.agents.installing import FileHooks, Installation, McpFiles
from dlpctl.agents.tables import EventSource, EventTable, ignored

NAME = "windsurf"
TITLE = "Windsurf"
_REFUSED = 2
_INSPECTED = {
    "pre_user_prompt": EventSource(EventKind.PROMPT, "tool_info.user_prompt"),
    "pre_read_code": EventSource(EventKind.FILE, "tool_info.file_path"),
    "pre_write_code": EventSource(
        EventKind.INPUT, "tool_info.edits", tool="write_code", tool_class=ToolClass.WRITES
    ),
    "pre_run_command": EventSource(
        EventKind.INPUT, "tool_info", tool="run_command", tool_class=ToolClass.SHELL
    ),
    "pre_mcp_tool_use": EventSource(EventKind.INPUT, "tool_info.mcp_tool_arguments"),
}
TABLE = EventTable(
    NAME,
    TITLE,
    _INSPECTED
    | ignored(
        "post_cascade_response post_cascade_response_with_transcript post_mcp_tool_use"
        " post_read_code post_run_command post_setup_worktree post_write_code"
    ),
    name="agent_action_name",
    session="trajectory_id",
    folder="tool_info.cwd",
    tool="tool_info.mcp_tool_name",
    masks_results=False,
)
INSTALLATION = Installation(
    user_file="~/.codeium/windsurf/hooks.json",
    project_file=".windsurf/hooks.json",
    program="windsurf",
    hooks=FileHooks(tuple(_INSPECTED), None, {"show_output": True}, typed=False, version=None),
    mcp=McpFiles("~/.codeium/windsurf/mcp_config.json"),
)


def matches(payload: Mapping[str, Any]) -> bool:
    return "agent_action_name" in payload and "tool_info" in payload


def read(payload: Mapping[str, Any]) -> Event:
    event = TABLE.read(payload)
    if event.purpose is EventKind.FILE:
        return event._replace(content=Path(event.content))
    return event


def reply(_event: Event, outcome: Outcome) -> Reply:
    if outcome.action is Action.PASS:
        return Reply()
    return Reply(error=outcome.reason, status=_REFUSED)
