"""A trained judge of what may be a password: the words and quoted texts near a label.

Rules know the frames that somebody thought of. The judge weighs what a reader sees in any frame:
the label, what is between it and the candidate, the shape of the candidate and what follows it. Its
weights are those of a logistic regression over hashed features; for how they are made, see
tests/training/README.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import exp
from typing import NamedTuple
from zlib import crc32

from dlpctl.detect.confirm.candidates import (
    AFTER,
    BEFORE,
    REACH,
    NextLabel,
    Window,
    assigned_value,
    candidates,
    window_at,
)
from dlpctl.detect.confirm.features import Candidate, around, context, within
from dlpctl.detect.validators.remembered import remembered
from dlpctl.detect.validators.wordlists import read_rows
from dlpctl.regex import lazy

_MOST_KNOWN = 1024
"""The maximum number of labels with their surroundings that are remembered."""
SIZE = 1 << 16
"""The number of weights."""
_ZERO, _STEP, _LARGEST, _ROW = ord("O"), 8, 43, 128
"""The character of the weight 0, the number of steps of a weight by 1, the largest number of steps
in the file, and the weights in one of its rows.
"""
_LOWEST, _HIGHEST = 0.4, 0.65
"""The scores of findings. A pattern for one frame, which knows where the value ends, wins."""
_RESULT = lazy(rb"X?(?:PASS|FAIL)(?:ED)?: |(?:UN[A-Z]{5,9}|SKIP(?:PED)?): ")


class Judged(NamedTuple):
    """A candidate with its score, as byte offsets."""

    start: int
    end: int
    score: float


class Judge:
    """Judges what is near the labels of one text: labels that repeat with their surroundings cost
    little, and only keyed hashes are kept of them.
    """

    def __init__(self, next_label: NextLabel) -> None:
        self._next_label = next_label
        self._known: dict[int, list[tuple[int, int, float]]] = {}

    def judged(self, data: bytes, start: int, end: int) -> list[Judged]:
        """Return the candidates near the label at `start` to `end` that may be passwords."""
        first = start - BEFORE - 1 if start > BEFORE else 0
        last = end + REACH
        key = hash((start - first, end - start, last < len(data), data[first:last]))
        found = self._known.get(key)
        if found is None:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            offset, window = window_at(data, start, end, self._next_label)
            found = self._known[key] = [
                (offset - start + value, offset - start + stop, score)
                for value, stop, score in _scored(window)
            ]
        if found and _is_result(data, start, end):
            return []
        return [Judged(start + value, start + stop, score) for value, stop, score in found]

    def refused(self, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        """Return the value that is assigned to a label, if it is no password, such as a
        placeholder.
        """
        offset, window = window_at(data, start, end, self._next_label)
        value = assigned_value(window)
        if value is None or any(first < value[1] for first, _, _ in _scored(window)):
            return None
        return offset + value[0], offset + value[1]


def _is_result(data: bytes, start: int, end: int) -> bool:
    """Return whether a label is the result of a test, with that of another one above or below."""
    if data[start:end] != b"PASS" or data[end : end + 1] != b":":
        return False
    below = data.find(b"\n", end, end + AFTER) + 1
    above = data.rfind(b"\n", max(0, start - AFTER), max(0, start - 1)) + 1
    return any(_RESULT.match(data, line) for line in (above, below) if line)


@remembered
def _scored(window: Window) -> tuple[tuple[int, int, float], ...]:
    scored = [(*each.value, probability(each)) for each in candidates(window)]
    return tuple(
        (start, end, min(int(100 * score) / 100, _HIGHEST))
        for start, end, score in scored
        if score >= _LOWEST
    )


def probability(candidate: Candidate) -> float:
    """Return the probability that a candidate is a password."""
    value = candidate.text[slice(*candidate.value)]
    total = _context_total(*context(candidate)) + _value_total(value, candidate.quote)
    return 1 / (1 + exp(-total / _STEP)) if total > -80 * _STEP else 0.0


@cache
def _weights() -> list[int]:
    return [ord(char) - _ZERO for char in "".join(read_rows("password_lines"))]


def written(weights: Iterable[float]) -> str:
    """Return weights as the text of the file that has them, one character each."""
    steps = [min(max(round(_STEP * weight), -_LARGEST), _LARGEST) for weight in weights]
    signs = "".join([chr(_ZERO + step) for step in steps])
    rows = [signs[at : at + _ROW] for at in range(0, len(signs), _ROW)]
    return "\n".join(["# The weights of the judge of passwords; see tests/training.", *rows, ""])


def features(candidate: Candidate) -> list[int]:
    """Return the numbers of the weights that decide."""
    value = candidate.text[slice(*candidate.value)]
    return _numbers(around(*context(candidate))) + _numbers(within(value, candidate.quote))


@remembered
def _context_total(*parts: str) -> int:
    return _total(around(*parts))


@remembered
def _value_total(value: str, quote: str) -> int:
    return _total(within(value, quote))


def _total(names: Iterable[str]) -> int:
    return sum(map(_weights().__getitem__, _numbers(names)))


def _numbers(names: Iterable[str]) -> list[int]:
    return [number(name) for name in set(names)]


def number(feature: str) -> int:
    """Return the number of the weight of a feature."""
    return crc32(feature.encode()) % SIZE
