"""What is planted is found in every carrier, and what is clean stays clean."""

from __future__ import annotations

import random
from functools import cache

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.catalogue import detection_types, labels
from dlpctl.detect.patterns.library import builtin_files, load_patterns
from dlpctl.detect.patterns.measure import clean, recall, values

pytestmark = pytest.mark.no_cover  # much input, through lines that other tests run

SEED = 7
KNOWN = {
    "email": "one author's address is written over two lines",
    "national-id-europe": "a minified script names its variable kt, as Icelanders call their number, and gives it a valid one",
    "phone-national": "two pairs of hexadecimal digits that are no digits stand around what a Frenchman would dial",
    "phone-mobile": "a dump of digits says, once it is decoded, what an Indian or a Mexican would dial",
    "in-aadhaar": "a dump of digits in groups of four, of which twelve have the checksum",
}
"""The patterns that find something in clean text, and why they may."""


@cache
def measure(library: Detector) -> list[recall.Recall]:
    return recall.measure(library, SEED)


def test_every_type_is_found(library: Detector) -> None:
    low = [one for one in measure(library) if one.share < 0.97]
    assert {one.type: (one.share, one.missed) for one in low} == {}


def test_every_carrier_is_read(library: Detector) -> None:
    measured = measure(library)
    missed = [carrier for one in measured for _, carrier in one.missed]
    planted = sum(one.planted for one in measured) / len(recall.CARRIERS)
    assert max(map(missed.count, recall.CARRIERS)) < 0.03 * planted


def test_every_type_is_planted() -> None:
    """Names and addresses are measured with their tagger; the types of secrets, of which a URL may
    hold any, together.
    """
    planted = {kind.type for kind in values.kinds()}
    missing = {one.name for one in detection_types() if one.category != "SECRETS"} - planted
    assert missing <= {"PERSON_NAME", "ADDRESS"}


def test_clean_text_stays_clean(library: Detector) -> None:
    precision = clean.measure(library, SEED)
    size = sum(one.size for one in precision)
    assert size > 2_000_000
    assert sum(len(one.findings) for one in precision) * clean.UNIT / size < 1
    assert set(clean.by_pattern(precision)) <= set(KNOWN)


def test_the_same_seed_gives_the_same_values() -> None:
    kinds = values.kinds()[:20]
    assert [values.value(kind, random.Random(7)) for kind in kinds] == [
        values.value(kind, random.Random(7)) for kind in kinds
    ]


def test_the_catalogue_holds_the_types_of_the_patterns() -> None:
    known = {one.name: one for one in detection_types()}
    for pattern in load_patterns(builtin_files()):
        assert known[pattern.type].category is pattern.category, pattern.id
        assert pattern.region is None or len(pattern.region) == 2
    assert set(labels()) == set(known)
    assert all(one.laws and one.label and one.plural for one in known.values())


def test_what_tells_too_much_has_no_sample() -> None:
    from dlpctl.masking.partial import sample

    for one in detection_types():
        shown = sample(one.name, one.category, "Value-123456789012345678")
        assert (shown is not None) is one.sample, one.name
    hidden = {one.name for one in detection_types() if not one.sample}
    assert {"PASSWORD", "PRIVATE_KEY", "MEDICAL_RECORD_NUMBER", "CARD_PIN"} <= hidden


def test_names_of_types_within_a_sentence() -> None:
    assert labels()["EMAIL"] == ("email", "emails")
    assert labels()["IN_IFSC"] == ("Indian bank branch", "Indian bank branches")
    assert labels()["SSN"] == ("SSN", "SSNs")


def test_types_that_builtin_policies_name_exist() -> None:
    from dlpctl.policy.files import builtin_names
    from dlpctl.policy.model import Policy
    from dlpctl.types import Category

    known = {*Category, *(one.name for one in detection_types()), "*"}
    for name in builtin_names():
        for rule in Policy.builtin(name).rules:
            assert {selector.upper() for selector in rule.data_types} <= known
