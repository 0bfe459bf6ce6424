"""One request and its answer from the client's side, over ASGI."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from dlpctl.errors import InputError, OutputError
from dlpctl.gateway.bodies import RefusedError
from dlpctl.gateway.calls import CallLog, CallRecord, Metrics, tell
from dlpctl.gateway.protocol import Failure, Protocol
from dlpctl.gateway.upstream import UpstreamError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[str, str]]

_HOP_BY_HOP = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_PREFIX = "x-dlpctl-"
_DISCARDED_BYTES = 16 << 20
_DISCARDING_SECONDS = 2.0


class Exchange:
    """A client's request and the answer to it, logged once."""

    def __init__(
        self, scope: Message, receive: Receive, send: Send, log: CallLog, metrics: Metrics
    ) -> None:
        self._receive = receive
        self._send = send
        self._log = log
        self._metrics = metrics
        self._started = self._is_logged = False
        self.method: str = scope["method"]
        self.scheme: str = scope.get("scheme", "http")
        self.name, _, self.rest = scope["path"].removeprefix("/").partition("/")
        self.query: bytes = scope.get("query_string", b"")
        self.given: Headers = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope["headers"]
        ]
        self.headers = dict(self.given)
        self.added = 0.0
        """The seconds that the gateway has added."""
        self.record = CallRecord(
            f"gw_{os.urandom(12).hex()}", self.name, "", "REFUSED", {}, 0, 0.0, 0
        )

    def know(self, **known: Any) -> None:
        """Add facts about the call to its log record."""
        self.record = self.record._replace(**known)

    async def body(self, most: int, seconds: float) -> bytes:
        """Return the body; raise `RefusedError` if it is too large or too slow."""
        given = self.headers.get("content-length", "")
        too_large = RefusedError(413, f"the body has more than {most:,} bytes")
        if given.isdecimal() and int(given) > most:
            await self._discard()
            raise too_large
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise ConnectionResetError
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        await self._discard()
                        raise too_large
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise RefusedError(408, "the body did not arrive in time") from None

    async def _discard(self) -> None:
        """Read on for a while, so that a client that sends everything first still gets the
        reason.
        """
        left = _DISCARDED_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(_DISCARDING_SECONDS):
                while left > 0:
                    message = await self._receive()
                    if not message.get("more_body"):
                        return
                    left -= len(message["body"])

    async def gone(self) -> None:
        """Return once the client has disconnected."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def complete(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a complete answer."""
        length = [("content-length", str(len(body)))] if status != 204 else []
        await self._start(status, [*without_length(headers), *length])
        self.finished(status)
        await self._send({"type": "http.response.body", "body": body})

    async def stream(
        self,
        status: int,
        headers: Headers,
        chunks: AsyncIterator[bytes],
        error: Callable[[Failure], bytes] | None = None,
    ) -> None:
        """Send an answer as it arrives; `error` returns the end of a stream that fails."""
        await self._start(status, headers)
        try:
            async for chunk in chunks:
                if chunk:
                    await self._more(chunk)
        except (UpstreamError, InputError) as problem:
            if error is None:
                self.finished(502)
                raise ConnectionResetError from None
            await self._more(error(Failure(502, f"dlpctl: {problem.message}")))
        self.finished(status)
        await self._send({"type": "http.response.body", "body": b""})

    async def fail(self, protocol: Protocol | None, failure: Failure) -> None:
        """Answer with an error in the provider's format."""
        if self._started:
            return
        body, media_type = f"{failure.message}\n".encode(), "text/plain; charset=utf-8"
        if protocol is not None:
            body, media_type = protocol.error(failure), "application/json"
        headers = [("content-type", media_type)]
        if failure.status in (408, 413):
            headers.append(("connection", "close"))
        if failure.status < 500 and failure.status not in (408, 429):
            headers.append(("x-should-retry", "false"))
        await self.complete(failure.status, headers, body)

    def finished(self, status: int) -> None:
        """Log the call after it has ended."""
        if self._is_logged or "/" not in self.record.route:
            return
        self._is_logged = True
        self.know(status=status, added_ms=round(self.added * 1_000, 2))
        self._metrics.call(self.record)
        try:
            self._log.write(self.record)
        except OutputError as problem:  # the decision itself has been recorded already
            tell(problem.message)

    async def _start(self, status: int, headers: Headers) -> None:
        self._started = True
        own = (
            ("x-dlpctl-check-id", self.record.id),
            ("x-dlpctl-decision", self.record.decision),
            ("x-dlpctl-overhead-ms", f"{self.added * 1_000:.1f}"),
        )
        written = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in (*headers, *own)
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": written})

    async def _more(self, chunk: bytes) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})


def end_to_end(given: Any, dropped: frozenset[str]) -> Headers:
    """Return the end-to-end headers, without those that concern only this connection."""
    named = {
        each.strip().lower()
        for name, value in given
        if name.lower() == "connection"
        for each in value.split(",")
    }
    left_out = dropped | _HOP_BY_HOP | named
    return [
        (name.lower(), value)
        for name, value in given
        if name.lower() not in left_out and not name.lower().startswith(_PREFIX)
    ]


def without_length(headers: Headers) -> Headers:
    return [(name, value) for name, value in headers if name != "content-length"]
