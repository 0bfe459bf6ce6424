from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.masking.already_masked import is_already_masked
from dlpctl.operators.partial import partial, sample
from dlpctl.types import Category

PII, PHI, FINANCIAL, SECRETS, CUSTOM = Category

SHAPES = [
    ("ETHNICITY", PII, "Hispanic", "********"),
    ("EMAIL", PII, "john.doe@example.com", "j***@example.com"),
    ("EMAIL", PII, "john@ex  | 4111 |\n ample.com", "****@**  | **** |\n *****.***"),
    ("EMAIL", PII, "j@example.com", "***@example.com"),
    ("SSN", PII, "123-45-6789", "***-**-6789"),
    ("SSN", PII, "123456789", "*****6789"),
    ("CREDIT_CARD", FINANCIAL, "4111 1111 1111 4242", "**** **** **** 4242"),
    ("CREDIT_CARD", FINANCIAL, "378282246310005", "***********0005"),
    ("PHONE", PII, "+1 415 555 2612", "+1 *** *** **12"),
    ("PHONE", PII, "(415) 555-2612", "(***) ***-**12"),
    ("PHONE", PII, "+49 30 9018 2012", "+49 ** **** **12"),
    ("PHONE", PII, "+358 40 123 4567", "+358 ** *** **67"),
    ("PHONE", PII, "555-12", "***-**"),
    ("IBAN", FINANCIAL, "DE89 3704 0044 0532 0130 00", "DE** **** **** **** **** 00"),
    ("PERSON_NAME", PII, "Amara Okafor", "A. O."),
    ("PERSON_NAME", PII, "Dr. Amara Okafor", "Dr. A. O."),
    ("PERSON_NAME", PII, "Okafor, Amara J.", "O., A. J."),
    ("PERSON_NAME", PII, "王小明", "王**"),
    ("PERSON_NAME", PII, r"\u00c1lvaro\u0020Garc\u00eda", r"\u00c1.\u0020G."),
    ("PERSON_NAME", PII, r"Amara\x20Okafor", r"A.\x20O."),
    ("PERSON_NAME", PII, "Ana%20Garc%C3%ADa", "A.%20G."),
    ("PERSON_NAME", PII, "Ana&nbsp;Garc&iacute;a", "A.&nbsp;G."),
    ("PERSON_NAME", PII, r"\u738b\u5c0f", r"\u738b*"),
    ("PERSON_NAME", PII, "'A', 'm', 'a', 'r', 'a'", "'*', '*', '*', '*', '*'"),
    ("PERSON_NAME", PII, b"Amara".hex(), "*" * 10),
    ("PERSON_NAME", PII, "0x41, 0x6d, 0x61", "****, ****, ****"),
    ("IP_ADDRESS", PII, "10.20.30.40", "10.20.**.**"),
    ("IP_ADDRESS", PII, "fe80::1ff:fe23:4567:890a", "fe80::***:****:****:****"),
    ("MAC_ADDRESS", PII, "00:1a:2b:3c:4d:5e", "00:1a:2b:**:**:**"),
    ("MAC_ADDRESS", PII, "001a.2b3c.4d5e", "001a.2b**.****"),
    ("DATE_OF_BIRTH", PII, "1985-03-12", "1985-**-**"),
    ("DATE_OF_BIRTH", PII, "12.03.85", "**.**.**"),
    ("URL", PII, "https://ann:pw@acme.example/x?token=1", "https://acme.example/***"),
    ("URL", PII, "https://acme.example/", "https://***"),
    ("URL", PII, "acme", "****"),
    ("GPS_COORDINATES", PII, "40.7128, -74.0060", "40.****, -74.****"),
    ("USERNAME", PII, "annie42", "a***"),
    ("USERNAME", PII, "ab", "***"),
    ("ADDRESS", PII, "12 Elm St, Ely", "** *** **, ***"),
    ("AGE", PII, "47", "**"),
    ("DRIVER_LICENSE", PII, "D123-4567-8901", "****-****-*901"),
    ("US_BANK_ACCOUNT", FINANCIAL, "12345678", "******78"),
    ("MEDICAL_RECORD_NUMBER", PHI, "MRN 00448211", "*** ********"),
    ("API_KEY", SECRETS, "sk_live_" + "a1B2" * 6, "sk_l********"),
    ("API_KEY", SECRETS, "short-secret", "********"),
    ("PRIVATE_KEY", SECRETS, "-----BEGIN KEY-----\nabc\n-----END KEY-----", "********"),
    ("BADGE", CUSTOM, "AC-12345678", "**-******78"),
]


@pytest.mark.parametrize(("type_name", "category", "value", "masked"), SHAPES)
def test_every_type_keeps_a_sensible_shape(
    type_name: str, category: Category, value: str, masked: str
) -> None:
    assert partial(type_name, category, value) == masked
    assert is_already_masked(type_name, category, masked)
    assert not is_already_masked(type_name, category, value)


def test_an_initial_is_masked_too() -> None:
    assert partial("PERSON_NAME", PII, "J.") == "*."


TYPES = sorted({(type_name, category) for type_name, category, _, _ in SHAPES})


@given(st.sampled_from(TYPES), st.text(max_size=60))
def test_no_value_with_a_letter_or_digit_stays(kind: tuple[str, Category], value: str) -> None:
    masked = partial(*kind, value)
    assert masked != value or not any(map(str.isalnum, value))


@given(
    st.sampled_from([kind for kind in TYPES if kind[0] in {"SSN", "CREDIT_CARD", "PHONE", "IBAN"}]),
    st.from_regex(r"[0-9 \-]{8,24}", fullmatch=True),
)
def test_identifiers_keep_their_length_and_at_most_four_digits(
    kind: tuple[str, Category], value: str
) -> None:
    masked = partial(*kind, value)
    assert len(masked) == len(value)
    assert sum(map(str.isdigit, masked)) <= 4


@pytest.mark.parametrize(
    ("type_name", "category", "value", "shown"),
    [
        ("EMAIL", PII, "john.doe@example.com", "j***@example.com"),
        ("ADDRESS", PII, "12 Elm St\nEly", "** *** ** ***"),
        ("US_MBI", PHI, "1EG4-TE5-MK73", None),
        ("PASSWORD", SECRETS, "hunter2hunter2", None),
        ("RELIGION", PII, "Quaker", None),
        ("SEXUAL_ORIENTATION", PII, "gay", None),
        ("SSH_PRIVATE_KEY", SECRETS, "x", None),
        ("BTC_SEED_PHRASE", SECRETS, "x", None),
        ("API_KEY", SECRETS, "ghp_" + "a1B2" * 9, "ghp_********"),
        ("EMAIL", PII, f"a@{'b' * 90}.example", "a***"),
    ],
)
def test_there_are_no_samples_of_the_most_sensitive_types(
    type_name: str, category: Category, value: str, shown: str | None
) -> None:
    if shown == "a***":
        shown = f"***@{'b' * 57}..."
    assert sample(type_name, category, value) == shown
