"""Waitress with lanes for requests and deadlines for clients, which answers all requests before it
ends.
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import os
import socket
import sys
import threading
import time
from collections import deque
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer

from dlpctl_daemon.admission import Admission, Budget
from dlpctl_daemon.channel import Channel
from dlpctl_daemon.connections import UNKNOWN_PEER, Connections
from dlpctl_daemon.context import RequestContext
from dlpctl_daemon.crew import Crew
from dlpctl_daemon.lanes import ADMISSION, SMALL_TEXTS, Lane, lane_of, lane_rules
from dlpctl_daemon.loop import Loop
from dlpctl_daemon.parsing import Request
from dlpctl_daemon.tasks import LARGEST_HEADER, Refusal
from dlpctl_daemon.workers import Workers

if TYPE_CHECKING:
    from dlpctl_daemon.app import Application

_DRAIN_SECONDS = 30.0
_LAST_CALL_SECONDS = 0.3
"""The longest that an idle connection may still send a request at the end."""
_LAST_BYTES_SECONDS = 5.0
"""The longest time that a client may go on sending a request while the service ends; then it gets
503.
"""
_TURN_SECONDS = 1.0
_SWEEP_SECONDS = 1.0
_ACCEPTED_AT_ONCE = 4
"""More wait for the next turn, so that a flood of connections delays no request by much."""
_GIVING_WAY_SECONDS = 0.005
"""The time that a process with fewer connections has to accept a client first."""
_SPARE_DESCRIPTORS = 200
"""Files, pipes and database connections that are no connections of clients."""
_UNLIMITED = 1 << 62


class Server:
    def __init__(self, application: Application, listening: socket.socket) -> None:
        service = application.service
        settings = service.options.settings
        self._service = service
        self._application = application
        self.roster = service.memory.roster
        self.connections = Connections(
            _connections(settings.connections),
            [settings.trusted_proxy] if settings.trusted_proxy else [],
        )
        largest = service.options.file_body
        self._budget = Budget(8 * largest, 2 * largest)
        self._loop = Loop()
        self._thread = threading.get_ident()
        self._refused: deque[Channel | Admission] = deque()
        self._swept_at = 0.0
        self._resting: list[tuple[float, int, Channel | _Listener]] = []
        """A heap of sockets that are read again at a time."""
        self._look_again: float | None = None
        rules = {each.name: each for each in lane_rules(settings.threads, settings.inspectors)}
        self._workers = Workers(rules.pop(SMALL_TEXTS), service.log.failure)
        self._lanes: dict[str, Lane] = {SMALL_TEXTS: self._workers}
        for each in rules.values():
            self._lanes[each.name] = Crew(each, service.log.failure, lambda: self._workers.is_busy)
        adjustments = _adjustments(settings.trusted_proxy, service.options.largest_body + 1)
        self._inner = _Listener(self, application, listening, adjustments, self._loop.map)

    def run(self) -> None:
        """Serve until `stop` is called and all requests sent before are answered."""
        self._thread = threading.get_ident()
        while not self._inner.is_ending:
            self._turn(_TURN_SECONDS)
        self._drain()
        for lane in self._lanes.values():
            lane.shutdown()
        self._loop.close()

    def keep_to(self, processors: set[int]) -> None:
        """Keep this thread and those for small texts on some processors, where the system can: they
        take turns, and a turn that moves to another processor costs more than it saves. Other
        threads start processes, which may run anywhere.
        """
        if sys.platform == "linux" and processors:
            for thread in (0, *self._workers.thread_ids()):
                os.sched_setaffinity(thread, processors)

    def stop(self) -> None:
        """End the server. Any thread and signal handlers may call it; a second call ends the
        process immediately.
        """
        if self._inner.is_ending:
            raise SystemExit(1)
        self.drain()

    def drain(self) -> None:
        """End the server once it has answered. Any thread and signal handlers may call it, and may
        call it again.
        """
        self._inner.is_ending = True
        self._inner.pull_trigger()

    def add_task(self, channel: Channel) -> None:
        """Let the first request of a connection wait in its lane. Any thread may call this."""
        request = channel.requests[0]
        if not request.error:
            body = request.body_rcv
            lane = lane_of(request.command, request.path, 0 if body is None else len(body))
            channel.queue(lane)
            refused = self._lanes[lane].put(self._share(channel, request), channel)
            if refused is None:
                return
            request.error = Refusal.of(refused)
        self._refused.append(channel)
        if threading.get_ident() != self._thread:
            self._inner.pull_trigger()

    def ask(self, channel: Channel, request: Request) -> None:
        """Ask the application whether to read a large body."""
        admission = Admission(channel, request, self._budget, self._inner.trigger.pull_trigger)
        refused = self._lanes[ADMISSION].put(self._share(channel, request), admission)
        if refused is not None:
            admission.refuse(Refusal.of(refused))

    def mark(self, channel: Channel) -> None:
        """Let the loop ask a connection again for which events it waits."""
        self._loop.mark(channel)

    def wake(self, channel: Channel) -> None:
        """Let the loop handle a connection that another thread has changed."""
        self._loop.mark(channel)
        self._inner.pull_trigger()

    def wake_after(self, channel: Channel | _Listener, seconds: float) -> None:
        """Let a socket rest. Call it in the loop's thread."""
        heapq.heappush(self._resting, (time.monotonic() + seconds, id(channel), channel))

    def log_refusal(self, channel: Channel, request: Request, status: int) -> None:
        context = RequestContext(os.urandom(8).hex())
        context.status, context.queued = status, channel.queued
        self._application.log_refusal(context)

    def _share(self, channel: Channel, request: Request) -> Any:
        headers = request.headers
        return self._service.callers.share(
            headers.get("X_SERVICE_API_KEY") or headers.get("X_API_KEY"),
            headers.get("AUTHORIZATION"),
            channel.peer,
        )

    def _turn(self, seconds: float) -> None:
        if self._look_again is not None:
            seconds = min(seconds, self._look_again)
        if self._resting:
            seconds = max(0.0, min(seconds, self._resting[0][0] - time.monotonic()))
        self._loop.turn(seconds)
        now = time.monotonic()
        while self._resting and self._resting[0][0] <= now:
            rested = heapq.heappop(self._resting)[2]
            rested.rests = False
            self._loop.mark(rested)
        if now - self._swept_at >= _SWEEP_SECONDS:
            self._swept_at = now
            self._sweep(now)
        while self._refused:
            self._answer_refused(self._refused.popleft())
        self._look_again = self._workers.hand_over()
        self.roster.count(len(self.connections))

    def _sweep(self, now: float) -> None:
        """End connections whose clients take too long, and requests that have waited too long."""
        for channel in self._channels():
            channel.end_if_overdue(now)
        for lane in self._lanes.values():
            # Its items are of the types that were put into it.
            self._refused.extend(lane.expired())  # type: ignore[arg-type]

    def _answer_refused(self, late: Channel | Admission) -> None:
        busy = Refusal.of(HTTPStatus.SERVICE_UNAVAILABLE)
        if isinstance(late, Admission):
            late.channel.refuse(busy)
            return
        request = late.requests[0]
        request.error = request.error or busy
        try:
            late.service()
        except Exception as problem:
            self._service.log.failure(problem)
        self._loop.mark(late)

    def _drain(self) -> None:
        self._refuse_new()
        began = time.monotonic()
        while (waited := time.monotonic() - began) < _DRAIN_SECONDS:
            quiet = [channel for channel in self._channels() if not channel.is_busy]
            if waited > _LAST_CALL_SECONDS:
                for channel in quiet:
                    channel.handle_close()
            if waited > _LAST_BYTES_SECONDS:
                for channel in self._channels():
                    if channel.is_receiving:
                        channel.refuse(Refusal.of(HTTPStatus.SERVICE_UNAVAILABLE))
            if not self._channels():
                return
            self._turn(0.05)

    def _refuse_new(self) -> None:
        """Accept the clients that have connected already, and none after them."""
        while True:
            before = len(self._loop.map)
            self._inner.handle_accept()
            if len(self._loop.map) == before:
                break
        self._inner.accepting = False
        self._inner.del_channel()
        self._inner.socket.close()

    def _channels(self) -> list[Channel]:
        return list(self._inner.active_channels.values())


class _Listener(TcpWSGIServer):
    """The socket that listens."""

    channel_class = Channel
    is_ending = False
    rests = False
    """A client is left to another process for a moment."""
    _rested_at = 0.0

    def __init__(
        self,
        owner: Server,
        application: Any,
        listening: socket.socket,
        adjustments: Adjustments,
        dispatchers: dict[int, Any],
    ) -> None:
        self._owner = owner
        self._is_local = listening.family == getattr(socket, "AF_UNIX", None)
        sockinfo = (listening.family, listening.type, listening.proto, listening.getsockname())
        super().__init__(
            application,
            dispatchers,
            True,
            listening,
            dispatcher=owner,
            adj=adjustments,
            sockinfo=sockinfo,
            bind_socket=False,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._owner, name)

    def getsockname(self) -> tuple[str, Any]:
        return ("unix", self.socket.getsockname()) if self._is_local else super().getsockname()

    def readable(self) -> bool:
        return bool(self.accepting) and not self.rests

    def handle_accept(self) -> None:
        """Accept the waiting clients, and keep each for which the table has room."""
        for _ in range(_ACCEPTED_AT_ONCE):
            if self._gives_way():
                return
            try:
                accepted = self.accept()
            except OSError as problem:
                if problem.errno in (errno.EMFILE, errno.ENFILE):
                    self._owner.connections.drop_oldest()
                return
            if accepted is None:
                return
            connection, address = accepted
            if self._is_local:
                address = ("localhost", None)
            if self._owner.connections.make_room(
                address[0] if address[1] is not None else UNKNOWN_PEER
            ):
                with contextlib.suppress(OSError):
                    self.set_socket_options(connection)
                self.channel_class(self, connection, address, self.adj, map=self._map)
            else:
                connection.close()
            self._owner.roster.count(len(self._owner.connections))

    def _gives_way(self) -> bool:
        """Rest if another process has fewer connections; accept a client that it leaves then."""
        if self.is_ending or not self._owner.roster.has_fewer_elsewhere():
            return False
        now = time.monotonic()
        if now - self._rested_at < 2 * _GIVING_WAY_SECONDS:
            self._rested_at = 0.0  # the client has waited; the next one waits again
            return False
        self.rests, self._rested_at = True, now
        self._owner.wake_after(self, _GIVING_WAY_SECONDS)
        return True


def _adjustments(proxy: str | None, largest_body: int) -> Adjustments:
    trusted: dict[str, Any] = {}
    if proxy:
        trusted = {
            "trusted_proxy": proxy,
            "trusted_proxy_count": 1,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"},
        }
    return Adjustments(
        listen="127.0.0.1:0",  # not used: the socket is given
        ident=None,
        send_bytes=1,
        recv_bytes=1 << 13,
        channel_request_lookahead=1,
        max_request_header_size=LARGEST_HEADER,
        max_request_body_size=largest_body,
        outbuf_high_watermark=_UNLIMITED,  # no thread waits for a client that reads slowly
        clear_untrusted_proxy_headers=True,
        log_socket_errors=False,
        expose_tracebacks=False,
        **trusted,
    )


def _connections(wanted: int) -> int:
    """Return how many connections the system lets this process have, up to those wanted."""
    try:
        import resource
    except ImportError:  # Windows, where select takes 512 sockets
        return min(wanted, 512 - _SPARE_DESCRIPTORS)
    needed = wanted + _SPARE_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    if hard == resource.RLIM_INFINITY or hard > soft:
        soft = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, soft - _SPARE_DESCRIPTORS)
