from __future__ import annotations

import pytest

from dlpctl.policy.decide import FindingDecision, PolicyDecision, Verdict
from dlpctl.policy.summary import counted, summarize
from dlpctl.types import Action, Category, Decision, Destination, Finding

LABELS = {
    "EMAIL": ("email", "emails"),
    "PHONE": ("phone number", "phone numbers"),
    "IP_ADDRESS": ("IP address", "IP addresses"),
}
CATEGORIES = {"PRIVATE_KEY": Category.SECRETS, "US_MBI": Category.PHI, "IBAN": Category.FINANCIAL}
DECISIONS = dict(zip(Action, Decision, strict=True))


def ruling(**counts: dict[str, int]) -> PolicyDecision:
    ruled = [
        FindingDecision(
            Finding(name, CATEGORIES.get(name, Category.PII), 0, 1, 0.9, "p"),
            Verdict(Action[action], "r"),
        )
        for action, types in counts.items()
        for name, count in types.items()
        for _ in range(count)
    ]
    strictest = max(
        (verdict.action for _, verdict in ruled), key=list(Action).index, default=Action.ALLOW
    )
    return PolicyDecision(DECISIONS[strictest], Destination.VENDOR, ruled, ())


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({}, "Nothing sensitive found; allowed for VENDOR"),
        (
            {"MASK": {"EMAIL": 2, "PHONE": 1}},
            "Masked 2 emails and 1 phone number; nothing blocked for VENDOR",
        ),
        ({"MASK": {"EMAIL": 1}}, "Masked 1 email; nothing blocked for VENDOR"),
        (
            {"MASK": {"EMAIL": 1}, "ALLOW": {"IP_ADDRESS": 1}},
            "Masked 1 email; left 1 IP address as it is; nothing blocked for VENDOR",
        ),
        (
            {"MASK": {"EMAIL": 1, "IBAN": 3}, "ALLOW": {"IP_ADDRESS": 2}},
            "Masked 3 IBANs and 1 email; left 2 IP addresses as they are; nothing blocked for VENDOR",
        ),
        ({"ALLOW": {"IP_ADDRESS": 3}}, "Found 3 IP addresses; allowed for VENDOR"),
        ({"BLOCK": {"PRIVATE_KEY": 1}}, "Blocked for VENDOR because of 1 private key"),
        (
            {
                "BLOCK": {"US_MBI": 1, "PRIVATE_KEY": 2},
                "MASK": {"EMAIL": 1200},
                "ALLOW": {"PHONE": 1},
            },
            (
                "Blocked for VENDOR because of 2 private keys and 1 US mbi; "
                "also found 1,200 emails and 1 phone number"
            ),
        ),
        (
            {"MASK": {"A": 9, "B": 8, "C": 7, "D": 6, "E": 5, "F": 1}},
            "Masked 9 as, 8 bs, 7 cs, 6 ds and 6 values of 2 other types; nothing blocked for VENDOR",
        ),
        (
            {"MASK": {"A": 5, "B": 4, "C": 3, "D": 2, "E": 1}},
            "Masked 5 as, 4 bs, 3 cs, 2 ds and 1 e; nothing blocked for VENDOR",
        ),
    ],
)
def test_decisions_are_summarized_in_a_sentence(
    counts: dict[str, dict[str, int]], sentence: str
) -> None:
    assert summarize(ruling(**counts), LABELS) == sentence


def test_empty_input_and_other_reasons_are_mentioned() -> None:
    assert summarize(ruling(), LABELS, empty=True) == "Empty input; allowed for VENDOR"
    reason = "the masked text still holds 1 email"
    assert (
        summarize(ruling(MASK={"EMAIL": 1}), LABELS, reason=reason)
        == f"Blocked for VENDOR: {reason}"
    )


@pytest.mark.parametrize(
    ("type_name", "plural"),
    [
        ("API_KEY", "2 API keys"),
        ("TAX_ID", "2 tax IDs"),
        ("MAC_ADDRESS", "2 mac addresses"),
        ("IDENTITY", "2 identities"),
        ("SALARY", "2 salaries"),
        ("BADGE", "2 badges"),
        ("INBOX", "2 inboxes"),
    ],
)
def test_a_type_without_a_label_is_named_by_its_words(type_name: str, plural: str) -> None:
    assert counted(type_name, 2, {}) == plural
