"""Patterns made ready to run, in one block of bytes that a later process loads in a millisecond.

The block holds the Hyperscan database and a record for each pattern; a record is read when its pattern is hit for the first time, so that a
library of a thousand patterns costs a start no more than a small one.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl import __version__
from dlpctl.detect.cache import Cache
from dlpctl.detect.pattern import AFTER, BEFORE, Context, Pattern
from dlpctl.errors import EngineError, PatternError
from dlpctl.types import Category

_PREFIX = "patterns-"
_KEPT = 24
_FORMAT = 2
"""Goes up whenever a block is made otherwise, so that none of an older kind is read."""


class Compiled:
    """A set of patterns, loaded from the block that `pack` made."""

    def __init__(self, block: bytes | memoryview) -> None:
        from dlpctl.detect.database import load_database

        block = memoryview(block)  # megabytes, of which each slice would be a copy
        size = int.from_bytes(block[:4], "little")
        first = 4 + 4 * size
        self._ends = array("I", bytes(block[4:first]))
        records_end = first + (self._ends[-1] if size else 0)
        self._records = bytes(block[first:records_end])
        self.widest = int.from_bytes(block[records_end : records_end + 4], "little")
        self.database = load_database(bytes(block[records_end + 4 :])) if size else None

    def __len__(self) -> int:
        return len(self._ends)

    def record(self, index: int) -> Record:
        start = self._ends[index - 1] if index else 0
        return _record(json.loads(self._records[start : self._ends[index]]))

    @cached_property
    def records(self) -> list[Record]:
        return [self.record(index) for index in range(len(self))]


class Record(NamedTuple):
    """What the engine knows of one pattern at run time."""

    pattern: Pattern
    width: int
    bounded: bool


def _record(fields: dict[str, Any]) -> Record:
    context = fields["context"]
    for name in ("validators", "keywords"):
        fields[name] = tuple(fields[name])
    fields["category"] = Category(fields["category"])
    fields["context"] = (
        Context(tuple(context[0]), context[1], tuple(context[2]), *context[3:]) if context else None
    )
    width, bounded = fields.pop("at_most"), fields.pop("bounded")
    return Record(Pattern(**fields), width, bounded)


def pack(patterns: Sequence[Pattern]) -> bytes:
    """Compile the patterns into a block; a regex that either engine refuses is an error that names it."""
    from dlpctl.detect.database import compile_database, max_width
    from dlpctl.detect.matcher import EMPTY, compile_regex, matches_nothing

    records: list[bytes] = []
    ends = array("I")
    widest = 0
    for pattern in patterns:
        where = f"{pattern.source}: pattern '{pattern.id}'"
        if matches_nothing(compile_regex(pattern.regex, where)):
            raise PatternError(f"{where}: regex: {EMPTY}")
        width, bounded = max_width(pattern)
        widest = max(widest, width + _context_width(pattern))
        records.append(json.dumps(_fields(pattern) | {"at_most": width, "bounded": bounded}).encode())
        ends.append((ends[-1] if ends else 0) + len(records[-1]))
    database = compile_database(patterns) if patterns else b""
    return b"".join(
        [len(ends).to_bytes(4, "little"), ends.tobytes(), *records, widest.to_bytes(4, "little"), database]
    )


def _fields(pattern: Pattern) -> dict[str, Any]:
    names = (
        "id",
        "type",
        "category",
        "label",
        "regex",
        "score",
        "validators",
        "keywords",
        "region",
        "source",
        "context",
        "width",
        "trigger",
    )
    return {name: getattr(pattern, name) for name in names}


def _context_width(pattern: Pattern) -> int:
    """Bytes around a value that can change its score."""
    context = pattern.context
    if context is None:
        return max(BEFORE, AFTER) if pattern.keywords else 0
    return max(context.before, context.after)


def from_files(
    library: Sequence[Path],
    files: Sequence[Path],
    cache: Cache | None,
    on_compile: Callable[[], None] | None = None,
) -> list[Compiled]:
    """The patterns of files, from the cache where it has them; `on_compile` is called before the slow way is gone.

    A set for each category of the library: in one database, numbers of all kinds compile three times as slowly as apart, and are scanned no
    faster. What is in further files is a set of its own, so that a change there does not compile the library again.
    """
    from dlpctl.detect.library import load_patterns, unique

    @lru_cache(1)
    def load() -> tuple[list[Pattern], list[Pattern]]:
        own, further = load_patterns(library), load_patterns(files)
        unique([*own, *further])
        return own, further

    def of(category: Category) -> bytes:
        return pack([pattern for pattern in load()[0] if pattern.category is category])

    announce = lru_cache(1)(on_compile) if on_compile else None
    sets = []
    if library:
        state = _state(library)
        sets += [
            _cached(f"{category} {state}", partial(of, category), cache, announce) for category in Category
        ]
    if files:
        sets.append(_cached(_state(files), lambda: pack(load()[1]), cache, announce))
    return sets


def from_patterns(patterns: Sequence[Pattern], cache: Cache | None) -> Compiled:
    """Patterns that are in no file, such as a policy's."""
    from dlpctl.detect.library import unique

    unique(patterns)
    return _cached(
        json.dumps([_fields(pattern) for pattern in patterns]),
        lambda: pack(patterns),
        cache,
    )


def _state(files: Iterable[Path]) -> str:
    """Changes whenever the content of a file does, without reading it."""
    try:
        statuses = [(str(file), file.stat()) for file in files]
    except OSError as problem:
        raise PatternError(f"{problem.filename}: cannot be read: {problem.strerror}") from None
    return repr([(name, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for name, each in statuses])


def _cached(
    content: str, make: Callable[[], bytes], cache: Cache | None, on_compile: Callable[[], None] | None = None
) -> Compiled:
    if cache is None:
        return Compiled(make())
    from dlpctl.detect.database import version

    key = f"{_FORMAT} {__version__} {version()} {content}".encode("utf-8", "surrogateescape")
    name = f"{_PREFIX}{zlib.crc32(key):08x}"
    block = cache.read(name)
    framed = _framed(key)
    if block is not None and block[: len(framed)] == framed:
        try:
            return Compiled(block[len(framed) :])
        except EngineError:
            pass  # made by another Hyperscan or for another processor: made again below
    if on_compile is not None:
        on_compile()
    made = make()
    if cache.write(name, framed + made):
        cache.forget_others(_PREFIX, keep=_KEPT)
    return Compiled(made)


def _framed(key: bytes) -> bytes:
    """The key at the head of an entry, whole, because its short name may be another's too."""
    return len(key).to_bytes(4, "little") + key
