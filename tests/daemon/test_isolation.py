"""One tenant's requests never fail or delay another's, in a service as it is run."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.events import record
from dlpctl.control.service import ControlPlane
from dlpctl.detect.packing import PACKER

_CHECKS = 120
_POISON = 666
_COMPILER = PACKER[-1].encode()


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
    """Return the number of answers to checks of the tenants by status, during an attack."""
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


def test_a_failing_request_affects_only_its_tenant(running, tenants):
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


def _compilers(running: Any) -> set[int]:
    """The processes that compile patterns; one that is not yet itself would hold the service."""
    tasks = Path(f"/proc/{running.process.pid}/task").glob("*/children")
    children = [child for task in tasks for child in task.read_text().split()]
    return {int(child) for child in children if _COMPILER in _command(child)}


def _command(process: str) -> list[bytes]:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


@contextmanager
def _compiling(running: Any, start: Callable[[], Any], wait_for: Any) -> Iterator[None]:
    """Start what makes the service compile, and hold the process that compiles until the end.

    A check that waits for it is never answered meanwhile; on a machine under load, one may be
    refused as busy and is asked again.
    """
    start()
    wait_for(lambda: _compilers(running))
    held = _compilers(running)
    for child in held:
        os.kill(child, signal.SIGSTOP)
    try:
        yield
        assert held <= _compilers(running), "something waited until compiling was given up"
    finally:
        for child in held:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGCONT)


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@linux
def test_patterns_of_one_tenant_are_compiled_while_others_are_answered(running, tenants, wait_for):
    """The expression takes seconds to compile; only the request that saves it waits for that."""
    mallory, acme = tenants
    token = (running.folder / "admin.token").read_text("ascii").strip()
    path = f"/api/orgs/{mallory.slug}/policies"
    body = _policy(_badge("x.{1,300}y[ab].{1,300}z"))
    saved: list[Any] = []

    def save():
        saved.append(pool.submit(running.ask, "POST", path, body, Authorization=f"Bearer {token}"))

    with ThreadPoolExecutor(1) as pool:
        with _compiling(running, save, wait_for):
            for tenant in (acme, mallory) * 3:
                wait_for(
                    lambda tenant=tenant: running.check(tenant.policy_key, "text").status == 200
                )
            assert not saved[0].done()
        made = saved[0].result()
    assert running.check(made.json["api_key"], "text").status == 200


def _store_uncompiled(folder, replaced):
    """Store a pattern as an earlier version left it: sealed, but not compiled."""

    def job(batch):
        for table in ("policies", "policy_versions"):
            batch.execute(f"UPDATE {table} SET body = replace(body, ?, ?)", replaced)
        record(batch, core, LOCAL, "policy.updated", "", None)

    with ControlPlane.open(folder, lambda: pytest.fail("nothing is checked")) as control:
        core = control.organizations._core
        core.store.run(job)


@linux
def test_checks_that_compile_patterns_delay_no_other_tenant(running, tenants, wait_for):
    """As after an upgrade: twenty checks come at once, more than there are threads."""
    mallory, acme = tenants
    made = running.administer(
        "POST", f"/api/orgs/{mallory.slug}/policies", _policy(_badge("AC-[0-9]{8}"))
    )
    _store_uncompiled(running.folder, ("AC-[0-9]{8}", "x.{1,300}y[ab].{1,300}z"))
    attacks: list[Any] = []

    def attack():
        attacks.extend(pool.submit(running.check, made["api_key"], "text") for _ in range(20))

    with ThreadPoolExecutor(20) as pool:
        with _compiling(running, attack, wait_for):
            for _ in range(5):
                wait_for(lambda: running.check(acme.policy_key, "text").status == 200)
        statuses = {one.result().status for one in attacks}
    assert statuses <= {200, 503}
    assert running.check(made["api_key"], "text").status == 200
    assert running.ask("GET", "/readyz").status == 200


def test_first_checks_of_some_do_not_hold_up_the_first_of_another(start, wait_for):
    """As after a start, when no key is known yet and all come from one proxy."""
    with start() as service, ThreadPoolExecutor(4) as pool:
        *early, late = [service.key(f"tenant-{number}") for number in range(5)]
        answers = [pool.submit(service.check, key, f"held {key}") for key in early]
        wait_for(lambda: service.held() == 4)
        try:
            assert service.check(late).status == 200
        finally:
            service.release()
        assert [answer.result().status for answer in answers] == [200] * 4


@linux
@pytest.mark.slow
def test_two_hundred_heavy_patterns_are_refused_and_stall_nobody(running, tenants, wait_for):
    mallory, acme = tenants
    token = (running.folder / "admin.token").read_text("ascii").strip()
    path = f"/api/orgs/{mallory.slug}/policies"
    body = _policy(*(_badge(f"q{number}.{{1,60}}y[ab].{{1,60}}z", number) for number in range(200)))
    saved: list[Any] = []

    def save():
        saved.append(pool.submit(running.ask, "POST", path, body, Authorization=f"Bearer {token}"))

    with ThreadPoolExecutor(1) as pool:
        with _compiling(running, save, wait_for):
            for tenant in (acme, mallory) * 3:
                wait_for(
                    lambda tenant=tenant: running.check(tenant.policy_key, "text").status == 200
                )
        answered = 0
        while not saved[0].done() and answered < 300:  # while it is compiled in earnest
            assert running.check(acme.policy_key, f"text {answered}").status == 200
            answered += 1
        assert saved[0].result().status == 422
