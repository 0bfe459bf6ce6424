"""One Hyperscan database for many regexes, and the maximum width of their matches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from dlpctl.detect.linear import EMPTY, compile_regex, matches_nothing, plainly
from dlpctl.detect.patterns.model import UNBOUNDED_WIDTH, Pattern
from dlpctl.errors import EngineError, PatternError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    import hyperscan

_TOKEN = lazy(r"\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\[:[a-z]+:\]|\[\^?\]?|\]", re.DOTALL)
_CLASSES = {
    r"\s": r"\t\n\f\r\x20",
    r"\S": r"\x00-\x08\x0b\x0e-\x1f\x21-\x{10ffff}",
    r"\w": "0-9A-Za-z_",
    "[:word:]": "0-9A-Za-z_",
    "[:alnum:]": "0-9A-Za-z",
    "[:alpha:]": "A-Za-z",
    "[:lower:]": "a-z",
    "[:upper:]": "A-Z",
}
"""Classes that Hyperscan reads more narrowly than RE2, so that matches would be lost."""
_IGNORES_CASE = lazy(r"\(\?[a-zA-Z]*i")
_NO_WORD = r"\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x{17e}\x{180}-\x{2129}\x{212b}-\x{10ffff}"
r"""`\W` in a class, case ignored: neither the long s nor the Kelvin sign."""
_AT_MOST = lazy(r"length (\d+) bytes at most")
# To find matches of a minimum length, Hyperscan unrolls an unbounded regex, which may take seconds
# or be too large.
_UNBOUNDED = lazy(r"[^\\][*+]|\{\d+,\}")
OTHER_TEXT = b"a" * 64 + b"\n"
_NO_MATCH_IS_LONGER = 1 << 31
_WITH_START = rb"^\xff[\xfd\xfe]\xff\z"
"""An expression that matches no UTF-8, and whose matches would have a start.

For texts under 70 bytes, Hyperscan would also turn all expressions into one automaton, which takes
a sixth of the time to compile, half of that of gates, and mostly ends up too large to keep. It does
not where one expression reports starts.
"""
TOKEN_WIDTH = 1024
"""More bytes than a token, its label and the characters between them take; see `TokenMatcher`."""


def version() -> str:
    """Return the version of the engine that compiled databases are for."""
    from hyperscan._version import __version__

    return str(__version__)


def compile_database(patterns: Sequence[Pattern]) -> bytes:
    """Return the serialized database; the id of a match is the index of its pattern."""
    import hyperscan

    try:
        database = compile_triggers(patterns)
    except hyperscan.error as problem:
        for pattern in patterns:
            max_width(pattern)
            check_trigger(pattern)
        raise EngineError(f"the patterns do not compile together: {problem}") from None
    serialized: bytes = hyperscan.dumpb(database)
    return serialized


def compile_triggers(patterns: Sequence[Pattern]) -> hyperscan.Database:
    """Return the database; the id of a match is the index of its pattern."""
    return _compiled_bytewise([each.trigger or each.regex for each in patterns])


def finds_only_at_start(automaton: hyperscan.Database, data: bytes) -> bool:
    """Return whether triggers in the data are not found after other text.

    Vectorscan misses some that start with a few characters, and whose literal may follow these
    directly; see `after_anything`.
    """

    def found(text: bytes) -> bool:
        ends: list[int] = []
        automaton.scan(text, match_event_handler=lambda _id, _start, end, *_: ends.append(end))
        return bool(ends)

    return found(data) and not found(OTHER_TEXT + data)


def compile_anchors(anchors: Sequence[str]) -> bytes:
    """Return the serialized database of anchors."""
    import hyperscan

    serialized: bytes = hyperscan.dumpb(_compiled(anchors))
    return serialized


def compile_gate(gate: str | tuple[str, ...]) -> bytes:
    """Return the serialized database of a gate, which reports each regex that matches once."""
    import hyperscan

    regexes = (gate,) if isinstance(gate, str) else gate
    serialized: bytes = hyperscan.dumpb(_compiled(regexes, hyperscan.HS_FLAG_SINGLEMATCH))
    return serialized


def _compiled_bytewise(regexes: Sequence[str]) -> hyperscan.Database:
    """Return the database of regexes that may match more than those of `_compiled`."""
    import hyperscan

    from dlpctl.detect.automaton.bytewise import after_anything, bytewise

    regexes = [after_anything(regex) for regex in regexes]
    over_bytes = [bytewise(regex) for regex in regexes]
    return _database(
        [
            _expression(regex) if found is None else found
            for regex, found in zip(regexes, over_bytes, strict=True)
        ],
        [hyperscan.HS_FLAG_UTF8 if found is None else 0 for found in over_bytes],
    )


def _compiled(regexes: Sequence[str], flags: int = 0) -> hyperscan.Database:
    import hyperscan

    return _database(
        [_expression(regex) for regex in regexes], [hyperscan.HS_FLAG_UTF8 | flags] * len(regexes)
    )


def _database(expressions: Sequence[bytes], flags: Sequence[int]) -> hyperscan.Database:
    """Return the database; the id of a match is the index of its expression."""
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[_WITH_START, *expressions],
        ids=[len(expressions), *range(len(expressions))],
        elements=len(expressions) + 1,
        flags=[hyperscan.HS_FLAG_SOM_LEFTMOST, *flags],
    )
    return database


def check_trigger(pattern: Pattern) -> None:
    """Raise `PatternError` for a trigger that Hyperscan refuses."""
    import hyperscan

    try:
        if pattern.trigger is not None:
            _compiled([pattern.trigger])
    except hyperscan.error as problem:
        raise PatternError(
            f"{pattern.source}: pattern '{pattern.id}': trigger: {plainly(str(problem))}"
        ) from None


def check_context(pattern: Pattern) -> None:
    """Raise `PatternError` for a regex of the context that RE2 refuses."""
    if pattern.context:
        for key in ("not_after", "not_in"):
            for regex in getattr(pattern.context, key):
                where = f"{pattern.source}: pattern '{pattern.id}': context.{key}"
                compile_regex(regex, where)


def _expression(regex: str) -> bytes:
    """Return the regex for Hyperscan, so that it reports everything that RE2 matches.

    Hyperscan treats the vertical tab as a space, and with `(?i)` it counts the long s and the
    Kelvin sign as letters in `a-z`, but not in a named class.
    """
    within = False
    ignores_case = _IGNORES_CASE.match(regex)

    def replace(found: re.Match[str]) -> str:
        nonlocal within
        written = found[0]
        if written in _CLASSES:
            return _CLASSES[written] if within else f"[{_CLASSES[written]}]"
        if written == r"\W" and within and ignores_case:
            return _NO_WORD
        if written.startswith("[") and not written.startswith("[:"):
            within = not (within and written.endswith("]"))
        elif written.startswith("]"):
            within = False
        return written

    return _TOKEN.sub(replace, regex).encode()


def load_database(serialized: bytes) -> hyperscan.Database:
    import hyperscan

    try:
        return hyperscan.loadb(serialized, hyperscan.HS_MODE_BLOCK)
    except hyperscan.error as problem:
        raise EngineError(f"the compiled patterns do not load: {type(problem).__name__}") from None


def checked_width(pattern: Pattern) -> tuple[int, bool]:
    """Return `max_width`; raise `PatternError` for a regex that an engine refuses."""
    where = f"{pattern.source}: pattern '{pattern.id}'"
    if matches_nothing(compile_regex(pattern.regex, where)):
        raise PatternError(f"{where}: regex: {EMPTY}")
    return max_width(pattern)


def usual_width(pattern: Pattern) -> int:
    """Return the width of `max_width` for a regex that the engines accept, in a fraction of the
    time.
    """
    from dlpctl.detect.automaton.bytewise import UnknownError
    from dlpctl.detect.automaton.widths import widest_match

    given = _given_width(pattern)
    if given:
        return given
    try:
        own = widest_match(pattern.regex)
    except UnknownError:
        return max_width(pattern)[0]
    limit = pattern.width or (own if isfinite(own) else UNBOUNDED_WIDTH)
    return int(min(own, limit))


def max_width(pattern: Pattern) -> tuple[int, bool]:
    """Return the maximum number of bytes of a match, and whether the regex itself sets that bound.

    Hyperscan computes the exact bound, and reports it when asked for longer matches.
    """
    import hyperscan

    given = _given_width(pattern)
    if given:
        return given, pattern.token
    longer = (hyperscan.HS_EXT_FLAG_MIN_LENGTH, 0, 0, _NO_MATCH_IS_LONGER, 0, 0)
    try:
        hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK).compile(
            expressions=[_expression(pattern.regex)],
            ids=[0],
            elements=1,
            flags=[hyperscan.HS_FLAG_UTF8],
            ext=[longer],
        )
    except hyperscan.error as problem:
        bound = _AT_MOST.search(str(problem))
        if not bound:
            raise PatternError(
                f"{pattern.source}: pattern '{pattern.id}': regex: {plainly(str(problem))}"
            ) from None
        own = int(bound[1])
        return (min(own, pattern.width), pattern.width >= own) if pattern.width else (own, True)
    return pattern.width or UNBOUNDED_WIDTH, False


def _given_width(pattern: Pattern) -> int:
    """Return the width that holds whatever the regex is; 0 if that depends on the regex."""
    if pattern.token:
        return TOKEN_WIDTH
    return pattern.width or 0 if _UNBOUNDED.search(pattern.regex) else 0
