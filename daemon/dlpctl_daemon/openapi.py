"""The description of the interface, `/openapi.json`, made of the declared resources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dlpctl import __version__
from dlpctl.control.resources.fields import Schema
from dlpctl.control.resources.health import Error
from dlpctl.control.resources.operations import VARIABLE, Credential, Operation, Resource
from dlpctl.control.resources.shapes import SHAPES, Shape

_REASONS = {
    400: "The request cannot be read, or is for a host that the service does not serve",
    401: "No credential, or one that nobody knows",
    403: "The credential is known, but may not do this",
    404: "It does not exist, or not for this credential",
    409: "It conflicts with something that exists",
    413: "More than the limit",
    415: "The media type of the body is not taken",
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
    "GuardrailKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "the key of a policy; `Authorization: Bearer` is read, too",
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
        for operation in resource.operations:
            path = VARIABLE.sub(r"{\1}", operation.path)
            paths.setdefault(path, {})[operation.method.lower()] = _operation(resource, operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dlpctl",
            "version": __version__,
            "description": "Checks content for sensitive data before it goes to an AI tool, a "
            "vendor or a customer: allowed, allowed after masking, or blocked.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": {name: shape.schema() for name, shape in SHAPES.items()},
            "securitySchemes": _SCHEMES,
            "responses": {str(status): _error(status) for status in _REASONS},
        },
    }


def statuses(operation: Operation) -> list[int]:
    """Return all errors that an operation answers with."""
    fails = {400, 500, *operation.fails}
    if operation.path != "/healthz":
        fails.add(503)
    if operation.credential is not Credential.NONE:
        fails |= {401, 403}
    if "<" in operation.path:
        fails.add(404)
    if operation.body or operation.form:
        fails |= {413, 415, 422}
    if operation.query:
        fails.add(422)
    return sorted(fails)


def _credentials(credential: Credential) -> list[str]:
    """Return the names of the schemes of which one is enough."""
    if credential is Credential.GUARDRAIL_KEY:
        return ["PolicyKey", "GuardrailKey"]
    return [credential.value] if credential.value else []


def _operation(resource: Resource, operation: Operation) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "Done"}
    if operation.answer is not None:
        answer["content"] = {operation.media: {"schema": operation.answer}}
    if 429 in operation.fails:
        answer["headers"] = _headers(_RATE_HEADERS)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [resource.name],
        "parameters": [*_parameters(operation)],
        "responses": {
            str(operation.status): answer,
            **{
                str(status): {"$ref": f"#/components/responses/{status}"}
                for status in statuses(operation)
            },
        },
        "security": [{name: []} for name in _credentials(operation.credential)],
    }
    for media, shape in (
        ("application/json", operation.body),
        ("multipart/form-data", operation.form),
    ):
        if shape:
            described["requestBody"] = {
                "required": True,
                "content": {media: {"schema": _ref(shape)}},
            }
    return described


def _parameters(operation: Operation) -> Iterable[dict[str, Any]]:
    for name in VARIABLE.findall(operation.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1},
        }
    for name, field in operation.query.items():
        yield {"name": name, "in": "query", "required": False, "schema": field.schema}


def _error(status: int) -> dict[str, Any]:
    headers = {
        "X-Request-Id": "of the log line about it",
        "X-Error-Code": "the kind of error, for programs",
    }
    if status in (429, 503):
        headers["Retry-After"] = "seconds after which to try again"
    if status == 429:
        headers |= _RATE_HEADERS
    return {
        "description": _REASONS[status],
        "headers": _headers(headers),
        "content": {"application/json": {"schema": _ref(Error)}},
    }


def _headers(descriptions: dict[str, str]) -> dict[str, Any]:
    return {
        name: {"description": text, "schema": {"type": _type_of(name)}}
        for name, text in descriptions.items()
    }


def _type_of(header: str) -> str:
    return "string" if header.startswith("X-") else "integer"


def _ref(shape: type[Shape]) -> Schema:
    return {"$ref": f"#/components/schemas/{shape.schema_name}"}
