"""An endpoint is declared once: where it is, who may call it, what it takes and gives. Its view and
its part of the description come from that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Blueprint, Response, request

from dlpctl.control.access import Access, Role
from dlpctl_daemon.bodies import (
    check_form,
    check_json,
    read_json,
    read_query,
    read_texts,
    refuse_larger,
)
from dlpctl_daemon.callers import bearer_of
from dlpctl_daemon.notes import HEADERS_ONLY, Note, note
from dlpctl_daemon.schemas import Schema, ref

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from dlpctl.control.service import ControlPlane
    from dlpctl_daemon.callers import Callers
    from dlpctl_daemon.limits import RateLimiter
    from dlpctl_daemon.logs import Log
    from dlpctl_daemon.metrics import Metrics
    from dlpctl_daemon.options import Options
    from dlpctl_daemon.readiness import Readiness


class Service(NamedTuple):
    """What all endpoints stand on."""

    control: ControlPlane
    options: Options
    limiter: RateLimiter
    metrics: Metrics
    log: Log
    readiness: Readiness
    callers: Callers


class Guard(Enum):
    """What opens an endpoint: the name of its scheme in the description."""

    OPEN = None
    POLICY_KEY = "PolicyKey"
    LICENSE_KEY = "LicenseKey"
    ADMIN = "AdminToken"

    @property
    def challenge(self) -> str:
        return 'PolicyKey header="X-Service-API-Key"' if self is Guard.POLICY_KEY else "Bearer"


class Call(NamedTuple):
    """A request that was let in."""

    service: Service
    access: Access
    """Of the admin token; of no use where another key opens the endpoint."""
    key: str | None
    """The policy's or license's key."""
    body: dict[str, Any]
    query: dict[str, Any]
    note: Note

    @property
    def control(self) -> ControlPlane:
        return self.service.control


Handler = Callable[..., object]


class Endpoint(NamedTuple):
    method: str
    path: str
    """As Flask has it: `/api/organizations/<org_id>`."""
    handler: Handler
    summary: str
    guard: Guard
    status: int
    answer: Schema | None
    """None is an answer without a body."""
    body: str | None
    """The name of the schema of a JSON body that the endpoint takes."""
    form: str | None
    """The same of a form."""
    query: Mapping[str, Schema]
    media: str
    fails: tuple[int, ...]
    """Statuses of errors that this endpoint has and others like it do not."""
    is_direct: bool
    """Asked so often that Flask is spared: its path has no parameters, and its answer is JSON."""


class Resource:
    """Endpoints that belong together."""

    def __init__(self, name: str, about: str) -> None:
        self.name = name
        self.about = about
        self.endpoints: list[Endpoint] = []

    def endpoint(
        self,
        method: str,
        path: str,
        *,
        answer: str | Schema | None = None,
        guard: Guard = Guard.ADMIN,
        status: int = 200,
        body: str | None = None,
        form: str | None = None,
        query: Mapping[str, Schema] | None = None,
        media: str = "application/json",
        fails: tuple[int, ...] = (),
        is_direct: bool = False,
    ) -> Callable[[Handler], Handler]:
        """The first line of the handler's docstring says what the endpoint does."""

        def declare(handler: Handler) -> Handler:
            summary = (handler.__doc__ or "").strip().partition("\n")[0]
            schema = ref(answer) if isinstance(answer, str) else answer
            self.endpoints.append(
                Endpoint(
                    method,
                    path,
                    handler,
                    summary,
                    guard,
                    status,
                    schema,
                    body,
                    form,
                    query or {},
                    media,
                    fails,
                    is_direct,
                )
            )
            return handler

        return declare

    def blueprint(self, service: Service) -> Blueprint:
        blueprint = Blueprint(self.name, __name__)
        for endpoint in self.endpoints:
            blueprint.add_url_rule(
                endpoint.path,
                f"{endpoint.method}-{endpoint.handler.__name__}",
                _view(endpoint, service),
                methods=[endpoint.method],
                provide_automatic_options=False,
            )
        return blueprint


Answerer = Callable[..., object]
"""Takes the environ, its note and the parameters of the path."""
_FAILED = "dlpctl.failed"
_UNREAD_BODY = 1 << 10
"""Bytes of a body that an endpoint may get and does not look at."""


def answerer(endpoint: Endpoint, service: Service) -> Answerer:
    handler, guard = endpoint.handler, endpoint.guard
    check_body, limit = _body_rules(endpoint, service.options)
    read = read_texts if guard is Guard.POLICY_KEY else read_json

    def answer(environ: WSGIEnvironment, noted: Note, **path: str) -> object:
        noted.route, noted.guard = endpoint.path, guard
        access, key = _let_in(environ, noted, guard, service)
        check_body(environ, limit)
        if HEADERS_ONLY in environ:
            noted.is_admitted, noted.body_limit = True, limit
            return {}
        body = read(environ) if endpoint.body else {}
        query = read_query(request, endpoint.query) if endpoint.query else {}
        if path:
            noted.asks_for(path)
        answered = handler(Call(service, access, key, body, query, noted), **path)
        if isinstance(answered, dict):
            noted.gives(answered)
        if path.get("org_id") and "org_id" not in noted.objects:
            noted.objects["org_id"] = path["org_id"]  # a slug, which exists: it was found
        return answered

    return answer


def _body_rules(
    endpoint: Endpoint, options: Options
) -> tuple[Callable[[WSGIEnvironment, int], None], int]:
    """The check of a body by its headers, and the limit of its size."""
    if endpoint.form:
        return check_form, options.file_body
    if endpoint.body:
        is_text = endpoint.guard is Guard.POLICY_KEY
        return check_json, options.text_body if is_text else options.json_body
    return refuse_larger, _UNREAD_BODY


def fail(environ: WSGIEnvironment, error: Exception) -> None:
    """Let the view raise an error that came up outside of Flask, so that it is answered as all
    others are.
    """
    environ[_FAILED] = error


def _view(endpoint: Endpoint, service: Service) -> Callable[..., Response]:
    answer, status = answerer(endpoint, service), endpoint.status

    def view(**path: str) -> Response:
        environ = request.environ
        if _FAILED in environ:
            raise environ[_FAILED]
        made = answer(environ, note(), **path)
        if isinstance(made, Response):
            return made
        if made is None:
            return Response(status=status)
        return json_response(made, status)

    return view


def json_response(answer: object, status: int) -> Response:
    return Response(as_json(answer), status, content_type="application/json")


def as_json(answer: object) -> bytes:
    return _encode(answer).encode("ascii")


_encode = json.JSONEncoder(separators=(",", ":")).encode
_NOBODY = Access(Role.AUDITOR, "")


def _let_in(
    environ: WSGIEnvironment, noted: Note, guard: Guard, service: Service
) -> tuple[Access, str | None]:
    if guard is Guard.POLICY_KEY:
        key = environ.get("HTTP_X_SERVICE_API_KEY")
        noted.caller = service.callers.policy_id(key)
        if noted.allowance is None:  # else the request was admitted by its headers
            noted.allowance = service.limiter.take(noted.caller)
        return _NOBODY, key
    if guard is Guard.LICENSE_KEY:
        key = _bearer(environ)
        noted.caller = service.control.licenses.identify(key)
        noted.allowance = service.limiter.take(noted.caller)
        return _NOBODY, key
    if guard is Guard.ADMIN:
        token = _bearer(environ)
        access = service.control.tokens.authenticate(token)
        noted.caller = access.token_id
        service.callers.remember(token, access)
        return access, None
    return _NOBODY, None


def _bearer(environ: WSGIEnvironment) -> str | None:
    return bearer_of(environ.get("HTTP_AUTHORIZATION"))
