"""The application: the endpoints, and how errors are answered."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING

from flask import Flask, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import BaseConverter

from dlpctl.control.resources import OPERATIONS, RESOURCES
from dlpctl.errors import DlpctlError, RateLimitError, UnauthorizedError
from dlpctl_daemon import docs
from dlpctl_daemon.api import HANDLERS
from dlpctl_daemon.callers import Callers
from dlpctl_daemon.endpoints import Service, answerer, blueprint, json_response
from dlpctl_daemon.frame import Frame
from dlpctl_daemon.limits import Allowance, Rate, RateLimiter
from dlpctl_daemon.logs import Log, places
from dlpctl_daemon.metrics import Metrics
from dlpctl_daemon.notes import Note, note
from dlpctl_daemon.options import Options
from dlpctl_daemon.readiness import Readiness

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from dlpctl.control.service import ControlPlane

_RETRY_SECONDS = 5


def create_app(control: ControlPlane, options: Options, log: Log) -> Application:
    service = Service(
        control,
        options,
        RateLimiter(Rate(options.settings.rate, options.settings.burst)),
        Metrics(),
        log,
        Readiness(control.ready),
        Callers(control.checks.owner),
        HANDLERS,
    )
    app = Application(service)
    for resource in RESOURCES:
        app.register_blueprint(blueprint(resource, service))
    app.register_blueprint(docs.blueprint())
    return app


class _PreflightId(BaseConverter):
    """The id of a check: anything but `text`, which is an address of its own and takes no GET."""

    regex = "(?!text$)[^/]+"


class Application(Flask):
    def __init__(self, service: Service) -> None:
        super().__init__(__name__, static_folder=None)
        self.service = service
        direct = {
            (operation.method, operation.path): answerer(operation, service)
            for operation in OPERATIONS.values()
            if operation.is_direct
        }
        self._frame = Frame(super().wsgi_app, direct, service)
        self.url_map.merge_slashes = False
        self.url_map.converters["preflight"] = _PreflightId
        self.register_error_handler(DlpctlError, self._refused)
        self.register_error_handler(HTTPException, _http_error)
        self.register_error_handler(HTTPStatus.INTERNAL_SERVER_ERROR, _failed)

    def wsgi_app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self._frame(environ, start_response)

    def log_refusal(self, noted: Note) -> None:
        """Log and count a request that was refused before it got here."""
        self._frame.finish(noted, "-")

    def log_exception(
        self,
        exc_info: tuple[type, BaseException, TracebackType] | tuple[None, None, None],
    ) -> None:
        """Log where it failed; not the message of the error, which may hold content."""
        error = exc_info[1]
        if error is not None:
            self.service.log.error(
                "failed", request_id=note().request_id, error=type(error).__name__, at=places(error)
            )

    def _refused(self, error: DlpctlError) -> Response:
        status = error.http_status
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            # The message may name files of this machine: it is for who runs the service.
            self.service.log.error(
                "failed",
                request_id=note().request_id,
                error=type(error).__name__,
                problem=error.message,
            )
            return (
                _failed(error) if status == HTTPStatus.INTERNAL_SERVER_ERROR else _not_now(status)
            )
        response = error_response(status, " ".join(error.message.split()), error.code)
        if isinstance(error, RateLimitError):
            note().allowance = Allowance(error.limit, 0, error.retry_after)
            response.headers["Retry-After"] = str(error.retry_after)
        challenge = note().challenge
        if isinstance(error, UnauthorizedError) and challenge:
            response.headers["WWW-Authenticate"] = challenge
        return response


def error_response(status: int, detail: str, code: str | None = None) -> Response:
    """`code` goes into a header: the body is the one that the interface demands."""
    response = json_response({"detail": detail}, status)
    if code is not None:
        response.headers["X-Error-Code"] = code
    return response


def _http_error(error: HTTPException) -> Response:
    status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    if status == HTTPStatus.NOT_FOUND:
        return error_response(status, "there is nothing at this address; see /docs", "not-found")
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        response = error_response(status, f"this address takes {allowed}")
        response.headers["Allow"] = allowed
        return response
    return error_response(status, error.name.lower())


def _not_now(status: int) -> Response:
    response = error_response(
        status,
        f"nothing can be recorded now, so nothing was done; try again later (request"
        f" {note().request_id})",
    )
    response.headers["Retry-After"] = str(_RETRY_SECONDS)
    return response


def _failed(_error: Exception) -> Response:
    return error_response(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        f"the service failed; say this id to who runs it: {note().request_id}",
    )
