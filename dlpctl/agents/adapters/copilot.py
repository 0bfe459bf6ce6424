"""Copilot CLI: prompts, arguments and results can all be replaced. The model sees arguments that
were replaced, so that values are put into a file after a tool has written it.

An error of a hook stops only a tool; a time-out stops nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    field,
    text_field,
)
from dlpctl.agents.installing import FileHooks, Installation
from dlpctl.agents.leaves import withheld

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "copilot"
TITLE = "Copilot CLI"
_CLASSES = CLASSES | by_name(
    {
        ToolClass.WRITES: "apply_patch ask_user create edit glob grep rg str_replace_editor"
        " update_todo",
        ToolClass.READS: "view",
        ToolClass.SHELL: "bash powershell",
        ToolClass.LOCAL: "list_bash read_bash report_intent skill stop_bash task",
    }
)
_KINDS = by_name(
    {
        EventKind.PROMPT: "userPromptTransformed",
        EventKind.INPUT: "preToolUse PreToolUse",
        EventKind.RESULT: "postToolUse PostToolUse",
    }
)
INSTALLATION = Installation(
    user_file="~/.copilot/hooks/dlpctl.json",
    project_file=".github/hooks/dlpctl.json",
    program="copilot",
    variable="COPILOT_HOME",
    hooks=FileHooks(("userPromptTransformed", "preToolUse", "postToolUse"), "timeoutSec"),
    mcp_file="~/.copilot/mcp-config.json",
)


def matches(payload: Mapping[str, Any]) -> bool:
    native = "sessionId" in payload and "timestamp" in payload
    compatible = "session_id" in payload and "timestamp" in payload and "hook_event_name" in payload
    return native or (compatible and "transcript_path" not in payload)


def read(payload: Mapping[str, Any]) -> Event:
    name = _name(payload)
    event_kind = _KINDS.get(name, EventKind.NOTHING)
    session = text_field(payload, "sessionId", "session_id")
    event = Event(NAME, name, event_kind, session, Path(text_field(payload, "cwd")))
    if event_kind is EventKind.NOTHING:
        return event
    if event_kind is EventKind.PROMPT:
        return event._replace(content=text_field(payload, "transformedPrompt"), can_replace=True)
    tool = text_field(payload, "toolName", "tool_name")
    arguments = field(payload, "toolArgs", "tool_input")
    is_input = event_kind is EventKind.INPUT
    return event._replace(
        content=arguments if is_input else field(payload, "toolResult", "tool_result"),
        arguments=arguments,
        keeps_arguments=True,
        can_replace=True,
        tool=tool,
        tool_class=_CLASSES.get(tool, ToolClass.REMOTE),
        masks_results=True,
    )


def _name(payload: Mapping[str, Any]) -> str:
    """Return the name of the event, which the native form tells only by its fields."""
    if "hook_event_name" in payload:
        return text_field(payload, "hook_event_name")
    for name, fields in (
        ("userPromptTransformed", {"transformedPrompt"}),
        ("postToolUse", {"toolName", "toolResult"}),
        ("postToolUseFailure", {"toolName", "error"}),
        ("preToolUse", {"toolName", "toolArgs"}),
    ):
        if fields <= payload.keys():
            return name
    if payload.keys() & {"prompt", "source", "reason", "stopReason", "error", "trigger", "message"}:
        return "lifecycle"
    raise UnknownEventError(f"{TITLE} has sent an event of an unknown form")


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
    """Return a result under the names that answers use."""
    if isinstance(result, dict) and "text_result_for_llm" in result:
        return {"resultType": "success", "textResultForLlm": result["text_result_for_llm"]}
    return result | {"resultType": "success"} if isinstance(result, dict) else result
