"""opencode: a plugin of ours sends its events in our own format and applies the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlpctl.agents.adapters import as_json
from dlpctl.agents.events import Event, EventKind, Outcome, Reply, ToolClass, by_name
from dlpctl.agents.installing import Installation, McpFiles, PluginFile
from dlpctl.agents.tables import EventSource, EventTable

NAME = "opencode"
TITLE = "opencode"
TABLE = EventTable(
    NAME,
    TITLE,
    {
        purpose.value: EventSource(purpose, "content", can_replace=True)
        for purpose in (EventKind.PROMPT, EventKind.INPUT, EventKind.RESULT, EventKind.DISPLAY)
    },
    by_name(
        {
            ToolClass.WRITES: "apply_patch edit glob grep multiedit patch question todowrite write",
            ToolClass.READS: "read",
            ToolClass.SHELL: "bash",
            ToolClass.LOCAL: "invalid list lsp plan_enter plan_exit skill task todoread",
        }
    ),
    name="event",
    session="session",
    tool="tool",
)
INSTALLATION = Installation(
    user_file="~/.config/opencode/plugin/dlpctl.js",
    project_file=".opencode/plugin/dlpctl.js",
    program="opencode",
    variable="XDG_CONFIG_HOME",
    hooks=PluginFile("opencode.js"),
    mcp=McpFiles("~/.config/opencode/opencode.json", "opencode.json", "mcp"),
)
read = TABLE.read


def matches(payload: Mapping[str, Any]) -> bool:
    return payload.get("dlpctl_agent") == NAME


def reply(_event: Event, outcome: Outcome) -> Reply:
    return as_json(
        {
            "action": outcome.action.value,
            "content": outcome.content,
            "reason": outcome.reason,
        }
    )
