"""Keys of several words as a derived text: `patientSsn1 = "..."` reads `patient Ssn: ...`.

Programs join the words of a key, and put whose value it is before the label, and numbers or words
such as `Value` after it. Labels are written in plain words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.columns import Columns
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_HUMPED = r"[A-Za-z][0-9A-Za-z_-]*[a-z][A-Z][A-Za-z]+[0-9]{0,2}"
_NUMBERED = r"[A-Za-z][0-9A-Za-z_-]*[A-Za-z][_-]?[0-9]{1,2}"
_TYPE = r"[A-Za-z]{2,12}"
_IS = (
    rf"[\"'`]?\]?(?:[ ]?(?:=>|:=|[:=])(?: ?{_TYPE} ?=)?|>|[\"'] (?:value|content)="
    r"|\([\"'`]|[\"'], ?[\"']?)[ ]?\[?\\{0,3}[\"'`]?"
)
_BEFORE_DIGIT = r"[^0-9\"'`<>,;\n\\]*"
_FIRST_DIGIT = r"[^0-9\"'`<>,;\n\\\s]*[ ]?[0-9]"
"""At most a word is before the first digit of a value: most other text is a sentence."""
_FURTHER_DIGITS = 3
_DIGITS = rf"{_FIRST_DIGIT}(?:{_BEFORE_DIGIT}[0-9]){{{_FURTHER_DIGITS}}}"
_KEYED = rf"({_HUMPED}|{_NUMBERED})\\{{0,3}}{_IS}({_DIGITS})"
_search = finder(_KEYED, "keys of several words")
GATE = (
    r"(?:[a-z][A-Z][A-Za-z]+[0-9]{0,2}|[A-Za-z][_-]?[0-9]{1,2})\\{0,3}"
    rf"{_IS}{_FIRST_DIGIT}"
)
_VALUE = lazy(rb"[^\"'`<>,;\n\\]{1,80}")
_LONGEST_KEY = 48
_OF_SECRETS = lazy(rb"key|secret|token|passw|credential|login|auth", re.IGNORECASE)
"""Words of keys whose patterns read keys of several words themselves."""


def compound_text(data: bytes, words: HeaderWords) -> Columns | None:
    """Return the values whose keys name something sensitive, or None without any."""
    found = Cells([], [], [])
    for label, _, start in _keyed(data, words):
        if value := _VALUE.match(data, start):
            found.headers.append(label)
            found.starts.append(start)
            found.texts.append(value[0].rstrip())
    return Columns([found]) if found.starts else None


def in_plain_words(label: bytes, words: HeaderWords) -> bytes:
    """Return the label of a column with its key as the words that a derived text would have."""
    for name, (start, end), _ in _keyed(label + b"0" * (_FURTHER_DIGITS + 1), words):
        return label[:start] + name + label[end:]
    return label


def openings(data: bytes, starts: Sequence[int]) -> Iterator[int]:
    """Yield where keys may be within values, which start at these positions after their labels."""
    search, size = _search(), len(data)
    position = 0
    while (groups := search(data, position, size))[0][0] >= 0:
        start, position = groups[0]
        own = starts[bisect_right(starts, position - 1) - 1]
        if start < own:  # the key is a label of the column
            position = own
        else:
            yield start


def _keyed(data: bytes, words: HeaderWords) -> Iterator[tuple[bytes, tuple[int, int], int]]:
    """Yield the labels that keys name, the spans of the keys, and where their values start."""
    search, size = _search(), len(data)
    position = 0
    while (groups := search(data, position, size))[0][0] >= 0:
        (_, position), (start, end), (first, _) = groups
        start = max(start, end - _LONGEST_KEY)
        label = words.name(data[start:end])
        if label and not _OF_SECRETS.search(label):
            yield label, (start, end), first
