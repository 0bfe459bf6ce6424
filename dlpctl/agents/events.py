"""Events of coding agents and the decisions about them, in one form for all agents."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dlpctl.errors import DlpctlError


class EventKind(StrEnum):
    """The purpose of an event: what it contains and where that goes next."""

    PROMPT = "prompt"
    """Text from the user to the model."""
    INPUT = "input"
    """The arguments of a tool, before it runs."""
    RESULT = "result"
    """The output of a tool, before the model sees it."""
    FAILURE = "failure"
    """The error of a tool, which cannot be replaced."""
    FILE = "file"
    """The content of a file, or its path, before the agent reads it."""
    DISPLAY = "display"
    """Text of the model that is shown to the user."""
    NOTHING = "nothing"
    """An event that sends nothing to the model, or that no answer can change."""


class ToolClass(StrEnum):
    """The effect of a tool, by which its arguments are treated."""

    WRITES = "writes"
    """Writes files or shows text on this machine: tokens are restored."""
    READS = "reads"
    """Reads a file named by an argument."""
    SHELL = "shell"
    """Runs a command."""
    LOCAL = "local"
    """Neither reads, writes nor sends content: lists of files and of tasks."""
    REMOTE = "remote"
    """Sends its arguments elsewhere; unknown tools are assumed to."""


class Event(NamedTuple):
    """An event of a session of an agent."""

    agent: str
    name: str
    purpose: EventKind
    session: str
    folder: Path
    """The agent's working folder; if relative, it starts at the hook's own."""
    content: Any = None
    """The text or JSON to inspect."""
    can_replace: bool = False
    """True if the agent accepts replaced content; otherwise sensitive content is refused."""
    tool: str = ""
    tool_class: ToolClass = ToolClass.REMOTE
    masks_results: bool = False
    """True if a later event can replace the tool's output."""
    arguments: Any = None
    """The arguments of the tool that produced the result."""
    files: tuple[str, ...] = ()
    """The files attached to a prompt."""
    keeps_arguments: bool = False
    """True if the model sees arguments that were replaced."""
    masks_errors: bool = True
    """True if a later event can replace the output of a command that fails, too."""


class Action(StrEnum):
    PASS = "pass"  # noqa: S105 -- it is no password
    REPLACE = "replace"
    REFUSE = "refuse"


class Outcome(NamedTuple):
    """The decision about an event."""

    action: Action
    content: Any = None
    """The content that replaces the event's, in exactly the same shape."""
    reason: str = ""
    """The reason, for the user and the model; without sensitive values."""


PASSED = Outcome(Action.PASS)


class Reply(NamedTuple):
    """The answer of a hook in the format that the agent expects."""

    out: str = ""
    error: str = ""
    status: int = 0


class UnknownEventError(DlpctlError):
    """An event from an unknown agent or in an unknown format."""

    code = "unknown-event"
    exit_status = 2

    def __init__(self, problem: str) -> None:
        advice = "update dlpctl, or set agents.on_failure = 'allow' to let such events pass"
        super().__init__(f"{problem}; {advice}")


Group = TypeVar("Group")


def by_name(groups: Mapping[Group, str]) -> dict[str, Group]:
    """Return the group of each name, given the names of each group."""
    return {name: group for group, names in groups.items() for name in names.split()}
