"""The events of an agent as data: the purpose of each, and the fields that hold its content."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.agents.events import Event, EventKind, ToolClass, UnknownEventError

_TEXTS = (EventKind.PROMPT, EventKind.FAILURE, EventKind.FILE, EventKind.DISPLAY)
_OF_TOOLS = (EventKind.INPUT, EventKind.RESULT, EventKind.FAILURE)
_MISSING = object()


class EventSource(NamedTuple):
    """The purpose of an event and the field of its content.

    A field is a name, or alternatives of which the payload has one: `sessionId session_id`; dots
    descend into objects: `tool_info.cwd`.
    """

    purpose: EventKind
    content: str = ""
    """Empty if nothing is inspected."""
    can_replace: bool = False
    tool: str = ""
    """The tool, for payloads that do not name it."""
    tool_class: ToolClass | None = None


class EventTable(NamedTuple):
    """All events of an agent."""

    agent: str
    title: str
    sources: Mapping[str, EventSource]
    classes: Mapping[str, ToolClass] = {}
    name: str = "hook_event_name"
    session: str = "session_id"
    folder: str = "cwd"
    tool: str = "tool_name"
    arguments: str = "tool_input"
    files: str = ""
    """The field that lists the files attached to a prompt."""
    masks_results: bool = True
    masks_errors: bool = True
    keeps_arguments: bool = False

    def read(self, payload: Mapping[str, Any], name: str = "") -> Event:
        """Return the event; raise `UnknownEventError` if its format is unknown."""
        name = name or _text(payload, self.name)
        source = self.sources.get(name)
        if source is None:
            raise UnknownEventError(f"{self.title} sent an unknown event {name[:40]!r}")
        session, folder = _text(payload, self.session), _found(payload, self.folder)
        if isinstance(folder, list):
            folder = next(iter(folder), "")
        working = Path(folder if isinstance(folder, str) else "")
        event = Event(self.agent, name, source.purpose, session, working)
        if not source.content:
            return event
        read = _text if source.purpose in _TEXTS else _value
        tool = source.tool
        if source.purpose in _OF_TOOLS and not tool:
            tool = _text(payload, self.tool)
        arguments = from_json(_found(payload, self.arguments))
        content = read(payload, source.content)
        return event._replace(
            content=from_json(content) if source.purpose is EventKind.INPUT else content,
            can_replace=source.can_replace,
            tool=tool,
            tool_class=source.tool_class or self.classes.get(tool, ToolClass.REMOTE),
            arguments=None if arguments is _MISSING else arguments,
            masks_results=self.masks_results,
            masks_errors=self.masks_errors,
            keeps_arguments=self.keeps_arguments,
            files=tuple(_files(_found(payload, self.files))),
        )


def _files(listed: Any) -> Iterator[str]:
    """Yield the paths in a list of files."""
    for each in listed if isinstance(listed, list) else ():
        path = _found(each, "file_path filePath path") if isinstance(each, dict) else each
        if not isinstance(path, str):
            raise UnknownEventError("the event has a file without a path")
        yield path


def from_json(value: Any) -> Any:
    """Return the arguments or the result of a tool that the agent has written as JSON."""
    with suppress(ValueError, RecursionError):
        return json.loads(value) if isinstance(value, str) else value
    return value


def ignored(names: str) -> dict[str, EventSource]:
    """Return sources for events that send nothing to the model."""
    return dict.fromkeys(names.split(), EventSource(EventKind.NOTHING))


def _text(payload: Mapping[str, Any], field: str) -> str:
    value = _found(payload, field)
    if not isinstance(value, str):
        raise UnknownEventError(f"the field {field!r} of the event is missing or not text")
    return value


def _value(payload: Mapping[str, Any], field: str) -> Any:
    value = _found(payload, field)
    if value is _MISSING:
        raise UnknownEventError(f"the event has no field {field!r}")
    return value


def _found(payload: Mapping[str, Any], field: str) -> Any:
    """Return the first alternative that is present and not empty."""
    found: Any = _MISSING
    for path in field.split():
        value: Any = payload
        for key in path.split("."):
            value = value.get(key, _MISSING) if isinstance(value, dict) else _MISSING
        found = found if value is _MISSING else value
        if found not in (_MISSING, ""):
            break
    return found
