"""The context of a request while it is answered, for its log line, its metrics and its headers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from flask import request

if TYPE_CHECKING:
    from dlpctl.control.rates import Allowance
    from dlpctl.control.writer import Ticket
    from dlpctl_daemon.lanes import Share

KEY = "dlpctl.request"
"""The key of a request's context in the environ."""
QUEUED = "dlpctl.queued"
"""The key of the lane and the seconds that a request has waited, in the environ."""
IDENTIFIED = "dlpctl.identified"
"""The key of what is told whose credential it is, where that was not known before."""
HEADERS_ONLY = "dlpctl.headers_only"
"""The key that marks a request of which only the headers have been read, to admit its body or not.
"""
_ADDRESS = re.compile(r"[0-9A-Fa-f.:]{2,45}")
_ID = re.compile(r"[a-z]{2,3}_[0-9a-f]{24}")
_OBJECTS = ("preflight_id", "policy_id", "group_id", "license_id", "token_id", "key_id", "org_id")


class RequestContext:
    __slots__ = (
        "allowance",
        "began",
        "body_limit",
        "caller",
        "challenge",
        "client",
        "content",
        "decision",
        "identified",
        "is_admitted",
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
        """The address of the client, which a trusted proxy reports."""
        self.began = time.perf_counter()
        self.status = 0
        self.route: str | None = None
        """The declared path. An unknown path is not kept, since it may hold anything."""
        self.challenge = ""
        """The challenge that names the credential which the endpoint needs."""
        self.caller: str | None = None
        """The id of the policy or token whose key was sent."""
        self.identified: Callable[[Share], None] | None = None
        """Told whose credential was sent, where that was not known before."""
        self.objects: dict[str, str] = {}
        """The ids of the requested and created objects. Only known ids: anything else may be a
        value.
        """
        self.content = ""
        """The content of a check: `text` or `file`."""
        self.decision: str | None = None
        self.ticket: Ticket[None] | None = None
        """The ticket of a check that must be recorded before it is answered."""
        self.allowance: Allowance | None = None
        self.queued: tuple[str, float] | None = None
        """The lane that the request waited in, and for how many seconds."""
        self.body_limit = 0
        """The largest number of bytes of the body."""
        self.is_admitted = False
        """The application accepts the request by its headers, so that its body may be read."""

    def identify(self, share: Share) -> str:
        """Record and return the caller; from now on its organization waits for the request."""
        self.caller = share.key
        if self.identified is not None:
            self.identified(share)
        return share.key

    def add_path_ids(self, path: Mapping[str, str]) -> None:
        """Add the ids among the parameters of a path."""
        for name in _OBJECTS:
            if name in path and _ID.fullmatch(path[name]):
                self.objects[name] = path[name]

    def add_answer_ids(self, answer: Mapping[str, object]) -> None:
        for name in _OBJECTS:
            if value := answer.get(name):
                self.objects[name] = str(value)


@lru_cache(maxsize=1024)
def _address(client: str) -> str:
    return client if _ADDRESS.fullmatch(client) else ""


def request_context() -> RequestContext:
    """Return the context of the request that this thread answers."""
    made: RequestContext = request.environ[KEY]
    return made
