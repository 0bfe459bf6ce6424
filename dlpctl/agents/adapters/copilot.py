"""Copilot CLI: prompts, arguments and results can all be replaced. The model sees replaced
arguments, so values are restored in a file only after a tool has written it.

The failure of a hook stops only tools, and a time-out stops nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.adapters.claude_code import CLASSES
from dlpctl.agents.events import (
    Action,
    Event,
    EventKind,
    Outcome,
    Reply,
    ToolClass,
    UnknownEventError,
    by_name,
)
from dlpctl.agents.installing import FileHooks, Installation, McpFiles
from dlpctl.agents.leaves import withheld
from dlpctl.agents.tables import EventSource, EventTable, ignored

NAME = "copilot"
TITLE = "Copilot CLI"
_LIFECYCLE = "lifecycle"
_INPUT = EventSource(EventKind.INPUT, "toolArgs tool_input", can_replace=True)
_RESULT = EventSource(EventKind.RESULT, "toolResult tool_result", can_replace=True)
_FORMS = {
    # Fields that identify the events in the native format.
    "userPromptTransformed": {"transformedPrompt"},
    "postToolUse": {"toolName", "toolResult"},
    "postToolUseFailure": {"toolName", "error"},
    "preToolUse": {"toolName", "toolArgs"},
}
TABLE = EventTable(
    NAME,
    TITLE,
    {
        "userPromptTransformed": EventSource(
            EventKind.PROMPT, "transformedPrompt", can_replace=True
        ),
        "preToolUse": _INPUT,
        "PreToolUse": _INPUT,
        "postToolUse": _RESULT,
        "PostToolUse": _RESULT,
    }
    | ignored(f"postToolUseFailure {_LIFECYCLE}"),
    CLASSES
    | by_name(
        {
            ToolClass.WRITES: "apply_patch ask_user create edit glob grep rg str_replace_editor"
            " update_todo",
            ToolClass.READS: "view",
            ToolClass.SHELL: "bash powershell",
            ToolClass.LOCAL: "list_bash read_bash report_intent skill stop_bash task",
        }
    ),
    session="sessionId session_id",
    tool="toolName tool_name",
    arguments="toolArgs tool_input",
    keeps_arguments=True,
)
INSTALLATION = Installation(
    user_file="~/.copilot/hooks/dlpctl.json",
    project_file=".github/hooks/dlpctl.json",
    program="copilot",
    variable="COPILOT_HOME",
    hooks=FileHooks(("userPromptTransformed", "preToolUse", "postToolUse"), "timeoutSec"),
    mcp=McpFiles("~/.copilot/mcp-config.json", ".mcp.json"),
)


def matches(payload: Mapping[str, Any]) -> bool:
    native = "sessionId" in payload and "timestamp" in payload
    compatible = "session_id" in payload and "timestamp" in payload and "hook_event_name" in payload
    return native or (compatible and "transcript_path" not in payload)


def read(payload: Mapping[str, Any]) -> Event:
    return TABLE.read(payload, _name(payload))


def _name(payload: Mapping[str, Any]) -> str:
    """Return the name of the event, which the native format shows only through its fields."""
    if (given := payload.get("hook_event_name")) is not None:
        return given if given in TABLE.sources else _LIFECYCLE
    for name, fields in _FORMS.items():
        if fields <= payload.keys():
            return name
    if payload.keys() & {"prompt", "source", "reason", "stopReason", "error", "trigger", "message"}:
        return _LIFECYCLE
    raise UnknownEventError(f"{TITLE} sent an event in an unknown format")


def reply(event: Event, outcome: Outcome) -> Reply:
    if outcome.action is Action.PASS:
        return as_json({})
    refused = outcome.action is Action.REFUSE
    if event.purpose is EventKind.PROMPT:
        # A prompt cannot be refused, but all of it can be replaced.
        return as_json(
            {"modifiedTransformedPrompt": outcome.reason if refused else outcome.content}
        )
    if event.purpose is EventKind.RESULT:
        content = event.content
        result = withheld(content, outcome.reason) if refused else outcome.content
        return as_json({"modifiedResult": _native(result)})
    if refused:
        return as_json({"permissionDecision": "deny", "permissionDecisionReason": outcome.reason})
    return as_json({"modifiedArgs": outcome.content})


def _native(result: Any) -> Any:
    """Return a result with the field names that answers use."""
    if isinstance(result, dict) and "text_result_for_llm" in result:
        return {"resultType": "success", "textResultForLlm": result["text_result_for_llm"]}
    return result | {"resultType": "success"} if isinstance(result, dict) else result
