"""The WSGI layer around Flask: host check, request id, answer headers, log and metrics.

Within Flask, all this would take half as long as the check itself.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dlpctl.errors import DlpctlError
from dlpctl_daemon.cors import Cors
from dlpctl_daemon.endpoints import as_json, fail
from dlpctl_daemon.hosts import Hosts
from dlpctl_daemon.notes import HEADERS_ONLY, KEY, QUEUED, Note
from dlpctl_daemon.options import hosts_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from dlpctl_daemon.endpoints import Answerer, Service

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
"""The start of the paths of clients that take `{base}/v1` for the address of the service."""


class _Held:
    """An answer that begins once what it says is recorded: when it is iterated, or closed without
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
        """Answer the `direct` endpoints without Flask, as long as nothing is wrong."""
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
        note = _note(environ)

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            note.status = int(status[:3])
            made = self._headers(environ, note, headers)
            if note.ticket is None:
                return start_response(status, made, exc_info)
            held.append((status, made))
            return None

        def recorded() -> Iterable[bytes]:
            """The answer to a check, or why there is none."""
            ticket, note.ticket = note.ticket, None
            try:
                if ticket is not None:
                    ticket.result()
                for head in held:
                    start_response(*head)
            except Exception as error:
                note.decision = None
                return self._failed(error, environ, start)
            finally:
                self.finish(note, environ["REQUEST_METHOD"])
            return answer

        held: list[tuple[str, list[tuple[str, str]]]] = []
        answer: Iterable[bytes] = ()
        try:
            answer = self._answer(environ, start)
        finally:
            if note.ticket is None and not (note.is_admitted and HEADERS_ONLY in environ):
                self.finish(note, environ["REQUEST_METHOD"])
        return answer if note.ticket is None else _Held(answer, recorded)

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
        """The view raises the error again, within Flask, which answers and logs it as any other."""
        fail(environ, error)
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

    def finish(self, note: Note, method: str) -> None:
        """Log and count a request that was answered."""
        if note.decision is not None:
            self._metrics.decision(note.kind, note.decision)
        seconds = time.perf_counter() - note.began
        route, method = (note.route, method) if note.route else (_UNKNOWN, "-")
        self._metrics.request(method, route, note.status, seconds, note.queued)
        self._log.request(method, route, note, seconds)


def _note(environ: WSGIEnvironment) -> Note:
    """The note of the request; a request that was admitted by its headers has one already."""
    note: Note | None = environ.get(KEY)
    if note is None:
        given = environ.get("HTTP_X_REQUEST_ID")
        made = given if given and _REQUEST_ID.fullmatch(given) else os.urandom(8).hex()
        note = environ[KEY] = Note(made, environ.get("REMOTE_ADDR", ""))
    else:
        note.began = time.perf_counter()
    note.queued = environ.get(QUEUED)
    return note
