"""What is noted of a request while it is answered: for its log line, its metrics and its headers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from flask import request

if TYPE_CHECKING:
    from dlpctl.control.writer import Ticket
    from dlpctl_daemon.endpoints import Guard
    from dlpctl_daemon.limits import Allowance

KEY = "dlpctl.note"


class Note:
    __slots__ = (
        "allowance",
        "began",
        "caller",
        "decision",
        "guard",
        "kind",
        "request_id",
        "route",
        "status",
        "ticket",
    )

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.began = time.perf_counter()
        self.status = 0
        self.route: str | None = None
        """The path as it is declared; a request that leads nowhere has none, since its path may hold anything."""
        self.guard: Guard | None = None
        self.caller: str | None = None
        """The id of the policy or token whose key was sent."""
        self.kind = ""
        """What was checked: a text or a file."""
        self.decision: str | None = None
        self.ticket: Ticket[None] | None = None
        """Of a check that must be recorded before it is answered."""
        self.allowance: Allowance | None = None


def note() -> Note:
    """Of the request that this thread answers."""
    made: Note = request.environ[KEY]
    return made
