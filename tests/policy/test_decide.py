from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.policy.decide import Decider, PolicyDecision, relevant_selectors
from dlpctl.policy.model import Exemption, Policy, Rule
from dlpctl.types import Action, Category, Decision, Destination, Finding
from dlpctl.values import fingerprint

TYPES = {
    "EMAIL": Category.PII,
    "SSN": Category.PII,
    "IBAN": Category.FINANCIAL,
    "US_MBI": Category.PHI,
    "PASSWORD": Category.SECRETS,
    "BADGE": Category.CUSTOM,
}
STRICTNESS = list(Action)
SEVERITY = list(Decision)
DAY = date(2027, 6, 1)


def found(type_name: str = "EMAIL", score: float = 0.9, start: int = 0) -> Finding:
    return Finding(type_name, TYPES[type_name], start, start + 5, score, type_name.lower())


def rule(action: Action, *types: str, name: str = "r", **changes: object) -> Rule:
    base = Rule(name, name, types or ("EMAIL",), tuple(Destination), action)
    return base._replace(**changes)


def decide(
    policy: Policy,
    to: Destination,
    findings: Sequence[Finding],
    value_of: Callable[[Finding], str] | None = None,
    **settings: Any,
) -> PolicyDecision:
    return Decider(policy, to, **settings)(findings, value_of)


findings_of = st.lists(
    st.builds(
        found,
        st.sampled_from(sorted(TYPES)),
        st.sampled_from([0.2, 0.4, 0.5, 0.9]),
        st.integers(0, 99),
    ),
    max_size=8,
)
rules_of = st.lists(
    st.builds(
        Rule,
        id=st.sampled_from("abcdefgh"),
        name=st.just("r"),
        data_types=st.lists(
            st.sampled_from([*TYPES, *Category, "email", "password"]), max_size=3, unique=True
        ).map(tuple),
        destinations=st.lists(st.sampled_from(list(Destination)), max_size=3, unique=True).map(
            tuple
        ),
        action=st.sampled_from(list(Action)),
        enabled=st.booleans(),
        min_score=st.sampled_from([None, 0.3, 0.6]),
        min_count=st.integers(1, 3),
        min_distinct=st.integers(1, 3),
        masking=st.sampled_from([(), (("*", "redact"),), (("EMAIL", "token"), ("PII", "hash"))]),
    ),
    max_size=6,
    unique_by=lambda each: each.id,
).map(tuple)
policies = st.builds(
    Policy,
    name=st.just("p"),
    rules=rules_of,
    default_action=st.sampled_from([None, *Action]),
    min_score=st.sampled_from([0.3, 0.5]),
)
destinations = st.sampled_from(list(Destination))


def actions(
    policy: Policy, to: Destination, findings: list[Finding]
) -> list[tuple[Finding, Action, str | None]]:
    return [
        (each, verdict.action, verdict.operator)
        for each, verdict in decide(policy, to, findings).ruled
    ]


@given(policies, destinations, findings_of)
def test_the_decision_is_the_strictest_action(
    policy: Policy, to: Destination, findings: list[Finding]
) -> None:
    ruling = decide(policy, to, findings)
    strictest = max((STRICTNESS.index(verdict.action) for _, verdict in ruling.ruled), default=0)
    assert ruling.decision is SEVERITY[strictest]
    assert [each for each, _ in ruling.ruled] == [
        each for each in findings if each in {pair[0] for pair in ruling.ruled}
    ]


@given(policies, destinations, findings_of, st.randoms(use_true_random=False))
def test_the_order_of_rules_and_findings_changes_nothing(
    policy: Policy, to: Destination, findings: list[Finding], random: object
) -> None:
    rules = list(policy.rules)
    random.shuffle(rules)
    shuffled = Policy(
        policy.name, tuple(rules), min_score=policy.min_score, default_action=policy.default_action
    )
    assert actions(policy, to, findings) == actions(shuffled, to, findings)
    assert sorted(map(str, actions(policy, to, findings))) == sorted(
        map(str, actions(policy, to, findings[::-1]))
    )


@given(policies, destinations, findings_of)
def test_a_disabled_rule_never_matters(
    policy: Policy, to: Destination, findings: list[Finding]
) -> None:
    without = Policy(
        policy.name,
        tuple(each for each in policy.rules if each.enabled),
        min_score=policy.min_score,
        default_action=policy.default_action,
    )
    assert actions(policy, to, findings) == actions(without, to, findings)


@given(policies, destinations, findings_of, st.sampled_from([*TYPES, *Category]), st.integers(1, 3))
def test_another_block_rule_never_loosens(
    policy: Policy, to: Destination, findings: list[Finding], selector: str, count: int
) -> None:
    added = rule(Action.BLOCK, selector, name="added", min_count=count)
    stricter = Policy(
        policy.name,
        (*policy.rules, added),
        min_score=policy.min_score,
        default_action=policy.default_action,
    )
    before = {
        (each, place): action
        for place, (each, action, _) in enumerate(actions(policy, to, findings))
    }
    after = actions(stricter, to, findings)
    assert SEVERITY.index(decide(stricter, to, findings).decision) >= SEVERITY.index(
        decide(policy, to, findings).decision
    )
    if len(after) == len(before):
        for place, (each, action, _) in enumerate(after):
            assert STRICTNESS.index(action) >= STRICTNESS.index(before[each, place])


@given(policies, destinations, findings_of, findings_of)
def test_more_findings_never_loosen(
    policy: Policy, to: Destination, findings: list[Finding], more: list[Finding]
) -> None:
    alone, together = decide(policy, to, findings), decide(policy, to, findings + more)
    assert SEVERITY.index(together.decision) >= SEVERITY.index(alone.decision)


@given(policies, destinations, findings_of)
def test_relevant_selectors_suffice_for_the_decision(
    policy: Policy, to: Destination, findings: list[Finding]
) -> None:
    relevant = relevant_selectors(policy, to, decision_only=True)
    scanned = [
        each
        for each in findings
        if each.score >= relevant.min_score
        and (
            relevant.selectors is None
            or {each.type, each.category, each.pattern_id.upper()}
            & {name.upper() for name in relevant.selectors}
        )
    ]
    assert decide(policy, to, scanned).decision is decide(policy, to, findings).decision
    everything = relevant_selectors(policy, to)
    assert everything.selectors is None
    assert actions(policy, to, findings) == actions(
        policy, to, [each for each in findings if each.score >= everything.min_score]
    )


def test_uncovered_findings_are_allowed_and_listed() -> None:
    policy = Policy("p", (rule(Action.MASK, "EMAIL"),))
    ruling = decide(policy, Destination.VENDOR, [found("EMAIL"), found("IBAN"), found("SSN", 0.4)])
    assert ruling.decision is Decision.ALLOWED_WITH_MASKING
    expected = [(found("EMAIL"), "r"), (found("IBAN"), None)]
    assert [(finding, verdict.rule) for finding, verdict in ruling.ruled] == expected


def test_a_rule_may_have_a_lower_threshold_than_the_policy() -> None:
    policy = Policy("p", (rule(Action.BLOCK, "SSN", min_score=0.2),))
    assert decide(policy, Destination.VENDOR, [found("SSN", 0.3)]).decision is Decision.BLOCKED
    assert decide(policy, Destination.VENDOR, [found("EMAIL", 0.3)]).ruled == []


def test_selectors_are_categories_types_and_patterns_in_any_case() -> None:
    for selector in ("PII", "EMAIL", "email", "Email"):
        policy = Policy.from_dict(
            {
                "name": "p",
                "rules": [{"dataTypes": [selector], "destinations": ["VENDOR"], "action": "BLOCK"}],
            }
        )
        assert decide(policy, Destination.VENDOR, [found()]).decision is Decision.BLOCKED
        assert decide(policy, Destination.AI_TOOL, [found()]).decision is Decision.ALLOWED


def test_a_rule_that_needs_many_findings_loosens_nothing() -> None:
    milder = Policy("p", (rule(Action.ALLOW, min_count=2),), default_action=Action.MASK)
    for findings in ([found()], [found(), found(start=10)]):
        assert (
            decide(milder, Destination.VENDOR, findings).decision is Decision.ALLOWED_WITH_MASKING
        )


def test_rules_count_findings_or_distinct_values() -> None:
    values = {0: "a@x.example", 10: "A@X.example", 20: "b@x.example"}
    findings = [found(start=start) for start in values]
    by_count = Policy("p", (rule(Action.BLOCK, min_count=3),))
    by_value = Policy("p", (rule(Action.BLOCK, min_distinct=3),))

    def value_of(finding: Finding) -> str:
        return values[finding.start]

    assert Decider(by_count, Destination.VENDOR).counts
    assert not Decider(Policy.builtin(), Destination.VENDOR).counts
    assert (
        decide(by_count, Destination.VENDOR, findings, value_of=value_of).decision
        is Decision.BLOCKED
    )
    assert (
        decide(by_count, Destination.VENDOR, findings[:2], value_of=value_of).decision
        is Decision.ALLOWED
    )
    assert (
        decide(by_value, Destination.VENDOR, findings, value_of=value_of).decision
        is Decision.ALLOWED
    )
    assert decide(by_value, Destination.VENDOR, findings).decision is Decision.BLOCKED


def test_the_closest_operator_wins_then_the_strongest() -> None:
    policy = Policy(
        "p",
        (
            rule(Action.MASK, "PII", name="wide", masking=(("*", "remove"),)),
            rule(Action.MASK, "EMAIL", name="near", masking=(("EMAIL", "token"),)),
            rule(Action.MASK, "PII", name="other", masking=(("EMAIL", "hash"),)),
            rule(Action.MASK, "PII", name="none"),
        ),
    )
    ruling = decide(policy, Destination.VENDOR, [found(), found("SSN")])
    assert [verdict.operator for _, verdict in ruling.ruled] == ["hash", "remove"]


KEY = b"k" * 32


def excepted(value: str, **changes: object) -> Exemption:
    return Exemption("ann", "test", date(2027, 12, 31), **({"pattern": value} | changes))


def test_excepted_values_are_allowed_until_the_day_of_expiry() -> None:
    mark = fingerprint(KEY, "EMAIL", "press@acme.example", Category.PII)
    exceptions = (excepted(r".*@docs\.example"), excepted("", pattern=None, hmac=mark))
    policy = Policy("p", (rule(Action.BLOCK, exceptions=exceptions),), default_action=Action.BLOCK)
    values = {
        0: "a@docs.example",
        10: "PRESS@acme.example",
        20: "x@acme.example",
        30: "a@docs.example.org",
    }
    findings = [found(start=start) for start in values]

    def ruled(on: date, key: bytes | None = KEY) -> list[Action]:
        decider = Decider(policy, Destination.VENDOR, on=on, key=key)
        ruling = decider(findings, lambda finding: values[finding.start])
        assert ruling.expired == (exceptions if on > date(2027, 12, 31) else ())
        return [verdict.action for _, verdict in ruling.ruled]

    blocked, allowed = Action.BLOCK, Action.ALLOW
    assert ruled(date(2027, 12, 31)) == [allowed, allowed, blocked, blocked]
    assert ruled(date(2028, 1, 1)) == [blocked] * 4
    assert ruled(DAY, key=None) == [allowed, blocked, blocked, blocked]
    assert (
        decide(policy, Destination.VENDOR, findings, on=DAY, key=KEY).decision is Decision.BLOCKED
    )


def test_an_exception_concerns_its_rule_and_its_types_only() -> None:
    policy = Policy(
        "p",
        (
            rule(Action.BLOCK, "PII", exceptions=(excepted(".*", data_types=("SSN",)),)),
            rule(Action.MASK, "SSN", name="mask"),
        ),
    )
    ruling = decide(
        policy, Destination.VENDOR, [found(), found("SSN")], value_of=lambda _: "\ud800", on=DAY
    )
    assert [verdict.action for _, verdict in ruling.ruled] == [Action.BLOCK, Action.BLOCK]
    ruling = decide(
        policy, Destination.VENDOR, [found(), found("SSN")], value_of=lambda _: "v", on=DAY
    )
    assert [verdict.action for _, verdict in ruling.ruled] == [Action.BLOCK, Action.MASK]


@pytest.mark.parametrize("destination", Destination)
@pytest.mark.parametrize("name", ["default", "ai-prompts"])
def test_a_general_policy_masks_what_custom_patterns_find(
    name: str, destination: Destination
) -> None:
    decider = Decider(Policy.builtin(name), destination)
    [decided] = decider([found("BADGE")]).ruled
    assert decided.verdict.action is Action.MASK


@pytest.mark.no_cover
def test_a_hundred_thousand_findings_are_linear() -> None:
    decider = Decider(Policy.builtin(), Destination.VENDOR)
    assert len(decider([found(start=start) for start in range(100_000)]).ruled) == 100_000
