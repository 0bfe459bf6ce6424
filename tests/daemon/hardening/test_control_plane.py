"""Data that one tenant writes to the database or its policy do not keep another from its checks."""

from __future__ import annotations

import os
import time


def test_a_usage_report_of_absurd_size_is_refused(service, attacker, victim):
    made = service.administer(
        "POST", "/api/organizations", {"name": "Reporter", "slug": "reporter"}
    )
    policy = service.administer("GET", "/api/orgs/reporter/policies")[0]
    for _ in range(2):
        check = {
            "preflight_id": f"pf_{os.urandom(12).hex()}",
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "destination": "VENDOR",
            "decision": "ALLOWED",
            "policy_id": policy["policy_id"],
            "policy_version": policy["version"],
            "bytes": 2**63 - 2,
            "is_file": False,
            "detected": [],
        }
        authorization = f"Bearer {made['license_key']}"
        answer = service.ask(
            "POST", "/v1/license/usage", {"checks": [check]}, Authorization=authorization
        )
        assert answer.status == 422
    assert service.check(policy["api_key"]).status == 200
    assert [victim.check().status for _ in range(20)] == [200] * 20


def test_heavy_patterns_are_refused_or_delay_their_owner_alone(service, attacker, victim, held):
    patterns = [
        {
            "id": f"heavy-{number}",
            "type": f"HEAVY_{number}",
            "category": "CUSTOM",
            "label": "Heavy",
            "regex": rf"\b[a-z{number % 10}]{{1,200}}(?:[0-9a-f]{{2,90}}-){{1,9}}{number:03d}\b",
            "score": 0.9,
        }
        for number in range(20)
    ]
    body = {"name": "Heavy", "customPatterns": patterns}
    held.start(lambda: service.administer("POST", "/api/orgs/attacker/policies", body), 2)
    while not held.answers:
        assert victim.check().status == 200
    for answer in held.answers:
        if "api_key" in answer:
            assert service.check(answer["api_key"]).status == 200
        else:
            assert answer["detail"]
