"""Anchors: short texts that one cheap pass finds. Each match of a gated pattern contains an anchor,
so that gated patterns are only searched around anchors.

Without anchors, dozens of patterns of digits and letters would be tried at every byte of a text.
Source code and prose contain few anchors, so that gated patterns cost next to nothing there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

ANCHORS = (
    "[A-ZÑ&] ?[0-9]{2}",
    "[0-9][A-Z]{2}",
    "[0-9]{3}[ .)/:,;|+–-]{1,3}[0-9]{2}",
    r"[0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-]|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.",
    "[1-9A-HJ-NP-Za-km-z]{26}",
    r"(?:^|[^0-9A-Za-z_.\-/+])0[1-9]\)?(?: ?[/-] ?| )(?:[0-9]{5}|[0-9]{2,4}[ .-][0-9]{2})",
    "[0-9]{2}(?: [0-9]{2}){3}",
    "[a-z][0-9]{12}",
)
_NUMBER = (
    r"(?:[0-9](?:[ ./-]?[0-9]){3}|[0-9][A-Za-z]{1,4}[0-9]|[0-9][A-Za-z]{2}|[0-9]{2}[ -]?[A-Za-z]"
    r"|[A-Za-z]{3}[0-9]|[A-Za-z][0-9]{3}|[A-Z]{2} ?[0-9]|[A-Z][ -]?[0-9]{2}|[0-9]{3}[А-Я]"
    r"|[0-9] ?[ء-ی]|[Hh][Rr][ABab] ?[0-9]|[ぁ-ゖ] ?[0-9])[0-9A-Za-z]*(?:[^0-9A-Za-z]|$)"
)
NUMBERS = (_NUMBER,)
"""Anchors of patterns with labels, whose values are numbers: these are rare in source code. There
is one anchor at the end of each number, since each anchor costs a call.
"""
_APART = b"\n"


class Surroundings:
    """The surroundings of some positions of a text, joined into a separate text."""

    def __init__(self, data: bytes, ends: Iterable[int], before: int, after: int) -> None:
        """Take up to `before` and `after` bytes around each of the `ends`, in
        complete characters.
        """
        self._windows: list[tuple[int, int]] = []
        first = last = -1
        for end in sorted(ends):
            if end - before > last:
                self._add(data, first, last)
                first = end - before
            last = end + after
        self._add(data, first, last)
        self.data = _APART.join([data[first:last] for first, last in self._windows])
        self._starts = list(
            accumulate((last - first + 1 for first, last in self._windows), initial=0)
        )

    def _add(self, data: bytes, first: int, last: int) -> None:
        if last >= 0:
            self._windows.append(
                (character_start(data, max(0, first)), character_start(data, last))
            )

    def positions_in_text(self, positions: Sequence[int]) -> Iterator[int]:
        """Yield the positions in the text of ascending positions in `data`."""
        first = 0
        while first < len(positions):
            position = positions[first]
            window = bisect_left(self._starts, position) - 1 if position else 0
            following = bisect_right(positions, self._starts[window + 1], first)
            shift = self._windows[window][0] - self._starts[window]
            yield from [position + shift for position in positions[first:following]]
            first = following


def character_start(data: bytes, position: int) -> int:
    """Return the start of the character that contains the position."""
    while 0 < position < len(data) and data[position] & 0xC0 == 0x80:
        position -= 1
    return position
