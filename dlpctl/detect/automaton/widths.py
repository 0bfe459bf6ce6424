"""The maximum width of the matches of a regex, from its text: asking Hyperscan takes far longer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from dlpctl.detect.automaton.bytewise import COUNT, SET, Flags, UnknownError, ranges_of
from dlpctl.regex import lazy

_PLAIN = r"[0-9A-Za-z_ \-:\"'=/<>,;@#&%!~`\n\r\t]"
_TOKEN = lazy(
    rf"(?P<plain>{_PLAIN}+(?![*+?{{]))"
    rf"|(?P<set>{_PLAIN}|{SET}|\\[dDsSwWnrtfv]|\\[^\w\x80-\U0010ffff]|\\x\{{[0-9A-Fa-f]+\}}"
    r"|\\x[0-9A-Fa-f]{2}|[.\]}]|[^\x00-\x7f])"
    r"|(?P<flags>\(\?(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]*))?(?P<end>[:)]))"
    r"|(?P<open>\((?!\?)|\(\?P?<\w+>)|(?P<close>\))|(?P<or>\|)|(?P<position>[$^]|\\[bBAz])"
)
_OTHER_CASES = {"s": 2, "k": 3}
"""The widths of the long s and of the Kelvin sign."""


@dataclass(slots=True)
class _Group:
    """The part of a group that was read."""

    outside: Flags
    """The flags that apply after the group."""
    widest: float = 0
    """The width of the widest alternative so far."""
    current: float = 0
    """The width of the alternative that is being read."""

    def end_alternative(self) -> float:
        """Return the width of the widest alternative."""
        self.widest, self.current = max(self.widest, self.current), 0
        return self.widest


def widest_match(regex: str) -> float:
    """Return the maximum number of bytes of a match, which may be infinite; raise `UnknownError`
    for what only the engines can read.
    """
    flags, at = Flags(), 0
    groups = [_Group(flags)]
    while at < len(regex):
        token = _TOKEN.match(regex, at)
        if token is None:
            raise UnknownError
        at, name, width = token.end(), token.lastgroup, 0.0
        if name == "plain":
            width = _plain_width(token[0], ignores_case=flags.ignores_case)
        elif name == "set":
            width = _set_width(token[0], flags)
        elif name == "or":
            groups[-1].end_alternative()
        elif name == "open":
            groups.append(_Group(flags))
        elif name == "flags":
            if token["end"] == ":":
                groups.append(_Group(flags))
            flags = flags.changed(token["on"], token["off"] or "")
        elif name == "close" and len(groups) > 1:
            closed = groups.pop()
            flags, width = closed.outside, closed.end_alternative()
        count = COUNT.match(regex, at)
        if count:
            at = count.end() + regex.startswith("?", count.end())
        groups[-1].current += width * _most(count) if width else 0
    return groups[0].end_alternative()


def _most(count: re.Match[str] | None) -> float:
    """Return how often something may be repeated."""
    if count is None or count[1] == "?":
        return 1
    if count[1] or (count[3] and not count[4]):
        return inf
    return int(count[4] or count[2])


def _plain_width(written: str, *, ignores_case: bool) -> int:
    if not ignores_case:
        return len(written)
    return sum(_OTHER_CASES.get(char, 1) for char in written.lower())


@lru_cache(maxsize=1024)
def _set_width(written: str, flags: Flags) -> int:
    """Return the maximum number of bytes of a character of a set."""
    ranges = ranges_of(written, flags)
    width = max((len(chr(high).encode("utf-8", "surrogatepass")) for _, high in ranges), default=1)
    if flags.ignores_case and not written.startswith("[^"):
        for char, other in _OTHER_CASES.items():
            if any(low <= ord(char) <= high for low, high in ranges):
                width = max(width, other)
    return width
