"""Windsurf: an event before an action can be refused by exit status 2, and nothing replaced."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from dlpctl.agents.installing import FileHooks, Installation

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "windsurf"
TITLE = "Windsurf"
_REFUSED = 2
_EVENTS = by_name(
    {
        EventKind.PROMPT: "pre_user_prompt",
        EventKind.FILE: "pre_read_code",
        EventKind.INPUT: "pre_write_code pre_run_command pre_mcp_tool_use",
        EventKind.NOTHING: "post_cascade_response post_cascade_response_with_transcript"
        " post_mcp_tool_use post_read_code post_run_command post_setup_worktree post_write_code",
    }
)
INSTALLATION = Installation(
    user_file="~/.codeium/windsurf/hooks.json",
    project_file=".windsurf/hooks.json",
    program="windsurf",
    hooks=FileHooks(
        tuple(name for name, event_kind in _EVENTS.items() if event_kind is not EventKind.NOTHING),
        None,
        {"show_output": True},
        typed=False,
        version=None,
    ),
    mcp_file="~/.codeium/windsurf/mcp_config.json",
)


def matches(payload: Mapping[str, Any]) -> bool:
    return "agent_action_name" in payload and "tool_info" in payload


def read(payload: Mapping[str, Any]) -> Event:
    name = text_field(payload, "agent_action_name")
    if name not in _EVENTS:
        raise UnknownEventError(f"{TITLE} has sent an unknown event {name[:40]!r}")
    info = field(payload, "tool_info")
    if not isinstance(info, dict):
        raise UnknownEventError(f"{TITLE} has sent an event without details")
    folder = info.get("cwd")
    event = Event(
        NAME,
        name,
        _EVENTS[name],
        text_field(payload, "trajectory_id"),
        Path(folder) if isinstance(folder, str) and folder else Path.cwd(),
    )
    match name:
        case "pre_user_prompt":
            return event._replace(content=text_field(info, "user_prompt"))
        case "pre_read_code":
            return event._replace(content=event.folder / text_field(info, "file_path"))
        case "pre_write_code":
            return event._replace(
                content=field(info, "edits"), tool="write_code", tool_class=ToolClass.WRITES
            )
        case "pre_run_command":
            text_field(info, "command_line")
            return event._replace(content=info, tool="run_command", tool_class=ToolClass.SHELL)
        case "pre_mcp_tool_use":
            tool = text_field(info, "mcp_tool_name")
            return event._replace(content=field(info, "mcp_tool_arguments"), tool=tool)
    return event


def reply(_event: Event, outcome: Outcome) -> Reply:
    if outcome.action is Action.PASS:
        return Reply()
    return Reply(error=outcome.reason, status=_REFUSED)
