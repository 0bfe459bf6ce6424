"""The gateway as an ASGI application: requests are inspected, sent on, and answered restored."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from dlpctl.errors import DlpctlError, InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.admission import KEY_HEADER, Admission, Grant
from dlpctl.gateway.bodies import RefusedError, decompressed
from dlpctl.gateway.calls import CallLog, CallRecord, Metrics
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.protocol import Body, Failure, Protocol, Route
from dlpctl.gateway.requests import Prepared, Request, keep, prepare
from dlpctl.gateway.restoring import Restorer
from dlpctl.gateway.streams import EventStream
from dlpctl.gateway.upstream import Answer, Upstream, UpstreamError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_Given = list[tuple[str, str]]

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
_OWN = frozenset(("host", "content-length", "accept-encoding", "expect"))
_PREFIX = "x-dlpctl-"
_LARGEST_ANSWER = 64 << 20
_EVENTS = "text/event-stream"
_LINES = ("application/x-ndjson", "application/jsonl", "application/x-jsonl")


class Target(NamedTuple):
    """A protocol, and the address that its requests go to."""

    protocol: Protocol
    url: str


class Settings(NamedTuple):
    """The limits of requests."""

    hosts: frozenset[str]
    """The names that requests may be for; any if there are none."""
    body_bytes: int = 64 << 20
    body_seconds: float = 60.0
    """The time in which a body has to come."""


class Gateway:
    """The application. Its tasks share one event loop; inspection runs on other threads."""

    def __init__(
        self,
        targets: Mapping[str, Target],
        admission: Admission,
        conversations: Conversations,
        upstream: Callable[[], Upstream],
        log: CallLog,
        executor: Executor,
        settings: Settings,
    ) -> None:
        self.targets = targets
        self.admission = admission
        self.conversations = conversations
        self.log = log
        self.executor = executor
        self.settings = settings
        self.metrics = Metrics()
        self._make_upstream = upstream
        self._upstream: Upstream | None = None
        self._routes = {
            name: [(route.pattern, route) for route in target.protocol.routes]
            for name, target in targets.items()
        }

    @property
    def upstream(self) -> Upstream:
        if self._upstream is None:
            self._upstream = self._make_upstream()
        return self._upstream

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await _Call(self, scope, receive, send).answer()
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                if self._upstream is not None:
                    await self._upstream.__aexit__()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def route(self, name: str, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the route of a request with the identifiers in its path."""
        found = [
            (route, match.groups())
            for pattern, route in self._routes[name]
            if (match := pattern.fullmatch(path))
        ]
        if not found:
            raise RefusedError(404, "the gateway does not know this route, and sends nothing on")
        for route, ids in found:
            if route.method == method:
                return route, ids
        raise RefusedError(405, "the gateway does not know this method, and sends nothing on")


class _Call:
    """One request and its answer."""

    def __init__(self, gateway: Gateway, scope: Message, receive: Receive, send: Send) -> None:
        self._gateway = gateway
        self._receive = receive
        self._send = send
        self._method: str = scope["method"]
        self._path: str = scope["path"]
        self._query: bytes = scope.get("query_string", b"")
        self._given: _Given = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope["headers"]
        ]
        self._headers = dict(self._given)
        self._id = f"gw_{os.urandom(12).hex()}"
        self._name, _, self._rest = self._path.removeprefix("/").partition("/")
        self._started = False
        self._added = 0.0
        self._record = CallRecord(self._id, self._name, "", "REFUSED", {}, 0, 0.0, 0)
        self._grant: Grant | None = None

    async def answer(self) -> None:
        try:
            await self._answer()
        except RefusedError as refusal:
            await self._refuse(refusal)
        except UpstreamError as problem:
            await self._fail(Failure(problem.status, f"dlpctl: {problem.message}"))
        except DlpctlError as problem:
            status = problem.http_status if problem.http_status < 500 else 503
            text = problem.message if status < 500 else "nothing can be inspected now"
            await self._fail(Failure(status, f"dlpctl: {text}"))
        except OSError:
            return  # the client is gone

    async def _answer(self) -> None:
        gateway = self._gateway
        hosts = gateway.settings.hosts
        if hosts and _host(self._headers.get("host", "")) not in hosts:
            raise RefusedError(403, "the gateway is not for this host")
        if self._name in ("healthz", "metrics") and not self._rest:
            text = gateway.metrics.text() if self._name == "metrics" else "ok\n"
            await self._whole(200, [("content-type", "text/plain; charset=utf-8")], text.encode())
            return
        if self._name not in gateway.targets:
            names = ", ".join(f"/{name}" for name in gateway.targets)
            raise RefusedError(404, f"the gateway serves {names}")
        if "upgrade" in self._headers:
            raise RefusedError(400, "the gateway does not upgrade connections")
        route, ids = gateway.route(self._name, self._method, f"/{self._rest}")
        self._record = self._record._replace(route=f"{self._name} {route.method} {route.path}")
        body = await self._body()
        begun = time.perf_counter()
        encoding = self._headers.get("content-encoding", "")
        request = Request(
            self._name,
            route,
            ids,
            _query(self._query),
            self._headers,
            decompressed(body, encoding, gateway.settings.body_bytes),
        )
        prepared = await self._in_thread(self._admit_and_prepare, request)
        self._added = time.perf_counter() - begun
        gateway.metrics.stage("request", self._added)
        self._note(prepared.decision.value, prepared.counts, len(body), prepared.model)
        changed = prepared.body != request.body
        await self._forward(request, prepared, prepared.body if changed else body, changed=changed)

    def _admit_and_prepare(self, request: Request) -> Prepared:
        self._grant = self._gateway.admission.admit(self._headers.get(KEY_HEADER))
        self._record = self._record._replace(org=self._grant.org, policy=self._grant.policy)
        try:
            prepared = prepare(request, self._grant, self._gateway.conversations)
        except RefusedError as refusal:
            if refusal.found is not None:
                self._recorded("BLOCKED", refusal.found.counts, len(request.body))
            raise
        self._recorded(prepared.decision.value, prepared.counts, len(request.body))
        return prepared

    def _recorded(self, decision: str, counts: Counter[str], size: int) -> None:
        from dlpctl.types import Decision

        assert self._grant is not None
        self._grant.record(Decision(decision), counts, size)

    def _note(self, decision: str, counts: Mapping[str, int], size: int, model: str = "") -> None:
        self._record = self._record._replace(
            decision=decision, counts=counts, bytes=size, model=model
        )

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._gateway.executor, partial(function, *arguments))

    async def _body(self) -> bytes:
        """Return the body; raise `RefusedError` where it is too large or too slow."""
        most = self._gateway.settings.body_bytes
        if int(self._headers.get("content-length", "0") or 0) > most:
            raise RefusedError(413, f"the body has more than {most:,} bytes")
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._gateway.settings.body_seconds):
                while True:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise ConnectionResetError
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise RefusedError(413, f"the body has more than {most:,} bytes")
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise RefusedError(408, "the body does not come") from None

    async def _forward(
        self, request: Request, prepared: Prepared, body: bytes, *, changed: bool
    ) -> None:
        """Send the request on, and relay the answer until it or the client ends."""
        relay = asyncio.ensure_future(self._relay(request, prepared, body, changed=changed))
        gone = asyncio.ensure_future(self._gone())
        try:
            await asyncio.wait({relay, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not relay.done():
                relay.cancel()
                self._finished(499)
        with suppress(asyncio.CancelledError):
            await relay

    async def _gone(self) -> None:
        """Return once the client is gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _relay(
        self, request: Request, prepared: Prepared, body: bytes, *, changed: bool
    ) -> None:
        target = self._gateway.targets[self._name]
        query = f"?{self._query.decode('latin-1')}" if self._query else ""
        url = f"{target.url.rstrip('/')}/{self._rest}{query}"
        dropped = _OWN | ({"content-encoding"} if changed else frozenset())
        headers = [*_end_to_end(self._given, dropped), ("accept-encoding", "identity")]
        async with self._gateway.upstream.send(self._method, url, headers, body) as answer:
            await self._answered(answer, request, prepared)

    async def _answered(self, answer: Answer, request: Request, prepared: Prepared) -> None:
        given = {name.lower(): value for name, value in answer.headers}
        dropped = {"content-encoding"}
        if given.get("content-encoding", "identity") != "identity":
            dropped.add("content-length")  # the client of providers decompresses
            if given["content-encoding"] not in ("gzip", "deflate"):
                raise UpstreamError("the provider has answered in an unknown encoding")
        headers = _end_to_end(answer.headers, frozenset(dropped))
        if 300 <= answer.status < 400:
            raise UpstreamError("the provider redirects, which the gateway does not follow")
        kind = given.get("content-type", "").partition(";")[0].strip().lower()
        route = request.route
        restorer = Restorer(prepared.conversation)
        if answer.status >= 300 or route.is_raw or answer.status == 204:
            await self._stream(answer.status, headers, answer.chunks)
        elif kind == _EVENTS or kind in _LINES or route.is_lines:
            stream = EventStream(route.shape, restorer, is_lines=kind != _EVENTS)
            chunks = self._restored(answer.chunks, stream, request, prepared)
            await self._stream(
                answer.status, _without_length(headers), chunks, self._stream_error(route)
            )
        elif kind == "application/json" or not kind:
            await self._restored_whole(answer, headers, restorer, request, prepared)
        elif route.body is Body.FORM and kind == "text/plain":
            await self._stream(answer.status, headers, answer.chunks)
        else:
            raise UpstreamError("the provider has answered with content that is no JSON")

    async def _restored_whole(
        self,
        answer: Answer,
        headers: _Given,
        restorer: Restorer,
        request: Request,
        prepared: Prepared,
    ) -> None:
        parts: list[bytes] = []
        size = 0
        async for chunk in answer.chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > _LARGEST_ANSWER:
                raise UpstreamError("the answer of the provider is too large")
        body = b"".join(parts)
        begun = time.perf_counter()
        body = await self._in_thread(self._restore, body, restorer, request, prepared)
        added = time.perf_counter() - begun
        self._gateway.metrics.stage("answer", added)
        self._added += added
        await self._whole(answer.status, headers, body)

    def _restore(
        self, body: bytes, restorer: Restorer, request: Request, prepared: Prepared
    ) -> bytes:
        shape = request.route.shape
        if not body or not (restorer.is_needed or shape.kept):
            return body
        try:
            text = jsonbody.decoded(body)
            document = jsonbody.loads(text)
        except InputError:
            raise UpstreamError("the provider has answered with invalid JSON") from None
        ids = [found for path in shape.kept if isinstance(found := _id_at(document, path), str)]
        self._keep(ids, request, prepared)
        return restorer.json(text, shape).encode("utf-8") if restorer.is_needed else body

    def _keep(self, ids: list[str], request: Request, prepared: Prepared) -> None:
        if self._grant is not None:
            keep(ids, request, self._grant, self._gateway.conversations, prepared.conversation)

    async def _restored(
        self,
        chunks: AsyncIterator[bytes],
        stream: EventStream,
        request: Request,
        prepared: Prepared,
    ) -> AsyncIterator[bytes]:
        metrics = self._gateway.metrics
        metrics.stream(1)
        kept = 0
        try:
            try:
                async for chunk in chunks:
                    begun = time.perf_counter()
                    ready = stream.feed(chunk)
                    metrics.stage("chunk", time.perf_counter() - begun)
                    if ready:
                        yield ready
                    if len(stream.ids) > kept:
                        kept = len(stream.ids)
                        await self._in_thread(self._keep, stream.ids, request, prepared)
            except UpstreamError:
                yield stream.finish()
                raise
            if rest := stream.finish():
                yield rest
        finally:
            metrics.stream(-1)

    async def _stream(
        self,
        status: int,
        headers: _Given,
        chunks: AsyncIterator[bytes],
        error: Callable[[Failure], bytes] | None = None,
    ) -> None:
        """Send an answer as it comes; `error` writes the end of one that fails."""
        await self._start(status, headers)
        try:
            async for chunk in chunks:
                if chunk:
                    await self._send(
                        {"type": "http.response.body", "body": chunk, "more_body": True}
                    )
        except (UpstreamError, InputError) as problem:
            if error is None:
                self._finished(502)
                raise ConnectionResetError from None
            event = error(Failure(502, f"dlpctl: {problem.message}"))
            await self._send({"type": "http.response.body", "body": event, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})
        self._finished(status)

    def _stream_error(self, route: Route) -> Callable[[Failure], bytes]:
        protocol = self._gateway.targets[self._name].protocol
        return route.shape.stream_error or protocol.stream_error

    async def _whole(self, status: int, headers: _Given, body: bytes) -> None:
        length = [("content-length", str(len(body)))] if status != 204 else []
        await self._start(status, [*_without_length(headers), *length])
        self._finished(status)
        await self._send({"type": "http.response.body", "body": body})

    async def _start(self, status: int, headers: _Given) -> None:
        self._started = True
        own = (
            ("x-dlpctl-check-id", self._id),
            ("x-dlpctl-decision", self._record.decision),
            ("x-dlpctl-overhead-ms", f"{self._added * 1_000:.1f}"),
        )
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [
                    (name.encode("latin-1"), value.encode("latin-1"))
                    for name, value in (*headers, *own)
                ],
            }
        )

    async def _refuse(self, refusal: RefusedError) -> None:
        if refusal.found is not None:
            self._note("BLOCKED", refusal.found.counts, self._record.bytes)
        await self._fail(Failure(refusal.status, f"dlpctl: {refusal.message}"))

    async def _fail(self, failure: Failure) -> None:
        """Answer with an error as the provider writes it."""
        if self._started:
            return
        target = self._gateway.targets.get(self._name)
        body = f"{failure.message}\n".encode()
        kind = "text/plain; charset=utf-8"
        if target is not None:
            body, kind = target.protocol.error(failure), "application/json"
        headers = [("content-type", kind)]
        if failure.status in (408, 413):
            headers.append(("connection", "close"))
        if failure.status < 500 and failure.status not in (408, 429):
            headers.append(("x-should-retry", "false"))
        await self._whole(failure.status, headers, body)

    def _finished(self, status: int) -> None:
        """Log the call, which has ended."""
        added = round(self._added * 1_000, 2)
        self._record = self._record._replace(status=status, added_ms=added)
        if self._name in self._gateway.targets:
            self._gateway.metrics.call(self._record)
            self._gateway.log.write(self._record)


def _host(header: str) -> str:
    name = header.rpartition(":")[0] if header.count(":") == 1 else header
    return name.partition("]")[0].removeprefix("[").lower()


def _query(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise RefusedError(400, "the query is not valid") from None


def _end_to_end(given: Any, dropped: frozenset[str]) -> _Given:
    """Return the headers that are for the other end."""
    named = {
        each.strip().lower()
        for name, value in given
        if name.lower() == "connection"
        for each in value.split(",")
    }
    dropped = dropped | _HOP_BY_HOP | named
    return [
        (name.lower(), value)
        for name, value in given
        if name.lower() not in dropped and not name.lower().startswith(_PREFIX)
    ]


def _without_length(headers: _Given) -> _Given:
    return [(name, value) for name, value in headers if name != "content-length"]


def _id_at(document: Any, path: str) -> Any:
    return jsonbody.at(document, path.split("."))
