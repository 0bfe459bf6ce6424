"""Decide whether a value may continue from one line of a text to the next."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CONTINUES = frozenset("-@._/+=#:&")
_UNFINISHED = re.compile(r"\w@[\w-]*$")
"""An address whose domain has no dot yet."""
_NARROW = 24
"""Columns with up to this number of characters split words anywhere."""
_NEAR = 4
"""The number of lines on each side that determine the length of a full line."""


def goes_on(lines: Sequence[str], number: int, glue: str) -> bool:
    """Return whether a line may continue in the next one, joined by `glue`."""
    if number + 1 >= len(lines):
        return False
    line, following = lines[number], lines[number + 1]
    if _UNFINISHED.search(line) or line[-1] in _CONTINUES or following[0] in _CONTINUES:
        return True
    longest = max(map(len, lines[max(0, number - _NEAR) : number + _NEAR + 1]))
    full = len(line) >= 0.6 * longest
    if glue:
        return full
    before, after = line.split(), following.split()
    if len(before) == 1:
        # A word that fills a line may continue; a column of such words is a list.
        return full and not (len(after) == 1 and len(after[0]) >= len(before[0]))
    # Text wraps between words, so two plain words are separate; a value of digits and signs may be
    # split.
    if longest <= _NARROW:
        return full and not (before[-1].isalpha() and after[0].isalpha())
    plain = before[-1].isalpha(), after[0].isalpha()
    is_key = before[-1].isupper() and after[0].isupper() and not all(plain)
    return full and (is_key or not any(plain))
