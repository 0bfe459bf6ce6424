from __future__ import annotations

from dlpctl.policy.compare import Change, Sample, changed_decisions, changed_rules
from dlpctl.policy.model import Policy
from dlpctl.types import Category, Decision, Destination, Finding

EMAIL = Finding("EMAIL", Category.PII, 0, 5, 0.9, "email")
KEY = Finding("API_KEY", Category.SECRETS, 9, 15, 0.9, "key")


def policy(**changes: object) -> Policy:
    rule = {
        "id": "r",
        "name": "r",
        "dataTypes": ["PII"],
        "destinations": ["VENDOR"],
        "action": "MASK",
        **changes,
    }
    return Policy.from_dict({"name": "p", "rules": [rule]})


def test_only_documents_that_are_treated_differently_are_named() -> None:
    samples = [Sample("mail", [EMAIL]), Sample("key", [KEY]), Sample("both", [EMAIL, KEY])]
    stricter = policy(action="BLOCK")
    masked, blocked = Decision.ALLOWED_WITH_MASKING, Decision.BLOCKED
    assert list(changed_decisions(policy(), stricter, samples)) == [
        Change("mail", Destination.VENDOR, masked, blocked, ("EMAIL",)),
        Change("both", Destination.VENDOR, masked, blocked, ("EMAIL",)),
    ]
    assert list(changed_decisions(policy(), policy(), samples)) == []


def test_a_finding_can_change_without_changing_the_decision() -> None:
    wider = policy(dataTypes=["PII", "SECRETS"])
    masked = Decision.ALLOWED_WITH_MASKING
    changes = list(changed_decisions(policy(), wider, [Sample("both", [EMAIL, KEY])]))
    assert changes == [Change("both", Destination.VENDOR, masked, masked, ("API_KEY",))]


def test_the_rules_themselves_are_compared_by_id() -> None:
    before = Policy.from_dict(
        {
            "name": "p",
            "rules": [
                {"id": "a", "dataTypes": ["PII"], "destinations": ["VENDOR"], "action": "MASK"},
                {"id": "b", "dataTypes": ["PHI"], "destinations": ["VENDOR"], "action": "MASK"},
            ],
        }
    )
    after = Policy.from_dict(
        {
            "name": "p",
            "version": "1.1",
            "defaultAction": "MASK",
            "customPatterns": [{"id": "x", "type": "X"}],
            "rules": [
                {"id": "c", "dataTypes": ["PHI"], "destinations": ["VENDOR"], "action": "MASK"},
                {
                    "id": "a",
                    "name": "a",
                    "dataTypes": ["PII"],
                    "destinations": ["VENDOR", "AI_TOOL"],
                    "action": "BLOCK",
                },
            ],
        }
    )
    assert changed_rules(before, after) == [
        "version: 1.0 -> 1.1",
        "defaultAction: None -> MASK",
        "customPatterns: changed",
        "rule 'b': removed",
        "rule 'c': added",
        "rule 'a': destinations: VENDOR -> VENDOR, AI_TOOL",
        "rule 'a': action: MASK -> BLOCK",
    ]
