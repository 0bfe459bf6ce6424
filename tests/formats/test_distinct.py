"""Texts that masking made equal become distinct, in a time that grows with their number."""

from __future__ import annotations

from dlpctl.formats.distinct import DistinctNames, DistinctTexts


def test_each_of_many_equal_texts_takes_two_attempts() -> None:
    taken: set[str] = set()
    attempts = []

    def is_free(text: str) -> bool:
        attempts.append(text)
        return text not in taken

    distinct = DistinctTexts()
    for _ in range(1000):
        taken.add(distinct.choose("j***", lambda number: f"j*** {number}", is_free))
    assert {"j***", "j*** 2", "j*** 1000"} <= taken
    assert len(taken) == 1000
    assert len(attempts) <= 2000


def test_names_differ_in_what_the_format_compares() -> None:
    exact, folded = DistinctNames(), DistinctNames(["Total"], str.casefold)
    names = [exact.add(name, str) for name in ("README", "readme", "readme")]
    assert names == ["README", "readme", "2"]
    assert [folded.add(name, str) for name in ("total", "other", "OTHER")] == ["2", "other", "3"]
