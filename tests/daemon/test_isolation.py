"""One tenant's requests never fail or delay another's, in a service as it is run."""

from __future__ import annotations

import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.events import record
from dlpctl.control.service import ControlPlane

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
        "POST",
        "/v1/license/usage",
        {"checks": [check]},
        Authorization=f"Bearer {tenant.license_key}",
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
    """The database itself refuses what the one brings, in transactions that it shares with the
    other.
    """
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


def _badge(regex: str, number: int = 1) -> dict[str, Any]:
    names = {"id": f"badge-{number}", "type": "BADGE", "category": "CUSTOM", "label": "Badge"}
    return names | {"regex": regex, "score": 0.8}


def _policy(*patterns: dict[str, Any]) -> dict[str, Any]:
    rule = {"name": "n", "dataTypes": ["BADGE"], "destinations": ["VENDOR"], "action": "BLOCK"}
    return {"name": "badges", "rules": [rule], "customPatterns": list(patterns)}


def _checks_during(running, tenant, attack):
    """How many checks of a tenant are answered, one after the other, before the attack is over."""
    answered = 0
    with ThreadPoolExecutor(24) as pool:
        under_way = [pool.submit(attack, number) for number in range(20)]
        while not all(one.done() for one in under_way) and answered < 300:
            assert running.check(tenant.policy_key, f"text {answered}").status == 200
            answered += 1
    return answered, Counter(one.result().status for one in under_way)


def test_patterns_of_one_tenant_are_compiled_while_others_are_answered(running, tenants):
    """The expression takes seconds to compile; nobody but who saves it, and checks by it, waits for
    that.
    """
    mallory, acme = tenants
    token = (running.folder / "admin.token").read_text("ascii").strip()
    path = f"/api/orgs/{mallory.slug}/policies"

    def attack(number):
        if number:
            return running.check(mallory.policy_key, "text")
        body = _policy(_badge("x.{1,300}y[ab].{1,300}z"))
        made = running.ask("POST", path, body, Authorization=f"Bearer {token}")
        return running.check(made.json["api_key"], "text")

    answered, statuses = _checks_during(running, acme, attack)
    assert answered >= 100
    assert statuses == {200: 20}


def _store_uncompiled(folder, replaced):
    """Store a pattern as an earlier version left it: sealed, but not compiled."""

    def job(batch):
        for table in ("policies", "policy_versions"):
            batch.execute(f"UPDATE {table} SET body = replace(body, ?, ?)", replaced)
        record(batch, core, LOCAL, "policy.updated", "", None)

    with ControlPlane.open(folder, lambda: pytest.fail("nothing is checked here")) as control:
        core = control.organizations._core
        core.store.run(job)


def test_checks_by_patterns_that_are_not_compiled_yet_keep_nobody_waiting(running, tenants):
    """As after an upgrade: twenty checks come at once, more than there are threads."""
    mallory, acme = tenants
    made = running.administer(
        "POST", f"/api/orgs/{mallory.slug}/policies", _policy(_badge("AC-[0-9]{8}"))
    )
    _store_uncompiled(running.folder, ("AC-[0-9]{8}", "x.{1,300}y[ab].{1,300}z"))
    answered, statuses = _checks_during(
        running, acme, lambda _: running.check(made["api_key"], "text")
    )
    assert answered >= 100
    assert statuses.keys() <= {200, 503}
    assert running.check(made["api_key"], "text").status == 200
    assert running.ask("GET", "/readyz").status == 200


@pytest.mark.slow
def test_two_hundred_heavy_patterns_are_refused_and_stall_nobody(running, tenants):
    mallory, acme = tenants
    token = (running.folder / "admin.token").read_text("ascii").strip()
    body = _policy(*(_badge(f"q{number}.{{1,60}}y[ab].{{1,60}}z", number) for number in range(200)))

    def attack(number):
        if number:
            return running.check(mallory.policy_key, "text")
        return running.ask(
            "POST", f"/api/orgs/{mallory.slug}/policies", body, Authorization=f"Bearer {token}"
        )

    answered, statuses = _checks_during(running, acme, attack)
    assert answered == 300
    assert statuses == {200: 19, 422: 1}
