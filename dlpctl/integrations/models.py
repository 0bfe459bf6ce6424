"""Mask requests to models inside the application's process, for transports of HTTP clients."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from dlpctl.config import FileLimits
from dlpctl.errors import UsageError
from dlpctl.gateway.admission import Grant, grant
from dlpctl.gateway.bodies import RefusedError, decompressed
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.protocol import Failure, Protocol, Route
from dlpctl.gateway.protocols import PROTOCOLS
from dlpctl.gateway.requests import Request, keep, prepare
from dlpctl.integrations.answers import Masked, RestoredAnswer
from dlpctl.policy.model import Policy
from dlpctl.preflight import checker_for

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.types import Destination

_DAY = 86_400.0


class MaskedModels:
    """Masks requests of one protocol, and restores the answers. Thread-safe."""

    def __init__(
        self,
        protocol: str | Protocol,
        *,
        destination: Destination | str = "AI_TOOL",
        policy: Policy | None = None,
        operator: str = "token",
        key: bytes | None = None,
        detector: Detector | None = None,
        body_bytes: int = 32 << 20,
    ) -> None:
        """With the same `key`, every process makes the same tokens; without it, tokens differ.

        `body_bytes` is the maximum size of a body after decompression.
        """
        self.body_bytes = body_bytes
        key = key or os.urandom(32)
        checker = checker_for(
            destination, policy or Policy.builtin("ai-prompts"), detector, operator, key
        )
        self.protocol = protocol if isinstance(protocol, Protocol) else _named(protocol)
        self._grant: Grant = grant(checker, FileLimits(), key, lambda *_: None, refuses_unread=True)
        self._conversations = Conversations(_DAY)

    def mask(
        self, method: str, path: str, query: bytes, headers: Mapping[str, str], body: bytes
    ) -> Masked:
        """Mask a request; raise `RefusedError` if it may not be sent."""
        route, ids = self._route(method, path)
        lowered = {name.lower(): value for name, value in headers.items()}
        pairs = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        plain = decompressed(body, lowered.get("content-encoding", ""), self.body_bytes)
        request = Request(self.protocol.name, route, ids, pairs, lowered, plain)
        prepared = prepare(request, self._grant, self._conversations)
        return Masked(prepared.body, request, prepared)

    def answer(
        self, masked: Masked, status: int, headers: Iterable[tuple[str, str]]
    ) -> RestoredAnswer:
        """Return an object that restores an answer with these headers."""
        return RestoredAnswer(masked, status, list(headers), partial(self._keep, masked))

    def refusal(self, refused: RefusedError) -> bytes:
        """Return the body of an error in the provider's format."""
        return self.protocol.error(Failure(refused.status, f"dlpctl: {refused.message}"))

    def _keep(self, masked: Masked, ids: list[str]) -> None:
        keep(ids, masked.request, self._grant, self._conversations, masked.restorer.values)

    def _route(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the route at the end of a path, which may start with the path of a provider's
        URL.
        """
        parts = Path(path).parts[1:]
        for start in range(len(parts)):
            tail = "/" + "/".join(parts[start:])
            for route in self.protocol.routes:
                match = route.pattern.fullmatch(tail)
                if match is not None and route.method == method:
                    return route, match.groups()
        raise RefusedError(404, "this route is not known; nothing was sent")


def _named(protocol: str) -> Protocol:
    if protocol not in PROTOCOLS:
        raise UsageError(f"no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[protocol]
