"""The application: its endpoints and the answers to errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING

from flask import Flask, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import BaseConverter, Rule

from dlpctl.control.rates import Allowance, Rate, RateLimiter
from dlpctl.control.resources import OPERATIONS, RESOURCES
from dlpctl.errors import DlpctlError, RateLimitError, UnauthorizedError
from dlpctl_daemon import console, docs
from dlpctl_daemon.api import HANDLERS
from dlpctl_daemon.callers import Callers
from dlpctl_daemon.console.sessions import Sessions, SessionStore
from dlpctl_daemon.context import RequestContext, request_context
from dlpctl_daemon.endpoints import Service, answerer, blueprint, json_response
from dlpctl_daemon.frame import Frame
from dlpctl_daemon.logs import Log, locations
from dlpctl_daemon.memory import Memory
from dlpctl_daemon.metrics import Metrics
from dlpctl_daemon.options import Options
from dlpctl_daemon.readiness import Readiness
from dlpctl_daemon.tasks import code_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from dlpctl.control.service import ControlPlane

_RETRY_SECONDS = 5


def create_app(
    control: ControlPlane,
    options: Options,
    log: Log,
    memory: Memory | None = None,
    sessions: SessionStore | None = None,
) -> Application:
    """Make the application; several processes of a service give it the `memory` and the `sessions`
    that they have in common.
    """
    memory = memory or Memory.of(1)
    service = Service(
        control,
        options,
        RateLimiter(Rate(options.settings.rate, options.settings.burst), buckets=memory.buckets),
        Metrics(memory),
        log,
        Readiness(control.ready),
        Callers(control.checks.owner),
        HANDLERS,
        sessions or Sessions(),
        memory,
    )
    app = Application(service)
    for resource in RESOURCES:
        app.register_blueprint(blueprint(resource, service))
    app.register_blueprint(docs.blueprint())
    if options.answer_event is not None:
        from dlpctl_daemon import hooks

        app.register_blueprint(hooks.blueprint(options.answer_event, service))
    app.register_blueprint(console.blueprint(service))
    return app


class _PreflightId(BaseConverter):
    """The id of a check: anything but `text`, which is another address and allows no GET."""

    regex = "(?!text$)[^/]+"


class _MatchedRule(Rule):
    """A rule that addresses are matched with, and none is built from: compiling what builds them
    takes most of the start of an application.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        del append_unknown
        return _never_built


def _never_built(rule: Rule, **values: object) -> tuple[str, str]:
    raise NotImplementedError(f"no address is built from {rule.rule}")


class Application(Flask):
    url_rule_class = _MatchedRule

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

    def log_refusal(self, context: RequestContext) -> None:
        """Log and count a request that was refused before it got here."""
        self._frame.finish(context, "-")

    def log_exception(
        self,
        exc_info: tuple[type, BaseException, TracebackType] | tuple[None, None, None],
    ) -> None:
        """Log where the error occurred; not its message, which may hold content."""
        error = exc_info[1]
        if error is not None:
            self.service.log.error(
                "failed",
                request_id=request_context().request_id,
                error=type(error).__name__,
                at=locations(error),
            )

    def _refused(self, error: DlpctlError) -> Response:
        status = error.http_status
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            # The message may name files of this machine: it is for the operator of the service.
            self.service.log.error(
                "failed",
                request_id=request_context().request_id,
                error=type(error).__name__,
                problem=error.message,
            )
            return _failed(error) if status == HTTPStatus.INTERNAL_SERVER_ERROR else _not_now(error)
        response = error_response(status, " ".join(error.message.split()), error.code)
        if isinstance(error, RateLimitError):
            request_context().allowance = Allowance(error.limit, 0, error.retry_after)
            response.headers["Retry-After"] = str(error.retry_after)
        challenge = request_context().challenge
        if isinstance(error, UnauthorizedError) and challenge:
            response.headers["WWW-Authenticate"] = challenge
        return response


def error_response(status: int, detail: str, code: str | None = None) -> Response:
    """Return an error; `code` goes into a header, since the interface defines the body."""
    response = json_response({"detail": detail}, status)
    response.headers["X-Error-Code"] = code or code_of(status)
    return response


def _http_error(error: HTTPException) -> Response:
    status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    if status == HTTPStatus.NOT_FOUND:
        return error_response(status, "there is nothing at this address; see /docs")
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        response = error_response(status, f"this address takes {allowed}")
        response.headers["Allow"] = allowed
        return response
    return error_response(status, error.name.lower())


def _not_now(error: DlpctlError) -> Response:
    response = error_response(
        error.http_status,
        f"nothing can be recorded now, so nothing was done; try again later (request"
        f" {request_context().request_id})",
        error.code,
    )
    response.headers["Retry-After"] = str(_RETRY_SECONDS)
    return response


def _failed(_error: Exception) -> Response:
    return error_response(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        f"the service failed; give its operator this id: {request_context().request_id}",
    )
