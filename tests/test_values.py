from __future__ import annotations

import pytest

from dlpctl.types import Category
from dlpctl.values import canonical, derive_key, fingerprint

KEY = b"k" * 32


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("John@X.example", " john@x.example "),
        ("4111 1111 1111 1111", "4111-1111-1111-1111"),
        ("+1 (415) 555-2671", "+14155552671"),
        ("Ａmara  Okafor", "amara okafor"),
        ("DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
    ],
)
def test_spellings_of_one_value_are_one(one: str, other: str) -> None:
    assert canonical(one, Category.PII) == canonical(other, Category.PII)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1/12/1990", "11/2/1990"),
        ("1.12.30.40", "11.2.30.40"),
        ("john.doe@x.example", "johndoe@x.example"),
        ("::1:12", "::11:2"),
    ],
)
def test_different_values_stay_different(one: str, other: str) -> None:
    assert canonical(one, Category.PII) != canonical(other, Category.PII)


def test_every_character_of_a_secret_counts() -> None:
    assert canonical(" aB-1 ", Category.SECRETS) == "aB-1"


def test_fingerprints_depend_on_key_type_and_value_alone() -> None:
    mark = fingerprint(KEY, "EMAIL", "John@x.example", Category.PII)
    assert mark == fingerprint(KEY, "EMAIL", "john@X.example", Category.PII)
    assert len(mark) == 32
    assert mark != fingerprint(KEY, "PHONE", "John@x.example", Category.PII)
    assert mark != fingerprint(b"l" * 32, "EMAIL", "John@x.example", Category.PII)
    assert fingerprint(KEY, "EMAIL", "\ud800", Category.PII)
    assert derive_key(KEY, "one") != derive_key(KEY, "other")
