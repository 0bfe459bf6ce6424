"""Regexes over bytes match wherever those over characters do."""

from __future__ import annotations

import re

import pytest

from dlpctl.detect.automaton.bytewise import FoldedText, bytewise
from dlpctl.detect.engine import Detector


@pytest.mark.parametrize(
    ("regex", "texts"),
    [
        (r"(?i)дат[аы]", ["ДАТА", "даты", "дАтЫ"]),
        (r"(?i:ρ|ω)x", ["ϱx", "Ρx", "\u2126x"]),
        (r"(?i:é(?-i:S)[à-ö])", ["ÉSÖ", "éSà"]),
        (r"(?:^|[^0-9A-Za-z])key", ["key", "ékey", "語key", " key"]),
        (r"a[^\n0-9]b", ["aéb", "a語b", "a😀b", "a b"]),
        (r"a[^\n]{2,3}b", ["aééb", "a😀😀😀b", "a  b"]),
        (r"a[é-語]{2}.?b", ["a語éb", "aéé語b"]),
        (r"a\S+[\w’]*\Wb", ["aé’b", "ax’’\u00a0b"]),
        (r"[\x{10000}-\x{10FFFF}]x\x{e9}", ["😀xé"]),
    ],
)
def test_regexes_over_bytes_match_what_those_over_characters_match(
    regex: str, texts: list[str]
) -> None:
    over_bytes = bytewise(regex)
    assert over_bytes is not None
    assert [text for text in texts if not re.search(over_bytes, text.encode())] == []


@pytest.mark.parametrize(
    ("regex", "text"),
    [
        (r"a[é-ö]b", "a語b"),
        (r"(?i)д(?-i:а)", "ДА"),
        (r"[^\W_]é", "_é"),
        (r"(?i)[^é]x", "Éx"),
        (r"a[^\n]{2,3}b", "a" + 13 * "x" + "b"),
    ],
)
def test_regexes_over_bytes_keep_sets_cases_and_limits(regex: str, text: str) -> None:
    over_bytes = bytewise(regex)
    assert over_bytes is not None
    assert re.fullmatch(over_bytes, text.encode()) is None


def test_a_set_of_all_further_characters_ends_with_a_character() -> None:
    over_bytes = bytewise(r"a[^\n]")
    assert over_bytes is not None
    ends = {text: re.compile(over_bytes).match(text.encode()) for text in ("aé", "a’", "a😀")}
    assert [text for text, end in ends.items() if not end or end[0] != text.encode()] == []
    assert re.fullmatch(over_bytes, "a’".encode()[:-1]) is None


@pytest.mark.parametrize("regex", [r"\pL+", r"a\Cb", r"\Qa.b\E"])
def test_what_only_regexes_over_characters_have_is_left_to_them(regex: str) -> None:
    assert bytewise(regex) is None


def test_positions_in_folded_texts_are_those_of_the_original() -> None:
    data = "é paſſ \u212aey".encode()
    folded = FoldedText.of(data)
    assert folded is not None
    assert folded.data == "é pass key".encode()
    ends = [folded.data.index(word) + len(word) for word in (b"pass", b"k", b"key")]
    found = [data[:end].decode() for end in folded.original_positions(ends)]
    assert found == ["é paſſ", "é paſſ \u212a", "é paſſ \u212aey"]
    assert FoldedText.of("é pass key".encode()) is None


@pytest.mark.parametrize("label", ["\u017f\u017fn", "S\u017fN", "ta\u017f\u212a \u017f: ssn"])
def test_labels_may_have_a_long_s_or_a_kelvin_sign(library: Detector, label: str) -> None:
    text = f"{label}: 536-22-1234"
    assert [text[each.start : each.end] for each in library.scan(text)] == ["536-22-1234"]
