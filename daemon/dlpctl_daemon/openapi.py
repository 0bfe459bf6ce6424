"""The description of the interface, made of the endpoints and the schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from dlpctl import __version__
from dlpctl_daemon.endpoints import Endpoint, Guard, Resource
from dlpctl_daemon.schemas import SCHEMAS, Schema, ref, text

_VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")
_REASONS = {
    400: "The request cannot be read, or is for a host that the service does not serve",
    401: "No credential, or one that nobody knows",
    403: "The credential is known, but may not do this",
    404: "It does not exist, or not for this credential",
    409: "It stands against something that is there",
    413: "More than the limit",
    415: "The body is of a kind that is not taken here",
    422: "A field cannot be taken; the detail begins with it",
    429: "A limit is reached: the rate of the key, or the month's checks of the license",
    500: "The service failed; the detail has the request's id",
    503: "Nothing can be recorded now, or the service is busy; nothing was done",
}
_SCHEMES = {
    "PolicyKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Service-API-Key",
        "description": "the key of a policy (dlp_pk_...)",
    },
    "LicenseKey": {"type": "http", "scheme": "bearer", "description": "a license key (dlp_lk_...)"},
    "AdminToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "an admin token (dlp_at_...)",
    },
}
_RATE_HEADERS = {
    "RateLimit-Limit": "requests that are allowed in a minute, or checks in a month",
    "RateLimit-Remaining": "how many of them may come at once now",
    "RateLimit-Reset": "seconds until all are allowed again",
}


def describe(resources: Iterable[Resource]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    tags = []
    for resource in resources:
        tags.append({"name": resource.name, "description": resource.about})
        for endpoint in resource.endpoints:
            path = _VARIABLE.sub(r"{\1}", endpoint.path)
            paths.setdefault(path, {})[endpoint.method.lower()] = _operation(resource, endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dlpctl",
            "version": __version__,
            "description": "Checks content for sensitive data before it goes to an AI tool, a vendor or a customer:"
            " allowed, allowed after masking, or blocked.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": _SCHEMES,
            "responses": {str(status): _error(status) for status in _REASONS},
        },
    }


def statuses(endpoint: Endpoint) -> list[int]:
    """All errors that an endpoint answers with."""
    fails = {400, 500, *endpoint.fails}
    if endpoint.path != "/healthz":
        fails.add(503)
    if endpoint.guard is not Guard.OPEN:
        fails |= {401, 403}
    if "<" in endpoint.path:
        fails.add(404)
    if endpoint.body or endpoint.form:
        fails |= {413, 415, 422}
    if endpoint.query:
        fails.add(422)
    return sorted(fails)


def _operation(resource: Resource, endpoint: Endpoint) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "Done"}
    if endpoint.answer is not None:
        answer["content"] = {endpoint.media: {"schema": endpoint.answer}}
    if 429 in endpoint.fails:
        answer["headers"] = _headers(_RATE_HEADERS)
    operation: dict[str, Any] = {
        "operationId": endpoint.handler.__name__,
        "summary": endpoint.summary,
        "tags": [resource.name],
        "parameters": [*_parameters(endpoint)],
        "responses": {
            str(endpoint.status): answer,
            **{
                str(status): {"$ref": f"#/components/responses/{status}"}
                for status in statuses(endpoint)
            },
        },
        "security": [{endpoint.guard.value: []}] if endpoint.guard.value else [],
    }
    for media, schema in (
        ("application/json", endpoint.body),
        ("multipart/form-data", endpoint.form),
    ):
        if schema:
            operation["requestBody"] = {
                "required": True,
                "content": {media: {"schema": ref(schema)}},
            }
    return operation


def _parameters(endpoint: Endpoint) -> Iterable[dict[str, Any]]:
    for name in _VARIABLE.findall(endpoint.path):
        yield {"name": name, "in": "path", "required": True, "schema": text(minLength=1)}
    for name, schema in endpoint.query.items():
        yield {"name": name, "in": "query", "required": False, "schema": schema}


def _error(status: int) -> dict[str, Any]:
    headers = {
        "X-Request-Id": "of the log line about it",
        "X-Error-Code": "the kind of error, for programs; not of errors of HTTP itself",
    }
    if status in (429, 503):
        headers["Retry-After"] = "seconds after which to try again"
    if status == 429:
        headers |= _RATE_HEADERS
    return {
        "description": _REASONS[status],
        "headers": _headers(headers),
        "content": {"application/json": {"schema": ref("Error")}},
    }


def _headers(descriptions: dict[str, str]) -> dict[str, Any]:
    numbers: Schema = {"type": "integer"}
    return {
        name: {"description": said, "schema": text() if name.startswith("X-") else numbers}
        for name, said in descriptions.items()
    }
