"""Every match of a pattern contains its trigger and, if the pattern is gated, an anchor."""

from __future__ import annotations

import random
import re
import string
from itertools import product

import pytest
import re2
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dlpctl.detect.automaton.alike import shape, treats_digits_alike, treats_letters_alike
from dlpctl.detect.automaton.anchors import ANCHORS, NUMBERS
from dlpctl.detect.automaton.compiled import Compiled, pack
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.lint import examples
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.validators import find
from tests.detect.builtin_patterns import PATTERNS

TRIGGERED = [pattern for pattern in PATTERNS if pattern.trigger and not pattern.token]
TOKENS = [pattern for pattern in PATTERNS if pattern.token]
GATED = [pattern for pattern in PATTERNS if pattern.gated]
IN_THE_MIDST = "\n".join(["def plain(text):", "    return text  # and nothing else, é"] * 40)


def texts(pattern: Pattern) -> st.SearchStrategy[str]:
    """Texts with a match, as Python's engine understands the regex."""
    regex = re.sub(
        r"\\x\{([0-9A-Fa-f]+)\}", lambda found: f"\\U{int(found[1], 16):08x}", pattern.regex
    )
    return st.from_regex(re.compile(regex, re.ASCII if regex.isascii() else 0))


def counts(pattern: Pattern, value: str) -> bool:
    """Return whether the validators accept the value, or the tier of possible values does."""
    return any(
        all(find(name).accepts(value) for name in names)
        for names in (
            pattern.validators,
            *([pattern.possible.validators] if pattern.possible else []),
        )
    )


def check_that_matches_hold(
    pattern: Pattern, held: str, runs: int, *, from_value: bool = False
) -> None:
    """`from_value` leaves out values with one digit or of a few characters, which nobody issues."""
    regex = re2.compile(pattern.regex)
    search, holds = regex.search, re2.compile(held).search

    @settings(
        max_examples=runs,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(texts(pattern))
    def check(text: str) -> None:
        found = search(text.encode("utf-8", "replace").decode())
        if found and counts(pattern, found["value"] if "value" in regex.groupindex else found[0]):
            first = found[0].index(found["value"]) if from_value else 0
            value = [character for character in found["value"] if character.isalnum()]
            is_issued = len(value) > 4 and sum(map(str.isdigit, value)) > 1
            assert holds(found[0][first:]) or (from_value and not is_issued)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("pattern", TRIGGERED, ids=[pattern.id for pattern in TRIGGERED])
def test_every_match_contains_its_trigger(pattern: Pattern) -> None:
    check_that_matches_hold(pattern, pattern.trigger or "", 20)


@pytest.mark.parametrize("pattern", TOKENS, ids=[pattern.id for pattern in TOKENS])
def test_generated_values_contain_the_trigger_of_tokens(pattern: Pattern) -> None:
    """Its trigger is a mark of random values, which few of them lack, and words do."""
    holds = re2.compile(pattern.trigger or "").search
    source = random.Random(7)
    mixed = string.ascii_letters + string.digits
    # Without a label, letters alone may be words, and hexadecimal digits are digests.
    needs_label = pattern.id == "labelled-secret"
    alphabets = (string.ascii_letters, mixed, string.hexdigits) if needs_label else (mixed,)
    for alphabet, length in product(alphabets, (24, 32, 40)):
        drawn = [f'x = "{"".join(source.choices(alphabet, k=length))}"' for _ in range(400)]
        assert sum(map(bool, map(holds, drawn))) > 0.85 * len(drawn)
    assert not any(map(holds, IN_THE_MIDST.split()))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", GATED, ids=[pattern.id for pattern in GATED])
def test_every_match_of_a_gated_pattern_contains_an_anchor(pattern: Pattern) -> None:
    # A label is looked for before a mark alone.
    marks = NUMBERS if pattern.labels else ANCHORS
    check_that_matches_hold(pattern, "|".join(marks), 200, from_value=bool(pattern.labels))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("gatePinNr: 4711", "ACCESS_CODE"),
        ("St.-Nr. 181/815/08155", "TAX_ID"),
        ("TIN\t181 815 08155", "TAX_ID"),
        ("(0441)/4508291", "PHONE"),
        ("POST /hooks/catch/a7/{token} HTTP/1.1", "URL_CREDENTIALS"),
    ],
)
def test_labels_are_found_as_the_expression_writes_them(text: str, kind: str) -> None:
    token = "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=32))
    detector = Detector([pattern for pattern in PATTERNS if pattern.type == kind])
    assert detector.scan(text.format(token=token), min_score=0.3)


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_values_of_gated_patterns_are_found_at_any_position(step: int) -> None:
    """As it is without a gate, which is not there for sets of patterns of which one needs none.

    Every fourth pattern, or all of them, whose compilation takes most of the time.
    """
    patterns = GATED[::step]
    block = pack(patterns)
    sets = Compiled(block), Compiled(block)
    sets[1].anchors = None
    gated, ungated = (Detector([]).extended(patterns, each) for each in sets)
    values = [text for pattern in patterns for text in examples(pattern, "match")]
    for text in (f"\n{IN_THE_MIDST}\n".join(values), " ".join(values), *values[::4]):
        found = gated.scan(text)
        assert found
        assert found == ungated.scan(text)


def test_no_trigger_matches_again_at_every_letter() -> None:
    again = re.compile(r"(?:\[\^[^\]]*\]|\\S|\\D|\.)(?:[*+]|\{\d+,\})$")
    assert not [one.id for one in PATTERNS if again.search(one.trigger or one.regex)]


def test_triggers_of_labels_treat_digits_alike() -> None:
    """Columns of numbers are searched for them once, not value by value."""
    labelled = [pattern for pattern in GATED if pattern.labels]
    assert labelled
    assert [each.id for each in labelled if not treats_digits_alike(each.trigger or "")] == []


@pytest.mark.parametrize(
    ("regex", "is_alike"),
    [
        (r"(?i:imei[0-9])[ _]{0,2}\d{15}", True),
        (r"[^0-9A-Za-z\x{C0}]id\b", True),
        (r"[A-Z0-9._]{3,}@", True),
        ("v4", False),
        ("[1-9]", False),
        ("[^0]", False),
        (r"\x{31}", False),
        (r"\x31", False),
        ("ISO 0-9", False),
        (r"[[\]]0-9", False),
    ],
)
def test_a_regex_that_names_a_digit_does_not_treat_digits_alike(regex: str, is_alike: bool) -> None:
    assert treats_digits_alike(regex) is is_alike


@pytest.mark.parametrize(
    ("regex", "is_alike"),
    [
        (r"(?i:[a-z0-9]{2,9})@(?P<value>[A-Za-z-]+\.){1,3}", True),
        (r"(?:^|[^0-9A-Za-z_])\d{3}[-–]\d{2}\b", True),
        (r"[\x{C0}-\x{17F}]{2}", True),
        ("[A-Fa-f0-9]{32}", False),
        ("mail", False),
        (r"\x{61}", False),
        ("[1-9][a-z]", False),
        (r"\p{L}", False),
    ],
)
def test_a_regex_that_names_a_letter_does_not_treat_letters_alike(
    regex: str, is_alike: bool
) -> None:
    assert treats_letters_alike(regex) is is_alike


def test_patterns_that_treat_letters_alike_match_shapes_as_texts() -> None:
    alike = [each for each in PATTERNS if not each.token and treats_letters_alike(each.regex)]
    assert "email" in [each.id for each in alike]
    for pattern in alike:
        regex = re2.compile(pattern.regex.encode())
        groups = range(regex.groups + 1)
        for text in (each.encode() for each in (*pattern.match, *pattern.skip)):
            in_text, in_shape = (
                [[found.span(group) for group in groups] for found in regex.finditer(each)]
                for each in (text, shape(text))
            )
            assert in_text == in_shape, pattern.id
