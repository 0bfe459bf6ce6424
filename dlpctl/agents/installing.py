"""The location and format of hooks in the settings of agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

HOOK_PATH = "/api/hooks/claude-code"
"""The path at which the daemon answers events of Claude Code."""
SECONDS = 30
"""The seconds after which an agent gives up on a hook; the hook itself answers well before."""


class CommandHooks(NamedTuple):
    """Entries in the format of Claude Code: groups of commands with a matcher, for each event."""

    events: Mapping[str, str | None]
    """The events with the matchers of their groups."""
    seconds: int = 1
    """One second in the unit of the agent's time-outs."""
    speaks_http: bool = False
    """True if the agent can send events over HTTP instead of running a command."""

    def handler(self, command: str) -> dict[str, Any]:
        return {"type": "command", "command": command, "timeout": SECONDS * self.seconds}

    def entries(self, handler: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Return the entry of each event."""
        return {
            event: {"hooks": [handler]}
            if matcher is None
            else {"matcher": matcher, "hooks": [handler]}
            for event, matcher in self.events.items()
        }

    @property
    def preamble(self) -> dict[str, Any]:
        return {}


class FileHooks(NamedTuple):
    """Entries in a hooks file: commands for each event."""

    events: tuple[str, ...]
    timeout: str | None
    """The name of the time-out field; empty if there is none."""
    fields: Mapping[str, Any] = {}
    typed: bool = True
    """True if an entry must say that it is a command."""
    version: int | None = 1

    def handler(self, command: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "command"} if self.typed else {}
        entry |= {"command": command}
        entry |= {} if self.timeout is None else {self.timeout: SECONDS}
        return entry | dict(self.fields)

    def entries(self, handler: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        return dict.fromkeys(self.events, handler)

    @property
    def preamble(self) -> dict[str, Any]:
        return {} if self.version is None else {"version": self.version}


class PluginFile(NamedTuple):
    """A plugin in a file of its own."""

    template: str


class McpFiles(NamedTuple):
    """The files that list the MCP servers of an agent."""

    user: str
    project: str = ""
    key: str = "mcpServers"
    """The key of the object that holds the servers."""


class Installation(NamedTuple):
    """The place where an agent looks for hooks."""

    user_file: str
    project_file: str
    program: str
    """The program whose presence shows that the agent is installed."""
    hooks: CommandHooks | FileHooks | PluginFile
    remark: str = ""
    """A step that the user has to do."""
    variable: str = ""
    """The environment variable that overrides the first folder of `user_file`."""
    mcp: McpFiles | None = None
