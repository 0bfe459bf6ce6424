"""The application: endpoints, and what holds for each of them: who is asked for, ids, headers, errors, log and metrics."""

from __future__ import annotations

import json
import re
import secrets
import time
from http import HTTPStatus
from types import TracebackType
from typing import Any

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from dlpctl.control.service import ControlPlane
from dlpctl.errors import DlpctlError, RateLimitError, UnauthorizedError
from dlpctl_daemon import docs
from dlpctl_daemon.api import resources
from dlpctl_daemon.bodies import MalformedError
from dlpctl_daemon.cors import Cors
from dlpctl_daemon.endpoints import Guard, Service, json_response
from dlpctl_daemon.hosts import Hosts
from dlpctl_daemon.limits import Allowance, Rate, RateLimiter
from dlpctl_daemon.logs import Log, places
from dlpctl_daemon.metrics import Metrics
from dlpctl_daemon.options import Options, hosts_of
from dlpctl_daemon.readiness import Readiness

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_RETRY_SECONDS = 5
_UNKNOWN = "(none)"
"""The route of requests that lead nowhere: their paths may hold anything."""


def create_app(control: ControlPlane, options: Options, log: Log) -> Flask:
    service = Service(
        control,
        options,
        RateLimiter(Rate(options.settings.rate, options.settings.burst)),
        Metrics(),
        log,
        Readiness(control.maintenance.ready),
    )
    app = _App(__name__, static_folder=None)
    app.log = log
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = True
    app.config["MAX_FORM_MEMORY_SIZE"] = 1 << 16
    app.config["MAX_FORM_PARTS"] = 16
    declared = list(resources())
    for resource in declared:
        app.register_blueprint(resource.blueprint(service))
    app.register_blueprint(docs.blueprint(declared))
    _Frame(service).install(app)
    return app


class _App(Flask):
    log: Log

    def log_exception(
        self, exc_info: tuple[type, BaseException, TracebackType] | tuple[None, None, None]
    ) -> None:
        """Where it failed; not what it says, which may hold content."""
        error = exc_info[1]
        if error is not None:
            self.log.error("failed", request_id=g.request_id, error=type(error).__name__, at=places(error))


class _Frame:
    """What surrounds every request."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._hosts = None if service.options.unix_socket else Hosts(hosts_of(service.options))
        self._cors = Cors(service.options.settings.cors_origins)

    def install(self, app: Flask) -> None:
        app.before_request(self.begin)
        app.after_request(self.end)
        app.register_error_handler(DlpctlError, self.refused)
        app.register_error_handler(HTTPException, _http_error)
        app.register_error_handler(HTTPStatus.INTERNAL_SERVER_ERROR, _failed)

    def begin(self) -> Response | None:
        g.began = time.perf_counter()
        given = request.headers.get("X-Request-Id", "")
        g.request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        if self._hosts is not None:
            self._hosts.check(request.headers.get("Host"))
        return self._cors.preflight(request)

    def end(self, response: Response) -> Response:
        headers = response.headers
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        headers["X-Request-Id"] = g.request_id
        allowance: Allowance | None = g.get("allowance")
        if allowance is not None:
            headers.extend(allowance.headers())
        self._cors.allow(request, headers)
        self._note(response.status_code)
        return response

    def refused(self, error: DlpctlError) -> Response:
        status = error.http_status
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            # The message names files of this machine: it is for who runs the service.
            self._service.log.error("store", request_id=g.request_id, problem=error.message)
            response = _error(
                status,
                f"nothing can be recorded now, so nothing was done; try again later (request {g.request_id})",
            )
            response.headers["Retry-After"] = str(_RETRY_SECONDS)
            return response
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._service.log.error(
                "failed", request_id=g.request_id, error=type(error).__name__, problem=error.message
            )
            return _failed(error)
        response = _error(status, " ".join(error.message.split()), error.code)
        if isinstance(error, RateLimitError):
            g.allowance = Allowance(error.limit, 0, error.retry_after)
            response.headers["Retry-After"] = str(error.retry_after)
        if isinstance(error, UnauthorizedError):
            guard: Guard = g.guard
            response.headers["WWW-Authenticate"] = guard.challenge
        if isinstance(error, MalformedError):
            response.headers["Connection"] = "close"
        return response

    def _note(self, status: int) -> None:
        seconds = time.perf_counter() - g.began
        route = request.url_rule.rule if request.url_rule else _UNKNOWN
        method = request.method if request.url_rule else "-"
        self._service.metrics.request(method, route, status, seconds)
        said: dict[str, Any] = {
            name: value for name in ("caller", "decision") if (value := g.get(name)) is not None
        }
        self._service.log.info(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            request_id=g.request_id,
            **said,
        )


def _error(status: int, detail: str, code: str | None = None) -> Response:
    """`code` goes into a header: the body is the one that the interface demands."""
    response = json_response({"detail": detail}, status)
    if code is not None:
        response.headers["X-Error-Code"] = code
    return response


def _http_error(error: HTTPException) -> Response:
    status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    if status == HTTPStatus.NOT_FOUND:
        return _error(status, "there is nothing at this address; see /docs", "not-found")
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        response = _error(status, f"this address takes {allowed}")
        response.headers["Allow"] = allowed
        return response
    response = _error(status, json.dumps(error.name).strip('"').lower())
    for name, value in error.get_headers():
        if name not in ("Content-Type", "Content-Length"):
            response.headers[name] = value
    return response


def _failed(_error_: Exception) -> Response:
    return _error(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        f"the service failed; say this id to who runs it: {g.request_id}",
    )
