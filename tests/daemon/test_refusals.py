"""Invalid requests are answered with the right status and one line with the reason, and nothing
else is disclosed.
"""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing

import jwt
import pytest

from dlpctl.config.settings import Serve
from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane
from dlpctl_daemon.app import create_app
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options
from tests.daemon.conftest import caller_of, lose_checks

EMAIL = "write to jane.doe@corp.example.net"
TEXT = "/api/preflight/text"


def assert_refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/json"
    assert list(answer.json) == ["detail"]
    detail = answer.json["detail"]
    assert "\n" not in detail
    for word in words:
        assert word in detail
    assert answer.headers["X-Request-Id"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, ["JSON"]),
        (b"{", 400, ["line 1"]),
        (b"[]", 422, ["object"]),
        (b'"x"', 422, ["object"]),
        (b"\xff", 400, ["UTF-8"]),
        (b'{"text": NaN, "destination": "VENDOR"}', 400, ["NaN"]),
        (b'{"text": 1' + b"0" * 5000 + b"}", 400, ["digits"]),
        (b'{"text": ' + b"[" * 100_000, 400, ["deep"]),
        (b'{"text": ' + b'{"a":' * 100_000, 400, ["deep"]),
        (b'{"text": "a", "text": "b", "destination": "VENDOR"}', 400, ["twice"]),
        (b'{"text": "\\ud800", "destination": "VENDOR"}', 400, ["surrogate"]),
        (b"{}", 422, ["text: is missing"]),
        (b'{"text": "a"}', 422, ["destination: is missing"]),
        (b'{"text": 1, "destination": "VENDOR"}', 422, ["text: must be text"]),
        (b'{"text": null, "destination": "VENDOR"}', 422, ["text: must be text"]),
        (
            b'{"text": "a", "destination": "vendor"}',
            422,
            ["destination", "AI_TOOL, VENDOR, CUSTOMER"],
        ),
        (b'{"text": "a", "destination": "VENDOR", "policy_id": 1}', 422, ["policy_id"]),
        (b'{"text": "a", "destination": "VENDOR", "polcy": "x"}', 422, ["polcy"]),
    ],
)
def test_texts_that_cannot_be_taken(caller, body, status, words):
    answer = caller.client.post(
        TEXT, data=body, headers={"X-Service-API-Key": caller.key}, content_type="application/json"
    )
    assert_refused(answer, status, *words)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"text": [' + b"0," * 500_000 + b'0], "destination": "VENDOR"}', 422),
        (b"{" + b'"text": "a", ' * 100_000 + b'"destination": "VENDOR"}', 422),
        (b"[" + b"0," * 500_000 + b"0]", 422),
        (b'{"text": "' + b"a" * 1_000_000, 400),
        (b'{"text": "' + b"a" * 1_000_000 + b'" "destination": "VENDOR"}', 400),
        (b"x" * 1_000_000, 400),
        (
            b'{"text": "'
            + b"\\u0061" * 150_000
            + b'", "policy_id": null , "destination" : "VENDOR" }',
            200,
        ),
    ],
)
def test_large_bodies_are_objects_of_texts(caller, body, status):
    answer = caller.client.post(
        TEXT, data=body, headers={"X-Service-API-Key": caller.key}, content_type="application/json"
    )
    assert answer.status_code == status, answer.text[:200]


@pytest.mark.parametrize("text", ["\\ud83d\\ude00 a", "\\u0000", "\U0001f600", "e\\u0301", ""])
def test_unusual_texts_are_checked(caller, text):
    body = f'{{"text": "{text}", "destination": "VENDOR"}}'.encode()
    answer = caller.client.post(
        TEXT, data=body, headers={"X-Service-API-Key": caller.key}, content_type="application/json"
    )
    assert answer.json["masked_content"] == json.loads(body)["text"]


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Content-Type": "text/plain"}, ["application/json"]),
        ({"Content-Type": "application/x-www-form-urlencoded"}, ["application/json"]),
        ({"Content-Type": "application/json; charset=utf-16"}, ["UTF-8"]),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, ["Content-Encoding"]),
        ({}, ["application/json"]),
    ],
)
def test_other_kinds_of_bodies(caller, headers, words):
    answer = caller.client.post(
        TEXT,
        data=b'{"text":"a","destination":"VENDOR"}',
        headers={"X-Service-API-Key": caller.key} | headers,
    )
    assert_refused(answer, 415, *words)


def test_json_may_name_its_character_set(caller):
    headers = {"X-Service-API-Key": caller.key, "Content-Type": "application/json; charset=UTF-8"}
    answer = caller.client.post(TEXT, data=b'{"text":"a","destination":"VENDOR"}', headers=headers)
    assert answer.status_code == 200


def test_credentials(caller):
    body = {"text": EMAIL, "destination": "VENDOR"}
    for key in ("", "x", "dlp_pk_" + "0" * 49, f"{caller.key}, {caller.key}", caller.token, "\xff"):
        answer = caller.client.post(TEXT, json=body, headers={"X-Service-API-Key": key})
        assert_refused(answer, 401, "X-Service-API-Key")
        assert "PolicyKey" in answer.headers["WWW-Authenticate"]
    assert_refused(caller.client.post(TEXT, json=body), 401)
    assert_refused(caller.client.post(TEXT, data=b"{"), 401)
    for header in (
        "",
        "Bearer",
        "Bearer x",
        f"Basic {caller.token}",
        f"Bearer {caller.key}",
        caller.token,
    ):
        answer = caller.client.get("/api/organizations", headers={"Authorization": header})
        assert_refused(answer, 401, "admin token")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert (
        caller(
            "GET", "/api/organizations", headers={"Authorization": f"bearer {caller.token}"}
        ).status_code
        == 200
    )


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/orgs",
        "/api/organizations/",
        "/api//organizations",
        "/static/x",
        "/docs/../etc/passwd",
        "/%00",
    ],
)
def test_addresses_that_lead_nowhere(caller, path):
    assert_refused(caller("GET", path), 404)


@pytest.mark.parametrize(
    "path", ["/api/organizations/%00", "/api/organizations/%ff", "/api/orgs/a'b/policies"]
)
def test_ids_of_nothing(caller, path):
    assert_refused(caller("GET", path), 404, "no such organization")


def test_methods(caller):
    answer = caller("PUT", "/api/organizations")
    assert_refused(answer, 405, "GET")
    assert answer.headers["Allow"] == "GET, HEAD, POST"
    assert_refused(caller("OPTIONS", "/api/organizations"), 405)
    traced = caller("TRACE", "/healthz")
    assert_refused(traced, 405)
    assert traced.headers["X-Error-Code"] == "method-not-allowed"
    assert caller.client.head("/healthz").data == b""


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("limit=-1", "limit"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=ten", "limit"),
        ("limit=", "limit"),
        ("limit=1&limit=2", "limit"),
        ("offset=-1", "offset"),
        ("offset=9223372036854775808", "offset"),
        (f"offset={'9' * 30}", "offset"),
        (f"search={'x' * 501}", "search"),
    ],
)
def test_queries(caller, query, words):
    assert_refused(caller("GET", f"/api/audit?{query}"), 422, words)


@pytest.mark.parametrize(
    "search",
    [
        "'; --",
        "%27%3B%20DROP%20TABLE%20checks",
        "%00",
        "%ff",
        '"',
        "*",
        "NEAR(a b)",
        "email OR zzz",
    ],
)
def test_searches_are_words_and_nothing_else(caller, search):
    caller.check()
    assert caller("GET", "/api/audit", query_string=f"search={search}").json["total"] == 0
    assert caller("GET", "/api/audit").json["total"] == 1


def test_forms(caller):
    def send(data, **headers):
        return caller.client.post(
            "/api/preflight", data=data, headers={"X-Service-API-Key": caller.key} | headers
        )

    def file():
        return io.BytesIO(b"hello"), "a.txt"

    assert_refused(send({"destination": "VENDOR"}), 415)
    assert_refused(
        send({"destination": "VENDOR", "file": "text"}, **{"Content-Type": "multipart/form-data"}),
        422,
    )
    assert_refused(send({"file": file()}), 422, "destination")
    assert_refused(send({"file": file(), "destination": "SPACE"}), 422, "destination")
    assert_refused(
        send({"file": [file(), file()], "destination": "VENDOR"}), 422, "file", "2 times"
    )
    assert_refused(
        send({"file": file(), "destination": ["VENDOR", "CUSTOMER"]}), 422, "destination"
    )
    assert_refused(send({"file": file(), "other": file(), "destination": "VENDOR"}), 422, "other")
    assert_refused(send({"file": file(), "destination": "VENDOR", "x": "y"}), 422, "x")
    assert_refused(send({"file": file(), "destination": file()}), 422)
    assert_refused(send(b"x", **{"Content-Type": "multipart/form-data"}), 400, "boundary")
    assert_refused(send(b"x", **{"Content-Type": "multipart/form-data; boundary=b"}), 422)
    assert_refused(send(b"{}", **{"Content-Type": "application/json"}), 415)
    assert_refused(send({"file": file(), "destination": ["VENDOR"] * 20}), 413)


class TestSizes:
    @pytest.fixture
    def settings(self):
        return Serve(text_bytes=1_000, file_bytes=2_000, rate=60_000, burst=10_000)

    def test_more_than_the_limit_is_refused(self, caller):
        assert caller.check("x" * 1_000).status_code == 200
        assert caller.check("\u2028" * 333).status_code == 200
        assert_refused(caller.check("x" * 1_001), 413, "1,000")
        assert_refused(caller.check("x" * 100_000), 413)
        assert caller.check_file(b"x" * 2_000, "a").status_code == 200
        assert_refused(caller.check_file(b"x" * 2_001, "a"), 413, "2,000")
        assert_refused(caller.check_file(b"x" * 100_000, "a"), 413)


class TestRates:
    @pytest.fixture
    def settings(self):
        return Serve(rate=2, burst=3)  # so that no second request is allowed while a test runs

    def test_a_key_has_its_rate(self, caller):
        answers = [caller.check() for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
        assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"2"}
        seconds = answers[-1].headers["Retry-After"]
        assert answers[-1].headers["RateLimit-Reset"] == seconds
        assert 1 <= int(seconds) <= 30
        assert_refused(answers[-1], 429, "2 requests a minute", f"try again in {seconds} s")
        assert_refused(caller.get("/api/preflight/x"), 429)
        another = caller("POST", "/api/orgs/acme/policies", {"name": "p", "rules": []}).json[
            "api_key"
        ]
        assert caller.check(key=another).status_code == 200


def test_the_months_quota(caller, control):
    (one,) = control.licenses.list(LOCAL, "acme")
    control.licenses.extend(LOCAL, "acme", one.license_id, {"max_checks_per_month": 1})
    assert caller.check().status_code == 200
    refused = caller.check()
    assert_refused(refused, 429, "monthly quota of 1 checks", "2026-04-01")
    assert refused.headers["RateLimit-Limit"] == "1"
    assert refused.headers["RateLimit-Remaining"] == "0"
    assert (
        refused.headers["Retry-After"]
        == refused.headers["RateLimit-Reset"]
        == str((22 * 24 - 12) * 3600)
    )


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", ""]
)
def test_names_that_the_service_does_not_have(caller, host):
    answer = caller.client.get("/healthz", headers={"Host": host})
    assert_refused(answer, 400, "Host")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8686", "127.0.0.1:1", "[::1]:8686", "a.localhost", "10.1.2.3"]
)
def test_names_that_no_page_can_point_at_it(caller, host):
    assert caller.client.get("/healthz", headers={"Host": host}).status_code == 200


class TestNames:
    @pytest.fixture
    def settings(self):
        return Serve(
            public_url="https://dlp.example.com/",
            allowed_hosts=("Inner",),
            cors_origins=("https://app.example",),
        )

    def test_names_that_are_set(self, caller):
        for host in ("dlp.example.com", "inner:80"):
            assert caller.client.get("/healthz", headers={"Host": host}).status_code == 200
        url = caller.check_file(b"hello", "a.txt").json["masked_file_url"]
        assert url.startswith("https://dlp.example.com/api/preflight/pf_")

    def test_origins_that_are_set(self, caller):
        asks = {"Access-Control-Request-Method": "POST"}
        allowed = caller.client.options(TEXT, headers=asks | {"Origin": "https://app.example"})
        assert allowed.status_code == 204
        assert allowed.headers["Access-Control-Allow-Origin"] == "https://app.example"
        assert "X-Service-API-Key" in allowed.headers["Access-Control-Allow-Headers"]
        other = caller.client.options(TEXT, headers=asks | {"Origin": "https://evil.example"})
        assert_refused(other, 405)
        assert "Access-Control-Allow-Origin" not in other.headers
        assert other.headers["Vary"] == "Origin"


def test_no_origin_is_allowed_unasked(caller):
    answer = caller.client.get("/healthz", headers={"Origin": "https://app.example"})
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_a_failure_discloses_only_an_id(tmp_path, detector, settings):
    class Failing:
        text_bytes = 0

        def check_text(self, _policy, text):
            raise ValueError(f"cannot read {text}")

    with ControlPlane.open(tmp_path / "failing", lambda: detector, inspector=Failing()) as control:
        caller = caller_of(control, settings)
        caller.client.application.testing = False
        answer = caller.check()
    assert_refused(answer, 500, answer.headers["X-Request-Id"])
    assert "ValueError" not in answer.text
    logged = caller.log.getvalue()
    assert answer.headers["X-Request-Id"] in logged
    assert '"error": "ValueError"' in logged
    assert "jane.doe" not in logged


@pytest.mark.of_a_file
def test_a_failing_store_is_reported_only_in_the_log(control, caller):
    lose_checks(control)
    answer = caller.check()
    assert_refused(answer, 503, "nothing was done")
    assert str(control.folder) not in answer.text
    assert answer.headers["Retry-After"] == "5"
    assert str(control.folder) in caller.log.getvalue()


def test_the_log_holds_no_content_and_no_keys(caller):
    caller.check()
    caller.check_file(EMAIL.encode(), "jane.doe.txt")
    caller("GET", "/api/audit?search=jane.doe")
    caller("GET", "/jane.doe")
    caller("POST", "/api/tokens", {"role": "admin"})
    caller.client.get("/healthz", headers={"X-Request-Id": "jane doe"})
    logged = caller.log.getvalue()
    lines = [json.loads(line) for line in logged.splitlines()]
    assert [line["event"] for line in lines] == ["request"] * 6
    assert lines[0]["decision"] == "ALLOWED_WITH_MASKING"
    for hidden in ("jane", caller.key, caller.token, "dlp_at_"):
        assert hidden not in logged


def test_a_line_names_the_client_and_the_objects(caller, control):
    made = caller.check().json["preflight_id"]
    caller.get(f"/api/preflight/{made}")
    policy_id = control.policies.list(LOCAL, "acme")[0].policy_id
    org_id = control.organizations.get(LOCAL, "acme").org_id
    caller("PATCH", f"/api/orgs/acme/policies/{policy_id}", {"tags": ["a"]})
    token_id = caller("POST", "/api/tokens", {"role": "auditor"}).json["token_id"]
    caller("DELETE", f"/api/tokens/{token_id}")
    caller("DELETE", "/api/tokens/jane.doe@corp.example.net")
    caller("GET", "/api/organizations/123-45-6789")
    caller("DELETE", "/api/organizations/acme")
    lines = [json.loads(line) for line in caller.log.getvalue().splitlines()]
    named = [
        {key: one[key] for key in one if key.endswith("_id") and key != "request_id"}
        for one in lines
    ]
    assert named == [
        {"preflight_id": made},
        {"preflight_id": made},
        {"policy_id": policy_id, "org_id": org_id},
        {"token_id": token_id},
        {"token_id": token_id},
        {},
        {},
        {"org_id": "acme"},
    ]
    assert {one["client"] for one in lines} == {"127.0.0.1"}


@pytest.mark.parametrize(
    "said", ["jane.doe@corp.example.net", "1.2.3.4 decision=ALLOWED", '"}{', "", "::1%eth0"]
)
def test_invalid_addresses_are_not_logged(caller, said):
    caller.client.get("/healthz", environ_overrides={"REMOTE_ADDR": said})
    assert "client" not in json.loads(caller.log.getvalue())


def test_lines_for_people(control):
    log = io.StringIO()
    client = create_app(control, Options(), Log(log)).test_client()
    client.get("/healthz", headers={"X-Request-Id": "abc-1"})
    assert " request method=GET route=/healthz status=200 ms=" in log.getvalue()
    assert "request_id=abc-1 client=127.0.0.1\n" in log.getvalue()


def test_tokens_that_others_signed_are_no_credentials(caller):
    public = caller.client.get("/v1/license/public-key").json
    (license_,) = caller("GET", "/api/orgs/acme/licenses").json
    claims = {
        "sub": license_["license_id"],
        "org_id": license_["org_id"],
        "license_id": license_["license_id"],
    }
    parts = [
        json.dumps(part).encode() for part in ({"alg": "HS256", "kid": public["key_id"]}, claims)
    ]
    import base64
    import hmac

    signed = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = hmac.digest(public["public_key"].encode(), signed, "sha256")
    forged = f"{signed.decode()}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"
    for token in (jwt.encode(claims, None, algorithm="none"), forged):
        bearer = {"Authorization": f"Bearer {token}"}
        assert_refused(caller.client.get("/v1/license/validate", headers=bearer), 401)
        assert_refused(caller.client.get("/api/organizations", headers=bearer), 401)


@pytest.mark.of_a_file
def test_a_damaged_log_is_named(caller, control):
    ids = [caller.check().json["preflight_id"] for _ in range(2)]
    with closing(sqlite3.connect(control.folder / "control.db")) as database, database:
        database.execute("UPDATE checks SET bytes = 1 WHERE preflight_id = ?", (ids[0],))
    report = caller("GET", "/api/audit/verify").json
    assert (report["intact"], report["broken_at"]) == (False, ids[0])


class _Unreadable:
    def read(self, *_size):
        raise AssertionError("the body was read")

    readline = readlines = __iter__ = read


@pytest.mark.parametrize(
    ("path", "header", "credential"),
    [
        ("/v1/license/usage", "Authorization", "Bearer dlp_lk_x"),
        ("/v1/license/usage", "Authorization", None),
        ("/v1/metrics/batch", "Authorization", "Bearer dlp_lk_x"),
        ("/api/preflight/text", "X-Service-API-Key", "dlp_pk_x"),
        ("/api/preflight", "X-Service-API-Key", "dlp_pk_x"),
        ("/api/organizations", "Authorization", "Bearer dlp_at_x"),
    ],
)
def test_the_credential_is_asked_for_before_the_body_is_read(caller, path, header, credential):
    answer = caller.client.post(
        path,
        headers={header: credential} if credential else {},
        content_type="application/json",
        environ_overrides={"wsgi.input": _Unreadable(), "CONTENT_LENGTH": "1000"},
    )
    assert answer.status_code == 401


def test_a_form_that_was_cut_off_is_refused(caller):
    whole = (
        b'--b\r\nContent-Disposition: form-data; name="destination"\r\n\r\nVENDOR\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello\r\n--b--\r\n'
    )
    headers = {"X-Service-API-Key": caller.key, "Content-Type": "multipart/form-data; boundary=b"}
    assert caller.client.post("/api/preflight", data=whole, headers=headers).status_code == 200
    for end in range(len(whole) - 4):
        assert_refused(caller.client.post("/api/preflight", data=whole[:end], headers=headers), 422)
