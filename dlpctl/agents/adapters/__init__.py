"""One adapter for each agent, registered by being a module in this folder. An adapter reads the
events of its agent, writes answers in the agent's format, and describes how to install its hooks.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from dlpctl.agents.events import Event, Outcome, Reply, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dlpctl.agents.installing import Installation


class Adapter(Protocol):
    """The members of an adapter's module."""

    NAME: str
    TITLE: str
    INSTALLATION: Installation

    def matches(self, payload: Mapping[str, Any]) -> bool:
        """Return whether an event comes from this agent; at most one agent matches."""

    def read(self, payload: Mapping[str, Any]) -> Event:
        """Return the event; raise `UnknownEventError` if its format is unknown."""

    def reply(self, event: Event, outcome: Outcome) -> Reply: ...


@cache
def adapters() -> dict[str, Adapter]:
    """Return all adapters by agent name."""
    files = sorted(Path(__file__).parent.glob("[!_]*.py"))
    modules = [cast(Adapter, import_module(f"{__name__}.{file.stem}")) for file in files]
    return {module.NAME: module for module in modules}


def detect(payload: object) -> Adapter:
    """Return the adapter of the agent that sent an event."""
    if not isinstance(payload, dict):
        raise UnknownEventError("the event is not a JSON object")
    found = [adapter for adapter in adapters().values() if adapter.matches(payload)]
    if len(found) != 1:
        raise UnknownEventError("the event comes from no agent that dlpctl knows")
    return found[0]


def as_json(value: object) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=True, separators=(",", ":")))
