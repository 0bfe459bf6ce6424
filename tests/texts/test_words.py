"""Words are found exactly where a regex finds them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.texts.words import TOKEN, Words, distinct_words, folded, words_of_ascii

WORD, LETTERS = re.compile(r"\w+"), re.compile(r"[^\W_]+")
WANTED = ["jane", "müller", "straße", "536", "x", "_a", "ürün"]


@pytest.mark.parametrize("token", [WORD, LETTERS])
@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            [*WANTED, "Jane", "ÜRÜN", "janet", "?", "“", "_", " ", "\n", "\u2028", "漢", "é", "-"]
        )
    )
)
def test_they_are_found_as_by_an_expression(token: re.Pattern[str], parts: list[str]) -> None:
    text = "".join(parts)
    plain = [(found.start(), found[0].casefold()) for found in token.finditer(text)]
    wanted = {word.casefold() for word in WANTED}
    looked_for = Words(sorted(wanted), token, str.casefold)
    assert list(looked_for.within(text)) == [one for one in plain if one[1] in wanted]
    assert distinct_words(text, token) - {""} == {folded(word) for word in token.findall(text)}


def test_words_of_ascii_are_those_of_an_expression() -> None:
    text = "".join(map(chr, range(128))) * 2
    assert words_of_ascii(text) == TOKEN.findall(text.lower())


@pytest.mark.parametrize("between", [" ", "", "-", "“", "漢字 "])
def test_a_long_text_is_cut_between_words(between: str) -> None:
    text = between.join(["some", "jane", "words", "ürün", "Jane"] * 20_000)
    plain = [(found.start(), found[0].casefold()) for found in WORD.finditer(text)]
    found = list(Words(["jane", "ürün"], WORD, str.casefold).within(text))
    assert found == [one for one in plain if one[1] in {"jane", "ürün"}]


def test_long_runs_take_no_longer_than_short_ones() -> None:
    looked_for = Words(["jane"], WORD, str.casefold)
    assert list(looked_for.within("a" * 2_000_000 + " é " + "é" * 2_000_000 + " jane")) == [
        (4_000_004, "jane")
    ]
