"""Regular expressions in linear time: RE2, and readable errors for regexes that it refuses.

Nothing backtracks, so that no pattern and no text can make a search slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

from dlpctl.errors import PatternError

NOTHING = (-1, -1)
"""The span of a regex or a group without a match."""

_FIRST_LINES = 256

Find = Callable[[bytes, int, int], Sequence[tuple[int, int]]]
"""Takes data, start and end; returns the spans of the match and of its groups."""


def compile_regex(
    regex: str, where: str, *, megabytes: int = 0, longest_match: bool = False
) -> Any:
    """Return the compiled regex. `megabytes` is for searches of long texts: RE2 keeps rebuilding
    the automaton of a large regex if it does not fit.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.longest_match = longest_match
    if megabytes:
        options.max_mem = megabytes << 20
    try:
        return re2.compile(regex, options)
    except re2.error as problem:
        reason = problem.args[0] if problem.args else "unknown"
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise PatternError(f"{where}: regex: {plainly(reason)}") from None


_LOOKAROUND = (
    "lookaround is not supported; delimit with \\b or with characters around a group 'value'"
)
_BACK = "a reference back to a group is not supported; write out what may be repeated"
_POSSESSIVE = (
    "atomic groups and possessive repetitions are not supported; leave them out, since nothing "
    "here backtracks"
)
EMPTY = "matches the empty text; make something in it required"
_REASONS = {
    r"operator: \(\?<?[=!]|Zero-width": _LOOKAROUND,
    r"sequence: \\[1-9k]|operator: \(\?P|Back-reference": _BACK,
    r"operator: (\(\?>|[+*?}].*\+$|\{.*\}\+$)": _POSSESSIVE,
    r"empty buffer": EMPTY,
    r"\\C": "\\C is not supported; it would match a part of a character",
}


def plainly(problem: str) -> str:
    """Return an engine's reason for refusing a regex, in this project's terms if possible."""
    return next(
        (advice for sign, advice in _REASONS.items() if re.search(sign, problem)),
        f"is not valid: {problem}",
    )


def line_starts(regex: Any, data: bytes) -> Iterator[int]:
    """Yield the starts of lines that match a regex, which starts with the line end before them, as
    if one came before the data; a regex for the start of a line, which is no character, takes five
    times as long.
    """
    search, match = finders(regex)
    first = b"\n" + data[:_FIRST_LINES]
    if match(first, 0, len(first))[0] != NOTHING:
        yield 0
    position, size = 0, len(data)
    while (start := search(data, position, size)[0][0]) >= 0:
        position = start + 1
        yield position


def finders(regex: Any) -> tuple[Find, Find]:
    """Return a function that finds the first match in a range, and one that matches at its start.

    The public methods create a generator and a match object for each call, which costs more than
    most matches; if the function below them is available, it is called directly.
    """
    native = getattr(regex, "_regexp", None)
    match, anchor = getattr(native, "Match", None), getattr(native, "Anchor", None)
    if match is None or anchor is None:
        return _spans_of(regex.search, regex.groups), _spans_of(regex.match, regex.groups)
    return partial(match, anchor.UNANCHORED), partial(match, anchor.ANCHOR_START)


def finder(regex: str, where: str) -> Callable[[], Find]:
    """Return a function that returns the search for a regex, which is compiled at the first call:
    a command uses few of all those that it imports.
    """
    return cache(lambda: finders(compile_regex(regex, where))[0])


def _spans_of(find: Callable[[bytes, int, int], Any], groups: int) -> Find:
    def spans(data: bytes, start: int, end: int) -> Sequence[tuple[int, int]]:
        found = find(data, start, end)
        return [found.span(group) if found else NOTHING for group in range(groups + 1)]

    return spans


def matches_nothing(regex: Any) -> bool:
    """Return whether an empty match is possible, between any two characters or at either end of the
    text.
    """
    _, match = finders(regex)
    sides = (b"", b"a", b" ", b"\n")
    return any(
        match(before + after, len(before), len(before))[0] != NOTHING
        for before in sides
        for after in sides
    )
