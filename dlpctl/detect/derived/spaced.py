"""Wide gaps: blanks or a tab within a number or an address, as typed or as a page is copied.

Numbers with gaps between them are mostly rows of a table. They are read as one only right after a
word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dlpctl.detect.derived.parts import NEXT_PART, FirstPart
from dlpctl.regex import lazy

_GAP = lazy(rb"[ ]{2,8}|[ ]?\t[ ]?")
_LABELLED = lazy(rb"[g-zG-Z\x80-\xff][^0-9\n]{0,16}\Z")
_PART = lazy(rb"[0-9A-Z()-]+(?:[ ][0-9A-Z()-]+)*")
_LONGEST_LABEL = 24
_LONGEST_LINE = 512
_MOST_GAPS = 8


def spaced_breaks(data: bytes, parts: Iterable[FirstPart]) -> Iterator[tuple[int, int]]:
    """Yield the gaps that may break a value."""
    for start, following, is_last in parts:
        end = start + len(data[start:following].rstrip())
        is_address = data.find(b"@", start, end) >= 0
        if is_last:  # the value may go on below, with gaps there
            below = None if is_address else _PART.match(data, following)
            if below is None:
                continue
            end = below.end()
        if not (is_address or _LABELLED.search(data[max(start - _LONGEST_LABEL, 0) : start])):
            continue
        for _ in range(_MOST_GAPS):
            gap = _GAP.match(data, end)
            part = NEXT_PART.match(data, gap.end()) if gap else None
            if gap is None or part is None or is_address != (part["domain"] is not None):
                break
            if _is_column(data, *gap.span()):
                break
            yield gap.span()
            after = _PART.match(data, gap.end())
            if after is None:
                break
            end = after.end()


def _is_column(data: bytes, start: int, end: int) -> bool:
    """Return whether the line below has the same gap before a number."""
    line = data.rfind(b"\n", max(start - _LONGEST_LINE, 0), start) + 1
    below = data.find(b"\n", end, end + _LONGEST_LINE) + 1
    size = end - line
    same = data[below + start - line : below + size] == data[start:end]
    return bool(below) and same and data[below + size : below + size + 1].isdigit()
