from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.lint import examples
from dlpctl.errors import StillExposedError, UsageError
from dlpctl.operators import OPERATORS
from dlpctl.operators.fpe import DigitCipher
from dlpctl.policy.files import builtin_names
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker, check, mask
from dlpctl.types import Category, Decision, Destination
from dlpctl.values import fingerprint
from tests.detect.builtin_patterns import PATTERNS

KEY = bytes(range(32))
TEXTS = [text for pattern in PATTERNS for text in examples(pattern, "match")]


@pytest.fixture(scope="module")
def detector(library: Detector) -> Detector:
    return library


def policy(action: str, types: list[str], **more: object) -> Policy:
    rule = {"name": "rule", "dataTypes": types, "destinations": ["VENDOR"], "action": action} | more
    return Policy.from_dict({"name": "test", "rules": [rule]})


EVERYTHING = ["PII", "PHI", "FINANCIAL", "SECRETS", "CUSTOM"]


@pytest.mark.no_cover
@pytest.mark.parametrize("step", [36, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", builtin_names())
def test_the_decision_alone_is_the_decision_of_the_report(detector, name, step):
    """Every second text for one destination by one of the policies, or all of them in minutes."""
    for number, destination in enumerate(Destination):
        checker = Checker(detector, Policy.builtin(name), destination, key=KEY)
        start = builtin_names().index(name) * len(Destination) + number
        for text in TEXTS[2 * start % step :: step]:
            assert checker.decide([text.encode()]) is checker.check(text).decision, text[:0]


MASKS = [name for name in OPERATORS if name != "encrypt"]


@pytest.mark.no_cover
@pytest.mark.parametrize("step", [len(MASKS), pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("operator", MASKS)
def test_a_masked_text_is_allowed(detector, operator, step):
    """Encryption is left out: what it gives is a valid-looking number, which is its purpose.

    Each text is masked by one of the operators, or by all of them in minutes.
    """
    name = "replace:(removed)" if operator == "replace" else operator
    checker = Checker(
        detector, policy("MASK", EVERYTHING), Destination.VENDOR, operator=name, key=KEY
    )
    for text in TEXTS[MASKS.index(operator) % step :: step]:
        report = checker.check(text)
        if report.decision is Decision.ALLOWED_WITH_MASKING:
            assert report.masked_content is not None
            again = checker.check(report.masked_content)
            assert again.decision is Decision.ALLOWED, [
                found.pattern_id for found in again.findings
            ]


def test_ciphertext_stays_although_it_looks_like_a_value(detector):
    """Every second scan finds most of it: by its label, or as the card number that it looks like."""
    checker = Checker(
        detector, policy("MASK", EVERYTHING), Destination.VENDOR, operator="encrypt", key=KEY
    )
    shape = "SSN: {}, card number {}, phone: {}"
    cipher = DigitCipher(KEY)
    for number in range(40):
        values = (
            f"536-{22 + number}-8726",
            "4111 1111 1111 1111",
            f"+1 415 555 26{number + 10}",
        )
        masked = checker.mask(shape.format(*values))
        written = re.fullmatch(shape.format("(.+)", "(.+)", r"(\+.+)"), masked)
        assert written is not None, number
        types = ("SSN", "CREDIT_CARD", "PHONE")
        assert tuple(map(cipher.decrypt, types, written.groups())) == values


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_documents_of_many_values_are_masked_and_then_allowed(detector, data):
    pieces = data.draw(
        st.lists(st.one_of(st.sampled_from(TEXTS), st.text(max_size=20)), max_size=8)
    )
    text = data.draw(st.sampled_from(["\n", "\n\n", " . "])).join(pieces)
    operator = data.draw(
        st.sampled_from(["partial", "redact", "surrogate", "token", "hash", "remove"])
    )
    checker = Checker(
        detector, policy("MASK", EVERYTHING), Destination.VENDOR, operator=operator, key=KEY
    )
    report = checker.check(text)
    if report.decision is Decision.BLOCKED:
        assert "still" in report.summary  # the reason, and no content
        assert report.masked_content is None
    else:
        assert report.masked_content is not None
        assert checker.check(report.masked_content).decision is Decision.ALLOWED


def test_an_allowed_text_is_given_back_as_it_is(detector):
    report = Checker(detector, Policy.builtin(), Destination.VENDOR).check("plain words")
    assert (report.decision, report.masked_content) == (Decision.ALLOWED, "plain words")
    assert report.summary == "Nothing sensitive found; allowed for VENDOR"


def test_empty_input_is_allowed_and_reported(detector):
    assert check("", detector=detector).summary == "Empty input; allowed for AI_TOOL"


def test_every_operator_of_a_policy_acts_where_it_says(detector):
    chosen = policy("MASK", ["EMAIL", "SSN"], masking={"EMAIL": "redact", "*": "remove"})
    report = Checker(detector, chosen, Destination.VENDOR).check("a.b@example.com 219-09-9999")
    assert report.masked_content == "[EMAIL] "


def test_exceptions_let_single_values_pass_until_they_expire(detector):
    allowed = {
        "hmac": fingerprint(KEY, "EMAIL", "press@example.com", Category.PII),
        "owner": "press office",
        "reason": "public",
        "expires": (datetime.now(UTC).date() + timedelta(days=2)).isoformat(),
    }
    for expires, decision in (
        (allowed["expires"], Decision.ALLOWED),
        ("2020-01-01", Decision.BLOCKED),
    ):
        chosen = policy("BLOCK", ["EMAIL"], exceptions=[allowed | {"expires": expires}])
        report = Checker(detector, chosen, Destination.VENDOR, key=KEY).check(
            "write to press@example.com"
        )
        assert report.decision is decision


def test_an_encoded_copy_of_a_masked_value_blocks(detector):
    text = "jd@acme.io is amRAYWNtZS5pbw in base64, too short to be looked through"
    report = Checker(detector, Policy.builtin(), Destination.AI_TOOL).check(text)
    assert report.decision is Decision.BLOCKED
    assert report.masked_content is None
    assert "john" not in repr(report).replace("j***", "")
    with pytest.raises(StillExposedError, match="EMAIL"):
        mask(text, detector=detector)


def test_a_repeated_value_is_masked_without_its_label(detector):
    masked = mask("SSN 219-09-9999, again 219099999", detector=detector, operator="redact")
    assert masked == "SSN [SSN], again [SSN]"


@pytest.mark.parametrize(
    "text",
    [
        "Mosa S tain äe nn ja Si", "\noni Ss ja taa Sii", "Vl Puti rz nk lnt Ob", ": k Dg ua za ml k Zi",
        "cem Dg saza ml ei,A ąm", "od Tor si čn pd Ey",
    ],
)  # fmt: skip
def test_masking_again_finds_no_name_beside_masked_ones(detector, text):
    masked = mask(text, detector=detector)
    assert mask(masked, detector=detector) == masked


def test_words_beside_masked_values_stay(detector):
    text = (
        "Mme Hélène Lefèvre, née le 12/07/1979, n° 2 79 07 75 120 005 73, tél. 06 39 98 12 34\n"
        "Sr. Joaquín Ibáñez Ruiz, DNI 12345678Z, C/ Mayor 14, 3ºB, 28013 Madrid\n"
        "MRN 00482913. Verlauf: Frau Steinberger erhielt Antibiotika, das Fieber sank.\n"
    )
    masked = mask(text, detector=detector)
    assert "*" in masked
    kept = ("Mme", "née le", "1979", "n°", "tél.", "Sr.", "DNI", "Frau", "erhielt Antibiotika")
    assert [word for word in kept if word not in masked] == []


def test_an_unknown_destination_names_the_nearest(detector):
    with pytest.raises(UsageError, match="did you mean 'CUSTOMER'"):
        check("x", destination="CUSTOMERS", detector=detector)
