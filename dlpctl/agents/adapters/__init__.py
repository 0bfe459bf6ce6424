"""The agents: modules in this folder, found by being there. Each reads the events of its agent,
writes the answers in that agent's form, and says how its hooks are installed.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from dlpctl.agents.events import Reply, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dlpctl.agents.events import Event, Outcome
    from dlpctl.agents.installing import Installation


class Adapter(Protocol):
    """The members of an adapter's module."""

    NAME: str
    TITLE: str
    INSTALLATION: Installation

    def matches(self, payload: Mapping[str, Any]) -> bool:
        """Return whether an event comes from this agent; at most one agent matches."""

    def read(self, payload: Mapping[str, Any]) -> Event:
        """Return the event; raise `UnknownEventError` for one of an unknown form."""

    def reply(self, event: Event, outcome: Outcome) -> Reply: ...


@cache
def adapters() -> dict[str, Adapter]:
    """Return all adapters by the names of their agents."""
    files = sorted(Path(__file__).parent.glob("[!_]*.py"))
    modules = [cast(Adapter, import_module(f"{__name__}.{file.stem}")) for file in files]
    return {module.NAME: module for module in modules}


def detect(payload: object) -> Adapter:
    """Return the adapter of the agent that sent an event."""
    if not isinstance(payload, dict):
        raise UnknownEventError("the event is not a JSON object")
    found = [adapter for adapter in adapters().values() if adapter.matches(payload)]
    if len(found) != 1:
        raise UnknownEventError("the event is of no agent that dlpctl knows")
    return found[0]


def as_json(value: object) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=True, separators=(",", ":")))
