"""Decides by the headers whether a large body is read, so that nobody without a credential can
send one.
"""

from __future__ import annotations

import io
import threading
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from dlpctl_daemon.context import HEADERS_ONLY, IDENTIFIED, KEY, RequestContext
from dlpctl_daemon.tasks import Refusal, Task

if TYPE_CHECKING:
    from dlpctl_daemon.channel import Channel
    from dlpctl_daemon.lanes import Share
    from dlpctl_daemon.parsing import Request

_LEAST = 1 << 20


class Budget:
    """Limits the bytes of bodies that are received at the same time, in all and for one caller."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    def reserve(self, caller: str, size: int) -> HTTPStatus | None:
        """Reserve room for a body, or return the status of the refusal. Small bodies count as a
        megabyte.
        """
        size = max(size, _LEAST)
        with self._lock:
            if self._taken[caller] + size > self._most_of_one:
                return HTTPStatus.TOO_MANY_REQUESTS
            if self._taken.total() + size > self._most:
                return HTTPStatus.SERVICE_UNAVAILABLE
            self._taken[caller] += size
        return None

    def release(self, caller: str, size: int) -> None:
        with self._lock:
            self._taken[caller] -= max(size, _LEAST)
            if not self._taken[caller]:
                del self._taken[caller]


class Admission:
    """Asks the application about the headers of one request, in a lane like any request."""

    def __init__(
        self,
        channel: Channel,
        request: Request,
        budget: Budget,
        on_loop: Callable[[Callable[[], None]], None],
    ) -> None:
        self.channel = channel
        self._request = request
        self._budget = budget
        self._on_loop = on_loop
        self.identified: Callable[[Share], None] | None = None

    def start(self) -> None:
        """Let the application decide by the headers."""
        if not self.channel.connected:
            return
        try:
            self._decide()
        except Exception:
            self.refuse(Refusal.of(HTTPStatus.INTERNAL_SERVER_ERROR))
            raise

    def _decide(self) -> None:
        environ: dict[str, Any] = Task(self.channel, self._request).get_environment()
        environ |= {"wsgi.input": io.BytesIO(), HEADERS_ONLY: True, IDENTIFIED: self.identified}
        heads: list[tuple[str, list[tuple[str, str]]]] = []
        answer = self.channel.server.application(
            environ, lambda status, headers, _=None: heads.append((status, headers))
        )
        body = b"".join(answer)
        context: RequestContext | None = environ.get(KEY)
        if context is None or not context.is_admitted:
            ((status, headers),) = heads
            code, _, reason = status.partition(" ")
            self.refuse(Refusal(int(code), reason, tuple(headers), body, is_logged=True))
            return
        self._reserve(context)

    def service(self) -> None:
        """Nothing is left to do."""

    def refuse(self, refusal: Refusal) -> None:
        self._on_loop(lambda: self.channel.refuse(refusal))

    def _reserve(self, context: RequestContext) -> None:
        request, caller = self._request, context.caller or ""
        size = request.content_length if not request.chunked else context.body_limit
        refused = self._budget.reserve(caller, size)
        if refused is not None:
            self.refuse(Refusal.of(refused))
            return
        request.release = lambda: self._budget.release(caller, size)
        self._on_loop(lambda: self.channel.admit(request, context))
