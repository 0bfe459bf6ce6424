"""Answer an event of a hook: whatever goes wrong, the answer is no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.agents.adapters import detect
from dlpctl.agents.client import LARGEST, REFUSED
from dlpctl.agents.events import Action, Outcome, Reply, UnknownEventError
from dlpctl.errors import DlpctlError, fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlpctl.agents.adapters import Adapter
    from dlpctl.agents.events import Event
    from dlpctl.agents.guard import Guard

_HERE = Path()


def answer(
    data: bytes, guard: Callable[[], Guard], *, folder: Path = _HERE, allow: bool = False
) -> Reply:
    """Return the answer to an event of a hook that runs in a folder; where it cannot be inspected,
    it is refused unless `allow`.
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
    """Return an event with the adapter of its agent; raise `UnknownEventError`."""
    if len(data) > LARGEST:
        raise UnknownEventError(f"the event is larger than {LARGEST:,} bytes")
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        raise UnknownEventError("the event is not JSON") from None
    adapter = detect(payload)
    return adapter, adapter.read(payload)


def failed(reason: str, *, allow: bool) -> Reply:
    """Return the answer where nobody knows what the agent expects."""
    if allow:
        return Reply(error=f"dlpctl: not inspected: {reason}\n")
    return Reply(error=f"dlpctl: refused: {reason}\n", status=REFUSED)


def _refused(adapter: Adapter, event: Event, reason: str) -> Reply:
    try:
        return _checked(adapter.reply(event, Outcome(Action.REFUSE, reason=reason)))
    except Exception:
        return failed(reason, allow=False)


def _checked(reply: Reply) -> Reply:
    """Return an answer that can be written: JSON of a lone surrogate is escaped, a message not."""
    return reply._replace(error=reply.error.encode("utf-8", "replace").decode("utf-8"))
