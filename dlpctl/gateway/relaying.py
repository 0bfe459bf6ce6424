"""Send inspected requests on, and relay the answers with their values restored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from dlpctl.errors import DlpctlError, InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.admission import Grant
from dlpctl.gateway.answers import AnswerGuard, AnswerPolicy, withheld
from dlpctl.gateway.bodies import RefusedError
from dlpctl.gateway.calls import Metrics, tell
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.exchange import Exchange, Headers, end_to_end, without_length
from dlpctl.gateway.protocol import Body, Failure, Protocol, Shape
from dlpctl.gateway.requests import Prepared, Request, keep
from dlpctl.gateway.restoring import AnswerKind, Restorer
from dlpctl.gateway.streams import EventStream
from dlpctl.gateway.upstream import Answer, Upstream, UpstreamError
from dlpctl.types import Decision

_ADDRESSES = frozenset(("x-goog-upload-url", "x-goog-upload-control-url"))
_OWN = frozenset(
    (
        "host",
        "content-length",
        "accept-encoding",
        "expect",
        "x-goog-upload-header-content-length",  # a masked copy has another size
    )
)
_LARGEST_ANSWER = 64 << 20
_GONE = 499
"""The status logged for a call whose client has disconnected."""


class Target(NamedTuple):
    """A protocol and the URL that its requests go to."""

    protocol: Protocol
    url: str


class Services(NamedTuple):
    """The services that all relays share."""

    upstream: Upstream
    conversations: Conversations
    metrics: Metrics
    executor: Executor


class Relay:
    """Relays the answer to one request."""

    def __init__(
        self,
        exchange: Exchange,
        services: Services,
        target: Target,
        request: Request,
        prepared: Prepared,
        grant: Grant,
    ) -> None:
        self._exchange = exchange
        self._services = services
        self._target = target
        self._request = request
        self._prepared = prepared
        self._grant = grant
        self._restorer = Restorer(prepared.conversation, prepared.names)

    async def run(self, body: bytes) -> None:
        """Relay until the answer ends or the client disconnects."""
        relay = asyncio.ensure_future(self._relay(body))
        gone = asyncio.ensure_future(self._exchange.gone())
        try:
            await asyncio.wait({relay, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not relay.done():
                relay.cancel()
                self._exchange.finished(_GONE)
        with suppress(asyncio.CancelledError):
            await relay

    async def _relay(self, body: bytes) -> None:
        exchange = self._exchange
        query = f"?{exchange.query.decode('latin-1')}" if exchange.query else ""
        url = f"{self._target.url.rstrip('/')}/{exchange.rest}{query}"
        is_changed = self._prepared.body != self._request.body
        dropped = _OWN | ({"content-encoding"} if is_changed else frozenset())
        headers = [*end_to_end(exchange.given, dropped), ("accept-encoding", "identity")]
        upstream = self._services.upstream
        sent = self._prepared.body if is_changed else body
        async with upstream.send(exchange.method, url, headers, sent) as answer:
            await self._answered(answer)

    async def _answered(self, answer: Answer) -> None:
        route, exchange = self._request.route, self._exchange
        given = {name.lower(): value for name, value in answer.headers}
        headers = [self._own_address(*each) for each in _relayed(answer, given)]
        if 300 <= answer.status < 400:
            raise UpstreamError("the provider sent a redirect, which the gateway does not follow")
        answer_kind = AnswerKind.of(route, answer.status, given.get("content-type", ""))
        if answer_kind is AnswerKind.OPAQUE:
            await exchange.stream(answer.status, headers, answer.chunks)
        elif answer_kind.is_stream:
            is_lines = answer_kind is AnswerKind.LINES
            stream = EventStream(route.shape, self._restorer, is_lines=is_lines)
            chunks = self._restored(answer.chunks, stream)
            if self._grant.answers is not None and route.shape.cut is not None:
                guard = AnswerGuard(route.shape, self._answer_policy, is_lines=is_lines)
                chunks = self._guarded(answer.chunks, guard, stream)
            await exchange.stream(
                answer.status, without_length(headers), chunks, self._stream_error
            )
        elif answer_kind is AnswerKind.JSON:
            await self._restored_whole(answer, headers)
        elif answer_kind is AnswerKind.TEXT and route.body is Body.FORM:
            await exchange.stream(answer.status, headers, answer.chunks)
        else:
            raise UpstreamError("the provider answered with content that is not JSON")

    def _own_address(self, name: str, value: str) -> tuple[str, str]:
        """Return a header of an answer; an upload URL is replaced by one of the gateway."""
        if name not in _ADDRESSES:
            return name, value
        upstream, given = urlsplit(self._target.url), urlsplit(value)
        path = given.path.removeprefix(upstream.path.rstrip("/"))
        if given.netloc != upstream.netloc:
            raise UpstreamError("the provider names another host to upload to")
        exchange = self._exchange
        scheme = exchange.headers.get("x-forwarded-proto", exchange.scheme)
        own = f"{scheme}://{exchange.headers['host']}/{exchange.name}{path}?{given.query}"
        return name, own

    @property
    def _answer_policy(self) -> AnswerPolicy:
        assert self._grant.answers is not None
        surrogates = self._restorer.surrogates
        return AnswerPolicy(self._grant.answers, surrogates.values if surrogates else ())

    async def _guarded(
        self, chunks: AsyncIterator[bytes], guard: AnswerGuard, stream: EventStream
    ) -> AsyncIterator[bytes]:
        """Yield the events of a stream until one has a value that may not pass."""

        async def passed() -> AsyncIterator[bytes]:
            try:
                async for chunk in chunks:
                    yield await self._in_thread(guard.feed, chunk)
                    if guard.is_cut:
                        return
            except UpstreamError:
                yield await self._in_thread(guard.finish)
                if not guard.is_cut:
                    raise
            else:
                yield await self._in_thread(guard.finish)

        async for ready in self._restored(passed(), stream):
            yield ready
        if guard.is_cut:
            self._exchange.know(decision=Decision.BLOCKED.value, counts=guard.counts)
            yield guard.ending

    @property
    def _stream_error(self) -> Callable[[Failure], bytes]:
        return self._request.route.shape.stream_error or self._target.protocol.stream_error

    async def _restored_whole(self, answer: Answer, headers: Headers) -> None:
        parts: list[bytes] = []
        size = 0
        async for chunk in answer.chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > _LARGEST_ANSWER:
                raise UpstreamError("the answer of the provider is too large")
        started = time.perf_counter()
        body = await self._in_thread(self._restore, b"".join(parts))
        added = time.perf_counter() - started
        self._services.metrics.stage("answer", added)
        self._exchange.added += added
        await self._exchange.complete(answer.status, headers, body)

    def _restore(self, body: bytes) -> bytes:
        shape = self._request.route.shape
        inspects = self._grant.answers is not None and shape.answer_texts
        if not body or not (self._restorer.is_needed or shape.kept or inspects):
            return body
        try:
            text = jsonbody.decoded(body)
            document = jsonbody.loads(text)
        except InputError:
            raise UpstreamError("the provider answered with invalid JSON") from None
        found = [jsonbody.at(document, path.split(".")) for path in shape.kept]
        self._keep([each for each in found if isinstance(each, str)])
        if inspects:
            text = self._inspected(text, shape)
        return self._restorer.json(text, shape).encode("utf-8")

    def _inspected(self, text: str, shape: Shape) -> str:
        """Return an answer with its values masked; raise `RefusedError` if one of them blocks."""
        text, counts, blocks = withheld(text, shape, self._answer_policy)
        if counts:
            decision = Decision.BLOCKED if blocks else Decision.ALLOWED_WITH_MASKING
            self._exchange.know(decision=decision.value, counts=counts)
        if blocks:
            raise RefusedError(403, "the answer was withheld: the policy blocks values in it")
        return text

    def _keep(self, ids: list[str]) -> None:
        conversations = self._services.conversations
        try:
            keep(ids, self._request, self._grant, conversations, self._restorer.values)
        except (DlpctlError, OSError) as problem:  # the answer itself is complete
            tell(f"the values of an answer cannot be kept ({type(problem).__name__})")

    async def _restored(
        self, chunks: AsyncIterator[bytes], stream: EventStream
    ) -> AsyncIterator[bytes]:
        metrics = self._services.metrics
        metrics.stream(1)
        kept = 0
        try:
            async for chunk in chunks:
                started = time.perf_counter()
                ready = stream.feed(chunk)
                metrics.stage("chunk", time.perf_counter() - started)
                if len(stream.ids) > kept:
                    kept = len(stream.ids)
                    await self._in_thread(self._keep, stream.ids)
                if ready:
                    yield ready
        except UpstreamError:
            yield stream.finish()
            raise
        else:
            yield stream.finish()
        finally:
            metrics.stream(-1)

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._services.executor, partial(function, *arguments))


def _relayed(answer: Answer, given: dict[str, str]) -> Headers:
    """Return the headers of an answer that are passed to the client."""
    dropped = {"content-encoding"}
    if given.get("content-encoding", "identity") != "identity":
        dropped.add("content-length")  # the HTTP client decompresses
        if given["content-encoding"] not in ("gzip", "deflate"):
            raise UpstreamError("the provider answered in an unknown encoding")
    return end_to_end(answer.headers, frozenset(dropped))
