"""Joined lines: values that a line end breaks, as a reader sees them.

A line end within a number or a mail address is removed, once without and once with a space instead.
Markers of a continued line are removed with it: those of quoted lines, comments and differences,
and the quotes of a string that a program writes in parts. Only values that the line end breaks are
reported, and numbers only with a word before them in their line: numbers below each other are a
column, and rows of hexadecimal ones a table.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from dlpctl.detect.automaton.gates import MayMatch, all_open
from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.derived.fragments import GATE as FRAGMENTS
from dlpctl.detect.derived.fragments import fragment_breaks
from dlpctl.detect.derived.parts import GATE as PARTS
from dlpctl.detect.derived.parts import first_parts
from dlpctl.detect.derived.prefixed import prefixed_breaks
from dlpctl.detect.derived.spaced import spaced_breaks
from dlpctl.detect.derived.stacked import MARKED, stacked_breaks
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_STRINGS_JOINED = (
    r"[\"'`][ \t]*(?:(?:[+.&]|\|\|)[ \t\r_`\\]*(?:\n[ \t]*)?|(?:\.{3}[ \t]*)?(?:\r?\n[ \t]*)?)"
    r"[\"'`][ \t]*"
)
_LINE_ENDS = ("\n", "\r", "\f", "\x85", "\u2028", "\u2029")
"""Line ends of systems and programs of all times, and the end of a page."""
_LINES_JOINED = (
    rf"(?:[ \t\r`^&%=\\]|\\c)*(?:\n\f?|{'|'.join(_LINE_ENDS[1:])})\r?[ \t>]*"
    r"(?:(?://|--|[#*%;+&]|[1-9] CON[CT] )[ \t]*)?"
)
_MARKS_OF_LINES = (
    r"<(?:br|BR) ?/?>|(?:\\{1,4}r)?\\{1,4}[nN](?:\\{1,4}t)?|\\\.br\\|\?2[0-9]|#012"
    r"|\$?\{[\"'`] ?[\"'`]\}(?:[ \t\r]*\n[ \t]*)?"
)
"""Line ends that a text spells: in HTML, strings, captions, logs, messages of clinics and banks;
and empty strings within the text of a template.
"""
_BREAK = rf"(?:[ \t]*(?:{_STRINGS_JOINED}|(?:{_MARKS_OF_LINES})[ \t]*)|{_LINES_JOINED})"
"""A line end with what is around it between parts of a value."""
_PART = r"(?:[0-9(-]|\+[ 0-9(]|[A-Z][A-Z0-9]{3}\b)"
_NUMBER_GOES_ON = rf"(?:[0-9A-Z)./]|[0-9A-Z)]-){_BREAK}{_PART}"
"""A line end between what may be parts of a number."""
_number_search = finder(_NUMBER_GOES_ON, "joined lines")
OF_NUMBERS = _NUMBER_GOES_ON
_LABEL = r"(?:[Mm]ail|MAIL)(?: [Aa]ddress)?[ \t]*[:=][ \t]*"
_NAME_WITH_DOT, _NAME = r"[\w+-]{1,32}\.[\w.+-]{1,32}", r"[\w.+-]{1,64}"
_ADDRESSEE = (
    r"(?:[Mm]ail|MAIL|\b(?:[Tt]o|at|from|an|via|bei))[ \t:=]{1,4}"
    r"[a-z0-9_]{0,32}[.0-9][\w.+-]{0,64}"
)
"""The name in an address after a word for it: lines of programs start with an @, too."""
OF_ADDRESSES = (
    rf"@(?:[\w.-]{{0,64}}[.-])?(?:{_BREAK})[a-z0-9]|@[\w.-]{{1,64}}(?:{_BREAK})\.[a-z]"
    rf"|{_ADDRESSEE}(?:{_BREAK})@[a-z0-9][\w-]{{0,62}}\.[a-z]"
    rf"|{_LABEL}(?:{_NAME_WITH_DOT}(?:{_BREAK}){_NAME}@|{_NAME}@[\w-]{{1,64}}(?:{_BREAK})[a-z0-9-])"
)
"""Gates of line ends in numbers and in addresses, of which a labelled one may end anywhere."""
_AT_BREAK = lazy(rb"%b(?=%b)" % (_BREAK.encode(), _PART.encode()))
_IN_ADDRESS = lazy(
    rb"@(?:[\w.-]{0,64}[.-])?(?P<end>%(end)b)[a-z0-9]|@[\w.-]{1,64}(?P<before>%(end)b)\.[a-z]"
    rb"|%(addressee)b(?P<local>%(end)b)(?=@[a-z0-9][\w-]{0,62}\.[a-z])"
    rb"|%(label)b(?:%(dotted)b(?P<name>%(end)b)(?=%(name)b@)"
    rb"|%(name)b@[\w-]{1,64}(?P<domain>%(end)b)[a-z0-9-])"
    % {
        b"end": _BREAK.encode(),
        b"label": _LABEL.encode(),
        b"dotted": _NAME_WITH_DOT.encode(),
        b"name": _NAME.encode(),
        b"addressee": _ADDRESSEE.encode(),
    }
)
_WORD = lazy(rb"[g-zG-Z\x80-\xff]|[A-Fa-f][,;:=.\"'()]")
"""Letters that hexadecimal numbers lack, or do not have before a sign."""
_CELL, _QUOTED_CELL = (
    lazy(rb"[^\n][,;|\t]%b[0-9A-Z()+-][0-9A-Z()+./ -]*\Z" % quote) for quote in (b"", b"[\"']")
)
"""The end of a row in a table, whose last cell is a number."""
_OPENS = lazy(rb"(?:[>|][+-]?|\"\"|[({\[:=\\])[ \t]*\r?\n\Z")
"""The end of a line that names what the following ones say."""
_ITEM = lazy(rb"[ \t]*(?:\||\*[ ]-|-)[ ]*")
"""The start of a cell that has a line of its own, in AsciiDoc and reStructuredText."""
_LONGEST_OPENING = 16
_LONGEST_CELL = 64
_LONGEST_LINE = 1024
_MOST_LAYERS = 3
_ENCODED_ENDS = tuple(map(str.encode, _LINE_ENDS))
_ENCODED = lazy(rb"[0-9A-Za-z+/=]{36}")
"""More characters at the end of a line than a number has: those of encoded data."""
_LONGEST_PART = 36
_FEWEST_DIGITS = 9
_SIGNS = b"+-"
_HYPHEN = ord("-")
_QUOTES = {b'"', b"'"}
_SAME = 10
"""Bytes at the starts of lines that tell rows by their digits and letters."""
_DIGITS, _UPPER = b"0123456789", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ENDS_OF_PARTS = _DIGITS + _UPPER + b")-./"
_IN_NUMBERS = _DIGITS + _UPPER + b" ()-./"
_SHAPES = bytes.maketrans(_DIGITS + _UPPER + _UPPER.lower() + b"+", b"9" * 10 + b"a" * 52 + b"-")


class JoinedText(DecodedText):
    """A text with the line ends replaced that may break a value."""

    def __init__(self, data: bytes, breaks: list[tuple[int, int]], joiner: bytes) -> None:
        super().__init__(*copy_around(data, [(*span, joiner) for span in breaks]))
        self._original = data
        self._breaks = array("q", [start for start, _ in breaks])

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        value = self.data[start:end]
        if not may_go_over_lines(value):
            return None
        span = super().original_span(start, end)
        if span is None or bisect_left(self._breaks, span[0]) == bisect_left(self._breaks, span[1]):
            return None
        if b"@" in value:
            return span
        start = _line_start(self._original, span[0])
        if opening := _OPENS.search(self._original, max(start - _LONGEST_OPENING, 0), start):
            start = _line_start(self._original, opening.start())
        if _WORD.search(self._original, start, span[0]):
            return span
        end = start - (2 if self._original[max(start - 2, 0) : start] == b"\r\n" else 1)
        above = _line_start(self._original, max(end, 0))
        is_labelled = _goes_on_below(self._original, above, start, span[0]) or (
            # Numbers below a word are a column of a table; an account number has letters.
            value[:2].isalpha() and self._original[above:start].rstrip()[-1:].isalpha()
        )
        return span if is_labelled and _WORD.search(self._original, above, start) else None


def _goes_on_below(data: bytes, above: int, line: int, value: int) -> bool:
    """Return whether the cell of a value starts in the line above, or the one before it is there,
    in tables with a line for each cell.
    """
    is_item = _ITEM.fullmatch(data, line, value) and _ITEM.match(data, above, line)
    return is_item is not None or MARKED.search(data, above, line) is not None


def may_go_over_lines(value: bytes) -> bool:
    """Return whether a value is a mail address or a long number, of which half may be in a line."""
    return b"@" in value or sum(byte in _DIGITS for byte in value) >= _FEWEST_DIGITS


def joined_texts(data: bytes, may_match: MayMatch = all_open) -> list[JoinedText]:
    """Return the text with its lines joined; nothing where no line end may break a value."""
    parts = list(first_parts(data)) if may_match(PARTS, data) else []
    prefixed = list(prefixed_breaks(data, parts))
    ends = {each.next_end for each in prefixed}
    known = ends | {each.start for each in prefixed}
    breaks = [
        *((start, end) for start, end, _ in prefixed),
        *(span for span in stacked_breaks(data, parts) if span[0] not in known),
        *spaced_breaks(data, parts),
    ]
    for gate, find in ((OF_NUMBERS, _breaks_of_numbers), (OF_ADDRESSES, _breaks_of_addresses)):
        if may_match(gate, data):
            breaks += (span for span in find(data) if span[0] not in ends)
    if may_match(FRAGMENTS, data):
        breaks += fragment_breaks(data)
    return [
        JoinedText(data, layer, joiner) for layer in _layers(data, breaks) for joiner in (b"", b" ")
    ]


def _layers(data: bytes, breaks: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the breaks in order; those that start within others, which messages with several texts
    have, come in another layer, and in the last one no value has two breaks: the line after a value
    may start with a number, too.
    """
    breaks = sorted(set(breaks), key=lambda span: (span[0], -span[1]))
    waiting = breaks
    for _ in range(_MOST_LAYERS):
        if not waiting:
            break
        kept = waiting[:1]
        inner: list[tuple[int, int]] = []
        for span in waiting[1:]:
            (kept if span[0] >= kept[-1][1] else inner).append(span)
        yield kept
        waiting = inner
    alone = breaks[:1]
    for span in breaks[1:]:
        between = data[alone[-1][1] : span[0]]
        if len(between) > _LONGEST_PART or between.translate(None, _IN_NUMBERS):
            alone.append(span)
    if len(alone) < len(breaks):
        yield alone


def _breaks_of_addresses(data: bytes) -> Iterator[tuple[int, int]]:
    for found in _IN_ADDRESS.finditer(data):
        yield found.span(found.lastgroup or 0)


def _breaks_of_numbers(data: bytes) -> Iterator[tuple[int, int]]:
    """Return the line ends, with the blanks around them, that may break a number."""
    search = _number_search()
    size = len(data)
    ends = [end for end in _ENCODED_ENDS if end in data]
    following = 0
    while (found := search(data, following, size)[0])[0] >= 0:
        end = found[0] + 1
        end += data[end] == _HYPHEN
        broken = _AT_BREAK.match(data, end)
        assert broken is not None
        following = broken.end()
        is_part = data[end - 1] in (_DIGITS if data[following] in _UPPER + b"-" else _ENDS_OF_PARTS)
        if is_part and (b"\n" not in broken[0] or not _is_row(data, broken, ends)):
            yield broken.span()


def _is_row(data: bytes, broken: re.Match[bytes], ends: Iterable[bytes]) -> bool:
    """Return whether a line is one of a log, a table or encoded data: the following one starts
    alike, or its last cell ends with it, or it ends with more than a number.
    """
    end, following = broken.span()
    start = _line_start(data, end, ends)
    line_end = data.find(b"\n", end, following)
    is_quoted = broken[0].lstrip()[:1] in _QUOTES
    if not is_quoted:
        shape, below = _shape(data, start), line_end + 1 or following
        if shape == _shape(data, following) or (
            below != following and shape == _shape(data, below)
        ):
            return True
    if _ENCODED.fullmatch(data, max(end - _LONGEST_PART, 0), end):
        return True
    cell = _QUOTED_CELL if is_quoted else _CELL
    return cell.search(data, max(end - _LONGEST_CELL, 0), end) is not None


def _line_start(data: bytes, position: int, ends: Iterable[bytes] = _ENCODED_ENDS) -> int:
    """Return the start of a line, or of the part of it that may be a label."""
    first = max(position - _LONGEST_LINE, 0)
    for end in ends:
        if (found := data.rfind(end, first, position)) >= 0:
            first = found + len(end)
    return first


def _shape(data: bytes, start: int) -> bytes:
    """Return the digits and letters at the start of a line, without a sign."""
    return data[start : start + _SAME + 1].lstrip(_SIGNS)[:_SAME].translate(_SHAPES)
