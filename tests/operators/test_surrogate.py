from __future__ import annotations

import ipaddress
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.masking.already_masked import is_already_masked
from dlpctl.operators import surrogate_vocabulary
from dlpctl.operators.surrogate import Surrogates
from dlpctl.types import Category

PII, PHI, FINANCIAL, SECRETS, CUSTOM = Category
KEY = b"k" * 32

VALUES = [
    ("EMAIL", PII, "John.Doe@example.com"),
    ("EMAIL", PII, "x1@example.com"),
    ("PERSON_NAME", PII, "Dr. John van der Doe Jr"),
    ("PERSON_NAME", PII, "王小明"),
    ("PHONE", PII, "+1 (415) 555-2671"),
    ("PHONE", PII, "415-555-2671"),
    ("PHONE", PII, "+49 30 901820"),
    ("PHONE", PII, "020 7946 0958"),
    ("CREDIT_CARD", FINANCIAL, "4111 1111 1111 1111"),
    ("CREDIT_CARD", FINANCIAL, "378282246310005"),
    ("CREDIT_CARD", FINANCIAL, "30569309025904"),
    ("CREDIT_CARD", FINANCIAL, "6200000000000005"),
    ("CREDIT_CARD", FINANCIAL, "9111111111111111"),
    ("IBAN", FINANCIAL, "DE89 3704 0044 0532 0130 00"),
    ("IBAN", FINANCIAL, "gb29nwbk60161331926819"),
    ("SSN", PII, "123-45-6789"),
    ("IP_ADDRESS", PII, "10.1.2.3"),
    ("IP_ADDRESS", PII, "2001:db8::1"),
    ("MAC_ADDRESS", PII, "00-1A-2B-3C-4D-5E"),
    ("URL", PII, "https://u:p@acme.example.com/x?token=1"),
    ("URL", PII, "https://acme.example.com/"),
    ("DATE_OF_BIRTH", PII, "1985-03-12"),
    ("DATE_OF_BIRTH", PII, "March 12, 1985"),
    ("GPS_COORDINATES", PII, "40.7128, -74.0060"),
    ("USERNAME", PII, "jdoe"),
    ("ADDRESS", PII, "120 Main St, Apt 4B, Springfield, IL 62704"),
    ("MEDICAL_RECORD_NUMBER", PHI, "0044821100"),
    ("DRIVER_LICENSE", PII, "D1234567"),
    ("VIN", PII, "1HGCM82633A004352"),
]
NONE = [
    ("DATE_OF_BIRTH", PII, "3/12/85"),
    ("AGE", PII, "47"),
    ("PASSWORD", SECRETS, "hunter2hunter2"),
    ("API_KEY", SECRETS, "sk_live_" + "a1B2" * 6),
    ("MEDICAL_CONDITION", PHI, "diabetes mellitus"),
    ("PHONE", PII, "12345"),
    ("PHONE", PII, "555-CALL-NOW"),
    ("CREDIT_CARD", FINANCIAL, "12"),
    ("IBAN", FINANCIAL, "??"),
    ("SSN", PII, "6789"),
    ("MAC_ADDRESS", PII, "00:1a"),
    ("URL", PII, "acme"),
    ("GPS_COORDINATES", PII, "here"),
    ("PERSON_NAME", PII, "J. Jr"),
    ("ADDRESS", PII, "12 St"),
]
# People try scanners with these values, so they must be found.
PUBLISHED = [
    ("CREDIT_CARD", FINANCIAL, "4242 4242 4242 4242"),
    ("CREDIT_CARD", FINANCIAL, "4111111111111111"),
    ("CREDIT_CARD", FINANCIAL, "5555555555554444"),
    ("CREDIT_CARD", FINANCIAL, "378282246310005"),
    ("CREDIT_CARD", FINANCIAL, "6011111111111117"),
    ("CREDIT_CARD", FINANCIAL, "3530111333300000"),
    ("CREDIT_CARD", FINANCIAL, "30569309025904"),
    ("EMAIL", PII, "john@example.com"),
    ("EMAIL", PII, "jane.roe@acme.example"),
    ("PHONE", PII, "+1 212 555 0123"),
    ("PHONE", PII, "+44 7700 900123"),
    ("SSN", PII, "078-05-1120"),
    ("IP_ADDRESS", PII, "203.0.113.7"),
    ("IP_ADDRESS", PII, "2001:db8::1"),
    ("IBAN", FINANCIAL, "GB29 NWBK 6016 1331 9268 19"),
    ("IBAN", FINANCIAL, "DE89370400440532013000"),
    ("PERSON_NAME", PII, "John Smith"),
    ("ADDRESS", PII, "1600 Pennsylvania Avenue NW, Washington, DC 20500"),
    ("DATE_OF_BIRTH", PII, "1985-03-12"),
    ("URL", PII, "https://acme.example/x"),
    ("USERNAME", PII, "jdoe42"),
    ("API_KEY", SECRETS, "**secret**"),
]


def stand_in(type_name: str, category: Category, value: str, key: bytes = KEY) -> str | None:
    return Surrogates(key).surrogate(type_name, category, value)


@pytest.mark.parametrize(("type_name", "category", "value"), VALUES)
def test_a_surrogate_is_stable_different_and_recognized(
    type_name: str, category: Category, value: str
) -> None:
    made = stand_in(type_name, category, value)
    assert made is not None
    assert made != value
    assert made == stand_in(type_name, category, value)
    assert made != stand_in(type_name, category, value, b"another key, also of 32 bytes...")
    assert is_already_masked(type_name, category, made)
    assert not is_already_masked(type_name, category, value)


@pytest.mark.parametrize(("type_name", "category", "value"), NONE)
def test_unsafe_values_have_no_surrogate(type_name: str, category: Category, value: str) -> None:
    assert stand_in(type_name, category, value) is None


@pytest.mark.parametrize(("type_name", "category", "value"), PUBLISHED)
def test_published_test_values_are_not_reserved(
    type_name: str, category: Category, value: str
) -> None:
    assert not is_already_masked(type_name, category, value)


def shape(value: str) -> str:
    return re.sub(r"[A-Za-z]", "a", re.sub(r"[0-9]", "9", value))


@pytest.mark.parametrize(
    ("type_name", "category", "value"),
    [
        each
        for each in VALUES
        if each[0]
        in {"PHONE", "CREDIT_CARD", "SSN", "DATE_OF_BIRTH", "MAC_ADDRESS", "DRIVER_LICENSE"}
    ],
)
def test_the_shape_stays(type_name: str, category: Category, value: str) -> None:
    if type_name != "MAC_ADDRESS":
        assert shape(stand_in(type_name, category, value) or "") == shape(value)
    else:
        assert re.fullmatch(
            r"02-00-5E(-[0-9A-F]{2}){3}", stand_in(type_name, category, value) or ""
        )


@given(st.from_regex(r"[2-6][0-9]{12,18}", fullmatch=True))
@settings(max_examples=50)
def test_cards_still_validate(value: str) -> None:
    made = stand_in("CREDIT_CARD", FINANCIAL, value) or ""
    assert len(made) == len(value)
    total = sum(
        sum(divmod(int(digit) * (1 + place % 2), 10)) for place, digit in enumerate(reversed(made))
    )
    assert total % 10 == 0


@given(st.from_regex(r"[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}", fullmatch=True))
@settings(max_examples=50)
def test_ibans_still_validate(value: str) -> None:
    made = stand_in("IBAN", FINANCIAL, value) or ""
    assert int("".join(str(int(each, 36)) for each in made[4:] + made[:4])) % 97 == 1


@given(st.ip_addresses().map(str))
@settings(max_examples=50)
def test_network_addresses_stay_valid(value: str) -> None:
    address = ipaddress.ip_address(stand_in("IP_ADDRESS", PII, value) or "")
    assert address.is_reserved or address in ipaddress.ip_network("3fff::/20")


def test_american_numbers_become_fictional_ones() -> None:
    assert re.fullmatch(
        r"\+1 \([2-9]9\d\) 555-01\d\d", stand_in("PHONE", PII, "+1 (415) 555-2671") or ""
    )
    assert re.fullmatch(r"666-\d\d-\d{4}", stand_in("SSN", PII, "123-45-6789") or "")


def test_a_name_has_the_same_surrogate_everywhere() -> None:
    made = Surrogates(KEY)
    full = made.surrogate("PERSON_NAME", PII, "Amara Okafor") or ""
    given_name, surname = full.split()
    assert made.surrogate("PERSON_NAME", PII, "OKAFOR") == surname.upper()
    assert made.surrogate("PERSON_NAME", PII, "Okafor, Amara") == f"{surname}, {given_name}"
    mail = made.surrogate("EMAIL", PII, "amara.okafor@clinic.example.org") or ""
    assert mail.startswith(f"{given_name}.{surname}@".lower())
    other = made.surrogate("EMAIL", PII, "someone@clinic.example.org") or ""
    assert other.split("@")[1] == mail.split("@")[1]


def test_spellings_of_a_value_share_their_surrogate() -> None:
    made = Surrogates(KEY)
    spaced = made.surrogate("CREDIT_CARD", FINANCIAL, "4111 1111 1111 1111") or ""
    assert made.surrogate("CREDIT_CARD", FINANCIAL, "4111-1111-1111-1111") == spaced.replace(
        " ", "-"
    )


KINDS = sorted({(type_name, category) for type_name, category, _ in VALUES})


@given(
    st.sampled_from(KINDS),
    st.one_of(st.text(max_size=40), st.from_regex(r"[A-Za-z0-9 .,:@/+\-]{1,40}", fullmatch=True)),
)
def test_any_value_has_a_recognized_surrogate_or_none(
    kind: tuple[str, Category], value: str
) -> None:
    made = stand_in(*kind, value)
    assert made is None or (made != value and is_already_masked(*kind, made))


def test_invented_words_are_many_and_distinct() -> None:
    words = {surrogate_vocabulary.word(number) for number in range(surrogate_vocabulary.COUNT)}
    assert len(words) == surrogate_vocabulary.COUNT == 2_000
