"""Lines that differ in digits alone, such as the values of a column of numbers: patterns to which
all digits are alike search one of them for all.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import accumulate

from dlpctl.regex import lazy

_LINE_END = b"\n"
_ZEROS = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
_CLASS = lazy(r"\[\^?\]?(?:\\.|[^\]])*\]")
_NO_DIGIT = lazy(r"\\x\{(?!3[0-9]\})[0-9A-Fa-f]+\}|\\[^x0-9]|(?<!\\x)\{[0-9]+(?:,[0-9]*)?\}")
"""An escape of another character, or a count."""
_DIGIT = lazy("[0-9]")


def treats_digits_alike(regex: str) -> bool:
    """Return whether a digit may be any other, wherever the regex matches: it names none."""
    return not _DIGIT.search(_NO_DIGIT.sub("", _CLASS.sub(_without_all_digits, regex)))


def _without_all_digits(written: re.Match[str]) -> str:
    return written[0].replace("0-9", "")


class AlikeLines:
    """The lines of a text that differ in more than digits, as a text of their own."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.translate(_ZEROS).split(_LINE_END)
        self._distinct = list(dict.fromkeys(self._lines))
        self.data: bytes = _LINE_END.join([*self._distinct, b""])

    def ends_in_text(self, found: Mapping[int, list[int]]) -> Iterator[tuple[int, list[int]]]:
        """Yield the ends of trigger matches in all lines, from those in `data`."""
        if not found:
            return
        ends = list(accumulate((len(line) + 1 for line in self._distinct), initial=0))
        by_pattern: list[tuple[int, list[tuple[bytes, int]]]] = []
        starts: dict[bytes, list[int]] = {}
        for index, positions in found.items():
            in_lines: list[tuple[bytes, int]] = []
            for position in positions:
                number = bisect_left(ends, position) - 1
                line = self._distinct[number]
                starts[line] = []
                in_lines.append((line, position - ends[number]))
            by_pattern.append((index, in_lines))
        start = 0
        for line in self._lines:
            if line in starts:
                starts[line].append(start)
            start += len(line) + 1
        for index, in_lines in by_pattern:
            yield index, sorted(first + at for line, at in in_lines for first in starts[line])
