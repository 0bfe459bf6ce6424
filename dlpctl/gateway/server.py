"""The gateway as an ASGI application: requests are inspected and sent on, answers restored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import NamedTuple
from urllib.parse import parse_qsl

from dlpctl.errors import DlpctlError, fault
from dlpctl.gateway.admission import KEY_HEADER, POLICY_HEADER, Admission, Grant
from dlpctl.gateway.bodies import RefusedError, decompressed
from dlpctl.gateway.calls import CallLog, Metrics, tell
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.exchange import Exchange, Message, Receive, Send
from dlpctl.gateway.lanes import Lanes
from dlpctl.gateway.protocol import Failure, Protocol, Route
from dlpctl.gateway.relaying import Relay, Services, Target
from dlpctl.gateway.requests import Prepared, Request, caller_of, prepare
from dlpctl.gateway.upstream import Upstream, UpstreamError
from dlpctl.types import Decision


class Settings(NamedTuple):
    """The limits of requests."""

    hosts: frozenset[str]
    """The hosts that requests may name; empty allows any."""
    body_bytes: int = 32 << 20
    body_seconds: float = 60.0
    """The time limit for receiving a body."""


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
        self.executor = executor
        self._targets = targets
        self._admission = admission
        self._conversations = conversations
        self._log = log
        self._settings = settings
        self._lanes = Lanes()
        self._metrics = Metrics()
        self._make_upstream = upstream
        self._upstream: Upstream | None = None
        self._routes = {
            name: [(route.pattern, route) for route in target.protocol.routes]
            for name, target in targets.items()
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            exchange = Exchange(scope, receive, send, self._log, self._metrics)
            await self._answer(exchange)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._upstream = self._make_upstream()
                await send({"type": "lifespan.startup.complete"})
            else:
                if self._upstream is not None:
                    await self._upstream.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _answer(self, exchange: Exchange) -> None:
        target = self._targets.get(exchange.name)
        protocol = None if target is None else target.protocol
        try:
            if exchange.name in ("healthz", "metrics") and not exchange.rest:
                await self._tell(exchange)
            else:
                await self._pass(exchange, target)
        except RefusedError as refusal:
            if refusal.found is not None:
                exchange.know(decision=Decision.BLOCKED.value, counts=refusal.found.counts)
            await _fail(exchange, protocol, refusal.status, refusal.message)
        except UpstreamError as problem:
            await _fail(exchange, protocol, problem.status, problem.message)
        except DlpctlError as problem:
            if problem.http_status < 500:
                await _fail(exchange, protocol, problem.http_status, problem.message)
            else:  # the message may name files on this machine
                await _fail(exchange, protocol, 503, "nothing can be inspected now")
        except OSError:
            return  # the client is gone
        except Exception as problem:  # its message may contain values
            tell(f"a call failed: {fault(problem)}")
            await _fail(exchange, protocol, 503, "the gateway failed")

    async def _tell(self, exchange: Exchange) -> None:
        text = self._metrics.text() if exchange.name == "metrics" else "ok\n"
        headers = [("content-type", "text/plain; charset=utf-8")]
        await exchange.complete(200, headers, text.encode())

    async def _pass(self, exchange: Exchange, target: Target | None) -> None:
        settings = self._settings
        if settings.hosts and _host(exchange.headers.get("host", "")) not in settings.hosts:
            raise RefusedError(403, "the gateway does not serve this host")
        if target is None:
            names = ", ".join(f"/{name}" for name in self._targets)
            raise RefusedError(404, f"the gateway serves {names}")
        exchange.know(route=f"{exchange.name} {exchange.method} /")
        if "upgrade" in exchange.headers:
            raise RefusedError(400, "the gateway does not upgrade connections")
        route, ids = self._route(exchange.name, exchange.method, f"/{exchange.rest}")
        exchange.know(route=f"{exchange.name} {route.method} {route.path}")
        body = await exchange.body(settings.body_bytes, settings.body_seconds)
        exchange.know(bytes=len(body))
        started = time.perf_counter()
        encoding = exchange.headers.get("content-encoding", "")
        plain = decompressed(body, encoding, settings.body_bytes)
        query = _query(exchange.query)
        request = Request(exchange.name, route, ids, query, exchange.headers, plain)
        loop = asyncio.get_running_loop()
        async with self._lanes.of(plain).turn(caller_of(request)):
            grant, prepared = await loop.run_in_executor(
                self.executor, self._prepared, request, exchange
            )
        exchange.added = time.perf_counter() - started
        self._metrics.stage("request", exchange.added)
        decision = prepared.decision.value
        exchange.know(decision=decision, counts=prepared.counts, model=prepared.model)
        assert self._upstream is not None
        services = Services(self._upstream, self._conversations, self._metrics, self.executor)
        await Relay(exchange, services, target, request, prepared, grant).run(body)

    def _prepared(self, request: Request, exchange: Exchange) -> tuple[Grant, Prepared]:
        """Inspect a request, and record the decision before anything is sent on."""
        headers = exchange.headers
        grant = self._admission.admit(headers.get(KEY_HEADER), headers.get(POLICY_HEADER))
        exchange.know(org=grant.org, policy=grant.policy)
        size = len(request.body)
        try:
            prepared = prepare(request, grant, self._conversations)
        except RefusedError as refusal:
            if refusal.found is not None:
                grant.record(Decision.BLOCKED, refusal.found.counts, size)
            raise
        grant.record(prepared.decision, prepared.counts, size)
        return grant, prepared

    def _route(self, name: str, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the route of a request, and the identifiers in its path."""
        found = [
            (route, match.groups())
            for pattern, route in self._routes[name]
            if (match := pattern.fullmatch(path))
        ]
        if not found:
            raise RefusedError(404, "the gateway does not know this route; nothing was sent")
        for route, ids in found:
            if route.method == method:
                return route, ids
        raise RefusedError(405, "the gateway does not know this method; nothing was sent")


async def _fail(exchange: Exchange, protocol: Protocol | None, status: int, message: str) -> None:
    await exchange.fail(protocol, Failure(status, f"dlpctl: {message}"))


def _host(header: str) -> str:
    name = header.rpartition(":")[0] if header.count(":") == 1 else header
    return name.partition("]")[0].removeprefix("[").lower()


def _query(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise RefusedError(400, "the query is not valid") from None
