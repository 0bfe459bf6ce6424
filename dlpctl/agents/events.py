"""Events of coding agents, and what is decided about them, in one form for all agents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dlpctl.errors import DlpctlError

if TYPE_CHECKING:
    from collections.abc import Mapping


class EventKind(StrEnum):
    """The purpose of an event: what its content is and where it goes next."""

    PROMPT = "prompt"
    """Text of the user that goes to the model."""
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
    """The use that a tool makes of its arguments."""

    WRITES = "writes"
    """Writes files or shows text on this machine: tokens are restored."""
    READS = "reads"
    """Reads a file that an argument names."""
    SHELL = "shell"
    """Runs a command."""
    LOCAL = "local"
    """Neither writes, reads nor sends content: lists of files and of tasks."""
    REMOTE = "remote"
    """Sends its arguments elsewhere, as do all tools that are not known."""


class Event(NamedTuple):
    """An event of a session of an agent."""

    agent: str
    name: str
    purpose: EventKind
    session: str
    folder: Path
    """The working folder of the agent; relative to that of the hook."""
    content: Any = None
    """The text or the JSON that is inspected."""
    can_replace: bool = False
    """True if the agent accepts other content instead; otherwise sensitive content is refused."""
    tool: str = ""
    tool_class: ToolClass = ToolClass.REMOTE
    masks_results: bool = False
    """True if an event follows in which the tool's output can be replaced."""
    arguments: Any = None
    """The arguments of the tool whose result the content is."""
    files: tuple[str, ...] = ()
    """The files that a prompt brings with it."""
    keeps_arguments: bool = False
    """True if the agent sends arguments that were replaced to the model afterwards."""
    masks_errors: bool = True
    """True if that is so for a command that fails, too."""


class Action(StrEnum):
    PASS = "pass"  # noqa: S105 -- it is no password
    REPLACE = "replace"
    REFUSE = "refuse"


class Outcome(NamedTuple):
    """The decision about an event."""

    action: Action
    content: Any = None
    """The content that replaces the one of the event, in exactly its form."""
    reason: str = ""
    """The reason, for the user and the model; without any sensitive value."""


PASSED = Outcome(Action.PASS)


class Reply(NamedTuple):
    """The answer of a hook, as its agent expects it."""

    out: str = ""
    error: str = ""
    status: int = 0


class UnknownEventError(DlpctlError):
    """An event of an unknown agent, or of an unknown form."""

    code = "unknown-event"
    exit_status = 2

    def __init__(self, problem: str) -> None:
        advice = (
            "update dlpctl, or let such events pass by agents.on_failure = 'allow' in your settings"
        )
        super().__init__(f"{problem}; {advice}")


Group = TypeVar("Group")


def by_name(groups: Mapping[Group, str]) -> dict[str, Group]:
    """Return the group of each name, where names are listed by group."""
    return {name: group for group, names in groups.items() for name in names.split()}
