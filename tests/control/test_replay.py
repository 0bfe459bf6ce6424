"""Drafts: their problems, and what they would have decided; and sums over all organizations."""

from __future__ import annotations

import sqlite3
from datetime import date

import pytest

from dlpctl.control.access import LOCAL, Access, Role
from dlpctl.control.analytics import _BY_DAY, _BY_DESTINATION, _BY_POLICY, _BY_TYPE
from dlpctl.control.replay import RecordedCheck, Replay
from dlpctl.errors import NotFoundError, PolicyError, RequestError
from dlpctl.policy.model import Policy
from dlpctl.policy.rules import Catalogue
from dlpctl.types import Category, Decision

MAIL = "write to jane.doe@corp.example.net"


def rule(action: str, **more: object) -> dict[str, object]:
    everywhere = ["AI_TOOL", "VENDOR", "CUSTOMER"]
    return {
        "name": "r",
        "dataTypes": ["EMAIL"],
        "destinations": everywhere,
        "action": action,
    } | more


def draft(*rules: dict[str, object], **more: object) -> dict[str, object]:
    return {"name": "draft", "rules": list(rules), **more}


@pytest.fixture
def policy(control, acme):
    return control.policies.create(LOCAL, acme, draft(rule("MASK")))


@pytest.fixture
def replay(control, acme, policy):
    def replayed(*rules, checks=100, **more):
        body = {"policy": draft(*rules, **more), "checks": checks}
        return control.policies.replay(LOCAL, acme, policy.policy_id, body)

    return replayed


def test_it_decides_by_recorded_types_and_counts(control, policy, replay):
    for text in (MAIL, f"{MAIL} and a@b.example.net", "nothing"):
        control.checks.check_text(policy.api_key, text, "VENDOR")
    same = replay(rule("MASK"))
    assert (same.checks, same.changed, same.unexplained, same.items) == (3, 0, 0, ())
    strict = replay(rule("BLOCK"))
    assert strict.before == {"ALLOWED": 1, "ALLOWED_WITH_MASKING": 2, "BLOCKED": 0}
    assert strict.after == {"ALLOWED": 1, "ALLOWED_WITH_MASKING": 0, "BLOCKED": 2}
    assert [each.after for each in strict.items] == ["BLOCKED", "BLOCKED"]
    assert strict.items[0].types == ("EMAIL",)
    counted = replay(rule("BLOCK", minCount=2))
    assert counted.after == {"ALLOWED": 2, "ALLOWED_WITH_MASKING": 0, "BLOCKED": 1}
    assert replay(rule("BLOCK"), checks=1).checks == 1
    elsewhere = replay(rule("MASK"), rule("BLOCK", destinations=["CUSTOMER"]))
    assert elsewhere.changed == 0


def test_checks_that_differ_in_their_samples_alone_are_decided_once():
    versions = {"1.0": Policy.from_dict(draft(rule("MASK")))}
    blocking = Policy.from_dict(draft(rule("BLOCK")))
    catalogue = Catalogue.of([("email", "EMAIL", Category.PII)])
    decide = Replay(blocking, versions, catalogue, date(2026, 3, 10))
    recorded = [
        RecordedCheck(
            "", "", "VENDOR", "ALLOWED_WITH_MASKING", "1.0", f'[["EMAIL", 1, "{letter}"]]'
        )
        for letter in "abcdefghij"
    ]
    outcomes = decide(recorded).outcomes
    assert [outcome.after for outcome in outcomes] == [Decision.BLOCKED] * 10
    assert len(set(map(id, outcomes))) == 1


def test_the_newest_checks_come_first(control, policy, replay):
    ids = [
        control.checks.check_text(policy.api_key, text, to).preflight_id
        for to in ("VENDOR", "AI_TOOL")
        for text in (MAIL, f"{MAIL} and a@b.example.net", MAIL)
    ]
    assert [each.preflight_id for each in replay(rule("BLOCK")).items] == ids[::-1]
    assert [each.preflight_id for each in replay(rule("BLOCK"), checks=4).items] == ids[:1:-1]


def test_a_replay_uses_the_version_that_decided(control, acme, policy, replay):
    control.checks.check_text(policy.api_key, MAIL, "VENDOR")
    control.policies.update(LOCAL, acme, policy.policy_id, draft(rule("BLOCK")))
    control.checks.check_text(policy.api_key, MAIL, "VENDOR")
    found = replay(rule("ALLOW"))
    assert (found.unexplained, found.changed) == (0, 2)


def test_unexplained_decisions_become_no_milder(control, policy, replay):
    control.checks.check_file(policy.api_key, b"PK\x03\x04 broken", "a.docx", "VENDOR")
    found = replay(rule("ALLOW"))
    assert found.before["BLOCKED"] == found.after["BLOCKED"] == found.unexplained == 1


def test_it_replays_the_checks_of_one_policy(control, key, policy, replay):
    control.checks.check_text(key, MAIL, "VENDOR")
    assert replay(rule("BLOCK")).checks == 0


def test_mistakes_in_a_draft_are_reported(control, acme, replay):
    with pytest.raises(PolicyError, match="NOTHING"):
        replay(rule("MASK", dataTypes=["NOTHING"]))
    with pytest.raises(RequestError, match="checks"):
        replay(checks=0)
    with pytest.raises(NotFoundError):
        control.policies.replay(LOCAL, acme, "pol_1", {"policy": draft()})


def test_lint_finds_rules_without_effect(control):
    twice = {"policy": draft(rule("BLOCK", id="a"), rule("MASK", id="b"))}
    found = control.policies.lint(LOCAL, twice)
    shown = [(each.level, each.code, each.path) for each in found]
    assert ("warning", "shadowed", "rules[1]") in shown


def test_an_overview_is_over_all_organizations_that_the_token_sees(control, acme, key, policy):
    globex = control.organizations.create(LOCAL, {"name": "Globex", "slug": "globex"}).org_id
    other = control.policies.list(LOCAL, globex)[0]
    for each, destination in ((key, "VENDOR"), (key, "AI_TOOL"), (other.api_key, "VENDOR")):
        control.checks.check_text(each, MAIL, destination)
    control.checks.check_text(key, "nothing", "CUSTOMER")
    every = control.analytics.overview(LOCAL, period="7d")
    assert len(every.data) == 7
    assert (every.data[-1].allowed, every.data[-1].masked) == (1, 3)
    assert [(each.org_slug, each.masked) for each in every.policies] == [("acme", 2), ("globex", 1)]
    assert {each.destination: each.masked for each in every.destinations} == {
        "AI_TOOL": 1,
        "CUSTOMER": 0,
        "VENDOR": 2,
    }
    assert every.types[0].to_dict() == {
        "type": "EMAIL",
        "label": "Email",
        "count": 3,
        "destinations": {"AI_TOOL": 1, "VENDOR": 2},
    }
    assert every.prevented_exposures == 3
    own = control.analytics.overview(Access(Role.AUDITOR, globex), period="7d")
    assert own.data[-1].checks_total == 1
    assert control.analytics.overview(LOCAL, org_id="acme").data[-1].checks_total == 3
    control.policies.delete(LOCAL, globex, other.policy_id)
    assert control.analytics.overview(LOCAL, org_id="globex").policies[0].name == "(deleted)"
    with pytest.raises(NotFoundError):
        control.analytics.overview(Access(Role.AUDITOR, globex), org_id="acme")
    assert control.audit.verify(LOCAL).intact


def test_a_preview_masks_and_leaves_no_trace(control, acme, policy):
    body = {"text": MAIL, "destination": "VENDOR"}
    found = control.previews.text(LOCAL, acme, policy.policy_id, body)
    assert found.masked_content == "write to j***@corp.example.net"
    preview, masked = control.previews.file(
        LOCAL, acme, policy.policy_id, "VENDOR", "a.txt", MAIL.encode()
    )
    assert preview.decision == "ALLOWED_WITH_MASKING"
    assert masked == b"write to j***@corp.example.net"
    assert control.audit.search(LOCAL).total == 0
    with pytest.raises(NotFoundError):
        control.previews.text(Access(Role.ADMIN, "org_2"), acme, policy.policy_id, body)


def test_the_log_shows_a_check_to_its_organization_alone(control, acme, key):
    checked = control.checks.check_text(key, MAIL, "VENDOR")
    found = control.audit.check(LOCAL, checked.preflight_id).to_dict()
    assert found["detected"] == [{"type": "EMAIL", "count": 1}]
    assert (found["bytes"], found["is_file"]) == (len(MAIL), False)
    for access, asked in ((Access(Role.ADMIN, "org_2"), checked.preflight_id), (LOCAL, "pf_\n")):
        with pytest.raises(NotFoundError):
            control.audit.check(access, asked)


@pytest.mark.of_a_file
def test_an_overview_reads_no_sums_of_other_days(control, acme):
    database = sqlite3.connect(control.folder / "control.db")
    plans: list[str] = []
    for sql in (_BY_DAY, _BY_DESTINATION, _BY_POLICY, _BY_TYPE):
        query = dict.fromkeys(("org_id", "first", "last"))
        plans += [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", query)]
    database.close()
    assert not [each for each in plans if each.startswith("SCAN daily")]
    assert len([each for each in plans if "day>? AND day<?" in each]) == 4
