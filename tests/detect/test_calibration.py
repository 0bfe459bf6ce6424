"""Scores are calibrated: of findings with a score of 0.8, four in five are right.

Values are planted beside their labels, and beside the same labels what documents, forms and programs
have there instead of a value; clean texts are added in the proportion of one to one.
"""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.measure import clean, recall, values

LOWEST, BINS = 0.4, (0.4, 0.5, 0.65, 0.8, 0.9)
FEWEST = 20
"""Findings of a bin from which on its precision says something."""
EVERY = 8
WORDS = ("pending", "unknown", "none", "required", "attached", "optional", "default", "applicable")

DECOYS: tuple[Callable[[random.Random], str], ...] = (
    lambda source: " ".join(source.sample(WORDS, 2)),
    lambda source: f"${{{''.join(source.choices(string.ascii_uppercase, k=6))}}}",
    lambda source: f"config.{source.choice(WORDS)}.{source.choice(WORDS)}",
    lambda source: str(source.randint(0, 999)),
    lambda source: f"{source.randint(0, 9)}.{source.randint(0, 30)}.{source.randint(0, 9)}",
    lambda source: f"get_{source.choice(WORDS)}()",
    lambda source: f"{source.randint(2019, 2026)}-Q{source.randint(1, 4)}",
    lambda source: f"<{source.choice(WORDS)}>",
    lambda source: f"{source.choice(WORDS)}_{source.choice(WORDS)}",
)


def texts(seed: int) -> Iterator[tuple[str, str]]:
    """Yield texts with their values; the value is empty where the text has none."""
    source = random.Random(seed)
    for number, one in enumerate(recall.planted(seed)):
        if number % EVERY == 0:
            yield one.text, one.value
            if one.value in one.text:
                yield one.text.replace(one.value, source.choice(DECOYS)(source)), ""
                mistyped = _mistyped(one.value, source)
                yield one.text.replace(one.value, mistyped), mistyped
    for _, text in clean.texts(seed):
        yield text[:100_000], ""


def _mistyped(value: str, source: random.Random) -> str:
    """Return a value with another last digit, which is a value all the same."""
    at = max((place for place, char in enumerate(value) if char.isdecimal()), default=0)
    return f"{value[:at]}{source.choice(string.digits)}{value[at + 1 :]}" if at else value


@pytest.fixture(scope="module")
def observed(library: Detector) -> dict[tuple[str, float], Counter[bool]]:
    """Return whether findings are right, by category and bin."""
    detector = library.without_names()  # whose scores are the tagger's own probabilities
    found: dict[tuple[str, float], Counter[bool]] = {}
    for text, value in texts(19):
        start = text.find(value) if value else len(text)
        for one in detector.scan(text, LOWEST):
            is_right = start < one.end and one.start < start + len(value)
            lowest = max(edge for edge in BINS if edge <= one.score)
            found.setdefault((one.category.value, lowest), Counter())[is_right] += 1
    return found


@pytest.mark.parametrize("category", ["PII", "PHI", "FINANCIAL", "SECRETS"])
def test_a_score_promises_no_more_than_is_observed(
    observed: dict[tuple[str, float], Counter[bool]], category: str
) -> None:
    bins = {lowest: observed.get((category, lowest), Counter[bool]()) for lowest in BINS}
    shares = {
        lowest: counts[True] / counts.total()
        for lowest, counts in bins.items()
        if counts.total() >= FEWEST
    }
    assert len(shares) > 1
    assert all(share >= lowest for lowest, share in shares.items()), shares


@pytest.mark.parametrize(("shape", "drawn"), [("[ab]", {"a", "b"}), ("[ab|cd]", {"ab", "cd"})])
def test_a_choice_of_a_shape_is_of_characters_or_of_texts(shape: str, drawn: set[str]) -> None:
    source = random.Random(1)
    assert {values.value(values.ValueKind("A", shape, (), ""), source) for _ in range(20)} == drawn
