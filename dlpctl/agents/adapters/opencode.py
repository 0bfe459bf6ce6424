"""opencode: a plugin sends its events in a form of ours, and puts the answers into place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.events import (
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
from dlpctl.agents.installing import Installation, PluginFile

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "opencode"
TITLE = "opencode"
_CLASSES = by_name(
    {
        ToolClass.WRITES: "apply_patch edit glob grep multiedit patch question todowrite write",
        ToolClass.READS: "read",
        ToolClass.SHELL: "bash",
        ToolClass.LOCAL: "invalid list lsp plan_enter plan_exit skill task todoread",
    }
)
INSTALLATION = Installation(
    user_file="~/.config/opencode/plugin/dlpctl.js",
    project_file=".opencode/plugin/dlpctl.js",
    program="opencode",
    variable="XDG_CONFIG_HOME",
    hooks=PluginFile("opencode.js"),
    mcp_file="~/.config/opencode/opencode.json",
    project_mcp_file="opencode.json",
)


def matches(payload: Mapping[str, Any]) -> bool:
    return payload.get("dlpctl_agent") == NAME


def read(payload: Mapping[str, Any]) -> Event:
    name = text_field(payload, "event")
    try:
        event_kind = EventKind(name)
    except ValueError:
        raise UnknownEventError(f"{TITLE} has sent an unknown event {name[:40]!r}") from None
    tool = text_field(payload, "tool") if event_kind is not EventKind.PROMPT else ""
    return Event(
        NAME,
        name,
        event_kind,
        text_field(payload, "session"),
        Path(text_field(payload, "cwd")),
        content=field(payload, "content"),
        can_replace=True,
        tool=tool,
        tool_class=_CLASSES.get(tool, ToolClass.REMOTE),
        masks_results=True,
    )


def reply(_event: Event, outcome: Outcome) -> Reply:
    return as_json(
        {
            "action": outcome.action.value,
            "content": outcome.content,
            "reason": outcome.reason,
        }
    )
