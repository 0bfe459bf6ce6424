"""Broken keys: keys of providers that a line end or a joint of strings cuts, as a reader sees them.

Terminals wrap a line wherever it is full, and programs write a long key in several strings. Most
lines after a key are something else: a key goes on only after a full line, a hyphen or a joint, and
only with characters that words lack.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.derived.prefixed import text_below
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_OF_PROVIDERS = (
    r"(?:A(?:KIA|SIA|Iza|GE-SECRET-KEY-)|x(?:ox[a-z]|app)-|gh[oprsu]_|github_pat_|gl[a-z]{2,5}-"
    r"|[prs]k[-_][a-z]*|whsec_|SG\.|np[gm]_|hf_|pypi-|d[op]+_v1_|shp[a-z]{2}_|ya29\.|eyJ)"
)
"""The first characters of keys, by which their providers tell them."""
_IN_KEYS = r"[0-9A-Za-z._/+-]"
_JOINT = (
    r"(?:'{3}|\*\*|~~|[\"'`][ \t]*(?:[+.&~\\]{1,2}[ \t\r_`]*)?"
    r"(?:\n[ \t]*(?:[+.&~]{1,2}[ \t]*)?)?[\"'`])"
)
"""The text between two strings that a program joins, or an emphasis within a key."""
_OFTEN = (
    "AKIA",
    "ASIA",
    "AIza",
    "xoxb",
    "xoxp",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
)
_CUT_PREFIX = "|".join(
    rf"{prefix[:cut]}\r?\n{prefix[cut:]}" for prefix in _OFTEN for cut in range(1, len(prefix))
)
_BROKEN = (
    rf"\b(?:{_OF_PROVIDERS}{_IN_KEYS}*()(?:=?\r?\n|{_JOINT})"
    rf"|(?:{_CUT_PREFIX}){_IN_KEYS}{{16}})|(\\(?:x|u00)[01][0-9A-Fa-f]){_OF_PROVIDERS}"
)
_search = finder(_BROKEN, "broken keys")
GATE = _BROKEN
_AT_JOINT = lazy(_JOINT.encode())
_ROW_END = lazy(rb"[\"'`]\n[\"'`]")
_DELIMITERS = {b",", b";", b"\t", b"|"}
"""The bytes between two quoted cells: a key after one is in the last cell of a row."""
_LINE_END = lazy(rb"(=)?\r?\n")
"""A line end, which a mail marks where it is within a line."""
_MARKS = lazy(rb"[ \t>]*(?:(?://|--|[#*%;+&])[ \t]*)?")
"""The marks before the text of a line that goes on, in a quotation or a comment."""
_NEXT_PART = lazy(rb"%b++(?![ ]?[=:(]\s?[^\s=])" % _IN_KEYS.encode())
"""Characters of a key that are no name of a value."""
_OTHER_KEY = lazy(_OF_PROVIDERS.encode())
_OF_AMAZON = lazy(rb"A[KS]IA[0-9A-Z]{16}")
"""A key of a known length, which may end with letters as words have them."""
_LEAST_WIDTH = 30
"""The characters of a full line in the narrowest terminal."""
_DRIFT = 2
"""The characters by which numbers of lines make a line longer."""
_MOST_LINES = 40
_LONGEST_LINE = 1024
_HYPHEN = ord("-")
_DIGITS, _SIGNS = b"0123456789", b"._/+-"

Span = tuple[int, int]
Break = tuple[int, int, bytes]


class KeyText(DecodedText):
    """A text without what cuts its keys, and with blanks for the control characters before them."""

    def __init__(self, data: bytes, breaks: list[Break]) -> None:
        super().__init__(*copy_around(data, breaks))
        self._breaks = array("q", [start for start, _, _ in breaks])
        self._ends = {end for _, end, joiner in breaks if joiner}

    def original_span(self, start: int, end: int) -> Span | None:
        """Return the span of a value that goes over a break or starts after one."""
        span = super().original_span(start, end)
        if span is None or span[0] in self._ends:
            return span
        if bisect_left(self._breaks, span[0]) == bisect_left(self._breaks, span[1]):
            return None
        return span


def key_text(data: bytes) -> KeyText | None:
    """Return the text with its broken keys joined; None without any."""
    breaks = list(_breaks(data))
    return KeyText(data, breaks) if breaks else None


def _breaks(data: bytes) -> Iterator[Break]:
    search, at, size = _search(), 0, len(data)
    while (found := search(data, at, size))[0][0] >= 0:
        start, at = found[0]
        end, control = found[1][0], found[2]
        if control[0] >= 0:
            yield *control, b" "
            at = control[1]
            continue
        if end < 0:  # within the first characters
            end = start + len(data[start:at].split(None, 1)[0])
        for _ in range(_MOST_LINES):
            part = _next_part(data, start, end)
            if part is None:
                break
            yield end, part.start(), b""
            start, end = part.span()
            at = max(at, end)


def _next_part(data: bytes, start: int, end: int) -> re.Match[bytes] | None:
    """Return the part with which a key goes on that is cut at a position; None if it does not."""
    joint = _AT_JOINT.match(data, end)
    if joint and _ROW_END.fullmatch(joint[0]) and data[start - 2 : start - 1] in _DELIMITERS:
        return None
    following = joint.end() if joint else _in_next_line(data, start, end)
    part = _NEXT_PART.match(data, following) if following >= 0 else None
    if part is None or _OTHER_KEY.match(part[0]):
        return None
    goes_on = joint or _has_random(part[0]) or _OF_AMAZON.fullmatch(data[start:end] + part[0])
    return part if goes_on else None


def _has_random(part: bytes) -> bool:
    """Return whether characters are more than those of a word, a number or a date."""
    word = part.strip(_SIGNS)
    if not word.translate(None, _DIGITS + _SIGNS) or len(word) == 1:
        return False
    is_word = word.islower() or word.isupper() or word.istitle()
    return not is_word or any(sign in _DIGITS for sign in word)


def _in_next_line(data: bytes, start: int, end: int) -> int:
    line_end = _LINE_END.match(data, end)
    if not line_end or not (line_end[1] or data[end - 1] == _HYPHEN or _is_full(data, end)):
        return -1
    line = data.rfind(b"\n", max(start - _LONGEST_LINE, 0), start) + 1
    following = text_below(data, line, start, line_end.end())
    marks = _MARKS.match(data, following)
    return marks.end() if marks else following


def _is_full(data: bytes, end: int) -> bool:
    """Return whether no line near the one that ends at a position is longer."""
    width = _width(data, data.rfind(b"\n", max(end - _LONGEST_LINE, 0), end) + 1, end)
    if width < _LEAST_WIDTH:
        return False
    after = data[end : end + 2 * _LONGEST_LINE].splitlines()[1:3]
    before = data[max(end - 2 * _LONGEST_LINE, 0) : end].splitlines()[-3:-1]
    return all(_width(line, 0, len(line)) <= width + _DRIFT for line in (*before, *after))


def _width(data: bytes, start: int, end: int) -> int:
    return len(data[start:end].decode("utf-8", "ignore"))
