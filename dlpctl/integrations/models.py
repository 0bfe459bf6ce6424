"""Requests to models, masked in the process of the application, for transports of HTTP clients."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from dlpctl.config import FileLimits
from dlpctl.errors import InputError, UsageError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.admission import Grant, grant
from dlpctl.gateway.bodies import RefusedError
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.protocol import Failure, Protocol, Route
from dlpctl.gateway.protocols import PROTOCOLS
from dlpctl.gateway.requests import Prepared, Request, keep, prepare
from dlpctl.gateway.restoring import Restorer
from dlpctl.gateway.streams import EventStream
from dlpctl.policy.model import Policy
from dlpctl.preflight import checker_for

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.types import Destination

_DAY = 86_400.0
_EVENTS = "text/event-stream"
_LINES = ("application/x-ndjson", "application/jsonl", "application/x-jsonl")


class Masked(NamedTuple):
    """A request whose values are masked."""

    body: bytes
    request: Request
    prepared: Prepared

    @property
    def restorer(self) -> Restorer:
        return Restorer(self.prepared.conversation, self.prepared.names)

    @property
    def route(self) -> Route:
        return self.request.route


class MaskedModels:
    """Masks requests of one protocol, and restores the answers. Threads may share it."""

    def __init__(
        self,
        protocol: str,
        *,
        destination: Destination | str = "AI_TOOL",
        policy: Policy | None = None,
        operator: str = "token",
        key: bytes | None = None,
        detector: Detector | None = None,
    ) -> None:
        """`key` makes the same tokens in each process; without it, they are those of this one."""
        if protocol not in PROTOCOLS:
            raise UsageError(f"no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
        key = key or os.urandom(32)
        checker = checker_for(
            destination, policy or Policy.builtin("ai-prompts"), detector, operator, key
        )
        self.protocol: Protocol = PROTOCOLS[protocol]
        self._grant: Grant = grant(checker, FileLimits(), key, lambda *_: None, refuses_unread=True)
        self._conversations = Conversations(_DAY)

    def mask(
        self, method: str, path: str, query: bytes, headers: Mapping[str, str], body: bytes
    ) -> Masked:
        """Mask a request; raise `RefusedError` where it may not be sent."""
        route, ids = self._route(method, path)
        lowered = {name.lower(): value for name, value in headers.items()}
        pairs = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        request = Request(self.protocol.name, route, ids, pairs, lowered, body)
        prepared = prepare(request, self._grant, self._conversations)
        return Masked(prepared.body, request, prepared)

    def restore(self, masked: Masked, body: bytes) -> bytes:
        """Return the body of an answer with its values."""
        restorer, shape = masked.restorer, masked.route.shape
        if not body or masked.route.is_raw:
            return body
        try:
            text = jsonbody.decoded(body)
            document = jsonbody.loads(text)
        except InputError:
            return body
        found = [jsonbody.at(document, path.split(".")) for path in shape.kept]
        self._keep(masked, [each for each in found if isinstance(each, str)])
        return restorer.json(text, shape).encode("utf-8") if restorer.is_needed else body

    def stream(self, masked: Masked, content_type: str) -> EventStream | None:
        """Return what restores a stream; None for an answer that is no stream."""
        media_type = content_type.partition(";")[0].strip().lower()
        if media_type != _EVENTS and media_type not in _LINES:
            return None
        return EventStream(masked.route.shape, masked.restorer, is_lines=media_type != _EVENTS)

    def ended(self, masked: Masked, stream: EventStream) -> None:
        """Keep the values for requests that refer to the answer."""
        self._keep(masked, stream.ids)

    def refusal(self, refused: RefusedError) -> bytes:
        """Return the body of an error, as the provider writes it."""
        return self.protocol.error(Failure(refused.status, f"dlpctl: {refused.message}"))

    def _keep(self, masked: Masked, ids: list[str]) -> None:
        keep(ids, masked.request, self._grant, self._conversations, masked.restorer.values)

    def _route(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the route at the end of a path, which the address of a provider may start."""
        parts = Path(path).parts[1:]
        for start in range(len(parts)):
            tail = "/" + "/".join(parts[start:])
            for route in self.protocol.routes:
                match = route.pattern.fullmatch(tail)
                if match is not None and route.method == method:
                    return route, match.groups()
        raise RefusedError(404, "this route is not known, and nothing was sent")
