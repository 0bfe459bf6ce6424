"""Decide whether a value may continue from one line of a text to the next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from dlpctl.formats.interface import Piece, Segment

_CONTINUES = frozenset("-@._/+=#:&")
_UNFINISHED = re.compile(r"\w@[\w-]*$")
"""An address whose domain has no dot yet."""
_DOMAIN_END = re.compile(r"\.[a-z]{2,24}\.?$")
"""The end of an address, which may end a sentence."""
_SENTENCE_END = re.compile(r"(?:^|\s)[a-z]{2,}\.$|[A-Za-z]:$")
"""The end of a sentence, or of a label, after which a word or a number starts."""
_NUMBER_AFTER_WORD = re.compile(r"(?:^|\s)[A-Za-z]?[a-z]+\n(?=[0-9+(])[^\s@]*(?:\s|$)")
_NARROW = 24
"""Columns with up to this number of characters split words anywhere."""
_NEAR = 4
"""The number of lines on each side that determine the length of a full line."""


def goes_on(lines: Sequence[str], number: int, glue: str) -> bool:
    """Return whether a line may continue in the next one, joined by `glue`."""
    if number + 1 >= len(lines):
        return False
    line, following = lines[number], lines[number + 1]
    if not glue and _starts_anew(line, following):
        return False
    if _UNFINISHED.search(line) or line[-1] in _CONTINUES or following[0] in _CONTINUES:
        return True
    near = lines[max(0, number - _NEAR) : number + _NEAR + 1]
    if len(line.split()) == 1:  # a cell of a column
        near = [each for each in near if len(each.split()) < 2]
    longest = max(map(len, near))
    full = len(line) > 0.6 * longest
    if glue:
        return full
    before, after = line.split(), following.split()
    if len(before) == 1:
        # A word that fills a line may continue; a column of words that look alike is a list.
        is_list = len(after[0]) >= len(before[0]) and _signs(after[0]) == _signs(before[0])
        return full and not (len(after) == 1 and is_list)
    # Text wraps between words, so two plain words are separate; a value of digits and signs may be
    # split.
    if longest <= _NARROW:
        return full and not (before[-1].isalpha() and after[0].isalpha())
    plain = before[-1].isalpha(), after[0].isalpha()
    is_key = before[-1].isupper() and after[0].isupper() and not all(plain)
    return full and (is_key or not any(plain))


def joined_lines(parts: Iterable[Piece | str], segments: Sequence[Segment]) -> list[Piece | str]:
    """Return parts of a text without the line ends in them at which a value may continue; nothing
    if there are none.
    """
    lines: list[list[Piece | str]] = []
    for is_end, line in groupby(parts, key=lambda part: part == "\n"):
        if not is_end:
            lines.append([*line])
    read = ["".join(_text_of(part, segments) for part in line).strip() for line in lines]
    pairs = pairwise(read)
    joined = [
        bool(line and following) and goes_on(read, number, "")
        for number, (line, following) in enumerate(pairs)
    ]
    if not any(joined):
        return []
    ends = ["" if is_joined else "\n" for is_joined in [*joined, False]]
    return [item for line, end in zip(lines, ends, strict=True) for item in (*line, end)]


def _text_of(part: Piece | str, segments: Sequence[Segment]) -> str:
    return part if isinstance(part, str) else segments[part[0]].text[slice(*part[1:])]


def _starts_anew(line: str, following: str) -> bool:
    """Return whether a line ends with an address, a sentence, a label or a word that no value
    has.
    """
    if _DOMAIN_END.search(line) and following[0].isalnum() and not following[0].islower():
        return True
    if _SENTENCE_END.search(line):
        return following[0].isalnum() and not (line[-1] == "." and following[0].islower())
    return _NUMBER_AFTER_WORD.search(f"{line}\n{following}") is not None


def _signs(word: str) -> set[str]:
    return {"9" if each.isdigit() else "a" if each.isalpha() else each for each in word}
