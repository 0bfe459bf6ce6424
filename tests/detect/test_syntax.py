"""The parts of regexes: the text before the value, and the matches of a loosened regex."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.detect.patterns.syntax import loosened, prefix_of, stems_of, value_of


@pytest.mark.parametrize(
    ("regex", "prefix", "value"),
    [
        (r"key=(?P<value>\w{4})\b", "key=", r"\w{4}"),
        (r"(?i)(?:a|b)\s?(?P<value>[)(]+)", r"(?i)(?:a|b)\s?", "[)(]+"),
        (r"a(?P<value>b)|c", "", "b"),  # the part before the value may be omitted
        (r"[|(]a(?P<value>b)", "[|(]a", "b"),
        (r"\w+", "", r"\w+"),
    ],
)
def test_parts_of_a_regex(regex: str, prefix: str, value: str) -> None:
    assert (prefix_of(regex), value_of(regex)) == (prefix, value)


@pytest.mark.parametrize(
    ("regex", "loose"),
    [
        (r"a{0,3}b{1,20}?c{2,4}d{7}e{3,}", r"a*b+?c{2,}d{7}e{3,}"),
        (r"[{0,3}]\{0,3}\p{L}\x{10}", r"[{0,3}]\{0,3}\p{L}\x{10}"),
    ],
)
def test_counts_lose_their_upper_bounds(regex: str, loose: str) -> None:
    assert loosened(regex) == loose


def test_stems_are_parts_of_words_that_are_rare_by_themselves() -> None:
    words = r"(?:amoxicil(?:lin[ae]?|ina)|prof[eè]n|hiv(?: positive)?|heart attack|asthma)"
    assert stems_of(words, r"\b") == (
        r"amoxicil|\bprof[eè]n|\bhiv(?: positive)?|\bheart attack|\basthma"
    )


counted = st.tuples(
    st.sampled_from(["a", "[ab]", "(?:ab|c)", r"\d"]), st.integers(0, 3), st.integers(0, 3)
).map(lambda part: f"{part[0]}{{{part[1]},{part[1] + part[2]}}}")


@settings(max_examples=200, deadline=None)
@given(st.lists(counted, min_size=1, max_size=4).map("".join), st.text("abc12", max_size=24))
def test_a_loosened_regex_matches_whatever_the_regex_matches(regex: str, text: str) -> None:
    assert not re.fullmatch(regex, text) or re.fullmatch(loosened(regex), text)
