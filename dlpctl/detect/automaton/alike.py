"""Texts that differ in digits alone, such as the values of a column of numbers, or in letters:
patterns to which these are alike search one of them for all.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import accumulate

from dlpctl.regex import lazy

_LINE_END = b"\n"
_ZEROS = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
_SHAPE = bytes.maketrans(
    b"123456789bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0" * 9 + b"a" * 25 + b"A" * 25,
)
_CLASS = lazy(r"\[\^?\]?(?:\\.|[^\]])*\]")
_NOT_NAMED = lazy(
    r"\\x\{(?![3-7][0-9A-Fa-f]\})[0-9A-Fa-f]+\}|\\[^x0-9]|(?<!\\x)\{[0-9]+(?:,[0-9]*)?\}"
    r"|\(\?(?:[is]*:|P<\w+>)"
)
"""An escape of another character, a count, or the start of a group."""
_ALL_DIGITS, _ALL_ALIKE = lazy("0-9"), lazy("0-9|A-Z|a-z")
_DIGIT, _LETTER_OR_DIGIT = lazy("[0-9]"), lazy("[0-9A-Za-z]")


def treats_digits_alike(regex: str) -> bool:
    """Return whether a digit may be any other, wherever the regex matches: it names none."""
    return not _DIGIT.search(_named(regex, _ALL_DIGITS))


def treats_letters_alike(regex: str) -> bool:
    """Return whether a digit, and a letter of either case, may be any other as well."""
    return not _LETTER_OR_DIGIT.search(_named(regex, _ALL_ALIKE))


def _named(regex: str, alike: re.Pattern[str]) -> str:
    """Return what a regex says without the ranges in classes that are complete."""

    def without(written: re.Match[str]) -> str:
        return alike.sub("", written[0])

    return _NOT_NAMED.sub("", _CLASS.sub(without, regex))


def shape(text: bytes) -> bytes:
    """Return a text in which all digits are the same, and all letters of either case."""
    return text.translate(_SHAPE)


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
