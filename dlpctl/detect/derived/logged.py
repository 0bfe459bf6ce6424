"""Logged texts: the lines of a text without the times and levels that a log writes before each,
the places and commits of other tools, the marks of a difference, or colours.

Tools log the prompts, tables and conversations they handle, a line at a time. Lines that start
alike, apart from numbers and levels, are read as the text that was logged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from dlpctl.detect.derived.interface import DerivedText
from dlpctl.regex import lazy

_DATE = (
    r"(?:[0-9]{4}[./-][0-9]{2}[./-][0-9]{2}[T ]|[A-Z][a-z]{2} [ 0-9][0-9] "
    r"|[0-9]{2}[./-](?:[0-9]{2}|[A-Z][a-z]{2})[./-][0-9]{4}[ :])"
)
_SECOND = rf"[\[(]?{_DATE}?[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}"
_TIME = rf"{_SECOND}(?:[.,][0-9]{{1,9}})?(?:Z|[ ]?[+-][0-9]{{2}}:?[0-9]{{2}})?[\])]?"
_LEVEL = "(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|trace|debug|info|warn|error)"
_SOURCE = r"\[[^\[\]\n]{1,60}\]"
_PREFIX = (
    rf"{_TIME}[ |]{{1,3}}(?:(?:[\w.-]{{1,60}} )?[\w./-]{{1,40}}\[[0-9]{{1,8}}\]:"
    rf"|(?:{_SOURCE} )?[\[(]?{_LEVEL}[\])]?:?(?:[ |]{{1,3}}{_SOURCE})?)[ ]"
)
"""The time of an entry with its process, or with its level and the thread."""
_COMMIT = r"\^?[0-9a-f]{7,40} (?:[^\s()]{1,80} +)?\([^()\n]{1,80}[+-][0-9]{4} +[0-9]{1,7}\) "
_PLACE = r"[\w.][\w./-]{1,80}:[0-9]{1,7}:"
_HUNK = r"[ |*\\/]{0,16}@@ -[0-9]"
_COLOUR = r"\x1b\[[0-9;]*[mK]"
GATE = (
    rf"(?:^|\n){_SECOND}[^\n]*\n{_SECOND}|(?:^|\n){_HUNK}|{_COLOUR}|-\]\{{\+"
    rf"|[+-][0-9]{{4}} +[0-9]+\) |(?:^|\n){_PLACE}[^\n]*\n[\w./]{{2}}"
)
"""Only the times: of complete prefixes, Hyperscan would make states for half a minute."""
_ENTRY = lazy(rf"(?m)^({_PREFIX}|(?P<commit>{_COMMIT})|{_PLACE}|[+-])[^\n]*\n?".encode())
_LOGGER = lazy(rb" ?[\w.$/-]{1,80}(?: ?:| -| \|) ")
_VARIABLE = lazy(rf"[0-9]+|{_LEVEL} ?".encode())
_MARK = lazy(rf"-\]\{{\+|\[-(?=[^\n\]]{{0,200}}-\])|(?<=[^\s-])-\]|\{{\+|\+\}}|{_COLOUR}".encode())
_ESCAPE = b"\x1b["
_MARK_STARTS = _ESCAPE, b"{+"
_OTHER = b"-]{+"
"""The mark between a text and the one that replaces it."""
_IN_HUNK = lazy(
    rb"(?m)^([ |*\\/]{0,16})@@ -[0-9,]+ \+[0-9,]+ @@[^\n]*\n((?:\1(?:[ +\\-][^\n]*|~)(?:\n|\Z))+)"
)
_END_OF_LINE = b"~\n"
"""A line of a difference by words that ends the line before."""
_COLOURED_KEY = lazy(rf"[\w\"']{_COLOUR}[ ]?[:=]".encode())
"""A key that decoded text has apart from its value."""
_FEWEST, _FEWEST_OF_SIGN = 3, 2

_Prefix = tuple[int, int]


def has_coloured_keys(data: bytes) -> bool:
    """Return whether colours part keys from their values, as in printed objects."""
    return _ESCAPE in data and _COLOURED_KEY.search(data) is not None


class LoggedText(DerivedText):
    """A text without the prefixes of its logged lines, or without marks within them."""

    def __init__(self, data: bytes, left_out: Sequence[_Prefix], *, apart: bytes = b"") -> None:
        """`apart` is written for each mark that separates two texts."""
        texts: list[bytes] = []
        self._starts: list[int] = []
        self._origins: list[int] = []
        size = origin = 0
        for start, end in [*left_out, (len(data), len(data))]:
            self._starts.append(size)
            self._origins.append(origin)
            texts.append(data[origin:start])
            if apart and data[start:end] == _OTHER:
                texts[-1] += apart
            size, origin = size + len(texts[-1]), end
        self.data = b"".join(texts)

    @classmethod
    def of(cls, data: bytes) -> LoggedText | None:
        """Return the text that was logged; None without any."""
        prefixes = list(_prefixes(data))
        return cls(data, prefixes) if prefixes else None

    @classmethod
    def without_marks(cls, data: bytes) -> LoggedText | None:
        """Return the text without colours and marks of a difference; None without any."""
        has_marks = any(start in data for start in _MARK_STARTS)
        marks = [mark.span() for mark in _MARK.finditer(data)] if has_marks else []
        return cls(data, marks, apart=b"\n") if marks else None

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, position: int) -> int:
        part = bisect_right(self._starts, position) - 1
        return self._origins[part] + position - self._starts[part]


def _prefixes(data: bytes) -> Iterator[_Prefix]:
    """Yield the prefixes of lines that start alike, with the logger that all of them name."""
    end = -1
    run = 0
    entries: list[tuple[int, bytes, _Prefix]] = []
    signs = dict(_signs(data))
    for entry in _ENTRY.finditer(data):
        if entry.start() in signs:
            continue
        run += entry.start() != end
        end = entry.end()
        alike = b"" if entry["commit"] else _VARIABLE.sub(b"", entry[1])
        entries.append((run, alike, entry.span(1)))
    logged: list[_Prefix] = [*signs.items()]
    for _, group in groupby(entries, key=lambda entry: entry[:2]):
        spans = [span for *_, span in group]
        if len(spans) >= (_FEWEST if _VARIABLE.search(data, *spans[0]) else _FEWEST_OF_SIGN):
            logger = _LOGGER.match(data, spans[0][1])
            named = logger[0] if logger else b""
            if all(data.startswith(named, end) for _, end in spans):
                spans = [(start, end + len(named)) for start, end in spans]
            logged += spans
    yield from sorted(logged)


def _signs(data: bytes) -> Iterator[_Prefix]:
    """Yield what each line of a difference starts with."""
    for hunk in _IN_HUNK.finditer(data) if b"@@ -" in data else ():
        size = len(hunk[1]) + 1
        position = hunk.start(2)
        while position < hunk.end():
            start = position
            position = data.find(b"\n", start, hunk.end()) + 1 or hunk.end()
            is_end = data[start + size - 1 : position] == _END_OF_LINE
            yield start, position if is_end else start + size
