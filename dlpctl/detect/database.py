"""One Hyperscan database for many regexes, and how wide each of them can match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dlpctl.detect.pattern import UNBOUNDED_WIDTH, Pattern
from dlpctl.errors import EngineError, PatternError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    import hyperscan

_AT_MOST = lazy(r"length (\d+) bytes at most")
_NO_MATCH_IS_LONGER = 1 << 31


def version() -> str:
    """The engine that a compiled database is for."""
    from hyperscan._version import __version__

    return str(__version__)


def compile_database(patterns: Sequence[Pattern]) -> bytes:
    """The serialized database; the id of a hit is the position of its pattern."""
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=[pattern.regex.encode() for pattern in patterns],
            ids=list(range(len(patterns))),
            elements=len(patterns),
            flags=[hyperscan.HS_FLAG_UTF8] * len(patterns),
        )
    except hyperscan.error as problem:
        for pattern in patterns:
            max_width(pattern)
        raise EngineError(f"the patterns do not compile together: {problem}") from None
    serialized: bytes = hyperscan.dumpb(database)
    return serialized


def load_database(serialized: bytes) -> hyperscan.Database:
    import hyperscan

    try:
        return hyperscan.loadb(serialized, hyperscan.HS_MODE_BLOCK)
    except hyperscan.error as problem:
        raise EngineError(f"the compiled patterns do not load: {type(problem).__name__}") from None


def max_width(pattern: Pattern) -> tuple[int, bool]:
    """Bytes that a match can take at most, and whether that bound is the regex's own.

    Hyperscan knows it best, and says it when asked for matches that are longer than any can be.
    """
    import hyperscan

    longer = (hyperscan.HS_EXT_FLAG_MIN_LENGTH, 0, 0, _NO_MATCH_IS_LONGER, 0, 0)
    try:
        hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK).compile(
            expressions=[pattern.regex.encode()],
            ids=[0],
            elements=1,
            flags=[hyperscan.HS_FLAG_UTF8],
            ext=[longer],
        )
    except hyperscan.error as problem:
        bound = _AT_MOST.search(str(problem))
        if not bound:
            raise PatternError(
                f"{pattern.source}: pattern '{pattern.id}': regex: {_plainly(str(problem))}"
            ) from None
        own = int(bound[1])
        return (min(own, pattern.width), pattern.width >= own) if pattern.width else (own, True)
    return pattern.width or UNBOUNDED_WIDTH, False


def _plainly(problem: str) -> str:
    if "empty buffer" in problem:
        return "matches the empty text; make something in it required"
    if "Zero-width" in problem:
        return "lookaround is not supported; delimit with \\b or with characters around a group 'value'"
    if "Back-reference" in problem:
        return "a reference back to a group is not supported; write out what may be repeated"
    return problem
