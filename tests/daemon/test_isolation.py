"""One tenant's requests never fail or delay another's, in a service as it is run."""

from __future__ import annotations

import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

_CHECKS = 120
_POISON = 666


class Tenant(NamedTuple):
    slug: str
    policy_id: str
    policy_key: str
    license_key: str


def _tenant(running: Any, slug: str) -> Tenant:
    running.administer("POST", "/api/organizations", {"name": slug, "slug": slug})
    made = running.administer("POST", f"/api/orgs/{slug}/licenses", {"license_type": "enterprise"})
    (policy,) = running.administer("GET", f"/api/orgs/{slug}/policies")
    return Tenant(slug, policy["policy_id"], policy["api_key"], made["license_key"])


@pytest.fixture
def running(start):
    with start() as service:
        yield service


@pytest.fixture
def tenants(running):
    return _tenant(running, "mallory"), _tenant(running, "acme")


def _report(running, tenant, number, size):
    check = {
        "preflight_id": f"pf_{number:024x}",
        "created_at": datetime.now(UTC).isoformat(),
        "destination": "VENDOR",
        "decision": "BLOCKED",
        "policy_id": tenant.policy_id,
        "policy_version": "1.0",
        "bytes": size,
        "detected": [{"type": "EMAIL", "count": 1}],
    }
    return running.ask(
        "POST", "/v1/license/usage", {"checks": [check]}, Authorization=f"Bearer {tenant.license_key}"
    )


def _checked(running, attack, *tenants):
    """How often which status was answered to checks of the tenants, while an attack goes on."""
    with ThreadPoolExecutor(12) as pool:
        attacks, checks = [], [[] for _ in tenants]
        for number in range(_CHECKS):
            attacks.append(pool.submit(attack, number))
            for tenant, each in zip(tenants, checks, strict=True):
                each.append(pool.submit(running.check, tenant.policy_key, f"text {number}"))
        answers = [Counter(one.result().status for one in each) for each in checks]
        return Counter(one.result().status for one in attacks), answers


def test_no_number_in_a_report_of_one_tenant_fails_checks(running, tenants):
    mallory, _ = tenants

    def attack(number):
        return _report(running, mallory, number, (2**63 - 2, 2**53 - 1)[number % 2])

    attacks, answers = _checked(running, attack, *tenants)
    assert answers == [{200: _CHECKS}, {200: _CHECKS}]
    assert attacks == {422: _CHECKS / 2, 200: _CHECKS / 2}


def test_what_one_tenant_brings_fails_alone_whatever_the_reason(running, tenants):
    """The database itself refuses what the one brings, in transactions that it shares with the other."""
    mallory, acme = tenants
    with closing(sqlite3.connect(running.folder / "control.db")) as database:
        database.execute(
            f"CREATE TRIGGER poison BEFORE INSERT ON checks WHEN NEW.bytes = {_POISON}"
            " BEGIN SELECT RAISE(ABORT, 'poison'); END"
        )
    attacks, (answers,) = _checked(running, lambda n: _report(running, mallory, n, _POISON), acme)
    assert answers == {200: _CHECKS}
    assert attacks == {503: _CHECKS}
    verified = running.administer("GET", "/api/audit/verify")
    assert (verified["intact"], verified["checked"]) == (True, _CHECKS)
