"""Waitress, with errors as the interface has them, and an end at which everything that was asked is answered first."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server

from dlpctl_daemon.logs import Log, places
from dlpctl_daemon.options import Options
from dlpctl_daemon.tasks import LARGEST_HEADER, ErrorTask, Task
from dlpctl_daemon.workers import Workers

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_CONNECTIONS = 1_000
_IDLE_SECONDS = 60
_DRAIN_SECONDS = 30.0
_LAST_CALL_SECONDS = 0.3
"""How long a connection that is open and quiet may still bring a request at the end."""
_SMALL = 1 << 16
_TURN_SECONDS = 1.0


class _Channel(HTTPChannel):
    """A connection whose answers are sent by the thread that made them. The loop is woken only for what that leaves over:

    woken for each answer, it would take as much of the interpreter's time as the checks themselves.
    """

    error_task_class = ErrorTask

    def __init__(self, server: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(_Waker(server, self), *arguments, **named)
        self._begun: Task | None = None

    def begin(self) -> None:
        """Do what does not wait for the disk; `service` does the rest."""
        request = self.requests[0]
        if self.connected and not request.error:
            self._begun = Task(self, request)
            self._begun.begin()

    def task_class(self, _channel: HTTPChannel, request: HTTPRequestParser) -> Task:
        # Given away at once: the next request may begin before `service` is through with this one.
        begun, self._begun = self._begun, None
        return begun or Task(self, request)

    def service(self) -> None:
        begun = self._begun
        try:
            super().service()
        finally:
            if begun is not None:
                begun.drop()

    @property
    def is_closing(self) -> bool:
        return bool(self.will_close or self.close_when_flushed)

    def readable(self) -> bool:
        """Also while a request is worked on, so that the loop need not be told when that is done."""
        return len(self.requests) <= 1 and not self.will_close and not self.close_when_flushed

    def writable(self) -> bool:
        """Not while a thread sends its answer: the loop would turn without end until it has."""
        left = self.total_outbufs_len
        if left and (left > _SMALL or not self.requests):
            return True
        return bool(self.will_close or self.close_when_flushed)

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer, or is about to ask."""
        return bool(self.requests or self.total_outbufs_len or self.request is not None)


class _Waker:
    """The server, as a connection sees it."""

    def __init__(self, server: Any, channel: _Channel) -> None:
        self._server = server
        self._channel = channel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    def pull_trigger(self) -> None:
        channel = self._channel
        if channel.total_outbufs_len or channel.requests or channel.is_closing:
            self._server.pull_trigger()


class Server:
    def __init__(
        self, application: WSGIApplication, listening: socket.socket, options: Options, log: Log
    ) -> None:
        proxy = options.settings.trusted_proxy
        trusted: dict[str, Any] = {}
        if proxy:
            trusted = {
                "trusted_proxy": proxy,
                "trusted_proxy_count": 1,
                "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"},
            }
        self._map: dict[int, Any] = {}
        self._workers = Workers(
            options.settings.threads,
            lambda problem: log.error("failed", error=type(problem).__name__, at=places(problem)),
        )
        self._look_again: float | None = None
        self._inner = create_server(
            application,
            map=self._map,
            sockets=[listening],
            _dispatcher=self._workers,
            ident=None,
            connection_limit=_CONNECTIONS,
            channel_timeout=_IDLE_SECONDS,
            cleanup_interval=10,
            send_bytes=1,
            channel_request_lookahead=1,
            max_request_header_size=LARGEST_HEADER,
            max_request_body_size=options.largest_body + 1,
            clear_untrusted_proxy_headers=True,
            log_socket_errors=False,
            expose_tracebacks=False,
            **trusted,
        )
        self._inner.channel_class = _Channel
        self._inner.is_ending = False
        self._poll = hasattr(select, "poll")

    def run(self) -> None:
        """Serves until `stop` was called and all that was asked by then is answered."""
        while not self._inner.is_ending:
            self._turn(_TURN_SECONDS)
        self._drain()
        self._workers.shutdown()
        wasyncore.close_all(self._map)

    def stop(self) -> None:
        """May be called from anywhere, a signal handler included; a second call ends at once."""
        if self._inner.is_ending:
            raise SystemExit(1)
        self._inner.is_ending = True
        self._inner.pull_trigger()

    def _turn(self, seconds: float) -> None:
        if self._look_again is not None:
            seconds = min(seconds, self._look_again)
        wasyncore.loop(timeout=seconds, use_poll=self._poll, map=self._map, count=1)
        self._look_again = self._workers.hand_over()

    def _drain(self) -> None:
        self._refuse_new()
        began = time.monotonic()
        while (waited := time.monotonic() - began) < _DRAIN_SECONDS:
            quiet = [channel for channel in self._channels() if not channel.is_busy]
            if waited > _LAST_CALL_SECONDS:
                for channel in quiet:
                    channel.handle_close()
            if not self._channels():
                return
            self._turn(0.05)

    def _refuse_new(self) -> None:
        """Those who have connected already are still let in."""
        while True:
            before = len(self._map)
            self._inner.handle_accept()
            if len(self._map) == before:
                break
        self._inner.accepting = False
        self._inner.del_channel()
        self._inner.socket.close()

    def _channels(self) -> list[_Channel]:
        return list(self._inner.active_channels.values())


def serving(server: Server) -> Callable[[int, object], None]:
    """A handler for signals that ends the server."""

    def handle(_signal: int, _frame: object) -> None:
        server.stop()

    return handle
