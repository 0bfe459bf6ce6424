"""Each value of a column is judged by itself, whatever is above and below it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.values import scan_value, scan_values
from dlpctl.types import Category
from tests.detect.builtin_patterns import PATTERNS

HEADERS = ("", "note", "email", "customer", "SSN", "card number", "password", "Straße", "a: b, c")


@pytest.fixture(scope="module")
def examples() -> list[str]:
    """Values of every pattern, those that match and those that do not."""
    patterns = PATTERNS
    return [text for each in patterns for text in (*each.match, *each.skip)]


def same(detector: Detector, header: str, values: list[str], min_score: float = 0.5) -> None:
    together = dict(scan_values(detector, header, values, min_score))
    assert list(together) == sorted(together)
    for number, value in enumerate(values):
        alone = scan_value(detector, header, value, min_score)
        assert list(together.get(number, ())) == list(alone), f"value {number} below {header!r}"


@pytest.mark.parametrize("header", ["note", "customer", "patientSsn1", "loginCode2"])
def test_examples_of_all_patterns_are_found_as_by_themselves(
    library: Detector, examples: list[str], header: str
) -> None:
    some = random.Random(len(header)).sample(examples, 700)
    some.append("the schedule says that torben has the late shift on friday")
    some += ["482913 is my security code", "ssn 337.68.7947", "paid amara okafor", "paid blue"]
    some += ["shipped to _Amara_ on time", "tenant Große", "who asks for 48 deg 51' 29.6\" 40"]
    same(library, header, some)


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS)
def test_all_examples_are_found_as_by_themselves(
    library: Detector, examples: list[str], header: str
) -> None:
    shuffled = random.Random(header).sample(examples, len(examples))
    same(library, header, shuffled, 0.4)


@given(data=st.data())
def test_any_values_are_judged_as_by_themselves(
    library: Detector, examples: list[str], data: st.DataObject
) -> None:
    part = st.one_of(
        st.sampled_from(examples),
        st.sampled_from(
            [
                *("John", "Smith, Anna", "742 Evergreen Terrace", "SSN", "0x", "a,b\n", "&quot;"),
                *("paid amara okafor", "the tenant", "__Amara__", "Straße", "12 main road"),
            ]
        ),
        st.text(max_size=40),
        st.text("0123456789-. @/\\\"'=:,;abcdefABCDEF\n", max_size=30),
    )
    value = st.lists(part, min_size=0, max_size=3).map(" ".join)
    header = data.draw(st.sampled_from(HEADERS))
    same(library, header, data.draw(st.lists(value, max_size=12)))


def test_narrowed_detectors_find_what_they_look_for(library: Detector, examples: list[str]) -> None:
    some = random.Random(4).sample(examples, 150)
    for detector in (
        library.for_types({"EMAIL", "CREDIT_CARD", "PERSON_NAME"}),
        library.for_categories({Category.SECRETS}),
        library.without_names(),
    ):
        same(detector, "note", some)


def test_patterns_for_the_end_of_a_text_find_the_end_of_a_value(library: Detector) -> None:
    ending = Pattern("badge", "BADGE", Category.CUSTOM, "Badge", r"\bB[0-9]{5}$", 0.9)
    detector = library.extended([ending])
    same(detector, "note", ["B12345", "B12345 x", "x B54321"])
    found = dict(scan_values(detector, "note", ["B12345", "B12345 x"], 0.5))
    assert {number: [one.type for one in each] for number, each in found.items()} == {0: ["BADGE"]}


def test_no_value_is_evidence_for_its_neighbour(library: Detector) -> None:
    values = ["password:", "hunter2hunter2", "SSN", "the number is", "078051120", "Mr", "Baker"]
    for shift in range(len(values)):
        same(library, "note", values[shift:] + values[:shift])


def test_values_that_differ_in_digits_are_judged_by_themselves(library: Detector) -> None:
    numbers = ["078-05-1120", "000-05-1120", "imei1 490154203237518", "imei2 490154203237517"]
    same(library, "note", [*numbers, "é imei1 490154203237518", "steuer-id 86095742719", *numbers])
    invoices = Pattern("inv", "INV", Category.CUSTOM, "Invoice", r"\bINV-[0-9]{4}\b", 0.9)
    same(library.extended([invoices]), "note", ["INV-1234", "INV-5678", "INV-123", "INV-0000"])


def test_values_of_the_same_shape_are_judged_by_themselves(library: Detector) -> None:
    values = ["logo@2x.png", "a1b2@2x.com", "gita@2x.com", "git@github.com", "amy@abcdef.com"]
    values += ["000-12-3456", "536-90-4399", "666-90-4399", "x536-90-4399", "Y536-90-4399"]
    for header in ("note", "model", "ssn"):
        same(library, header, values)
    assert {0, 3, 7} == set(range(8)) - dict(scan_values(library, "note", values, 0.5)).keys()


def test_long_values_and_lone_surrogates(library: Detector) -> None:
    long = "plain words " * 200 + "jane.doe@example.org"
    same(library, "note", [long, "\ud800 jane.doe@example.org", "ü jane.doe@example.org", ""])
