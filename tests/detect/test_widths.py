"""Widths read from a regex are those that Hyperscan computes."""

from __future__ import annotations

from math import inf

import pytest

from dlpctl.detect.automaton.bytewise import UnknownError
from dlpctl.detect.automaton.database import max_width
from dlpctl.detect.automaton.widths import widest_match
from tests.detect.synthetic import custom


@pytest.mark.parametrize(
    "regex",
    [
        "abc|de",
        r"\b(?P<value>[0-9]{3}-?[0-9]{4,6}?)(?:$|[^0-9])",
        "(?:ab?|(?:cd){2,5}e){3}x{0,2}",
        r"[A-Za-zé-ö]{2}[^x]\.\x41\x{20AC}.?",
        "(?i)kiss(?-i:kiss)[a-z]{2}",
        "(?i:k(?:s|[^s]))K[s-t]",
        "(?i:[ß-ö]å)Å",
        r"[\w.-]{1,3}\S[[:alpha:]\]][^\W_]",
        "É{2}語?😀",
    ],
)
def test_widths_are_exact(regex: str) -> None:
    assert widest_match(regex) == max_width(custom("id", regex))[0]


@pytest.mark.parametrize("regex", ["ab*", "(?:a|bc+){2}", "[0-9]{4,}", "(?:a{2,3})*b"])
def test_widths_may_be_infinite(regex: str) -> None:
    assert widest_match(regex) == inf


@pytest.mark.parametrize("regex", [r"\pL", r"\Qa.b\E", "[[:ascii:]]"])
def test_what_only_the_engines_can_read_has_no_width(regex: str) -> None:
    with pytest.raises(UnknownError):
        widest_match(regex)
