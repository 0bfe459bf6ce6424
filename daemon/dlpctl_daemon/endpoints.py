"""Endpoints: the operations of the control plane over HTTP.

An operation is declared in `dlpctl.control.resources`. Here its caller is let in, its request is
read, and its answer is written. `api` has functions for the few that need more than that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Blueprint, Response, request

from dlpctl.control.access import Access, Role
from dlpctl.control.resources.operations import Credential, Operation, Resource
from dlpctl.control.resources.shapes import plain
from dlpctl_daemon.bodies import (
    check_form,
    check_json,
    read_json,
    read_query,
    read_texts,
    refuse_larger,
)
from dlpctl_daemon.callers import Callers, bearer_of
from dlpctl_daemon.context import HEADERS_ONLY, RequestContext, request_context
from dlpctl_daemon.lanes import Share

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from dlpctl.control.rates import RateLimiter
    from dlpctl.control.service import ControlPlane
    from dlpctl_daemon.console.sessions import SessionStore
    from dlpctl_daemon.logs import Log
    from dlpctl_daemon.memory import Memory
    from dlpctl_daemon.metrics import Metrics
    from dlpctl_daemon.options import Options
    from dlpctl_daemon.readiness import Readiness


class Service(NamedTuple):
    """The parts of the service that all endpoints use."""

    control: ControlPlane
    options: Options
    limiter: RateLimiter
    metrics: Metrics
    log: Log
    readiness: Readiness
    callers: Callers
    handlers: Mapping[str, Callable[..., object]]
    """The functions of operations that no method of the control plane does alone, by name."""
    sessions: SessionStore
    """The sessions of the console."""
    memory: Memory
    """The memory that the processes of the service have in common."""


class Call(NamedTuple):
    """A request that was let in."""

    service: Service
    access: Access
    """The access of the admin token; not used where another key opens the endpoint."""
    key: str | None
    """The policy's or license's key."""
    body: dict[str, Any]
    query: dict[str, Any]
    context: RequestContext

    @property
    def control(self) -> ControlPlane:
        return self.service.control


Handler = Callable[..., object]
"""Takes the call and the parameters of the path; returns an answer or a response."""
Answerer = Callable[..., object]
"""Takes the environ, its context and the parameters of the path."""
_FAILED = "dlpctl.failed"
_UNREAD_BODY = 1 << 10
"""The most bytes of a body that an endpoint without a body ignores."""


def blueprint(resource: Resource, service: Service) -> Blueprint:
    made = Blueprint(resource.name, __name__)
    for operation in resource.operations:
        made.add_url_rule(
            operation.path,
            f"{operation.method}-{operation.name}",
            _view(operation, service),
            methods=[operation.method],
            provide_automatic_options=False,
        )
    return made


def answerer(operation: Operation, service: Service) -> Answerer:
    handler = service.handlers.get(operation.name) or _handler(operation)
    check_body, limit = _body_rules(operation, service.options)
    credential = operation.credential
    is_open = operation.body is not None and operation.body.is_open
    read = read_texts if credential.is_policy_key and not is_open else read_json

    def answer(environ: WSGIEnvironment, context: RequestContext, **path: str) -> object:
        context.route, context.challenge = operation.path, credential.challenge
        access, key = _let_in(environ, context, credential, service)
        check_body(environ, limit)
        if HEADERS_ONLY in environ:
            context.is_admitted, context.body_limit = True, limit
            return {}
        body = read(environ) if operation.body else {}
        query = read_query(request, operation.query) if operation.query else {}
        if path:
            context.add_path_ids(path)
        answered = plain(handler(Call(service, access, key, body, query, context), **path))
        if isinstance(answered, dict):
            context.add_answer_ids(answered)
        if path.get("org_id") and "org_id" not in context.objects:
            context.objects["org_id"] = path["org_id"]  # a slug, which exists: it was found
        return answered

    return answer


def _handler(operation: Operation) -> Handler:
    """Return what calls the method of the control plane that an operation names."""
    method = attrgetter(operation.does)

    def handle(call: Call, **path: str) -> object:
        given: list[object] = [path[name] for name in operation.parameters]
        if operation.credential is Credential.ADMIN_TOKEN:
            given.insert(0, call.access)
        elif operation.credential is not Credential.NONE:
            given.insert(0, call.key)
        if operation.body:
            given.append(call.body)
        return method(call.control)(*given, **call.query)

    return handle


def _body_rules(
    operation: Operation, options: Options
) -> tuple[Callable[[WSGIEnvironment, int], None], int]:
    """Return the check of a body by its headers, and the limit of its size."""
    if operation.form:
        return check_form, options.file_body
    if operation.body:
        is_text = operation.credential.is_policy_key
        return check_json, options.text_body if is_text else options.json_body
    return refuse_larger, _UNREAD_BODY


def fail(environ: WSGIEnvironment, error: Exception) -> None:
    """Let the view raise an error that came up outside of Flask, so that it is answered as all
    others are.
    """
    environ[_FAILED] = error


def _view(operation: Operation, service: Service) -> Callable[..., Response]:
    answer, status = answerer(operation, service), operation.status

    def view(**path: str) -> Response:
        environ = request.environ
        if _FAILED in environ:
            raise environ[_FAILED]
        made = answer(environ, request_context(), **path)
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
_AUTHORIZATION = "HTTP_AUTHORIZATION"
_NOBODY = Access(Role.AUDITOR, "")


def _let_in(
    environ: WSGIEnvironment, context: RequestContext, credential: Credential, service: Service
) -> tuple[Access, str | None]:
    if credential.is_policy_key:
        key = environ.get("HTTP_X_SERVICE_API_KEY")
        if credential is Credential.GUARDRAIL_KEY:
            key = key or environ.get("HTTP_X_API_KEY") or bearer_of(environ.get(_AUTHORIZATION))
        caller = context.identify(service.callers.of_key(key))
        if context.allowance is None:  # else the request was admitted by its headers
            context.allowance = service.limiter.take(caller)
        return _NOBODY, key
    if credential is Credential.LICENSE_KEY:
        key = bearer_of(environ.get(_AUTHORIZATION))
        license_id, org_id = service.control.licenses.owner(key)
        share = service.callers.remember(key, Share(org_id, license_id))
        context.allowance = service.limiter.take(context.identify(share))
        return _NOBODY, key
    if credential is Credential.ADMIN_TOKEN:
        token = bearer_of(environ.get(_AUTHORIZATION))
        access = service.control.tokens.authenticate(token)
        # A token for all organizations has turns of its own.
        share = Share(access.org_id or access.token_id, access.token_id)
        context.identify(service.callers.remember(token, share))
        return access, None
    return _NOBODY, None
