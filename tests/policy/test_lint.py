from __future__ import annotations

from datetime import date

import pytest

from dlpctl.policy.files import builtin_names
from dlpctl.policy.lint import Level, Lint, lint
from dlpctl.policy.model import Catalogue, Policy
from dlpctl.types import Category

CATALOGUE = Catalogue.of(
    [
        ("email", "EMAIL", Category.PII),
        ("ssn", "SSN", Category.PII),
        ("name", "PERSON_NAME", Category.PII),
        ("iban", "IBAN", Category.FINANCIAL),
        ("us-mbi", "US_MBI", Category.PHI),
        ("github-pat", "API_KEY", Category.SECRETS),
    ]
)
EVERYWHERE = ["AI_TOOL", "VENDOR", "CUSTOMER"]
DAY = date(2027, 6, 1)


def lints(*rules: dict[str, object], **changes: object) -> list[Lint]:
    table = {"name": "p", "rules": list(rules), **changes}
    return lint(Policy.from_dict(table), CATALOGUE, on=DAY)


def rule(name: str, action: str, *types: str, **changes: object) -> dict[str, object]:
    return {
        "name": name,
        "dataTypes": list(types),
        "destinations": EVERYWHERE,
        "action": action,
        **changes,
    }


ALL = rule("all", "MASK", "PII", "PHI", "FINANCIAL", "SECRETS", "CUSTOM")


def coded(found: list[Lint], code: str) -> list[tuple[str, str]]:
    return [(each.path, each.message) for each in found if each.code == code]


def test_a_policy_that_covers_everything_once_is_clean() -> None:
    assert lints(ALL) == []


def test_rules_that_cannot_act_are_named() -> None:
    found = lints(
        ALL,
        rule("off", "BLOCK", "PII", enabled=False),
        rule("nowhere", "BLOCK", "PII", destinations=[]),
        rule("nothing", "BLOCK"),
        rule("typo", "BLOCK", "EMIAL"),
    )
    assert [(each.code, each.path) for each in found] == [
        ("disabled", "rules[1]"),
        ("no-destinations", "rules[2]"),
        ("no-types", "rules[3]"),
        ("unknown-type", "rules[4].dataTypes[0]"),
    ]
    assert found[-1].level is Level.ERROR


@pytest.mark.parametrize(
    ("other", "shadowed"),
    [
        (rule("mail", "MASK", "EMAIL"), True),
        (rule("mail", "ALLOW", "EMAIL", "IBAN"), True),
        (rule("mail", "BLOCK", "EMAIL"), False),
        (rule("mail", "MASK", "EMAIL", masking="redact"), False),
        (rule("mail", "MASK", "EMAIL", minScore=0.2), False),
        (rule("mail", "MASK", "EMAIL", minScore=0.8), True),
        (rule("mail", "MASK", "EMAIL", minCount=5), True),
    ],
)
def test_a_rule_is_shadowed_by_a_stricter_one(other: dict[str, object], shadowed: bool) -> None:
    expected = [
        ("rules[1]", "'mail' never decides: 'all' covers the same and is as strict or stricter")
    ]
    assert coded(lints(ALL, other), "shadowed") == (expected if shadowed else [])


def test_a_rule_that_needs_many_to_be_milder_never_acts() -> None:
    found = lints(ALL, rule("bulk", "MASK", "EMAIL", minCount=2), defaultAction="BLOCK")
    assert [each.path for each in found if each.code == "loosening"] == ["rules[1]"]
    assert (
        coded(
            lints(ALL, rule("bulk", "BLOCK", "EMAIL", minCount=2), defaultAction="BLOCK"),
            "loosening",
        )
        == []
    )


def test_a_rule_that_needs_many_shadows_nothing() -> None:
    assert (
        coded(
            lints(rule("bulk", "BLOCK", "PII", minCount=5), rule("one", "MASK", "PII")), "shadowed"
        )
        == []
    )


def test_uncovered_types_are_listed_for_each_destination() -> None:
    found = lints(
        rule("some", "MASK", "EMAIL", "PHI", "SECRETS", "FINANCIAL", destinations=["VENDOR"])
    )
    messages = [message for _, message in coded(found, "uncovered")]
    assert (
        "VENDOR: no rule covers PERSON_NAME, SSN; what is found is allowed and listed" in messages
    )
    assert "CUSTOMER: no rule covers SECRETS; what is found is allowed and listed" in messages
    assert {each.level for each in found} == {Level.WARNING}
    guarded = lints(rule("some", "MASK", "EMAIL"), defaultAction="BLOCK")
    assert {each.level for each in guarded if each.code == "uncovered"} == {Level.NOTE}
    assert "gets the default action BLOCK" in guarded[-1].message


def test_a_policys_own_patterns_are_types_too() -> None:
    found = lints(
        rule("r", "MASK", "PII", "PHI", "FINANCIAL", "SECRETS"),
        customPatterns=[{"id": "badge", "type": "BADGE"}],
    )
    assert [each.message for each in found] == [
        f"{to}: no rule covers CUSTOM; what is found is allowed and listed" for to in EVERYWHERE
    ]


def test_exceptions_are_linted() -> None:
    def exemption(pattern: str, expires: str) -> dict[str, object]:
        return {"pattern": pattern, "owner": "ann", "reason": "tests", "expires": expires}

    found = lints(
        {
            **ALL,
            "exceptions": [
                exemption("a", "2027-05-31"),
                exemption("b", "2027-06-10"),
                exemption(".*", "2028-01-01"),
            ],
        },
        rule("a", "ALLOW", "PII", exceptions=[exemption("c", "2028-01-01")]),
    )
    assert [(each.code, each.path) for each in found if "exceptions" in each.path] == [
        ("exception-expired", "rules[0].exceptions[0]"),
        ("exception-expires-soon", "rules[0].exceptions[1]"),
        ("exception-matches-all", "rules[0].exceptions[2].pattern"),
        ("idle-exception", "rules[1].exceptions[0]"),
    ]
    assert "expired on 2027-05-31; ask ann, 'tests'" in found[0].message


def test_operators_and_types_without_effect_are_named() -> None:
    found = lints(
        {**ALL, "dataTypes": [*ALL["dataTypes"], "EMAIL"]},
        rule("block", "BLOCK", "SSN", masking="redact"),
        rule("mask", "MASK", "PII", masking={"IBAN": "hash", "EMAIL": "hash"}),
    )
    assert coded(found, "redundant-type") == [
        ("rules[0].dataTypes[5]", "EMAIL is part of PII, which the rule names too")
    ]
    assert [place for place, _ in coded(found, "idle-masking")] == [
        "rules[1].masking",
        "rules[2].masking.IBAN",
    ]


@pytest.mark.parametrize("name", builtin_names())
def test_no_rule_of_a_builtin_policy_is_shadowed_by_another(name: str) -> None:
    policy = Policy.builtin(name)
    types = {selector for rule in policy.rules for selector in rule.data_types} - set(Category)
    known = [(name, name, Category.PII) for name in types]
    known += [(f"other-{category}", f"OTHER_{category}", category) for category in Category]
    codes = {each.code for each in lint(policy, Catalogue.of(known), on=DAY)}
    assert codes <= {"uncovered", "redundant-type"}
