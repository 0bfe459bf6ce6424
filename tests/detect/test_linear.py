"""Searches return the spans that RE2's public methods return, whichever methods are called."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.detect.linear import NOTHING, Find, compile_regex, finders

REGEXES = [r"a(?P<value>b+)?c", r"\b[0-9]{2,3}\b", r"(?i)^x|y$", r"(é)|(b)"]


class PublicMethods:
    """A regex that offers what the documentation of RE2 names, and nothing else."""

    def __init__(self, regex: Any) -> None:
        self.search, self.match, self.groups = regex.search, regex.match, regex.groups


def spans(found: Any, groups: int) -> list[tuple[int, int]]:
    return [found.span(group) if found else NOTHING for group in range(groups + 1)]


@pytest.mark.parametrize("regex", REGEXES)
@pytest.mark.parametrize("reached", [lambda regex: regex, PublicMethods])
@given(text=st.text("abcxyz01 é\n", max_size=12), start=st.integers(0, 8), size=st.integers(0, 8))
def test_the_first_match_of_a_range(
    regex: str, reached: Any, text: str, start: int, size: int
) -> None:
    data, compiled = text.encode(), compile_regex(regex, "a test")
    start = min(start, len(data))
    end = min(start + size, len(data))
    search, match = finders(reached(compiled))
    pairs: list[tuple[Find, Any]] = [(search, compiled.search), (match, compiled.match)]
    for own, public in pairs:
        expected = spans(public(data, start, end), compiled.groups)
        assert [tuple(span) for span in own(data, start, end)] == expected
