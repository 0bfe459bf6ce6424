"""Regexes over the bytes of UTF-8, which compile faster than regexes over characters.

Over characters, Hyperscan unrolls each count of those longer than a byte, and each `s` and `k`
whose case is ignored, since these are also the long s and the Kelvin sign. Over bytes, more bytes
may be counted instead, and texts with these two letters are also searched with plain ones.
Otherwise, the bytewise regex matches wherever the original one does. It may also match more
characters than that one counts, or a part of a character.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from dlpctl.regex import lazy

_LONG_S, _KELVIN = "\u017f".encode(), "\u212a".encode()
_FOLDED = lazy(b"%s|%s" % (_LONG_S, _KELVIN))
SET = r"\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]"
_TOKEN = lazy(
    rf"(?P<set>{SET}|\\[dDsSwW]|\.|\\x\{{[0-9A-Fa-f]+\}}|[^\x00-\x7f])"
    r"|(?P<flags>\(\?(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]*))?(?P<end>[:)]))"
    r"|(?P<open>\((?:\?P?<\w+>)?)|(?P<close>\))"
    r"|(?P<plain>(?:\\x[0-7][0-9A-Fa-f]|\\[^xpPQCdDsSwW]|[^\\\[.()\x80-\U0010ffff])+)"
    r"|(?P<unknown>.)",
    re.DOTALL,
)
COUNT = lazy(r"([*+?])|\{(\d+)(,?)(\d*)\}")
_BOUNDARY = lazy(rf"(?:\(\?[a-z]+\))?\(\?:\^\|(?={SET}\)(?![*+?{{]))")
"""The start of a regex that begins with a boundary, for which the end of a character is enough."""
_CHARACTER = rf"(?:{SET}|\\[dDsSwW]|\\[^A-Za-z0-9]|[^\\\[\](){{}}|*+?.^$]|\.)"
_FEW_THEN_ANY = lazy(
    r"(?P<flags>\(\?[a-zA-Z]+\))?"
    rf"(?=(?:{_CHARACTER}(?:\+|\{{\d\}})?){{1,3}}{_CHARACTER}(?:\*|\{{0,\d*\}}))"
)
"""The start of a regex whose first few characters may precede a literal directly or not.

Vectorscan misses its matches where they do, unless something may precede them in the regex, too.
"""
_MEMBER = lazy(r"\[:\^?[a-z]+:\]|\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\.|.", re.DOTALL)
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7}
_ASCII, _LAST = 0x7F, 0x10FFFF
_WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
_NAMED = {
    r"\d": ((48, 57),),
    r"\s": ((9, 10), (12, 13), (32, 32)),
    r"\w": _WORD,
    "[:word:]": _WORD,
    "[:digit:]": ((48, 57),),
    "[:alpha:]": ((65, 90), (97, 122)),
    "[:alnum:]": ((48, 57), (65, 90), (97, 122)),
    "[:lower:]": ((97, 122),),
    "[:upper:]": ((65, 90),),
    "[:space:]": ((9, 13), (32, 32)),
    "[:punct:]": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "[:xdigit:]": ((48, 57), (65, 70), (97, 102)),
}
_LENGTHS = ((0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, _LAST))
"""The characters of two, three and four bytes."""
_FURTHER = ((0x80, 0xBF),)
_ANY_FURTHER = rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
"""Any character beyond ASCII of a valid text."""
_BLOCK = 128
_CASED = (*range(_ASCII + 1, 0x1C80, _BLOCK), *range(0x1D00, 0x1F000, _BLOCK))
"""The starts of the blocks of characters that may have cases, without historic forms of Cyrillic
letters, of which Hyperscan knows nothing.
"""

Ranges = Sequence[tuple[int, int]]


class UnknownError(ValueError):
    """A construct that only a regex over characters can have."""


class Flags(NamedTuple):
    ignores_case: bool = False
    dot_matches_all: bool = False

    def changed(self, on: str, off: str) -> Flags:
        return Flags(
            ("i" in on or self.ignores_case) and "i" not in off,
            ("s" in on or self.dot_matches_all) and "s" not in off,
        )


class FoldedText:
    """A text with plain letters for each long s and Kelvin sign."""

    def __init__(self, data: bytes) -> None:
        self.data = data.replace(_LONG_S, b"s").replace(_KELVIN, b"k")
        spans = [found.span() for found in _FOLDED.finditer(data)]
        self._shifts = list(accumulate((end - start - 1 for start, end in spans), initial=0))
        self._ends = [end - shift for (_, end), shift in zip(spans, self._shifts[1:], strict=True)]

    @classmethod
    def of(cls, data: bytes) -> FoldedText | None:
        """Return the folded text; None if there is nothing to fold."""
        if data.isascii() or (_LONG_S not in data and _KELVIN not in data):
            return None
        return cls(data)

    def original_positions(self, positions: Iterable[int]) -> Iterator[int]:
        """Yield the positions in the original of positions in `data`."""
        for position in positions:
            yield position + self._shifts[bisect_right(self._ends, position)]


def after_anything(regex: str) -> str:
    """Return a regex with the same ends of matches that Vectorscan misses nowhere in a text."""
    start = _FEW_THEN_ANY.match(regex)
    return f"{start['flags'] or ''}(?s:^|.)(?:{regex[start.end() :]})" if start else regex


def bytewise(regex: str) -> bytes | None:
    """Return a regex for Hyperscan over bytes; None if the regex has none."""
    try:
        return b"".join(_parts(regex))
    except UnknownError:
        return None


def _parts(regex: str) -> Iterator[bytes]:
    boundary = _BOUNDARY.match(regex)
    flags, groups, at = Flags(), [Flags()], 0
    while at < len(regex):
        token = _TOKEN.match(regex, at)
        assert token is not None
        written = token[0]
        if token["set"]:
            is_boundary = boundary is not None and at == boundary.end()
            count = COUNT.match(regex, token.end())
            at = count.end() if count else token.end()
            yield _counted(written, flags, count[0] if count else "", is_boundary=is_boundary)
            continue
        if token["unknown"]:
            raise UnknownError
        at = token.end()
        yield written.encode()
        if token["flags"]:
            changed = flags.changed(token["on"], token["off"] or "")
            if token["end"] == ":":
                groups.append(flags)
            flags = changed
        elif token["open"]:
            groups.append(flags)
        elif token["close"] and len(groups) > 1:
            flags = groups.pop()


@lru_cache(maxsize=1024)
def _counted(written: str, flags: Flags, counted: str, *, is_boundary: bool) -> bytes:
    """Return the regex of a set of characters and its count."""
    ranges = ranges_of(written, flags)
    plain = [(low, min(high, _ASCII)) for low, high in ranges if low <= _ASCII]
    further = [(max(low, _ASCII + 1), high) for low, high in ranges if high > _ASCII]
    if not further:
        return _byte_class(plain) + counted.encode()
    if is_boundary:
        return _byte_class([*plain, (0x80, 0xFF)])
    if further == [(_ASCII + 1, _LAST)] and not counted:
        return b"(?:%s|%s)" % (_byte_class(plain), _ANY_FURTHER)
    sequences = list(_sequences(further))
    count = COUNT.match(counted)
    if count and (count[1] in ("*", "+") or count[3]):
        parts = {pair for sequence in sequences for each in sequence for pair in each}
        most = int(count[4]) * max(map(len, sequences)) if count[4] else ""
        repeated = counted if count[1] else f"{{{count[2]},{most}}}"
        return _byte_class([*plain, *parts]) + repeated.encode()
    choices = [b"".join(map(_byte_class, sequence)) for sequence in sequences]
    if plain:
        choices.insert(0, _byte_class(plain))
    return b"(?:%s)%s" % (b"|".join(choices), counted.encode())


def _byte_class(ranges: Iterable[tuple[int, int]]) -> bytes:
    pairs = _joined(ranges)
    if not pairs:
        return b"[^\\x00-\\xff]"
    written = [
        b"\\x%02x" % low + (b"-\\x%02x" % high if high > low else b"") for low, high in pairs
    ]
    is_one = len(pairs) == 1 and pairs[0][0] == pairs[0][1]
    return written[0] if is_one else b"[%s]" % b"".join(written)


def _sequences(ranges: Ranges) -> Iterator[tuple[Ranges, ...]]:
    """Yield sets of bytes, one for each byte of the characters in the ranges, by their length."""
    finals: defaultdict[tuple[tuple[Ranges, ...], int], list[tuple[int, int]]] = defaultdict(list)
    for low, high in ranges:
        for shortest, longest in _LENGTHS:
            if low <= longest and high >= shortest:
                for lead, tail in _leads(max(low, shortest), min(high, longest)):
                    finals[tail[:-1], lead] += tail[-1]
    leads: defaultdict[tuple[tuple[Ranges, ...], Ranges], list[int]] = defaultdict(list)
    for (middle, lead), final in finals.items():
        leads[middle, tuple(_joined(final))].append(lead)
    for (middle, last), firsts in leads.items():
        yield (_joined((lead, lead) for lead in firsts), *middle, last)


def _leads(low: int, high: int) -> Iterator[tuple[int, tuple[Ranges, ...]]]:
    """Yield each first byte of the characters in a range with sets of the bytes that follow it.

    Where the second byte differs, the bytes after it are any.
    """
    first, last = (chr(code).encode("utf-8", "surrogatepass") for code in (low, high))
    size = len(first) - 1
    for lead in range(first[0], last[0] + 1):
        start = first[1:] if lead == first[0] else b"\x80" * size
        stop = last[1:] if lead == last[0] else b"\xbf" * size
        tail: list[Ranges] = []
        is_same = True
        for lowest, highest in zip(start, stop, strict=True):
            tail.append(((lowest, highest),) if is_same else _FURTHER)
            is_same = is_same and lowest == highest
        yield lead, tuple(tail)


def _joined(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sorted ranges that neither overlap nor touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return joined


def _complement(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    outside: list[tuple[int, int]] = []
    start = 0
    for low, high in _joined(ranges):
        if low > start:
            outside.append((start, low - 1))
        start = high + 1
    return [*outside, (start, _LAST)] if start <= _LAST else outside


def ranges_of(written: str, flags: Flags) -> Ranges:
    """Return the characters of a set or of one character."""
    if written == ".":
        return [(0, _LAST)] if flags.dot_matches_all else _complement([(10, 10)])
    is_negated = written.startswith("[^")
    inner = written[2 if is_negated else 1 : -1] if written.startswith("[") else written
    members = _MEMBER.findall(inner)
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(members):
        low, high = _member(members[at]), members[at + 1 : at + 3]
        if len(high) == 2 and high[0] == "-":
            ranges.append((low[0][0], _member(high[1])[-1][1]))
            at += 3
        else:
            ranges += low
            at += 1
    if flags.ignores_case:
        ranges += [*_other_cases(ranges)]
    return _complement(ranges) if is_negated else _joined(ranges)


def _member(written: str) -> Ranges:
    """Return the characters of one member of a class."""
    if written in _NAMED:
        return _NAMED[written]
    if written.startswith("[:"):
        raise UnknownError
    if not written.startswith("\\"):
        return [(ord(written), ord(written))]
    name = written[1:2]
    if name == "x":
        code = int(written[2:].strip("{}"), 16)
    elif name in "DSW":
        return _complement(_NAMED[written.lower()])
    elif name in _CONTROLS:
        code = _CONTROLS[name]
    elif name.isalnum():
        raise UnknownError
    else:
        code = ord(name)
    return [(code, code)]


def _other_cases(ranges: Ranges) -> Iterator[tuple[int, int]]:
    """Yield the other cases of the characters in the ranges; the long s is one of the s, but not
    the other way around.
    """
    for low, high in ranges:
        for code in range(low, min(high, _ASCII) + 1):
            other = ord(chr(code).swapcase())
            yield other, other
        if high > _ASCII:
            cases, codes = _cases()
            for code in codes[bisect_left(codes, low) : bisect_right(codes, high)]:
                yield from ((other, other) for other in cases[code])


@cache
def _cases() -> tuple[dict[int, set[int]], list[int]]:
    """Return the cases of each character beyond ASCII that has several, and these characters."""
    cases: dict[int, set[int]] = {}
    for start in _CASED:
        block = "".join(map(chr, range(start, start + _BLOCK)))
        if block.lower() == block.upper():
            continue
        for char in block:
            forms = {ord(form) for form in (char, char.lower(), char.upper()) if len(form) == 1}
            forms = {form for form in forms if form > _ASCII}
            if len(forms) > 1:
                known = forms.union(*(cases.get(form, ()) for form in forms))
                cases |= dict.fromkeys(known, known)
    for char, plain in ("\u017f", "sS"), ("\u212a", "kK"):
        cases[ord(char)] = set(map(ord, plain))
    return cases, sorted(cases)
