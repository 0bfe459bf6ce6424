"""The large contents of one tenant delay no other."""

from __future__ import annotations

import re

import pytest

_SHARE = 32
"""Requests of one organization that may wait in a lane for large contents."""


def _works(service, victim):
    """Probes, administration and small texts are answered."""
    for path in ("/healthz", "/readyz"):
        assert service.ask("GET", path).status == 200
    assert {one["slug"] for one in service.administer("GET", "/api/organizations")} >= {"victim"}
    for _ in range(10):
        made = victim.check()
        assert (made.status, made.json["decision"]) == (200, "ALLOWED_WITH_MASKING")


def test_large_texts_of_one_tenant_delay_no_small_ones(service, attacker, victim, held):
    held.start(lambda: attacker.check(held.text), 24)
    _works(service, victim)
    large = victim.check("large " * 5_000)
    assert large.status == 200
    assert held.answers == []
    held.release()
    assert [answer.status for answer in held.answers] == [200] * 24


def test_files_of_one_tenant_delay_nobody_else(service, attacker, victim, held):
    held.start(lambda: attacker.check_file(held.text.encode()), 17)
    _works(service, victim)
    status, body = victim.check_file(b"nothing to see here")
    assert (status, b'"ALLOWED"' in body) == (200, True)
    assert held.answers == []
    held.release()
    assert [status for status, _ in held.answers] == [200] * 17


def test_requests_over_a_tenants_share_are_refused_immediately(service, attacker, victim, held):
    held.start(lambda: attacker.check(held.text), _SHARE + 20)
    while len(held.answers) < 19:
        _works(service, victim)
    refused = held.answers[:19]
    assert {answer.status for answer in refused} == {429}
    for answer in refused:
        assert int(answer.headers["Retry-After"]) > 0
        assert "try again later" in answer.json["detail"]
    assert victim.check("large " * 5_000).status == 200


def test_time_in_the_queue_is_logged_and_measured(service, victim):
    assert victim.check().status == 200
    assert service.ask("GET", "/healthz").status == 200
    lines = service.log.read_text("utf-8")
    assert re.search(
        r'"route": "/api/preflight/text".*"lane": "small_texts", "queue_ms": \d+\.\d', lines
    )
    assert re.search(r'"route": "/healthz".*"lane": "probes", "queue_ms": \d+\.\d', lines)
    token = (service.folder / "admin.token").read_text("ascii").strip()
    numbers = service.ask("GET", "/metrics", Authorization=f"Bearer {token}").body.decode()
    assert re.search(r'dlpctl_queue_seconds_bucket\{lane="small_texts",le="0.001"\} \d+', numbers)
    assert 'dlpctl_queue_seconds_count{lane="probes"}' in numbers


@pytest.mark.parametrize("size", [9_000, 400_000])
def test_a_large_text_is_answered_like_a_small_one(victim, size):
    text = "write to jane.doe@corp.example.net ".ljust(size, ".")
    made = victim.check(text)
    assert made.json["masked_content"] == text.replace("jane.doe@", "j***@")
    assert made.json["detected"] == [
        {"type": "EMAIL", "count": 1, "sample": "j***@corp.example.net"}
    ]
    found = victim.service.ask(
        "GET", f"/api/preflight/{made.json['preflight_id']}", X_Service_API_Key=victim.key
    )
    assert found.json["summary"] == made.json["summary"]


def test_a_text_that_kills_its_inspector_is_blocked(service, victim):
    made = victim.check("die ".ljust(20_000, "."))
    assert (made.status, made.json["decision"]) == (200, "BLOCKED")
    assert "ended before it was done" in made.json["summary"]
    assert made.json["masked_content"] is None
    assert '"event": "inspection"' in service.log.read_text("utf-8")
    assert victim.check("large " * 5_000).json["decision"] == "ALLOWED"
