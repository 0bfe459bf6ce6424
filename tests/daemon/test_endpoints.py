"""Every endpoint, answered as described."""

from __future__ import annotations

import io
import json
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from dlpctl.backend.local import LocalBackend
from dlpctl.control.access import LOCAL
from dlpctl_daemon.app import create_app
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options

EMAIL = "write to jane.doe@corp.example.net"
SECRET = "-----BEGIN PRIVATE KEY-----\n" + "A" * 60 + "\n-----END PRIVATE KEY-----"


@pytest.fixture
def described(caller: Any) -> Any:
    """Fails where an answer is not as the description says."""
    description = caller.client.get("/openapi.json").json

    def check(name: str, answer: Any, status: int = 200) -> Any:
        assert answer.status_code == status, answer.text
        schema = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
        for one in answer.json if isinstance(answer.json, list) else [answer.json]:
            jsonschema.validate(one, schema)
        return answer.json

    return check


def test_a_text_is_checked_and_found_again(caller, described):
    made = described("PreflightResult", caller.check())
    assert list(made) == [
        "preflight_id",
        "decision",
        "summary",
        "detected",
        "masked_content",
        "policy_version",
        "created_at",
    ]
    assert made["decision"] == "ALLOWED_WITH_MASKING"
    assert made["masked_content"] == "write to j***@corp.example.net"
    again = described("PreflightResult", caller.get(f"/api/preflight/{made['preflight_id']}"))
    assert again == made | {"masked_content": None}
    assert caller.check("hello").json["masked_content"] == "hello"
    blocked = described("PreflightResult", caller.check(SECRET))
    assert (blocked["decision"], blocked["masked_content"]) == ("BLOCKED", None)
    assert blocked["detected"] == [{"type": "PRIVATE_KEY", "count": 1, "sample": None}]


def test_another_policy_of_the_organization_may_be_chosen(caller):
    rules = [{"dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}]
    strict = caller("POST", "/api/orgs/acme/policies", {"name": "strict", "rules": rules}).json
    assert caller.check(policy_id=strict["policy_id"]).json["decision"] == "BLOCKED"
    assert caller.check(org_id="acme").status_code == 200
    assert caller.check(org_id=None, policy_id=None).status_code == 200
    other = caller("POST", "/api/organizations", {"name": "Other"}).json
    assert caller.check(org_id=other["org_id"]).status_code == 403
    assert caller.check(policy_id="pol_x").status_code == 404
    theirs = caller("GET", "/api/orgs/other/policies").json[0]["api_key"]
    preflight_id = caller.check().json["preflight_id"]
    assert caller.get(f"/api/preflight/{preflight_id}", theirs).status_code == 404


def test_a_file_is_checked_and_its_masked_copy_is_fetched_by_its_address_alone(
    caller, described, clock
):
    made = described("PreflightResult", caller.check_file(EMAIL.encode(), "../../etc/letter ä.txt"))
    assert "masked_content" not in made
    url = urlsplit(made["masked_file_url"])
    assert (url.scheme, url.netloc) == ("http", "localhost")
    where = f"{url.path}?{url.query}"
    fetched = caller.get(where)
    assert fetched.data == b"write to j***@corp.example.net"
    assert (
        fetched.headers["Content-Disposition"] == "attachment; filename*=UTF-8''letter%20%C3%A4.txt"
    )
    assert fetched.content_type == "application/octet-stream"
    assert caller.get(where).status_code == 200
    assert described("PreflightResult", caller.get(url.path.removesuffix("/file"))) == made
    assert caller.client.get(where).status_code == 401
    assert caller.get(url.path).status_code == 403
    assert caller.get(where[:-1] + ("0" if where[-1] != "0" else "1")).status_code == 403
    assert caller.get(where.replace("expires=1", "expires=9")).status_code == 403
    second = caller.check_file(b"hello", "b.txt").json["preflight_id"]
    assert caller.get(f"/api/preflight/{second}/file?{url.query}").status_code == 403
    clock.forward(minutes=16)
    expired = caller.get(where)
    assert (expired.status_code, "expired" in expired.json["detail"]) == (403, True)
    assert caller.get(url.path.removesuffix("/file")).json["masked_file_url"] is None
    blocked = caller.check_file(SECRET.encode(), "deploy.key").json
    assert (blocked["decision"], blocked["masked_file_url"]) == ("BLOCKED", None)


def test_organizations(caller, described):
    made = described(
        "CreatedOrganization",
        caller(
            "POST",
            "/api/organizations",
            {
                "name": "New",
                "slug": "new",
                "settings": {"admin_email": "a@b.example", "primary_color": "#aabbcc"},
            },
        ),
        201,
    )
    assert made["license_type"] == "trial"
    shown = {key: value for key, value in made.items() if not key.startswith("license_")}
    for address in ("new", made["org_id"]):
        assert described("Organization", caller("GET", f"/api/organizations/{address}")) == shown
    listed = described("Organization", caller("GET", "/api/organizations"))
    assert [one["slug"] for one in listed] == ["acme", "new"]
    taken = caller("POST", "/api/organizations", {"name": "x", "slug": "new"})
    assert (taken.status_code, taken.headers["X-Error-Code"]) == (409, "conflict")
    changed = described(
        "Organization", caller("PATCH", "/api/organizations/new", {"name": "Newer"})
    )
    assert changed["name"] == "Newer"
    assert changed["settings"] == made["settings"]
    gone = caller("DELETE", "/api/organizations/new")
    assert (gone.status_code, gone.data) == (204, b"")
    assert caller("GET", "/api/organizations/new").status_code == 404


def test_policies(caller, described):
    rules = [
        {
            "name": "No",
            "dataTypes": ["PII"],
            "destinations": ["VENDOR"],
            "action": "BLOCK",
            "masking": "redact",
        }
    ]
    body = {"name": "p", "description": "d", "tags": ["t"], "rules": rules}
    made = described("Policy", caller("POST", "/api/orgs/acme/policies", body), 201)
    one = f"/api/orgs/acme/policies/{made['policy_id']}"
    assert described("Policy", caller("GET", one)) == made
    assert len(described("Policy", caller("GET", "/api/orgs/acme/policies"))) == 2
    assert caller.check(key=made["api_key"]).json["decision"] == "BLOCKED"
    off = described("Policy", caller("PATCH", one, {"is_active": False}))
    assert (off["is_active"], off["version"]) == (False, "1.0")
    refused = caller.check(key=made["api_key"])
    assert (refused.status_code, "not active" in refused.json["detail"]) == (403, True)
    sent_back = caller("PATCH", one, off | {"is_active": True, "description": "e"}).json
    assert sent_back["version"] == "1.1"
    versions = described("PolicyVersion", caller("GET", f"{one}/versions"))
    assert [version["version"] for version in versions] == ["1.1", "1.0"]
    fresh = described("PolicyKey", caller("POST", f"{one}/regenerate-key"))
    assert list(fresh) == ["api_key", "policy_id"]
    assert caller.check(key=made["api_key"]).status_code == 401
    assert caller.check(key=fresh["api_key"]).status_code == 200
    assert caller("DELETE", one).status_code == 204
    assert caller.check(key=fresh["api_key"]).status_code == 401


def test_groups(caller, described):
    policy_id = caller("GET", "/api/orgs/acme/policies").json[0]["policy_id"]
    made = described("Group", caller("POST", "/api/orgs/acme/groups", {"name": "R/D"}), 201)
    assert described("Group", caller("GET", "/api/orgs/acme/groups/R%2FD")) == made
    changed = described(
        "Group",
        caller("PATCH", f"/api/orgs/acme/groups/{made['group_id']}", {"policy_ids": [policy_id]}),
    )
    assert changed["policy_ids"] == [policy_id]
    assert [one["name"] for one in described("Group", caller("GET", "/api/orgs/acme/groups"))] == [
        "default",
        "R/D",
    ]
    assert caller("POST", "/api/orgs/acme/groups", {"name": "R/D"}).status_code == 409
    assert caller("DELETE", "/api/orgs/acme/groups/default").status_code == 409
    assert caller("DELETE", "/api/orgs/acme/groups/R%2FD").status_code == 204


def test_licenses(caller, described):
    (trial,) = described("License", caller("GET", "/api/orgs/acme/licenses"))
    bearer = {"Authorization": f"Bearer {trial['license_key']}"}
    validated = described("Validation", caller.client.get("/v1/license/validate", headers=bearer))
    assert (validated["valid"], validated["expires"]) == (True, trial["expires_at"])
    key = described("PublicKey", caller.client.get("/v1/license/public-key"))
    assert (list(key), key["algorithm"]) == (["key_id", "public_key", "algorithm"], "RS256")
    newer = described("PublicKey", caller("POST", "/v1/license/rotate-keys"))
    assert newer["key_id"] != key["key_id"]
    assert caller.client.get(f"/v1/license/public-key?key_id={key['key_id']}").json == key
    assert caller.client.get("/v1/license/public-key?key_id=x").status_code == 404
    made = described(
        "License", caller("POST", "/api/orgs/acme/licenses", {"license_type": "standard"}), 201
    )
    assert made["max_checks_per_month"] == 50_000
    one = f"/api/orgs/acme/licenses/{made['license_id']}"
    longer = described("License", caller("PATCH", one, {"expires_at": "2030-01-01"}))
    assert longer["expires_at"].startswith("2030-01-01")
    for license_id in (trial["license_id"], made["license_id"]):
        assert caller("DELETE", f"/api/orgs/acme/licenses/{license_id}").status_code == 204
    assert caller.check().status_code == 403
    revoked = caller.client.get("/v1/license/validate", headers=bearer)
    assert (revoked.status_code, "revoked" in revoked.json["detail"]) == (403, True)
    assert caller("PATCH", one, {"license_type": "trial"}).status_code == 409
    assert caller.client.get("/v1/license/validate").status_code == 401


def test_tokens_and_what_they_may(caller, described):
    caller("POST", "/api/organizations", {"name": "Other"})
    auditor = described("Token", caller("POST", "/api/tokens", {"role": "auditor"}), 201)["token"]
    bound = caller("POST", "/api/tokens", {"role": "editor", "org_id": "acme", "name": "ci"}).json
    assert (
        caller("GET", "/api/orgs/acme/policies", token=auditor)
        .json[0]["api_key"]
        .startswith("dlp_pk_…")
    )
    refused = caller("PATCH", "/api/organizations/acme", {"name": "x"}, token=auditor)
    assert (refused.status_code, "editor" in refused.json["detail"]) == (403, True)
    assert [
        one["slug"] for one in caller("GET", "/api/organizations", token=bound["token"]).json
    ] == ["acme"]
    assert caller("GET", "/api/organizations/other", token=bound["token"]).status_code == 404
    assert caller("GET", "/metrics", token=bound["token"]).status_code == 403
    assert all("token" not in one for one in described("Token", caller("GET", "/api/tokens")))
    assert caller("DELETE", f"/api/tokens/{bound['token_id']}").status_code == 204
    assert caller("GET", "/api/organizations", token=bound["token"]).status_code == 401


def test_analytics(caller, described):
    caller.check()
    caller.check(SECRET)
    sums = described("OrganizationAnalytics", caller("GET", "/api/orgs/acme/analytics"))
    assert (sums["masked"], sums["blocked"], sums["safe_share_rate"]) == (1, 1, 50.0)
    series = described("TimeSeries", caller("GET", "/api/orgs/acme/analytics/timeseries?period=7d"))
    assert [day["checks_total"] for day in series["data"]] == [0] * 6 + [2]
    types = described(
        "DetectionBreakdown", caller("GET", "/api/orgs/acme/analytics/detections?period=90d")
    )
    assert sum(one["percentage"] for one in types["types"]) == 100
    wrong = caller("GET", "/api/orgs/acme/analytics?period=8d")
    assert (wrong.status_code, wrong.json["detail"]) == (422, "period: must be one of 7d, 30d, 90d")


def test_audit(caller, described):
    ids = [caller.check().json["preflight_id"] for _ in range(3)]
    page = described("AuditPage", caller("GET", "/api/audit"))
    assert [item["preflight_id"] for item in page["items"]] == ids[::-1]
    assert (page["limit"], page["offset"], page["total"]) == (50, 0, 3)
    some = caller("GET", "/api/audit?limit=1&offset=1&org_id=acme&search=email").json
    assert [item["preflight_id"] for item in some["items"]] == [ids[1]]
    assert caller("GET", "/api/audit?offset=9999").json["items"] == []
    assert caller("GET", "/api/audit?search='; --").json["total"] == 0
    exported = caller("GET", "/api/audit/export")
    assert [json.loads(line) for line in exported.text.splitlines()] == page["items"]
    assert caller("GET", f"/api/audit/export?search={'x' * 501}").status_code == 422
    head = described("AuditHead", caller("GET", "/api/audit/head"))["head"]
    caller.check()
    assert (
        described("ChainReport", caller("GET", f"/api/audit/verify?head={head}"))["intact"] is True
    )
    assert caller("GET", "/api/audit/verify?head=nonsense").status_code == 400
    events = described("EventPage", caller("GET", "/api/audit/events?org_id=acme"))
    assert [one["action"] for one in events["items"]] == ["key.used", "organization.created"]


def test_operation(caller, described):
    caller.check()
    assert described("Health", caller.client.get("/healthz"))["status"] == "ok"
    assert described("Health", caller.client.get("/readyz"))["status"] == "ready"
    assert caller.client.get("/metrics").status_code == 401
    lines = caller("GET", "/metrics").text.splitlines()
    assert 'dlpctl_checks_total{kind="text",decision="ALLOWED_WITH_MASKING"} 1' in lines
    assert (
        'dlpctl_requests_total{method="POST",route="/api/preflight/text",status="200"} 1' in lines
    )


def test_the_answers_are_those_of_the_command_line(caller, control, clock):
    """Byte for byte, read over and over."""
    local = LocalBackend(control)
    caller.check()
    caller("GET", "/api/organizations")  # the first use of the token is an event
    policy_id = control.policies.list(LOCAL, "acme")[0].policy_id
    for path, expected in (
        ("/api/organizations", local.list_organizations()),
        ("/api/organizations/acme", local.get_organization("acme")),
        ("/api/orgs/acme/policies", local.list_policies("acme")),
        (f"/api/orgs/acme/policies/{policy_id}/versions", local.list_versions("acme", policy_id)),
        ("/api/orgs/acme/groups", local.list_groups("acme")),
        ("/api/orgs/acme/licenses", local.list_licenses("acme")),
        ("/api/tokens", local.list_tokens()),
        ("/api/orgs/acme/analytics", local.get_analytics("acme", period="30d")),
        ("/api/orgs/acme/analytics/timeseries", local.get_timeseries("acme", period="30d")),
        ("/api/orgs/acme/analytics/detections", local.get_detections("acme", period="30d")),
        ("/api/audit", local.search_audit(limit=50, offset=0, org_id=None, search=None)),
        ("/api/audit/events", local.list_events(limit=50, offset=0, org_id=None)),
        ("/api/audit/head", local.get_head()),
        ("/api/audit/verify", local.verify_audit()),
    ):
        assert json.dumps(json.loads(caller("GET", path).data)) == json.dumps(expected)


def test_an_application_starts_without_compiling_what_builds_addresses(
    control, settings, monkeypatch
):
    compiled, compile_code = [], compile

    def counted(source, filename, *more, **given):
        compiled.append(filename)
        return compile_code(source, filename, *more, **given)

    monkeypatch.setattr("builtins.compile", counted)
    create_app(control, Options(settings), Log(io.StringIO(), "json"))
    assert not [name for name in compiled if "werkzeug" in str(name)]
