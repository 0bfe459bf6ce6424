"""Patterns of policies are compiled when the policy is saved; checks read what was compiled."""

from __future__ import annotations

import json
import threading

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.events import record
from dlpctl.control.prepared import PreparedDetectors
from dlpctl.control.service import ControlPlane
from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from dlpctl.detect.packing import PackLimits
from dlpctl.errors import DlpctlError, EngineError, PatternError, StoreError
from dlpctl.policy.model import Policy

BADGE = {
    "id": "badge",
    "type": "BADGE",
    "category": "CUSTOM",
    "label": "Badge",
    "regex": r"\bAC-(?P<value>[0-9]{8})\b",
    "score": 0.8,
}
RULE = {"name": "No badges", "dataTypes": ["BADGE"], "destinations": ["VENDOR"], "action": "BLOCK"}
BODY = {"name": "Badges", "rules": [RULE], "customPatterns": [BADGE]}
HEAVY = BADGE | {"id": "heavy", "regex": r"x.{1,900}y[ab].{1,900}z"}
NOW = PackLimits(patience=0.0)
"""With these nothing can be compiled: what works has been compiled before."""


@pytest.fixture
def cached(detector, tmp_path):
    """The detector of these tests, with a cache."""
    return Detector(patterns=detector.patterns, cache=Cache(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        pytest.param(HEAVY, "pattern 'heavy': .* more than 10 seconds", marks=pytest.mark.slow),
        (BADGE | {"regex": "(?=x)y"}, "pattern 'badge': regex: lookaround"),
        (BADGE | {"regex": "a*"}, "pattern 'badge': regex: matches the empty text"),
        (BADGE | {"regex": r"\p{L}{1,1000}x"}, "pattern 'badge': regex: "),
        (BADGE | {"id": "mail"}, "pattern 'mail': id is already used"),
    ],
)
def test_a_policy_whose_patterns_are_unusable_is_not_saved(control, acme, pattern, reason):
    saved = control.policies.create(LOCAL, acme, BODY).policy_id
    before = control.policies.list(LOCAL, acme)
    body = BODY | {"customPatterns": [pattern]}
    for save in (
        lambda: control.policies.create(LOCAL, acme, body),
        lambda: control.policies.update(LOCAL, acme, saved, body),
    ):
        with pytest.raises(PatternError, match=reason) as caught:
            save()
        assert caught.value.http_status == 422
    assert control.policies.list(LOCAL, acme) == before


def test_saved_patterns_find_their_values(control, acme):
    key = control.policies.create(LOCAL, acme, BODY).api_key
    for destination in ("VENDOR", "CUSTOMER"):
        checked = control.checks.check_text(key, "badge AC-12345674, a.b@c.net", destination)
        assert {one.type for one in checked.detected} == {"BADGE", "EMAIL"}


def test_another_process_loads_the_compiled_patterns(cached):
    policy = Policy.from_dict(BODY)
    PreparedDetectors(lambda: cached).get(policy, "org")
    again = PreparedDetectors(lambda: cached, NOW).get(policy, "org")
    assert [one.type for one in again.scan("badge AC-12345674")] == ["BADGE"]
    with pytest.raises(StoreError, match="try again later"):
        PreparedDetectors(lambda: cached, NOW).get(policy._replace(custom_patterns=(HEAVY,)), "org")


def test_a_cache_of_another_version_is_compiled_once_more(cached, tmp_path, monkeypatch):
    policy = Policy.from_dict(BODY)
    PreparedDetectors(lambda: cached).get(policy, "org")
    (entry,) = (tmp_path / "cache").glob("policy-*")
    entry.write_bytes(entry.read_bytes()[:-20])
    with pytest.raises(StoreError):
        PreparedDetectors(lambda: cached, NOW).get(policy, "org")
    found = PreparedDetectors(lambda: cached).get(policy, "org")
    assert [one.type for one in found.scan("badge AC-12345674")] == ["BADGE"]
    PreparedDetectors(lambda: cached, NOW).get(policy, "org")


def _stored_without_compiling(control, policy_id, *patterns):
    """Store patterns as an earlier version left them: sealed, but not compiled."""

    def job(batch):
        for table in ("policies", "policy_versions"):
            (body,) = batch.execute(
                f"SELECT body FROM {table} WHERE policy_id = ?", (policy_id,)
            ).fetchone()
            stored = json.dumps(json.loads(body) | {"customPatterns": patterns})
            batch.execute(f"UPDATE {table} SET body = ? WHERE policy_id = ?", (stored, policy_id))
        record(batch, core, LOCAL, "policy.updated", policy_id, None)

    core = control.organizations._core
    core.store.run(job)


def test_a_policy_from_before_is_compiled_at_its_first_check_or_refused(
    control, acme, tmp_path, detector, database
):
    made = control.policies.create(LOCAL, acme, BODY | {"customPatterns": [BADGE | {"score": 0.7}]})
    _stored_without_compiling(control, made.policy_id, BADGE)
    assert control.checks.check_text(made.api_key, "AC-12345674", "VENDOR").decision == "BLOCKED"
    _stored_without_compiling(control, made.policy_id, BADGE | {"regex": "a*"})
    with ControlPlane.open(
        control.folder, lambda: detector, clock=lambda: made_at(made), database=database
    ) as later:
        for _ in range(2):
            with pytest.raises(PatternError, match="empty text"):
                later.checks.check_text(made.api_key, "AC-12345674", "VENDOR")
        off = later.policies.update(LOCAL, acme, made.policy_id, {"is_active": False})
        assert not off.is_active, "it can still be switched off"


def made_at(policy):
    from datetime import datetime

    return datetime.fromisoformat(policy.created_at)


def test_while_one_compiles_only_checks_of_its_organization_wait(detector):
    """The base is asked for when a detector is prepared: there, the first one is held up."""
    holding, held = threading.Event(), threading.Event()

    def base():
        if threading.current_thread().name == "held":
            holding.set()
            assert held.wait(300)
        return detector

    prepared = PreparedDetectors(base)
    policies = [
        Policy.from_dict(BODY | {"customPatterns": [BADGE | {"score": n / 20}]}) for n in range(14)
    ]
    refused = []
    full = threading.Event()

    def ask(policy):
        try:
            prepared.get(policy, "org_a")
        except StoreError as error:
            refused.append(error)
            full.set()

    first = threading.Thread(target=ask, args=(policies[0],), name="held")
    first.start()
    assert holding.wait(300)
    prepared.get(policies[1], "org_b")
    others = [threading.Thread(target=ask, args=(policy,)) for policy in policies[2:12]]
    for thread in others:
        thread.start()
    assert full.wait(300), "more than a few that wait would take all threads of the service"
    prepared.get(policies[12], "org_c")
    held.set()
    for thread in (first, *others):
        thread.join(300)
        assert not thread.is_alive()
    assert len(refused) <= 7
    assert "try again" in refused[0].message
    prepared.get(policies[13], "org_a")


def test_ready_only_if_a_text_can_be_checked(tmp_path, database):
    def broken():
        raise EngineError("the engine is of another processor")

    with (
        ControlPlane.open(tmp_path / "data", broken, database=database) as control,
        pytest.raises(
            StoreError, match="no text can be checked: the engine is of another processor"
        ),
    ):
        control.ready()


def test_it_is_ready_where_one_can(control):
    control.ready()
    control.ready()
    assert control.audit.search(LOCAL).total == 0
    with pytest.raises(DlpctlError):
        control.policies.create(LOCAL, "nobody", BODY)
