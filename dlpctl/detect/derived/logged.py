"""Logged texts: the lines of a text without the times and levels that a log writes before each,
or the signs of a difference.

Tools log the prompts, tables and conversations they handle, a line at a time. Lines that start
alike, apart from numbers and levels, are read as the text that was logged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
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
_DIFFERENCES = r"\n@@ -[0-9]"
GATE = rf"(?:^|\n){_SECOND}[^\n]*\n{_SECOND}|{_DIFFERENCES}"
"""Only the times: of complete prefixes, Hyperscan would make states for half a minute."""
_ENTRY = lazy(rf"(?m)^({_PREFIX}|[+-])[^\n]*\n?".encode())
_LOGGER = lazy(rb" ?[\w.$/-]{1,80}(?: ?:| -| \|) ")
_VARIABLE = lazy(rf"[0-9]+|{_LEVEL} ?".encode())
_FEWEST, _FEWEST_OF_SIGN = 3, 2

_Prefix = tuple[int, int]


class LoggedText(DerivedText):
    """A text without the prefixes of its logged lines."""

    def __init__(self, data: bytes, prefixes: list[_Prefix]) -> None:
        texts: list[bytes] = []
        self._starts: list[int] = []
        self._origins: list[int] = []
        size = origin = 0
        for start, end in [*prefixes, (len(data), len(data))]:
            self._starts.append(size)
            self._origins.append(origin)
            texts.append(data[origin:start])
            size, origin = size + start - origin, end
        self.data = b"".join(texts)

    @classmethod
    def of(cls, data: bytes) -> LoggedText | None:
        """Return the text that was logged; None without any."""
        prefixes = list(_prefixes(data))
        return cls(data, prefixes) if prefixes else None

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
    for entry in _ENTRY.finditer(data):
        run += entry.start() != end
        end = entry.end()
        entries.append((run, _VARIABLE.sub(b"", entry[1]), entry.span(1)))
    for _, alike in groupby(entries, key=lambda entry: entry[:2]):
        spans = [span for *_, span in alike]
        if len(spans) >= (_FEWEST if _VARIABLE.search(data, *spans[0]) else _FEWEST_OF_SIGN):
            logger = _LOGGER.match(data, spans[0][1])
            named = logger[0] if logger else b""
            if all(data.startswith(named, end) for _, end in spans):
                spans = [(start, end + len(named)) for start, end in spans]
            yield from spans
