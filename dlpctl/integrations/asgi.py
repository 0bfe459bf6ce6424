"""A middleware for ASGI applications, such as those of Starlette and FastAPI.

app.add_middleware(MaskingMiddleware)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from dlpctl.gateway.bodies import RefusedError
from dlpctl.integrations.applications import MaskedApplication

if TYPE_CHECKING:
    from dlpctl.integrations.answers import Masked, RestoredAnswer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_OF_THE_BODY = ("content-length", "content-encoding", "transfer-encoding", "accept-encoding")
_UNREAD = ("http.response.pathsend", "http.response.zerocopysend")
"""The extensions by which an answer would bypass the middleware."""


class MaskingMiddleware:
    """Masks requests or refuses them, and restores answers and streams."""

    def __init__(self, app: Callable[..., Awaitable[None]], **options: Any) -> None:
        """See `MaskedApplication` for the `options`."""
        self._app = app
        self._masking = MaskedApplication(**options)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._masking.skips(scope["path"]):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:  # WebSocket traffic cannot be inspected
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = {  # for a repeated name, the first one wins
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in reversed(scope["headers"])
        }
        query = scope.get("query_string", b"")
        try:
            body = await _body(receive, self._masking.body_bytes)
            if body is None:
                return
            masked = await asyncio.to_thread(
                self._masking.mask, scope["method"], scope["path"], query, headers, body
            )
        except RefusedError as refusal:
            await self._refuse(refusal, send)
            return
        pending: list[Message] = [{"type": "http.request", "body": masked.body, "more_body": False}]

        async def following() -> Message:
            return pending.pop() if pending else await receive()

        restored = _Restored(self._masking, masked, send)
        await self._app(_changed(scope, masked.body), following, restored.send)

    async def _refuse(self, refusal: RefusedError, send: Send) -> None:
        body = self._masking.refusal(refusal)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class _Restored:
    """The answer of an application with its values restored."""

    def __init__(self, masking: MaskedApplication, masked: Masked, send: Send) -> None:
        self._masking = masking
        self._masked = masked
        self._send = send
        self._answer: RestoredAnswer | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in message.get("headers", ())
            ]
            self._answer = self._masking.answer(self._masked, message["status"], headers)
            written = [
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in self._answer.headers
            ]
            message = {**message, "headers": written}
        elif message["type"] == "http.response.body" and self._answer is not None:
            body = self._answer.feed(message.get("body", b""))
            if not message.get("more_body"):
                body += await asyncio.to_thread(self._answer.finish)
            message = {**message, "body": body}
        await self._send(message)


async def _body(receive: Receive, most: int) -> bytes | None:
    """Return the body of a request; None if the client has disconnected."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise RefusedError(413, f"the body is larger than {most:,} bytes")
        if not message.get("more_body"):
            return b"".join(parts)


def _changed(scope: Message, body: bytes) -> Message:
    """Return the scope of a request with another body."""
    headers = [each for each in scope["headers"] if each[0].decode("latin-1") not in _OF_THE_BODY]
    if body:
        headers.append((b"content-length", b"%d" % len(body)))
    headers.append((b"accept-encoding", b"identity"))
    extensions = {
        name: value
        for name, value in (scope.get("extensions") or {}).items()
        if name not in _UNREAD
    }
    return {**scope, "headers": headers, "extensions": extensions}
