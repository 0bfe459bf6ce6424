"""Groups of a number in cells or items of their own: a card in four of them, an SSN in three.

Numbers beside each other are mostly data. They are read as one number right after a label, below
headers that name it, and as cards in a table of nothing else, each with its check digit. Groups of
an IBAN, which has check digits, and of a phone number, which starts with a plus sign, need no
label.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from dlpctl.detect.derived.interface import DerivedText
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_APART = r"[\"']?(?:[ \t]*[,;|][ \t]*(?:\r?\n[ \t]+)?|\t|[ ]{2,8})[\"']?"
_TAG = r"<[A-Za-z][0-9A-Za-z:_-]*>"
_NEXT_KEY = (
    r"[\"']?,?(?:[ ]?\r?\n[ \t]*|[ ]|[&;][ ]?)[\"']?[A-Za-z][A-Za-z_ .-]{0,24}"
    r"(?:[1-9]|\[[0-9]?\])?[\"']?[ ]?[:=,][ ]?[\"']?"
)
"""A separator of groups that have keys of their own, with the next key."""
_SIGN = (
    rf"(?:[\"'][^<>\n]*>[ \t\r\n]*<input[^<>\n]* value=[\"']"
    rf"|</[0-9A-Za-z:_-]+>[ \t\r\n]*{_TAG}|[\"'][ \t]+[A-Za-z][0-9A-Za-z:_-]*=[\"']"
    rf"|{_NEXT_KEY}|{_APART}|[\"']?\r?\n[ \t]*(?:-[ ][\"']?)?"
    r"|\][ ]?\[|\)[ ]?\(|[ ][./:-][ ]|[./:+*=#~_'])"
)
"""The text between groups, also in lines, and in elements and attributes of their own."""
_CARD = rf"[0-9]{{4}}(?:{_SIGN}[0-9]{{4}}){{3}}|3[47][0-9]{{2}}{_SIGN}[0-9]{{6}}{_SIGN}[0-9]{{5}}"
_SSN = rf"[0-9]{{3}}{_SIGN}[0-9]{{2}}{_SIGN}[0-9]{{4}}"
_IBAN = rf"[A-Z]{{2}}[0-9]{{2}}(?:{_SIGN}[0-9A-Z]{{4}}){{2,7}}(?:{_SIGN}[0-9A-Z]{{1,3}})?"
_PHONE = (
    rf"[+][1-9][0-9]{{0,2}}{_APART}\(?[0-9]{{1,5}}\)?(?:{_APART}[0-9]{{2,5}}){{1,3}}"
    r"(?:-[0-9]{2,4})?"
)
_GROUPS = rf"(?:\b({_CARD})|\b{_SSN}|\b({_IBAN})|({_PHONE}))\b"
_search = finder(_GROUPS, "groups")
GATE = (
    rf"(?:[0-9]{{3}}|[A-Z][0-9]{{2}}){_SIGN}(?:[0-9]{{2}}|[0-9A-Z]{{4}}|[0-9]{{6}}){_SIGN}"
    rf"|[+][1-9][0-9]{{0,2}}{_APART}\(?[0-9]"
)
"""Matches wherever two groups are, each before a sign."""
_OF_CARDS = (
    r"(?i:(?<![a-z])(?:card|cc|pan|visa|mastercard|amex|kredit|kart|carte|carta|tarjeta|cart\xe3o)"
    r"|(?:card|karte)(?![a-z]))"
)
_OF_SSNS = r"(?i:(?<![a-z])(?:ssn|soc(?:ial)?[ _-]?sec)|ssn(?![a-z]))"
_TO_VALUE = r"[^0-9\n]{0,40}(?:[\[({:=>][ \t]*\r?\n[^0-9\n]{0,40})?\Z"
_NAMES = {True: lazy(_OF_CARDS), False: lazy(_OF_SSNS)}
_RIGHT_BEFORE = {
    is_card: lazy(rf"{label}\w*(?:\[[0-9]?\])?{_TO_VALUE}")
    for is_card, label in ((True, _OF_CARDS), (False, _OF_SSNS))
}
_BETWEEN = lazy(_APART)
_BETWEEN_GROUPS = lazy(_SIGN.encode())
_MAY_BE_LABEL = lazy(rb"[A-Za-z\x80-\xff]")
_MARKUP = lazy(rb"\A[^<>]*>|<[^<>]*(?:>|\Z)")
_LETTER = lazy(r"[^\W\d_]")
_LONGEST_LABEL, _LONGEST_MARKUP, _LONGEST_ROW = 80, 320, 2048
_LEAST_ROWS = 3
"""The rows of a table that are cards without a label: numbers are all that in one of 8,000."""
_FRAME = b" \t\r|;,[]()\"'"
_LONGEST_FRAME = 16
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


class _Number(NamedTuple):
    start: int
    end: int
    text: bytes


class _Headers(NamedTuple):
    end: int
    """The end of their line; -1 if it is too long or the last one."""
    cells: list[str]


class GroupedText(DerivedText):
    """Numbers whose groups are in cells or items of their own, each after its label."""

    def __init__(self, numbers: list[_Number]) -> None:
        self._spans = [(number.start, number.end) for number in numbers]
        self._starts = array("q")
        text = bytearray()
        for number in numbers:
            self._starts.append(len(text))
            text += number.text + b"\n\n"
        self.data = bytes(text)

    @classmethod
    def of(cls, data: bytes) -> GroupedText | None:
        """Return the numbers that are written in groups; None without any."""
        numbers = list(_numbers(data))
        return cls(numbers) if numbers else None

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of all groups of a number."""
        return self._spans[bisect_right(self._starts, start) - 1]


def openings(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of groups that may be those of a number."""
    search, size = _search(), len(data)
    span = search(data, 0, size)[0]
    while span[0] >= 0:
        yield span
        span = search(data, span[1], size)[0]


def _numbers(data: bytes) -> Iterator[_Number]:
    search, size = _search(), len(data)
    rows: list[_Number] = []
    """The rows so far of a table that has nothing else."""
    searched = 0
    headers = _headers(data, 0)
    while True:
        (start, end), (card, _), (iban, _), (phone, _) = search(data, searched, size)[:4]
        if rows and (start < 0 or data[rows[-1].end : start].strip(_FRAME) != b"\n"):
            if len(rows) >= _LEAST_ROWS and all(_is_card(row.text) for row in rows):
                yield from rows
            rows = []
        if start < 0:
            return
        if (blank := data.rfind(b"\n\n", searched, start)) >= 0:
            headers = _headers(data, blank + 2)
        if iban >= 0 or phone >= 0:
            label = b"iban " if iban >= 0 else b"phone "
            yield _Number(start, end, label + b" ".join(_groups(data[start:end])))
            searched = end
            continue
        digits = _groups(data[start:end])
        is_card = card >= 0
        text = b"card " + b" ".join(digits) if is_card else b"ssn " + b"-".join(digits)
        number = _Number(start, end, text)
        if _is_labelled(data, number, headers, len(digits), is_card=is_card):
            yield number
        elif is_card and _is_row(data, start, end):
            rows.append(number)
        searched = end


def _groups(number: bytes) -> list[bytes]:
    return [group.strip(b"()") for group in _BETWEEN_GROUPS.split(number)]


def _headers(data: bytes, start: int) -> _Headers:
    """Return the cells of the first line of a table, if they name cards or SSNs."""
    end = data.find(b"\n", start, start + _LONGEST_ROW)
    line = data[start : max(end, start)].decode("utf-8", "ignore")
    names = any(label.search(line) for label in _NAMES.values())
    return _Headers(end, _BETWEEN.split(line) if names else [])


def _is_labelled(
    data: bytes, number: _Number, headers: _Headers, groups: int, *, is_card: bool
) -> bool:
    """Return whether a label is right before a number, or headers above name all of its groups."""
    start = number.start
    before = data[max(start - _LONGEST_LABEL, 0) : start]
    labels = [before]
    if b"<" in before:
        labels.append(_MARKUP.sub(b"", data[max(start - _LONGEST_MARKUP, 0) : start]))
    if any(
        _MAY_BE_LABEL.search(label)
        and _RIGHT_BEFORE[is_card].search(label.decode("utf-8", "ignore"))
        for label in labels
    ):
        return True
    if not headers.cells or not 0 <= headers.end < start:
        return False
    line = data.rfind(b"\n", max(start - _LONGEST_ROW, 0), start) + 1
    column = len(_BETWEEN.findall(data[line:start].decode("utf-8", "ignore")))
    first, *others = headers.cells[column : column + groups] or [""]
    names = _NAMES[is_card].search
    return bool(line and names(first)) and not any(
        _LETTER.search(header) and not names(header) for header in others
    )


def _is_row(data: bytes, start: int, end: int) -> bool:
    """Return whether a line has nothing else."""
    if data.find(b"\n", start, end) >= 0:
        return False
    before = data[max(start - _LONGEST_FRAME, 0) : start].rpartition(b"\n")[2]
    after = data[end : end + _LONGEST_FRAME].partition(b"\n")[0]
    return not (before + after).strip(_FRAME)


def _is_card(text: bytes) -> bool:
    """Return whether digits start like those of a card and have its check digit."""
    digits = [int(each) for each in reversed(text.decode()) if each.isdigit()]
    total = sum(digits[::2]) + sum(_DOUBLED[digit] for digit in digits[1::2])
    return digits[-1] in range(2, 7) and total % 10 == 0
