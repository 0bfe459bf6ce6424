"""Fragments: values that are written in several strings, elements or messages.

Programs put strings together in many ways, and editors keep a text in a message for each style. A
number goes on in the next fragment if a sign of it is where they meet, such as a hyphen, or if the
first one has words, too. Other strings beside each other are lists and rows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache

from dlpctl.detect.linear import Find, compile_regex, finders
from dlpctl.regex import lazy

_STRINGS = r"([\"'`][^\"'`\n]*(?:\n[^\"'`\n]*){0,3}[\"'`])"
"""Program text between two strings, with their quotes."""
_TAGS = r"([ \t\r\n]*(?:</?[A-Za-z][^<>\n]*>[ \t\r\n]*)+)"
_AFTER_LABEL = r"</(?:b|dt|label|strong|th)>[ \t\r\n]*<[a-z]+[^<>\n]*>[ \t\r\n]*"
_LABEL, _NUMBER = r"[g-zG-Z\x{80}-\x{10FFFF}]", r"[0-9+(][0-9 ().+-]*"
"""Letters that hexadecimal numbers lack, and what may be between the number after them and its end;
a regex of any text there would read a long line anew for each match in it.
"""
_TAIL, _HEAD = r"(?:[0-9]{2}[)-]?|\+[0-9]{1,3})[ ]?", r"[ ]?[(-]?[0-9]{2}"
_IBAN_TAIL, _IBAN_HEAD = r"\b[A-Z]{2}[0-9]{2}(?:[ ]?[0-9A-Z]{4}){0,7}[ ]?", r"[0-9A-Z]{2}"
_MAIL_TAIL, _MAIL_HEAD = (
    r"@(?:[0-9A-Za-z_.-]{0,64}[.-])?",
    r"[a-z0-9][a-z0-9-]{0,62}[.\"'`<\s]",
)
_BEFORE_AT, _AT = r"[0-9A-Za-z]", r"@[a-z0-9]"
_JOINED = r"([\"'`][ \t]*(?:[+.&~^<|]{1,2}[ \t\r_]*)?(?:\n[ \t]*(?:[+.&~^<|]{1,2}[ \t]*)?)?[\"'`])"
"""An operator between two strings, or nothing."""
_BESIDE = "|".join(
    (
        rf"{_LABEL}[^\"'`\n0-9]*(?:{_NUMBER})?{_TAIL}{_STRINGS}{_HEAD}",
        rf"{_LABEL}[^<>\n0-9]*(?:{_AFTER_LABEL})?(?:{_NUMBER})?{_TAIL}{_TAGS}{_HEAD}",
        rf"(?:[0-9][ -]|\)[ ]?){_STRINGS}{_HEAD}|[0-9)]{_STRINGS}[ -]\(?[0-9]{{2}}",
        rf"[0-9]-{_TAGS}{_HEAD}|[0-9]{_TAGS}-[0-9]{{2}}",
        *(f"{_IBAN_TAIL}{apart}{_IBAN_HEAD}" for apart in (_STRINGS, _TAGS)),
        rf"{_MAIL_TAIL}{_TAGS}{_MAIL_HEAD}",
        rf"{_BEFORE_AT}{_JOINED}{_AT}|{_BEFORE_AT}{_STRINGS}@[\"'`]",
    )
)
_KEYS = "content|CONTENT|insert|plain_text|text|Text|UnicodeString|word"
"""The names of the texts in messages, and of attributes with texts."""
_MESSAGE = rf"(?:[\"'](?:{_KEYS})[\"'][ ]?:|[ \t\n](?:{_KEYS})=)[ ]?[\"']"
_BESIDE_OR_MAIL = rf"{_BESIDE}|{_MAIL_TAIL}{_STRINGS}{_MAIL_HEAD}"
_IN_MESSAGES = rf"{_MESSAGE}()(?:{_HEAD}|[A-Z]{{4}}\b|{_AT})|{_MAIL_TAIL}()[\"']"
GATE = "|".join(
    (
        rf"[0-9)-][ ]?(?:{_STRINGS}|{_TAGS})[ -]?[(-]?[0-9]{{2}}",
        rf"\b[A-Z]{{2}}[0-9]{{2}}[0-9A-Z ]{{0,36}}(?:{_STRINGS}|{_TAGS}){_IBAN_HEAD}",
        rf"{_MAIL_TAIL}{_TAGS}{_MAIL_HEAD}",
        rf"{_BEFORE_AT}{_JOINED}{_AT}|{_BEFORE_AT}{_STRINGS}@[\"'`]",
        _IN_MESSAGES,
    )
)
"""Matches wherever two fragments are, whatever is before them."""
_KEY = lazy(rf"({_KEYS})[\"']?[ ]?[:=][ ]?[\"']\Z".encode())
_KEY_END = lazy(rb"[\"'][ \t]*:")
"""The end of a key: what follows a sentence with an address is no part of it."""
_NEXT = lazy(rf"[\"' \t\n]({_KEYS})[\"']?[ ]?[:=][ ]?[\"'](?={_MAIL_HEAD})".encode())
_BETWEEN = lazy(rf"{_STRINGS}(?={_MAIL_HEAD})(?![a-z0-9-]+[\"'][ \t]*:)".encode())
_NUMBER_ENDS = lazy(rf"(?:{_TAIL}|{_IBAN_TAIL})\Z".encode())
_NAME_ENDS = lazy(_BEFORE_AT.encode())
_NAMED = lazy(rb"[g-zG-Z\x80-\xff]|\b[A-Z]{2}[0-9]{2}")
_LONGEST_KEY = 24
_LONGEST_PART = 12
_AT_SIGN = ord("@")
_LONGEST_BETWEEN = 600
_SIGNS_AT_END, _SIGNS_AT_START = b" -(+", b" -)("

Span = tuple[int, int]


def fragment_breaks(data: bytes) -> Iterator[Span]:
    """Yield what is between the fragments of a value."""
    size = len(data)
    if _finder(_MESSAGE)(data, 0, size)[0][0] < 0:
        yield from _breaks_beside(data)
        return
    search, at = _finder(f"{_BESIDE}|{_IN_MESSAGES}"), 0
    messages: list[re.Match[bytes]] | None = None
    while (found := search(data, at, size))[0][0] >= 0:
        *beside, (head, _), (tail, _) = found[1:]
        span: Span | None = max(beside)
        at = found[0][1]
        if head >= 0:
            span, at = _before(data, head), head
        elif tail >= 0:
            if messages is None:
                messages = list(_NEXT.finditer(data))
            span = _after(data, tail, messages)
        elif span:
            at = span[1]
            span = None if _KEY_END.match(data, found[0][1] - 1) else span
        if span:
            yield span


def _breaks_beside(data: bytes) -> Iterator[Span]:
    """Yield what is between the fragments of a text without messages."""
    search, at, size = _finder(_BESIDE_OR_MAIL), 0, len(data)
    while (found := search(data, at, size))[0][0] >= 0:
        span = max(found[1:])
        at = span[1]
        if not _KEY_END.match(data, found[0][1] - 1):
            yield span


@cache
def _finder(regex: str) -> Find:
    return finders(compile_regex(regex, "fragments"))[0]


@cache
def _message(key: bytes) -> re.Pattern[bytes]:
    """Return the regex of a message, whose last group is its text."""
    return re.compile(
        key + rb"[\"']?[ ]?[:=][ ]?(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)')"
    )


def _goes_on(data: bytes, first: int, end: int, start: int) -> bool:
    """Return whether a number goes on from the end of a fragment to the start of the next one."""
    return (
        data[end - 1] in _SIGNS_AT_END
        or data[start] in _SIGNS_AT_START
        or _NAMED.search(data, first, end) is not None
    )


def _before(data: bytes, head: int) -> Span | None:
    """Return what is between a message and the one with the same key before it."""
    key = _KEY.search(data[max(head - _LONGEST_KEY, 0) : head])
    start = key and head - len(key[0])
    text = _last_message(data, key[1], start) if key and start else None
    if text is None:
        return None
    first, end = text
    if data[head] == _AT_SIGN:
        return (end, head) if _NAME_ENDS.search(data[end - 1 : end]) else None
    is_part = _NUMBER_ENDS.search(data[max(first, end - _LONGEST_PART) : end])
    return (end, head) if is_part and _goes_on(data, first, end, head) else None


def _after(data: bytes, tail: int, messages: Sequence[re.Match[bytes]]) -> Span | None:
    """Return what is between a message and the one with the same key after it, or between two
    strings.
    """
    first = bisect_left(messages, tail, key=re.Match.start)
    for number in range(first, len(messages)):
        following = messages[number]
        if following.end() > tail + _LONGEST_BETWEEN:
            break
        text = _last_message(data, following[1], tail + 1)
        if text and text[1] == tail:
            return tail, following.end()
    beside = _BETWEEN.match(data, tail)
    return beside.span() if beside else None


def _last_message(data: bytes, key: bytes, end: int) -> Span | None:
    """Return the span of the text in the last message before a position."""
    start = end
    while (start := data.rfind(key, max(end - _LONGEST_BETWEEN, 0), start)) >= 0:
        if found := _message(key).match(data, start, end):
            return found.span(found.lastindex or 0)
    return None
