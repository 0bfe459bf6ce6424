"""Gemini CLI: prompts are refused, and the messages of each request to the model are masked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.events import Action, Event, EventKind, Outcome, Reply, ToolClass, by_name
from dlpctl.agents.installing import CommandHooks, Installation, McpFiles
from dlpctl.agents.tables import EventSource, EventTable, ignored

NAME = "gemini"
TITLE = "Gemini CLI"
TABLE = EventTable(
    NAME,
    TITLE,
    {
        "BeforeAgent": EventSource(EventKind.PROMPT, "prompt"),
        "BeforeModel": EventSource(
            EventKind.RESULT, "llm_request.messages", can_replace=True, tool="the request"
        ),
        "BeforeTool": EventSource(EventKind.INPUT, "tool_input", can_replace=True),
        "AfterTool": EventSource(EventKind.RESULT, "tool_response", can_replace=True),
    }
    | ignored(
        "AfterAgent AfterModel BeforeToolSelection Notification PreCompress SessionEnd SessionStart"
    ),
    by_name(
        {
            ToolClass.WRITES: "ask_user edit exit_plan_mode glob grep_search replace"
            " search_file_content write_file write_todos",
            ToolClass.READS: "read_file read_many_files",
            ToolClass.SHELL: "run_shell_command",
            ToolClass.LOCAL: "activate_skill complete_task enter_plan_mode get_internal_docs"
            " list_directory save_memory",
        }
    ),
)
INSTALLATION = Installation(
    user_file="~/.gemini/settings.json",
    project_file=".gemini/settings.json",
    program="gemini",
    hooks=CommandHooks(
        {"BeforeAgent": None, "BeforeModel": None, "BeforeTool": "*", "AfterTool": "*"},
        seconds=1_000,  # its time-out is in milliseconds
    ),
    mcp=McpFiles("~/.gemini/settings.json", ".gemini/settings.json"),
)
read = TABLE.read


def matches(payload: Mapping[str, Any]) -> bool:
    return payload.get("hook_event_name") in TABLE.sources and (
        "timestamp" in payload and "transcript_path" in payload
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
    """Return the masked result as text, the form in which it replaces the original."""
    content = response.get("llmContent", response) if isinstance(response, dict) else response
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
