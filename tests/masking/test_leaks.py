from __future__ import annotations

import base64
import itertools
import tracemalloc
from string import ascii_letters, digits
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import assert_linear

from dlpctl.masking.leaks import ForbiddenValues, Leak, Value, find_leaks
from dlpctl.masking.opentext import OpenText
from dlpctl.masking.repeats import find_repeats
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

PII, PHI, FINANCIAL, SECRETS, CUSTOM = Category
VALUES = [
    Value("EMAIL", PII, "John.Doe@mail.example"),
    Value("SSN", PII, "123-45-6789"),
    Value("CREDIT_CARD", FINANCIAL, "4111 1111 1111 1111"),
    Value("PERSON_NAME", PII, "Amara Okafor"),
    Value("API_KEY", SECRETS, "zk_" + "a1B2" * 6),
    Value("IBAN", FINANCIAL, "DE89 3704 0044 0532 0130 00"),
    Value("PASSWORD", SECRETS, "p@s:!"),
]


def full_width(text: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text)


FORMS = [
    ("as it is", str),
    ("as it is", str.upper),
    ("as it is", full_width),
    ("as it is", lambda text: "\u200b".join(text)),
    ("percent-encoded", lambda text: quote(text, safe="")),
    ("percent-encoded", lambda text: "".join(f"%{byte:02x}" for byte in text.encode())),
    ("escaped", lambda text: "".join(f"&#{ord(each)};" for each in text)),
    ("escaped", lambda text: "".join(f"\\u{ord(each):04x}" for each in text)),
    ("in base64", lambda text: base64.b64encode(text.encode()).decode()),
    ("in base64", lambda text: "Ab" + base64.b64encode(text.encode()).decode()),
    ("in hexadecimal", lambda text: "a" + text.encode().hex()),
    ("in base64", lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")),
    ("in hexadecimal", lambda text: text.encode().hex()),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.type)
@pytest.mark.parametrize(("form", "write"), FORMS)
def test_a_value_is_found_in_every_spelling(value: Value, form: str, write: object) -> None:
    written = write(value.text)
    if value.type == "PASSWORD" and written in {
        value.text.upper(),
        full_width(value.text),
        "\u200b".join(value.text),
    }:
        return
    if written == value.text:
        form = "as it is"
    assert Leak(value.type, form) in find_leaks(f"before {written} after", VALUES)
    assert find_leaks("before and after", VALUES) == []


@pytest.mark.parametrize(
    "text",
    ["4111-1111-1111-1111", "4111111111111111", "411111 1111111111", "x4111.1111.1111.1111y"],
)
def test_other_groupings_of_digits_are_the_same_number(text: str) -> None:
    assert find_leaks(text, VALUES) == [Leak("CREDIT_CARD", "as it is")]


def test_separators_may_be_gone_or_new() -> None:
    assert find_leaks("DE89370400440532013000", VALUES) == [Leak("IBAN", "as it is")]
    assert find_leaks("amara  okafor", VALUES) == [Leak("PERSON_NAME", "as it is")]
    assert find_leaks("<p>Amara&nbsp;Okafor</p>", VALUES) == [Leak("PERSON_NAME", "escaped")]


def test_similar_text_is_not_a_leak() -> None:
    masked = "j***@mail.example, ***-**-6789, A. Okafor, DE** **** **** 00, 12345678, 7123-45-67899"
    assert find_leaks(masked, VALUES[:6]) == [Leak("SSN", "as it is")]
    assert find_leaks("7 1234567 x", [Value("ID", CUSTOM, "1234567")]) == [Leak("ID", "as it is")]
    assert find_leaks("71234567", [Value("ID", CUSTOM, "1234567")]) == []


@pytest.mark.parametrize("value", ["47", "Li", "A+", "123", ""])
def test_values_that_occur_in_every_text_are_not_searched_for(value: str) -> None:
    assert find_leaks(f"x {value} y", [Value("AGE", PII, value)]) == []


@given(
    st.text(max_size=80),
    st.lists(st.text(min_size=1, max_size=12), max_size=4),
    st.text(ascii_letters + digits, min_size=9, max_size=12),
)
def test_a_value_is_found_in_any_text_beside_any_values(
    text: str, others: list[str], value: str
) -> None:
    looked_for = [Value("T", CUSTOM, other) for other in others]
    leaks = find_leaks(f"{text} {value} {text}", [*looked_for, Value("ID", CUSTOM, value)])
    assert Leak("ID", "as it is") in leaks


def found(text: str, value: str, type_name: str = "PERSON_NAME") -> Finding:
    start = text.index(value)
    return Finding(type_name, PII, start, start + len(value), 0.9, "p")


def test_a_value_is_found_again_where_it_is_repeated() -> None:
    text = "Amara Okafor, card 4111 1111 1111 1111; AMARA OKAFOR paid with 4111111111111111. Okafor"
    given_findings = [
        found(text, "Amara Okafor"),
        found(text, "4111 1111 1111 1111", "CREDIT_CARD"),
    ]
    repeated = find_repeats(text, given_findings)
    assert [(each.type, text[each.start : each.end]) for each in repeated] == [
        ("PERSON_NAME", "AMARA OKAFOR"),
        ("CREDIT_CARD", "4111111111111111"),
    ]
    assert find_repeats(text, [*given_findings, *repeated]) == []
    assert find_repeats(text, []) == []


@given(
    st.lists(
        st.sampled_from(["amara ", "okafor ", "12345678 ", "1234 5678 ", "x ", "\u200b", "ﬁ"]),
        max_size=20,
    ).map("".join)
)
def test_repeats_are_outside_findings_and_none_contains_another(text: str) -> None:
    text = f"amara okafor 1234-5678 {text}"
    given_findings = [
        Finding("PERSON_NAME", PII, 0, 12, 0.9, "p"),
        Finding("ID", PII, 13, 22, 0.9, "p"),
    ]
    repeated = find_repeats(text, given_findings)
    assert all(each.start >= 12 for each in repeated)
    assert all(one.end < other.end for one, other in itertools.pairwise(repeated))
    masked = list(text)
    for each in [*given_findings, *repeated]:
        masked[each.start : each.end] = "*" * (each.end - each.start)
    assert find_repeats("".join(masked), given_findings) == []


@pytest.mark.no_cover
def test_the_search_is_linear_in_text_and_values() -> None:
    def search(count: int) -> Callable[[], object]:
        text = " ".join(
            f"word{place} 555 12{place:06d} Someone Else{place}" for place in range(count)
        )
        values = [Value("PERSON_NAME", PII, f"Someone Other{place}") for place in range(count)]
        values += [Value("ID", PII, f"99{place:07d}") for place in range(count)]
        assert find_leaks(text, values) == []
        return lambda: find_leaks(text, values)

    assert_linear(search, 1_500)


def test_a_surname_that_is_an_everyday_word_must_match_exactly() -> None:
    text = "Mr. Brown has a brown dog, says BROWN. Brownfield is not Brown."
    given = [Finding("PERSON_NAME", PII, 4, 9, 0.9, "p")]
    assert [text[one.start : one.end] for one in find_repeats(text, given)] == ["BROWN", "Brown"]
    assert find_leaks("a brown dog", [Value("PERSON_NAME", PII, "Brown")]) == []
    assert find_leaks("so Brown%20said", [Value("PERSON_NAME", PII, "Brown")]) != []


def test_two_adjacent_values_do_not_form_a_third() -> None:
    # The last digit of the card and the phone number after it read like the first phone number.
    text = "+1 415 555 2671; 4111 1111 1111 1111\n(415) 555-2671; 1-415-555-2671"
    phone, card = (
        Finding("PHONE", PII, 0, 15, 0.9, "p"),
        Finding("CREDIT_CARD", PII, 17, 36, 0.9, "p"),
    )
    found = find_repeats(text, [phone, card, Finding("PHONE", PII, 37, 51, 0.9, "p")])
    assert [text[one.start : one.end] for one in found] == ["1-415-555-2671"]


def test_a_value_without_letters_and_digits_is_repeated_too() -> None:
    found = find_repeats("key -./-. and -./-.", [Finding("PASSWORD", PII, 4, 9, 0.9, "p")])
    assert [(one.start, one.end) for one in found] == [(14, 19)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Amara Okafor, byAMARA OKAFOR3 min", [(16, 28)]),
        ("Amara Okafor, Amara Okaforson", [(14, 26)]),
        ("Amara Okafor, Amara\nOkafor", [(14, 26)]),
        ("Amara Okafor, İAmara OkaforX", [(15, 27)]),
    ],
)
def test_a_value_that_a_text_joins_to_its_neighbours_is_repeated(
    text: str, places: list[tuple[int, int]]
) -> None:
    found = find_repeats(text, [Finding("PERSON_NAME", PII, 0, 12, 0.9, "p")])
    assert [(one.start, one.end) for one in found] == places


@pytest.mark.parametrize(
    ("text", "covered", "places"),
    [
        ("Amara Okafor, Amara Okafor3", "Amara", [(14, 26)]),
        ("Amara Okafor, xAmara Okafor.", "Okafor", [(15, 27)]),
        ("Amara Okafor, xAmara Okafor3", "", [(15, 27)]),
        ("Amara Okafor, Amara Okafor.", "Okafor", [(14, 26)]),
        ("Amara Okafor, Amara Lopez.", "Lopez", []),
    ],
)
def test_a_value_is_repeated_if_another_finding_covers_a_part_of_it(
    text: str, covered: str, places: list[tuple[int, int]]
) -> None:
    findings = [Finding("PERSON_NAME", PII, 0, 12, 0.9, "p")]
    if covered:
        start = text.rindex(covered)
        findings.append(Finding("ID", PII, start, start + len(covered), 0.9, "p"))
    found = find_repeats(text, findings)
    repeated = [(one.start, one.end) for one in found if one.type == "PERSON_NAME"]
    assert repeated == places


def test_a_longer_number_is_a_different_number() -> None:
    text = "12-34 56-78 and 912-34 56-78, x12-34 56-78y"
    found = find_repeats(text, [Finding("ID", PII, 0, 11, 0.9, "p")])
    assert [text[one.start - 1 : one.end] for one in found] == ["x12-34 56-78"]


def test_no_replacement_may_contain_a_value() -> None:
    forbidden = ForbiddenValues(
        [Value("PERSON_NAME", PII, "Lopez"), Value("SSN", PII, "123-45-6789")]
    )
    assert forbidden.is_in("m***@Lopez.example")
    assert forbidden.is_in("123456789")
    assert not forbidden.is_in("m***@lopezes.example")
    assert not forbidden.is_in("***-**-6789")


def test_open_words_take_little_memory() -> None:
    rows = [f"{number:08}\t{number * 7}\topen{number}\n" for number in range(3_000)]
    text = "".join(rows)
    starts = itertools.accumulate(map(len, rows[:-1]), initial=0)
    spans = [(start, start + 8) for start in starts]
    tracemalloc.start()
    try:
        may_hold = OpenText(text, spans, 8).holder()
        assert may_hold("open17")
        assert not may_hold("12345678")
        assert tracemalloc.get_traced_memory()[1] < 2_200 * len(rows)
    finally:
        tracemalloc.stop()


def test_a_value_may_remain_where_a_part_of_it_is_open() -> None:
    row = "Ann Lee, 555 123 4567, Köln\n"
    end = "Ann Ray, Bob Ray, 555 123 9999, 12 345 678\n"
    text = row * 3_000 + end
    rows = range(0, len(row) * 3_000, len(row))
    spans = [(at + start, at + last) for at in rows for start, last in ((0, 7), (9, 21))]
    at = len(text) - len(end)
    spans += (at + 13, at + 16), (at + 18, at + 25)
    shown = "Bob Ray", "Ann Ray", "555-123-9999", "12345678", "Ann Ray, Bob"
    hidden = "Ann Lee", "5551234567", "Lee, 555"
    for values in (None, ["\n".join(shown), "\n".join(hidden)]):
        may_hold = OpenText(text, spans, 12).holder(values)
        assert [each for each in (*shown, *hidden) if may_hold(each)] == [*shown]
