"""Answer the events of hooks: whatever goes wrong, the event is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.agents.adapters import Adapter, detect
from dlpctl.agents.client import LARGEST, REFUSED
from dlpctl.agents.events import Action, Event, Outcome, Reply, UnknownEventError
from dlpctl.errors import DlpctlError, fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlpctl.agents.guard import Guard

_HERE = Path()


def answer(
    data: bytes, guard: Callable[[], Guard], *, folder: Path = _HERE, allow: bool = False
) -> Reply:
    """Return the answer to the event of a hook that runs in a folder. An event that cannot be
    inspected is refused unless `allow`.
    """
    try:
        adapter, event = read_event(data)
        event = event._replace(folder=folder / event.folder)
    except DlpctlError as problem:
        return failed(problem.message, allow=allow)
    except Exception as problem:  # its message may hold values
        return failed(fault(problem), allow=allow)
    try:
        return _checked(adapter.reply(event, guard().decide(event)))
    except DlpctlError as problem:
        reason = problem.message
    except Exception as problem:
        reason = f"internal error: {fault(problem)}"
    if allow:
        return failed(reason, allow=True)
    return _refused(adapter, event, f"dlpctl could not inspect this: {reason}")


def read_event(data: bytes) -> tuple[Adapter, Event]:
    """Return an event and the adapter of its agent; raise `UnknownEventError`."""
    if len(data) > LARGEST:
        raise UnknownEventError(f"the event is larger than {LARGEST:,} bytes")
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        raise UnknownEventError("the event is not JSON") from None
    adapter = detect(payload)
    return adapter, adapter.read(payload)


def failed(reason: str, *, allow: bool) -> Reply:
    """Return an answer for an event whose agent is unknown."""
    if allow:
        return Reply(error=f"dlpctl: not inspected: {reason}\n")
    return Reply(error=f"dlpctl: refused: {reason}\n", status=REFUSED)


def _refused(adapter: Adapter, event: Event, reason: str) -> Reply:
    try:
        return _checked(adapter.reply(event, Outcome(Action.REFUSE, reason=reason)))
    except Exception:
        return failed(reason, allow=False)


def _checked(reply: Reply) -> Reply:
    """Return a reply that can be encoded: lone surrogates are escaped in JSON, replaced in text."""
    return reply._replace(error=reply.error.encode("utf-8", "replace").decode("utf-8"))
