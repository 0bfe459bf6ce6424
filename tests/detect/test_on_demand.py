"""A library compiled on demand has the findings of the compiled library."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.automaton.compiled import Compiled, pack
from dlpctl.detect.automaton.first_pass import FirstPass
from dlpctl.detect.automaton.on_demand import OnDemand
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.lint import examples
from dlpctl.detect.patterns.model import Pattern
from dlpctl.types import Category
from tests.detect.builtin_patterns import PATTERNS

LETTERS = [
    Pattern(letter, letter.upper(), Category.CUSTOM, letter, f"{letter}[0-9]{{3}}", 0.9)
    for letter in "abcdef"
]


class Compilations:
    """A set that counts how often it is compiled completely."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.count = 0
        self._patterns = patterns
        self.set = OnDemand(patterns, self._compile)

    def _compile(self) -> Compiled:
        self.count += 1
        return Compiled(pack(self._patterns))


@pytest.fixture
def fresh(cache_of_gates: Cache) -> Detector:
    """A detector with the library, none of which is compiled."""
    return Detector(cache=cache_of_gates)


def test_a_short_text_compiles_little_and_misses_nothing(
    fresh: Detector, library: Detector
) -> None:
    sampled = PATTERNS[:: len(PATTERNS) // 20]
    text = "\n".join(example for one in sampled for example in examples(one, "match")[:1])
    text += "\nWrite to Amara Okafor, jane.doe@example.com, card 4111 1111 1111 1111\n"
    assert fresh.scan(text) == library.scan(text)
    assert not fresh.is_compiled
    assert fresh.for_types({"EMAIL"}).scan(text) == library.for_types({"EMAIL"}).scan(text)


@pytest.mark.parametrize("gated", [False, True])
def test_whatever_the_library_finds_in_its_examples_is_compiled(gated: bool) -> None:
    """A sample: each pattern is compiled alone."""
    patterns = [one for one in PATTERNS if one.gated is gated]
    patterns = patterns[:: 1 + len(patterns) // 60]
    demanded = Compilations(patterns)
    for number, pattern in enumerate(patterns):
        for text in examples(pattern, "match"):
            parts = demanded.set.parts(text.encode())
            assert any(number in part.numbers for part in parts), pattern.id
    assert demanded.count == 0


def test_trigger_matches_are_numbered_as_in_the_complete_set() -> None:
    complete, demanded = FirstPass([Compiled(pack(LETTERS))]), Compilations(LETTERS)
    on_demand = FirstPass([demanded.set])
    for data in (b"", b"c123", b"e123 c456 c789", b"a123", b"nothing", b"f123 a9"):
        assert on_demand.trigger_ends(data) == complete.trigger_ends(data)
    for index, pattern in enumerate(LETTERS):
        assert demanded.set.record(index) == complete.sets[0].record(index)
        assert demanded.set.record(index).pattern.id == pattern.id
    assert demanded.count == 0


def test_much_text_compiles_the_complete_set_once() -> None:
    demanded = Compilations(LETTERS)
    searched = FirstPass([demanded.set])
    data = b"c123 " * 60_000
    threads = [threading.Thread(target=searched.trigger_ends, args=(data,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert demanded.count == 1
    assert demanded.set.is_complete
    assert len(searched.trigger_ends(data)[2]) == 60_000


def test_the_width_of_a_set_is_known_before_it_is_compiled(library: Detector) -> None:
    assert library.widest <= OnDemand.widest


def test_compiling_narrows_with_the_detector(fresh: Detector) -> None:
    narrowed = fresh.for_types({"MAC_ADDRESS"})
    assert not narrowed.is_compiled
    narrowed.compile()
    assert narrowed.is_compiled
    assert not fresh.is_compiled


@pytest.mark.slow
def test_compiling_takes_rivals_along_for_long_scans(fresh: Detector) -> None:
    fresh.for_types({"PHI"}).compile(rivals=True)
    assert fresh.is_compiled
