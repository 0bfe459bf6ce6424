"""Divided values: the groups of a card number or an IBAN in cells or items of their own.

Only quoted groups of the usual lengths count, and few in a row: most numbers beside each other are
those of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.linear import NOTHING, Find, compile_regex, finders
from dlpctl.regex import lazy

_FIRST = r"(?:[0-9]{4}|[A-Z]{2}[0-9]{2})"
_START = rf"[\"']{_FIRST}[\"']\s*[,;|\t]\s*[\"'][0-9A-Z]{{4}}"
"""The start of groups, which is searched for quickly."""
_NEXT = rb"(?:\s{0,80}+[,;|]\s{0,80}+|\t)"
_GROUPS = lazy(
    rb"([\"'])%b\1(?:%b\1[0-9A-Z]{4,6}\1){1,9}+(?:%b\1[0-9]{1,3}\1)?+"
    % (_FIRST.encode(), _NEXT, _NEXT)
)
_BETWEEN = lazy(rb"[\"']%b[\"']" % _NEXT)
_FEWEST_DIGITS = 12
_DIGITS = b"0123456789"


class DividedText(DecodedText):
    """A text with the groups of numbers joined that are quoted one by one."""

    def __init__(self, data: bytes, groups: Iterable[re.Match[bytes]]) -> None:
        self._firsts: set[int] = set()
        runs: list[tuple[int, int, bytes]] = []
        for found in groups:
            self._firsts.add(found.start() + 1)
            runs += ((*between.span(), b" ") for between in _BETWEEN.finditer(data, *found.span()))
        super().__init__(*copy_around(data, runs))

    @classmethod
    def joined(cls, data: bytes) -> DividedText | None:
        """Return the text with groups of numbers joined; None without any."""
        if _start_search()(data, 0, len(data))[0] == NOTHING:
            return None
        groups = list(_GROUPS.finditer(data))
        return cls(data, groups) if groups else None

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the original of a long number that starts with the first group."""
        if sum(byte in _DIGITS for byte in self.data[start:end]) < _FEWEST_DIGITS:
            return None
        span = super().original_span(start, end)
        return span if span and span[0] in self._firsts else None


@cache
def _start_search() -> Find:
    return finders(compile_regex(_START, "divided values"))[0]
