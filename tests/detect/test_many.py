"""Many texts have the findings of each alone, in any number of processes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from dlpctl.detect.engine import Detector

TEXTS = [
    f"{'plain words ' * (number % 7)}mail user{number}@example.com, caf\u00e9 card 4111111111111111"
    if number % 3
    else ""
    for number in range(2_500)
]


@pytest.mark.parametrize("processes", [1, 2, 0])
def test_each_text_has_its_findings_in_order(library: Detector, processes: int) -> None:
    found = list(library.scan_many(TEXTS, processes=processes))
    assert len(found) == len(TEXTS)
    for number in (0, 1, 2, 1_234, 2_498, 2_499):
        assert found[number] == library.scan(TEXTS[number])
    assert sum(map(len, found)) == 2 * sum(map(bool, TEXTS))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_texts_are_taken_as_they_are_needed(library: Detector) -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "mail a@example.com" * 100

    found = library.scan_many(endless(), processes=2)
    assert [len(next(found)) for _ in range(3)] == [100] * 3
    found.close()
    assert 3 <= taken <= 1 << 16


def test_the_lowest_score_holds(library: Detector) -> None:
    assert [*library.scan_many(["a@example.com"], 1.0)] == [[]]
    assert [*library.scan_many([])] == []
