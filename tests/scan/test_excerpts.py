"""Displayed lines contain no value, whatever is beside it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.model import Pattern
from dlpctl.scan.content import Examiner
from dlpctl.scan.results import Result
from dlpctl.types import Category

BADGES = Detector(
    [Pattern("badge", "BADGE", Category.CUSTOM, "Badge", r"\bAC-(?P<value>[0-9]{8})\b", 0.8)]
)
PIECES = st.sampled_from([" AC-12345678 ", " AC-87654321 ", "\n", "\t", "\0", "é", "邮", "x" * 70])


def results(text: str, *, show_values: bool = False) -> list[Result]:
    allow = AllowList(values=["87654321"])
    examiner = Examiner(BADGES, 0.5, allow, excerpts=1_000, show_values=show_values)
    return examiner.decoded("a.txt", text).results


@given(st.lists(PIECES, max_size=30).map("".join))
def test_an_excerpt_is_one_line_with_the_masked_value_at_its_mark(text: str) -> None:
    for one in results(text):
        assert one.sample == one.excerpt[one.mark : one.mark + len(one.sample or "")]
        assert "12345678" not in one.excerpt
        assert "87654321" not in one.excerpt  # accepted, and masked in the lines of others
        assert one.excerpt.isprintable()
        assert len(one.excerpt) < 500


def test_a_value_is_masked_where_it_is_no_finding_too() -> None:
    (one,) = results("badge AC-12345678, see xAC-12345678x")
    assert one.excerpt == "badge AC-******78, see xAC-******78x"


def test_an_excerpt_is_one_string_of_binary_data() -> None:
    (one,) = results("\x1a\x1aelsewhere\x1a\x1akey=AC-12345678 \x1a\x1aelsewhere")
    assert one.excerpt == "key=AC-******78 "


def test_findings_of_a_line_share_its_excerpt() -> None:
    first, second = results("one\nbadges AC-12345678 and AC-12345679\r\nthree")
    assert first.excerpt == second.excerpt == "badges AC-******78 and AC-******79 "
    assert (first.mark, second.mark) == (10, 26)


def test_so_many_of_a_type_have_an_excerpt() -> None:
    examiner = Examiner(BADGES, 0.5, AllowList(), excerpts=2)
    found = [
        one.excerpt != ""
        for name in ("a.txt", "b.txt")
        for one in examiner.decoded(name, "AC-12345678\nAC-12345679\n").results
    ]
    assert found == [True, True, False, False]


def test_no_excerpt_is_made_unless_it_is_asked_for() -> None:
    (one,) = Examiner(BADGES, 0.5, AllowList()).decoded("a.txt", "badge AC-12345678").results
    assert (one.excerpt, one.mark) == ("", 0)


def test_asked_for_values_are_shown_in_their_lines() -> None:
    (one,) = results("badge AC-12345678", show_values=True)
    assert one.excerpt == "badge AC-12345678"
