"""What surrounds every request, as WSGI: which host it is for, its id, the headers of its answer, log and metrics.

It stands around Flask and not in it, since there it would take half as long as the check itself.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dlpctl.errors import DlpctlError
from dlpctl_daemon.cors import Cors
from dlpctl_daemon.hosts import Hosts
from dlpctl_daemon.notes import KEY, Note
from dlpctl_daemon.options import hosts_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from dlpctl_daemon.endpoints import Service

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


class Frame:
    def __init__(self, inner: WSGIApplication, service: Service) -> None:
        settings = service.options.settings
        self._inner = inner
        self._metrics = service.metrics
        self._log = service.log
        self._hosts = None if service.options.unix_socket else Hosts(hosts_of(service.options))
        self._cors = Cors(settings.cors_origins) if settings.cors_origins else None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        given = environ.get("HTTP_X_REQUEST_ID")
        made = given if given and _REQUEST_ID.fullmatch(given) else os.urandom(8).hex()
        note = environ[KEY] = Note(made)

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            note.status = int(status[:3])
            return start_response(status, self._headers(environ, note, headers), exc_info)

        try:
            return self._answer(environ, start)
        finally:
            self._finish(environ, note)

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
        return self._inner(environ, start)

    def _headers(
        self, environ: WSGIEnvironment, note: Note, headers: list[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        own = {name for name, _ in headers}
        made = [*headers, *(header for header in _HEADERS if header[0] not in own)]
        made.append(("X-Request-Id", note.request_id))
        if note.allowance is not None:
            made += note.allowance.headers()
        return made if self._cors is None else self._cors.extended(environ, made)

    def _finish(self, environ: WSGIEnvironment, note: Note) -> None:
        seconds = time.perf_counter() - note.began
        route, method = (note.route, environ["REQUEST_METHOD"]) if note.route else (_UNKNOWN, "-")
        self._metrics.request(method, route, note.status, seconds)
        self._log.request(method, route, note, seconds)
