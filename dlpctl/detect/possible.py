"""Count the findings that a search misses at its threshold but high sensitivity finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.types import Sensitivity

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector

LONGEST = 1 << 16
"""The maximum length in bytes of a text that is searched again: texts that a user
writes or tries.
"""
_FLOOR = Sensitivity.HIGH.min_score


def count_possible(detector: Detector, data: bytes, min_score: float) -> int:
    """Return the number of findings below `min_score` at high sensitivity; -1 if the text is too
    long to count them.
    """
    if min_score <= _FLOOR:
        return 0
    if len(data) > LONGEST:
        return -1
    return sum(finding.score < min_score for finding in detector.scan_bytes(data, _FLOOR))


def possible_note(count: int, *, at_least: bool = False) -> str:
    """Return the sentence about possible findings that were left out, or an empty text."""
    if count <= 0:
        return ""
    noun = "finding" if count == 1 else "findings"
    least = "at least " if at_least else ""
    return f"{least}{count:,} possible {noun} below the threshold: --sensitivity high"
