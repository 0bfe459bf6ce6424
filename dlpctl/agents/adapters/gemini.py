"""Gemini CLI: prompts are refused, and the messages of each request to the model are masked."""

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
    by_name,
    field,
    text_field,
)
from dlpctl.agents.installing import CommandHooks, Installation

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "gemini"
TITLE = "Gemini CLI"
_CLASSES = by_name(
    {
        ToolClass.WRITES: "ask_user edit exit_plan_mode glob grep_search replace"
        " search_file_content write_file write_todos",
        ToolClass.READS: "read_file read_many_files",
        ToolClass.SHELL: "run_shell_command",
        ToolClass.LOCAL: "activate_skill complete_task enter_plan_mode get_internal_docs"
        " list_directory save_memory",
    }
)
_EVENTS = by_name(
    {
        EventKind.PROMPT: "BeforeAgent",
        EventKind.INPUT: "BeforeTool",
        EventKind.RESULT: "BeforeModel AfterTool",
        EventKind.NOTHING: "AfterAgent AfterModel BeforeToolSelection Notification PreCompress"
        " SessionEnd SessionStart",
    }
)
INSTALLATION = Installation(
    user_file="~/.gemini/settings.json",
    project_file=".gemini/settings.json",
    program="gemini",
    hooks=CommandHooks(
        {"BeforeAgent": None, "BeforeModel": None, "BeforeTool": "*", "AfterTool": "*"},
        seconds=1_000,  # its time-out is in milliseconds
    ),
    mcp_file="~/.gemini/settings.json",
    project_mcp_file=".gemini/settings.json",
)


def matches(payload: Mapping[str, Any]) -> bool:
    return payload.get("hook_event_name") in _EVENTS and (
        "timestamp" in payload and "transcript_path" in payload
    )


def read(payload: Mapping[str, Any]) -> Event:
    name = text_field(payload, "hook_event_name")
    event_kind = _EVENTS[name]
    event = Event(
        NAME, name, event_kind, text_field(payload, "session_id"), Path(text_field(payload, "cwd"))
    )
    if name == "BeforeAgent":
        return event._replace(content=text_field(payload, "prompt"))
    if name == "BeforeModel":
        request = field(payload, "llm_request")
        if not isinstance(request, dict) or not isinstance(request.get("messages"), list):
            raise UnknownEventError(f"{TITLE} has sent a request without messages")
        return event._replace(content=request["messages"], can_replace=True, tool="the request")
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
        return as_json({})
    if outcome.action is Action.REFUSE:
        return as_json({"decision": "deny", "reason": outcome.reason})
    if event.name == "BeforeModel":
        changed: dict[str, object] = {"llm_request": {"messages": outcome.content}}
    elif event.purpose is EventKind.RESULT:
        return as_json({"decision": "deny", "reason": _shown(outcome.content)})
    else:
        changed = {"tool_input": outcome.content}
    return as_json({"hookSpecificOutput": {"hookEventName": event.name} | changed})


def _shown(response: object) -> str:
    """Return the masked result as the text that replaces it."""
    content = response.get("llmContent", response) if isinstance(response, dict) else response
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
