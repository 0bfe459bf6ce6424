"""The WSGI layer around Flask: host check, request id, answer headers, log and metrics.

Within Flask, all this would cost half as much time as the check.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dlpctl.errors import DlpctlError
from dlpctl_daemon.context import HEADERS_ONLY, IDENTIFIED, KEY, QUEUED, RequestContext
from dlpctl_daemon.cors import Cors
from dlpctl_daemon.endpoints import Answerer, Service, as_json, fail
from dlpctl_daemon.hosts import Hosts
from dlpctl_daemon.options import hosts_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADERS = (
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)
_UNKNOWN = "(none)"
_VERSION = "/v1"
_DOUBLED = "/v1/v1/"
"""The start of the paths of clients that use `{base}/v1` as the address of the service."""


class _Held:
    """An answer that starts after its check is recorded: when it is iterated, or closed without
    that.
    """

    def __init__(self, answer: Iterable[bytes], recorded: Callable[[], Iterable[bytes]]) -> None:
        self._answer = answer
        self._recorded: Callable[[], Iterable[bytes]] | None = recorded

    def __iter__(self) -> Iterator[bytes]:
        recorded, self._recorded = self._recorded, None
        if recorded is not None:
            self._answer = recorded()
        return iter(self._answer)

    def close(self) -> None:
        if self._recorded is not None:
            iter(self)
        close = getattr(self._answer, "close", None)
        if close is not None:
            close()


class Frame:
    def __init__(
        self, inner: WSGIApplication, direct: Mapping[tuple[str, str], Answerer], service: Service
    ) -> None:
        """Answer the `direct` endpoints without Flask, unless an error occurs."""
        settings = service.options.settings
        self._inner = inner
        self._direct = direct
        self._metrics = service.metrics
        self._log = service.log
        self._hosts = None if service.options.unix_socket else Hosts(hosts_of(service.options))
        self._cors = Cors(settings.cors_origins) if settings.cors_origins else None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"].startswith(_DOUBLED):
            environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(_VERSION)
        context = _context_of(environ)

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            context.status = int(status[:3])
            made = self._headers(environ, context, headers)
            if context.ticket is None:
                return start_response(status, made, exc_info)
            held.append((status, made))
            return None

        def recorded() -> Iterable[bytes]:
            """Return the answer to a check, or the reason why there is none."""
            ticket, context.ticket = context.ticket, None
            try:
                if ticket is not None:
                    ticket.result()
                for head in held:
                    start_response(*head)
            except Exception as error:
                context.decision = None
                return self._failed(error, environ, start)
            finally:
                self.finish(context, environ["REQUEST_METHOD"])
            return answer

        held: list[tuple[str, list[tuple[str, str]]]] = []
        answer: Iterable[bytes] = ()
        try:
            answer = self._answer(environ, start)
        finally:
            if context.ticket is None and not (context.is_admitted and HEADERS_ONLY in environ):
                self.finish(context, environ["REQUEST_METHOD"])
        return answer if context.ticket is None else _Held(answer, recorded)

    def _answer(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if self._hosts is not None:
            try:
                self._hosts.check(environ.get("HTTP_HOST"))
            except DlpctlError as error:
                body = json.dumps({"detail": error.message}).encode("ascii")
                start(
                    "400 Bad Request",
                    [("Content-Type", "application/json"), ("Content-Length", str(len(body)))],
                )
                return [body]
        if self._cors is not None and self._cors.asks(environ):
            start("204 No Content", list(self._cors.allowed))
            return []
        direct = self._direct.get((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        if direct is None:
            return self._inner(environ, start)
        try:
            body = as_json(direct(environ, environ[KEY]))
        except Exception as error:
            return self._failed(error, environ, start)
        start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    def _failed(
        self, error: Exception, environ: WSGIEnvironment, start: StartResponse
    ) -> Iterable[bytes]:
        """Let the view raise the error again within Flask, which answers and logs it."""
        fail(environ, error)
        return self._inner(environ, start)

    def _headers(
        self, environ: WSGIEnvironment, context: RequestContext, headers: list[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        own = {name for name, _ in headers}
        made = [*headers, *(header for header in _HEADERS if header[0] not in own)]
        made.append(("X-Request-Id", context.request_id))
        if context.allowance is not None:
            made += context.allowance.headers()
        return made if self._cors is None else self._cors.extended(environ, made)

    def finish(self, context: RequestContext, method: str) -> None:
        """Log and count a request that was answered."""
        if context.decision is not None:
            self._metrics.decision(context.content, context.decision)
        seconds = time.perf_counter() - context.began
        route, method = (context.route, method) if context.route else (_UNKNOWN, "-")
        self._metrics.request(method, route, context.status, seconds, context.queued)
        self._log.request(method, route, context, seconds)


def _context_of(environ: WSGIEnvironment) -> RequestContext:
    """Return the context of the request; one that was admitted by its headers has it already."""
    context: RequestContext | None = environ.get(KEY)
    if context is None:
        given = environ.get("HTTP_X_REQUEST_ID")
        made = given if given and _REQUEST_ID.fullmatch(given) else os.urandom(8).hex()
        context = environ[KEY] = RequestContext(made, environ.get("REMOTE_ADDR", ""))
    else:
        context.began = time.perf_counter()
    context.queued = environ.get(QUEUED)
    context.identified = environ.get(IDENTIFIED)
    return context
