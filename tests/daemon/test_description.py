"""The description is valid and true: requests generated from it are answered as described."""

from __future__ import annotations

import contextlib

import hypothesis
import pytest
import schemathesis
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from dlpctl.config.settings import Serve

_ALWAYS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
_SPECIFIED = """
    post /api/preflight/text|post /api/preflight|get /api/preflight/{preflight_id}
    get /api/organizations|post /api/organizations|get /api/organizations/{org_id}
    patch /api/organizations/{org_id}|delete /api/organizations/{org_id}
    get /api/orgs/{org_id}/policies|post /api/orgs/{org_id}/policies
    get /api/orgs/{org_id}/policies/{policy_id}|patch /api/orgs/{org_id}/policies/{policy_id}
    delete /api/orgs/{org_id}/policies/{policy_id}|post /api/orgs/{org_id}/policies/{policy_id}/regenerate-key
    get /api/orgs/{org_id}/licenses|delete /api/orgs/{org_id}/licenses/{license_id}
    get /v1/license/validate|get /v1/license/public-key
    get /api/orgs/{org_id}/analytics|get /api/orgs/{org_id}/analytics/timeseries
    get /api/orgs/{org_id}/analytics/detections|get /api/audit"""


@pytest.fixture
def settings():
    return Serve(rate=1_000_000, burst=1_000_000)


def test_it_is_valid_and_complete(caller):
    description = caller.client.get("/openapi.json").json
    OpenAPIV31SpecValidator(description).validate()
    operations = {
        f"{method} {path}" for path, methods in description["paths"].items() for method in methods
    }
    assert {one.strip() for line in _SPECIFIED.split("\n") for one in line.split("|")} - {
        ""
    } <= operations
    names = [
        one["operationId"] for methods in description["paths"].values() for one in methods.values()
    ]
    assert len(names) == len(set(names))
    assert all(
        one["summary"] for methods in description["paths"].values() for one in methods.values()
    )


def test_every_error_is_described(caller):
    described = {
        operation["operationId"]: [int(status) for status in operation["responses"]]
        for methods in caller.client.get("/openapi.json").json["paths"].values()
        for operation in methods.values()
    }
    assert described["check_text"] == [200, 400, 401, 403, 404, 413, 415, 422, 429, 500, 503]
    assert described["list_organizations"] == [200, 400, 401, 403, 500, 503]
    assert described["healthz"] == [200, 400, 500]


@pytest.mark.no_cover
@pytest.mark.parametrize("examples", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_generated_requests_are_answered_as_described(caller, control, examples):
    """No status that is not described, no answer that does not fit, no 500; what is wrong is
    refused.
    """
    for result in schemathesis.openapi.from_wsgi(
        "/openapi.json", caller.client.application
    ).get_all_operations():
        operation = result.ok()
        if (operation.method.upper(), operation.path) == ("DELETE", "/api/organizations/{org_id}"):
            continue  # the others need it
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _ask(caller, operation, mode, examples)
    assert control.maintenance.check() == ()


def _ask(caller, operation, mode, examples):
    headers = {"Authorization": f"Bearer {caller.token}", "X-Service-API-Key": caller.key}
    is_wrong_body = mode is GenerationMode.NEGATIVE and bool(operation.body)
    checks = [*_ALWAYS, negative_data_rejection] if is_wrong_body else _ALWAYS
    # Queries may hold what nobody asks for; a body may not. Where it alone is wrong, that must be
    # said.
    given = (
        {"headers": headers, "query": {}, "path_parameters": {"org_id": "acme"}}
        if is_wrong_body
        else {}
    )

    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(operation.as_strategy(generation_mode=mode, **given))
    def ask(case):
        if mode is GenerationMode.POSITIVE and "org_id" in (case.path_parameters or {}):
            case.path_parameters["org_id"] = "acme"
        case.call_and_validate(headers=headers, checks=checks)

    # Nothing can be wrong with what takes nothing.
    with contextlib.suppress(hypothesis.errors.Unsatisfiable):
        ask()
