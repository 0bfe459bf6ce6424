"""Connections: the deadlines of their clients, and sending answers."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING, Any

from waitress.channel import HTTPChannel

from dlpctl_daemon.connections import UNKNOWN_PEER
from dlpctl_daemon.deadlines import Pace, Progress, Stage, Watch
from dlpctl_daemon.parsing import Request
from dlpctl_daemon.tasks import ErrorTask, Refusal, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlpctl_daemon.context import RequestContext
    from dlpctl_daemon.lanes import Share

_SMALL = 1 << 16
_LINGERING_BYTES = 1 << 18
"""Bytes of a refused body that are read and discarded, so that the client can read the reason."""


class Channel(HTTPChannel):
    """A connection whose answers are sent by the thread that made them.

    The loop is woken only for what remains unsent: woken for each answer, it would need as much of
    the interpreter's time as the checks.
    """

    parser_class = Request
    error_task_class = ErrorTask
    request: Request | None
    requests: list[Request]
    close_when_flushed: bool

    def __init__(
        self, server: Any, sock: socket.socket, address: Any, adjustments: Any, **named: Any
    ) -> None:
        self.peer: str = address[0] if address[1] is not None else UNKNOWN_PEER
        self.lingers = False
        """The client may still be sending when the connection is to be closed."""
        self.queued: tuple[str, float] = ("", 0.0)
        """The lane of the current request, and the seconds that it has waited there."""
        self._queued_at = 0.0
        self.identified: Callable[[Share], None] | None = None
        """Told whose credential the current request sent, where that was not known."""
        self._started: Task | None = None
        self._is_working = False
        self._lingering: int | None = None
        """Bytes that may still be discarded."""
        self._served = 0
        self._sent = 0
        self._pace = Pace()
        self.rests = False
        """The client sends so little at a time that it is left alone for a while."""
        self._watch = Watch()
        super().__init__(_Waker(server, self), sock, address, adjustments, **named)
        server.connections.add(self)

    def queue(self, lane: str) -> None:
        """Record that the first request waits in a lane from now on."""
        self.queued = (lane, 0.0)
        self.identified = None
        self._queued_at = time.perf_counter()

    def start(self) -> None:
        """Do what does not wait for the disk; `service` does the rest."""
        self.queued = (self.queued[0], time.perf_counter() - self._queued_at)
        # Set before `connected` is read: `handle_close` does both in the opposite order.
        self._is_working = True
        if self.connected:
            self._started = Task(self, self.requests[0])
            self._started.call_application()

    def task_class(self, _channel: HTTPChannel, request: Request) -> Task:
        # Handed over now: the next request may start before `service` has finished this one.
        started, self._started = self._started, None
        return started or Task(self, request)

    def service(self) -> None:
        started = self._started
        self._is_working = False
        self._served += 1
        try:
            super().service()
        finally:
            if started is not None:
                started.drop()
            self.server.connections.waits(self)

    def refuse(self, refusal: Refusal) -> None:
        """Answer the request that is being read with a refusal, after those before it. Call it in
        the loop's thread.
        """
        with self.requests_lock:
            request, self.request = self.request, None
            if request is None:
                return
            request.error = refusal
            request.completed = True
            self.requests.append(request)
            is_first = len(self.requests) == 1
        if is_first:
            self.server.add_task(self)

    def admit(self, request: Request, context: RequestContext) -> None:
        """Read the body of a request whose headers were seen. Call it in the loop's thread."""
        if not self.connected or request is not self.request:
            request.close()
            return
        with self.requests_lock:
            request.context, request.body_limit = context, context.body_limit
            request.is_admitted = True
            if request.expect_continue and not self.requests:
                self.send_continue()
        self.server.mark(self)

    def log_refusal(self, request: Request, status: int) -> None:
        self.server.log_refusal(self, request, status)

    def received(self, data: bytes) -> bool:
        starts = self.request is None
        taken = bool(super().received(data))
        request = self.request
        if request is None:
            return taken
        now = time.monotonic()
        if starts:
            self._pace = Pace(now)
        elif seconds := self._pace.rest(len(data), now):
            self.rests = True
            self.server.wake_after(self, seconds)
        if request.needs_admission and not request.is_asked:
            request.is_asked = True
            self.server.ask(self, request)
        return taken

    def send_continue(self) -> None:
        if self.request is not None and self.request.is_admitted:
            super().send_continue()

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent: int = super().send(data, do_close=do_close)
        self._sent += sent
        return sent

    @property
    def is_closing(self) -> bool:
        return bool(self.will_close or self.close_when_flushed)

    def readable(self) -> bool:
        """Return true also during a request, so that its end need not wake the loop."""
        if self._lingering is not None:
            return True
        if len(self.requests) > 1 or self.is_closing or self.rests:
            return False
        return self.request is None or not self.request.needs_admission

    def writable(self) -> bool:
        """Return false while a thread sends its answer: the loop would spin until it is sent."""
        left = self.total_outbufs_len
        if left and (left > _SMALL or not self.requests):
            return True
        return self.is_closing

    def handle_read(self) -> None:
        if self._lingering is None:
            super().handle_read()
            return
        try:
            thrown = len(self.recv(_SMALL))
        except OSError:
            thrown = self._lingering
        self._lingering -= thrown
        if self._lingering <= 0 and self.connected:
            self.handle_close()

    def handle_write(self) -> None:
        if self.lingers and self.close_when_flushed:
            self._flush_exception(self._flush_some)
            if not self.total_outbufs_len and not self.will_close:
                self.close_when_flushed = False
                self._lingering = _LINGERING_BYTES
                with contextlib.suppress(OSError):
                    self.socket.shutdown(socket.SHUT_WR)
            if not self.will_close:
                return
        super().handle_write()

    def handle_close(self) -> None:
        super().handle_close()
        self.server.connections.remove(self)
        if self.request is not None:
            self.request.close()
        for request in () if self._is_working else tuple(self.requests):
            request.close()

    def end_if_overdue(self, now: float) -> None:
        """Close the connection if its client takes too long, with the reason if one can still be
        sent.
        """
        progress = self._progress()
        if not self._watch.is_overdue(progress, now):
            return
        if progress.stage in (Stage.HEADERS, Stage.BODY):
            self.refuse(Refusal.of(408))
        else:
            self.handle_close()

    def _progress(self) -> Progress:
        request, number = self.request, self._served
        if self._lingering is not None:
            return Progress(Stage.LINGERING, number)
        if self.total_outbufs_len and not self.requests:
            return Progress(Stage.ANSWER, number, self._sent, self.total_outbufs_len)
        if self.requests or (request is not None and request.needs_admission):
            return Progress(Stage.WORK, number)
        if request is None:
            return Progress(Stage.IDLE, number)
        if not request.headers_finished:
            return Progress(Stage.HEADERS, number)
        moved = request.body_bytes_received
        left = (request.body_limit if request.chunked else request.content_length) - moved
        return Progress(Stage.BODY, number, moved, max(left, 0))

    @property
    def is_expendable(self) -> bool:
        """Return true if no request of the connection was admitted or is being answered."""
        if self.requests or self.total_outbufs_len:
            return False
        return self.request is None or not self.request.is_admitted

    @property
    def is_receiving(self) -> bool:
        """Return true if the client is sending its request, and waits for no other answer."""
        return self.request is not None and not (self.requests or self.total_outbufs_len)

    @property
    def is_busy(self) -> bool:
        """Return true if the client waits for an answer, or is sending a request."""
        return bool(self.requests or self.total_outbufs_len or self.request is not None)


class _Waker:
    """The server, as a connection sees it."""

    def __init__(self, server: Any, channel: Channel) -> None:
        self._server = server
        self._channel = channel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    def pull_trigger(self) -> None:
        channel = self._channel
        if channel.total_outbufs_len or channel.requests or channel.is_closing:
            self._server.wake(channel)
