"""The interface's specification, to the letter, where it is easily missed."""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

EMAIL = "write to jane.doe@corp.example.net"
RULE = {"dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}
RECORD = {
    "id": "record",
    "type": "MEDICAL_RECORD_NUMBER",
    "category": "PHI",
    "label": "Medical record number",
    "regex": r"\bMRN (?P<value>[0-9]{8})\b",
    "score": 0.9,
}


def test_a_name_is_enough_for_a_policy(caller):
    made = caller("POST", "/api/orgs/acme/policies", {"name": "Marketing"})
    assert made.status_code == 201
    (default, _) = caller("GET", "/api/orgs/acme/policies").json
    assert made.json["rules"] == default["rules"]


@pytest.fixture
def health(caller):
    """The key of a policy that blocks health data."""
    rules = [RULE | {"dataTypes": ["PHI"]}, RULE | {"action": "MASK"}]
    body = {"name": "health", "rules": rules, "customPatterns": [RECORD]}
    return caller("POST", "/api/orgs/acme/policies", body).json["api_key"]


def test_health_data_is_of_the_type_that_the_examples_show(caller, health):
    checked = caller.check(f"{EMAIL}: MRN 12345678 and MRN 87654321", key=health).json
    assert checked["detected"][0] == {"type": "PHI", "count": 2, "sample": None}
    assert [one["type"] for one in checked["detected"]] == ["PHI", "EMAIL"]
    again = caller.get(f"/api/preflight/{checked['preflight_id']}", key=health).json
    assert again["detected"] == checked["detected"]
    shown = caller("GET", "/api/orgs/acme/analytics/detections").json["types"]
    assert {(one["type"], one["label"], one["count"]) for one in shown} == {
        ("PHI", "PHI", 2),
        ("EMAIL", "Email", 1),
    }


def test_health_data_in_a_file_that_is_blocked(caller, health):
    caller.key = health
    checked = caller.check_file(b"MRN 12345678\n", "record.txt").json
    assert (checked["decision"], checked["masked_file_url"]) == ("BLOCKED", None)
    assert checked["detected"] == [{"type": "PHI", "count": 1, "sample": None}]


def test_optional_fields_of_a_form_that_are_empty_are_absent(caller):
    assert caller.check_file(b"hello", "a.txt", org_id="", policy_id="").status_code == 200
    empty = caller.check_file(b"hello", "a.txt", destination="")
    assert (empty.status_code, empty.json["detail"].partition(":")[0]) == (422, "destination")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_file_names_may_be_latin_1(caller, encoding):
    body = b"".join(
        (
            b'--x\r\nContent-Disposition: form-data; name="destination"\r\n\r\nVENDOR\r\n--x\r\n',
            'Content-Disposition: form-data; name="file"; filename="résumé.txt"'.encode(encoding),
            b"\r\nContent-Type: text/plain\r\n\r\n" + EMAIL.encode() + b"\r\n--x--\r\n",
        )
    )
    checked = caller.client.post(
        "/api/preflight",
        data=io.BytesIO(body),
        content_type="multipart/form-data; boundary=x",
        headers={"X-Service-API-Key": caller.key},
    )
    assert checked.json["decision"] == "ALLOWED_WITH_MASKING"
    parts = urlsplit(checked.json["masked_file_url"])
    masked = caller.get(f"{parts.path}?{parts.query}")
    assert (
        masked.headers["Content-Disposition"] == "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.txt"
    )


def test_allow_lists_exactly_the_methods_of_a_path(caller):
    description = caller.client.get("/openapi.json").json
    for path, methods in description["paths"].items():
        declared = {method.upper() for method in methods}
        expected = declared | ({"HEAD"} if "GET" in declared else set())
        refused = caller.client.open(path.replace("{", "a").replace("}", "z"), method="TRACE")
        assert refused.status_code == 405, path
        assert set(refused.headers["Allow"].split(", ")) == expected, path
    assert caller.get("/api/preflight/text").status_code == 405


_CHECK = {
    "preflight_id": f"pf_{1:024x}",
    "created_at": "2026-03-10T12:00:00Z",
    "destination": "VENDOR",
    "decision": "BLOCKED",
    "policy_id": "",
    "policy_version": "1.0",
    "bytes": 1,
    "detected": [],
}
_SUMS = {
    "total_checks": 3,
    "bytes_scanned": 300,
    "decisions": {"ALLOWED": 1, "ALLOWED_WITH_MASKING": 1, "BLOCKED": 1},
    "detections": {"EMAIL": 4, "SSN": 1},
    "avg_duration_ms": 2.25,
    "destinations": {"AI_TOOL": 3},
}
_BATCH = {
    "sdk_version": "0.3.0",
    "policy_group": None,
    "period": "2026-03-10T11:58:00.123456+00:00/2026-03-10T11:59:00+00:00",
    "aggregated": _SUMS,
}
_VALUES: dict[str, list[Any]] = {
    "admin_email": [
        "a@b.example",
        "a@b",
        "",
        "a b@c.example",
        "a@b..c",
        None,
        5,
        "x" * 65 + "@b.example",
    ],
    "primary_color": ["#3366cc", "#36c", "red", "#3366cc ", None],
    "expires_at": [
        "2027-01-31",
        "2027-01-31T12:00Z",
        "2027-01-31T12:00:00.123456+02:00",
        "2027-02-30",
        "2027-01-31T25:00:00Z",
        "20270131",
        "2027-W05-1",
        "2027-01-31 12:00",
        "soon",
        "",
        5,
        None,
    ],
    "max_checks_per_month": [0, 5, 5.0, 5.5, -1, 2**53 - 1, 2**53, "5", True, None],
    "bytes": [0, 1.0, 0.5, -1, 2**53 - 1, 2**53, 2**63 - 2, 10**30, "1", False],
    "count": [1, 2.0, 0, 1_000_000_000, 1_000_000_001, 1.5, "1"],
    "created_at": [
        "2026-03-10T12:00:00Z",
        "2026-03-10",
        "2026-03-10T12:00:00",
        "2026-13-01",
        "now",
        7,
    ],
    "type": ["EMAIL", "email", "A" * 64, "A" * 65, "", "A-B", 5],
    "minCount": [1, 2.0, 0, 2**53 - 1, 2**53, 1.5, None],
    "action": ["BLOCK", "block", "Mask", "DROP", "", 5],
    "version": ["1.0", "1", "1.0.0", "12.34", "x.y", None],
    "total_checks": [3, 3.0, 0, -3, 2**53, "3"],
    "bytes_scanned": [0, 2**53 - 1, 2**53, -1, 1.5],
    "detections": [{}, {"EMAIL": 0}, {"email": 1}, {"EMAIL": -1}, {"EMAIL": 2**31}, [], None],
    "decisions": [{"ALLOWED": 3}, {"ALLOWED": 3, "BLOCKED": 0}, {"MAYBE": 3}, {"ALLOWED": "3"}, []],
    "avg_duration_ms": [0, 12, 0.01, -1, 1e12, "1", None],
    "period": ["2026-03-10/2026-03-11", "2026-03-10", "a/b", "", 5, None],
    "sdk_version": [None, "", "x" * 100, "x" * 101, 5],
}


def _requests(field: str, value: Any) -> tuple[str, str, str, dict[str, Any]]:
    """Schema, method, path and body."""
    if field in ("admin_email", "primary_color"):
        return (
            "OrganizationChange",
            "PATCH",
            "/api/organizations/acme",
            {"settings": {field: value}},
        )
    if field in ("expires_at", "max_checks_per_month"):
        body = {"license_type": "trial", field: value}
        return "LicenseRequest", "POST", "/api/orgs/acme/licenses", body
    if field in ("bytes", "created_at"):
        return "UsageReport", "POST", "/v1/license/usage", {"checks": [_CHECK | {field: value}]}
    if field in ("count", "type"):
        detected = [{"type": "EMAIL", "count": 1} | {field: value}]
        return (
            "UsageReport",
            "POST",
            "/v1/license/usage",
            {"checks": [_CHECK | {"detected": detected}]},
        )
    if field in ("minCount", "action"):
        body = {"name": "n", "rules": [RULE | {field: value}]}
        return "PolicyRequest", "POST", "/api/orgs/acme/policies", body
    if field == "version":
        return "PolicyRequest", "POST", "/api/orgs/acme/policies", {"name": "n", "version": value}
    if field in ("period", "sdk_version"):
        return "MetricsBatch", "POST", "/v1/metrics/batch", _BATCH | {field: value}
    sums = _SUMS | {field: value}
    return "MetricsBatch", "POST", "/v1/metrics/batch", _BATCH | {"aggregated": sums}


@pytest.fixture
def of_license(caller):
    (made,) = caller("GET", "/api/orgs/acme/licenses").json
    return made["license_key"]


@pytest.mark.parametrize("field", _VALUES)
def test_the_description_accepts_what_the_service_accepts(caller, of_license, field):
    description = caller.client.get("/openapi.json").json
    policy_id = caller("GET", "/api/orgs/acme/policies").json[0]["policy_id"]
    for value in _VALUES[field]:
        name, method, path, body = _requests(field, value)
        for check in body.get("checks", ()):
            check["policy_id"] = policy_id
        schema = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
        described = jsonschema.Draft202012Validator(schema).is_valid(body)
        token = {"token": of_license} if path.startswith("/v1") else {}
        answer = caller(method, path, body, **token)
        assert (answer.status_code in (200, 201)) == described, (field, value, answer.text)
        assert answer.status_code in (200, 201, 422), (field, value, answer.text)


def test_reported_sums_are_counted(caller, of_license):
    ask = lambda body: caller("POST", "/v1/metrics/batch", body, token=of_license)  # noqa: E731
    answer = ask(_BATCH | {"license_key": of_license})
    assert answer.status_code == 200
    assert answer.json == {"recorded": 3, "checks_this_month": 3, "max_checks_per_month": 1_000}
    assert (
        ask({name: _BATCH[name] for name in ("period", "aggregated")}).json["checks_this_month"]
        == 6
    )
    sums = caller("GET", "/api/orgs/acme/analytics").json
    assert (sums["total_checks"], sums["allowed"], sums["masked"], sums["blocked"]) == (6, 2, 2, 2)
    assert (sums["bytes_protected"], sums["prevented_exposures"]) == (400, 6)
    (day,) = [
        one
        for one in caller("GET", "/api/orgs/acme/analytics/timeseries").json["data"]
        if one["checks_total"]
    ]
    assert (day["date"], day["bytes_processed"]) == ("2026-03-10", 600)
    types = caller("GET", "/api/orgs/acme/analytics/detections").json["types"]
    assert [(one["type"], one["count"]) for one in types] == [("EMAIL", 8), ("SSN", 2)]
    assert caller("GET", "/api/orgs/acme/licenses").json[0]["checks_this_month"] == 6
    assert caller("GET", "/api/audit").json["total"] == 0
    assert caller("GET", "/api/audit/verify").json["intact"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"license_key": "dlp_lk_other"}, "license_key: is not the key"),
        ({"license_key": 5}, "license_key: is not the key"),
        ({"policy_group": "marketing"}, "policy_group: the license covers no"),
        ({"period": "2026-03-10T11:00:00Z/2026-03-10T10:00:00Z"}, "period: ends before"),
        ({"period": "2025-03-10/2026-03-10"}, "period: must be between"),
        ({"period": "2026-03-10/2026-03-12"}, "period: must be between"),
        (
            {"aggregated": _SUMS | {"decisions": {"ALLOWED": 2}}},
            "aggregated.decisions: must add up",
        ),
        ({"aggregated": _SUMS | {"destinations": {}}}, "aggregated.destinations: must add up"),
        ({"aggregated": _SUMS | {"destinations": {"HOME": 3}}}, "aggregated.destinations.'HOME'"),
        ({"aggregated": _SUMS | {"text": "x"}}, "aggregated.'text'"),
        ({"aggregated": 5}, "aggregated: must be an object"),
        ({"checks": []}, "'checks': is not a field"),
    ],
)
def test_sums_are_validated_as_strictly_as_checks(caller, of_license, change, place):
    answer = caller("POST", "/v1/metrics/batch", _BATCH | change, token=of_license)
    assert answer.status_code == 422
    assert answer.json["detail"].startswith(place)
    assert of_license not in answer.text + caller.log.getvalue()
    assert caller("GET", "/api/orgs/acme/analytics").json["total_checks"] == 0


def test_the_address_of_a_client_may_end_in_the_version(caller, of_license):
    for base in ("", "/v1"):
        validated = caller("GET", f"{base}/v1/license/validate", token=of_license)
        assert validated.json["valid"], base
        assert caller.client.get(f"{base}/v1/license/public-key").status_code == 200
        assert (
            caller("POST", f"{base}/v1/metrics/batch", _BATCH, token=of_license).status_code == 200
        )
    assert caller("GET", "/v1/v1/v1/license/validate", token=of_license).status_code == 404


def test_the_issuer_of_license_tokens_is_a_setting(start):
    import jwt

    with start(issuer="cloud.example") as running:
        running.administer("POST", "/api/organizations", {"name": "Acme"})
        (made,) = running.administer("GET", "/api/orgs/acme/licenses")
        bearer = {"Authorization": f"Bearer {made['license_key']}"}
        validated = running.ask("GET", "/v1/v1/license/validate", **bearer).json
        public = running.ask("GET", "/v1/v1/license/public-key").json["public_key"]
    token = validated["jwt_token"]
    claims = jwt.decode(token, public, algorithms=["RS256"], issuer="cloud.example")
    assert claims["org_id"] == made["org_id"]
    with pytest.raises(jwt.InvalidIssuerError):
        jwt.decode(token, public, algorithms=["RS256"], issuer="dlpctl")
