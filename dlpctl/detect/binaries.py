"""Search the strings of binary data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.texts.binaries import BLANK

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.types import Finding

_AS_LINES = bytes.maketrans(bytes((BLANK,)), b"\n")


def scan_strings(detector: Detector, strings: bytes, min_score: float) -> list[Finding]:
    """Return the findings in strings. Where one continues beyond its string, the strings are
    searched as lines: in random bytes, a label often precedes unrelated strings.
    """
    found: list[Finding] = []
    for each in detector.scan_bytes(strings, min_score):
        if strings.find(BLANK, each.start, each.end) < 0:
            found.append(each)
            continue
        first = strings.rfind(BLANK, 0, each.start) + 1
        last = strings.find(BLANK, each.end)
        lines = strings[first : last if last >= 0 else None].translate(_AS_LINES)
        for found_in_lines in detector.scan_bytes(lines, min_score):
            start, end = found_in_lines.start + first, found_in_lines.end + first
            is_within = strings.find(BLANK, start, end) < 0
            if is_within and each.start <= start < each.end:
                found.append(found_in_lines._replace(start=start, end=end))
    return found
