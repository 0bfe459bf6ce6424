"""Cursor: prompts and files can be refused, arguments replaced, and results of MCP tools too."""

from __future__ import annotations

import json
from contextlib import suppress
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
from dlpctl.agents.installing import FileHooks, Installation
from dlpctl.agents.leaves import withheld

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "cursor"
TITLE = "Cursor"
_CLASSES = by_name(
    {
        ToolClass.WRITES: "EditNotebook Glob Grep StrReplace Write",
        ToolClass.READS: "Read",
        ToolClass.SHELL: "Shell",
        ToolClass.LOCAL: "Delete LS ReadLints Task TodoWrite",
    }
)
_EVENTS = by_name(
    {
        EventKind.PROMPT: "beforeSubmitPrompt",
        EventKind.FILE: "beforeReadFile beforeTabFileRead",
        EventKind.INPUT: "preToolUse",
        EventKind.RESULT: "postToolUse",
        EventKind.NOTHING: "afterAgentResponse afterAgentThought afterFileEdit afterMCPExecution"
        " afterShellExecution afterTabFileEdit beforeMCPExecution beforeShellExecution"
        " postToolUseFailure preCompact sessionEnd sessionStart stop subagentStart subagentStop",
    }
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
    mcp_file="~/.cursor/mcp.json",
    project_mcp_file=".cursor/mcp.json",
)


def matches(payload: Mapping[str, Any]) -> bool:
    return "hook_event_name" in payload and (
        "cursor_version" in payload or "conversation_id" in payload
    )


def read(payload: Mapping[str, Any]) -> Event:
    given = text_field(payload, "hook_event_name")
    name = given[:1].lower() + given[1:]  # it runs hooks of Claude Code under their names, too
    event_kind = _EVENTS.get({"userPromptSubmit": "beforeSubmitPrompt"}.get(name, name))
    if event_kind is None:
        raise UnknownEventError(f"{TITLE} has sent an unknown event {given[:40]!r}")
    session = text_field(payload, "conversation_id", "session_id")
    event = Event(NAME, given, event_kind, session, _folder(payload))
    if event_kind is EventKind.PROMPT:
        return event._replace(content=text_field(payload, "prompt"))
    if event_kind is EventKind.FILE:
        return event._replace(content=text_field(payload, "content"), tool="Read")
    if event_kind is EventKind.NOTHING:
        return event
    tool = text_field(payload, "tool_name")
    content = field(payload, "tool_input" if event_kind is EventKind.INPUT else "tool_output")
    if isinstance(content, str):  # JSON in a text
        with suppress(ValueError):
            content = json.loads(content)
    is_mcp = tool.startswith("MCP:")
    return event._replace(
        content=content,
        can_replace=event_kind is EventKind.INPUT or is_mcp,
        tool=tool,
        tool_class=_CLASSES.get(tool, ToolClass.REMOTE),
        masks_results=is_mcp,
    )


def _folder(payload: Mapping[str, Any]) -> Path:
    if isinstance(payload.get("cwd"), str) and payload["cwd"]:
        return Path(payload["cwd"])
    roots = payload.get("workspace_roots")
    return Path(roots[0]) if isinstance(roots, list) and roots else Path.cwd()


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
        return as_json({})  # `allow` would approve what the user is otherwise asked about
    if event.purpose is EventKind.RESULT:
        if not event.can_replace:
            # Too late to change it: files and commands were inspected before they ran.
            return as_json({"additional_context": outcome.reason})
        content = withheld(event.content, outcome.reason) if refused else outcome.content
        return as_json({"updated_mcp_tool_output": content})
    if refused:
        return as_json({"permission": "deny"} | told)
    return as_json({"updated_input": outcome.content})
