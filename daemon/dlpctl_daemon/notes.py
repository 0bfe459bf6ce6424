"""Notes on a request while it is answered: for its log line, its metrics and its headers."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from flask import request

if TYPE_CHECKING:
    from dlpctl.control.writer import Ticket
    from dlpctl_daemon.limits import Allowance

KEY = "dlpctl.note"
"""The key of a request's note in the environ."""
QUEUED = "dlpctl.queued"
"""The key of the lane that a request has waited in and the seconds, in the environ."""
HEADERS_ONLY = "dlpctl.headers_only"
"""The key that tells that only the headers have been read: the application decides about the body.
"""
_ADDRESS = re.compile(r"[0-9A-Fa-f.:]{2,45}")
_ID = re.compile(r"[a-z]{2,3}_[0-9a-f]{24}")
_OBJECTS = ("preflight_id", "policy_id", "group_id", "license_id", "token_id", "key_id", "org_id")


class Note:
    __slots__ = (
        "allowance",
        "began",
        "body_limit",
        "caller",
        "challenge",
        "client",
        "decision",
        "is_admitted",
        "kind",
        "objects",
        "queued",
        "request_id",
        "route",
        "status",
        "ticket",
    )

    def __init__(self, request_id: str, client: str = "") -> None:
        self.request_id = request_id
        self.client = _address(client)
        """The address that the request came from, or that the trusted proxy says it came from."""
        self.began = time.perf_counter()
        self.status = 0
        self.route: str | None = None
        """The path as it is declared; a request that leads nowhere has none, since its path may
        hold anything.
        """
        self.challenge = ""
        """The challenge that tells a client which credential opens the endpoint."""
        self.caller: str | None = None
        """The id of the policy or token whose key was sent."""
        self.objects: dict[str, str] = {}
        """The ids of what was asked for or made. What only looks like an id, or names nothing, may
        be a value.
        """
        self.kind = ""
        """The content of a check: `text` or `file`."""
        self.decision: str | None = None
        self.ticket: Ticket[None] | None = None
        """The ticket of a check that must be recorded before it is answered."""
        self.allowance: Allowance | None = None
        self.queued: tuple[str, float] | None = None
        """The lane that the request waited in, and for how many seconds."""
        self.body_limit = 0
        """Bytes that its body may have."""
        self.is_admitted = False
        """Whether the application accepts the request by its headers, so that its body may be read.
        """

    def asks_for(self, path: Mapping[str, str]) -> None:
        """Note the ids among the parameters of a path."""
        for name in _OBJECTS:
            if name in path and _ID.fullmatch(path[name]):
                self.objects[name] = path[name]

    def gives(self, answer: Mapping[str, object]) -> None:
        """Note the ids in an answer."""
        for name in _OBJECTS:
            if value := answer.get(name):
                self.objects[name] = str(value)


@lru_cache(maxsize=1024)
def _address(client: str) -> str:
    return client if _ADDRESS.fullmatch(client) else ""


def note() -> Note:
    """Return the note of the request that this thread answers."""
    made: Note = request.environ[KEY]
    return made
