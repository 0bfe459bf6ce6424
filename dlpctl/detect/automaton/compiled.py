"""Compiled patterns, as bytes that a later process loads in milliseconds.

The block contains the Hyperscan database and a record for each pattern; a record is read when its
pattern's trigger first matches, so that a library of a thousand patterns starts as fast as a small
one.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dlpctl.detect.automaton.alike import treats_digits_alike
from dlpctl.detect.automaton.anchors import ANCHORS, NUMBERS
from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.patterns.model import (
    Context,
    Pattern,
    PatternName,
    Possible,
    context_width,
)
from dlpctl.detect.patterns.syntax import loosened, prefix_of
from dlpctl.errors import EngineError, PatternError
from dlpctl.regex import lazy
from dlpctl.system.regular import read_regular
from dlpctl.types import Category
from dlpctl.version import __version__

if TYPE_CHECKING:
    import hyperscan

_DETECT = Path(__file__).parents[1]
_MAKERS = [
    *(_DETECT / "patterns" / f"{name}.py" for name in ("labels", "library", "parse", "syntax")),
    *(
        _DETECT / "automaton" / f"{name}.py"
        for name in ("anchors", "bytewise", "compiled", "database", "widths")
    ),
]
"""The code that determines the compiled result: another commit may have the same version."""
_PREFIX = "patterns-"
_OF_POLICIES = "policy-"
_MOST_BYTES = {_PREFIX: 256 << 20, _OF_POLICIES: 64 << 20}
"""The maximum total size of cache entries, by prefix; a library takes about 15 MB."""
_FORMAT = 19
"""The version of the layout of a block; blocks of other versions are never read."""
_TAKEN = lazy(r"(\[(?!\^)[!-Z^-~]+\](?:\{(\d+)\})?)?")
"""A class of ASCII characters with its count; a class with a backslash may contain others."""
_WORD = lazy("[A-Za-z]{3}")
_WIDE = 160
"""The width from which on it pays to limit where a match may start."""
_HEAD = Struct("<IIIIII")
"""The number of patterns, the width in bytes of the widest one with its context, the bytes before
and after an anchor in which a trigger may end, and the sizes of the database of anchors and of the
names of patterns.
"""


_NOT_RUN = frozenset(("references", "match", "skip"))
"""Fields of a pattern that the engine does not need."""


class Block(NamedTuple):
    """Compiled patterns: their records, the database of anchors if they are gated, and their own
    database as Hyperscan serialized it.
    """

    records: bytes
    database: bytes


class PatternSet(Protocol):
    """A set of patterns that texts are searched for."""

    widest: int
    """The width in bytes of the widest pattern with its context, or more."""

    @property
    def is_complete(self) -> bool:
        """Return whether the complete set is compiled."""

    @property
    def treats_digits_alike(self) -> bool:
        """Return whether a digit of a text may be any other for all trigger matches."""

    @property
    def patterns(self) -> Sequence[Pattern]: ...

    @property
    def names(self) -> Sequence[PatternName]: ...

    def __len__(self) -> int: ...

    def complete(self) -> Compiled:
        """Return the complete set, compiled now if necessary."""

    def record(self, index: int) -> Record: ...

    def parts(self, data: bytes, /) -> Sequence[Compiled]:
        """Return compiled sets with every pattern that may match in the data."""


class Compiled:
    """A set of patterns, loaded from its block."""

    is_complete = True

    def __init__(self, block: Block, numbers: Sequence[int] | None = None) -> None:
        """`numbers` are the numbers of these patterns in the set that they belong to."""
        from dlpctl.detect.automaton.database import load_database

        head: tuple[int, ...] = _HEAD.unpack_from(block.records)
        size, widest, before, after, anchors, names = head
        self.widest: int = widest
        self.before: int = before
        self.after: int = after
        after_head = _HEAD.size + anchors
        self._names = slice(after_head + 4 * size, after_head + 4 * size + names)
        self._first = self._names.stop
        self._ends = array("I", block.records[after_head : self._names.start])
        self._records = block.records
        self.numbers: Sequence[int] = range(size) if numbers is None else numbers
        self.database: hyperscan.Database | None = load_database(block.database) if size else None
        self.anchors: hyperscan.Database | None = (
            load_database(block.records[_HEAD.size : after_head]) if anchors else None
        )

    def __len__(self) -> int:
        return len(self._ends)

    def record(self, index: int) -> Record:
        start = self._ends[index - 1] if index else 0
        return _record(
            json.loads(self._records[self._first + start : self._first + self._ends[index]])
        )

    @cached_property
    def names(self) -> list[PatternName]:
        """Return the names of all patterns, which takes a hundredth of reading their records."""
        return [
            PatternName(name, type_name, Category(category))
            for name, type_name, category in json.loads(self._records[self._names])
        ]

    @cached_property
    def records(self) -> list[Record]:
        return [self.record(index) for index in range(len(self))]

    @cached_property
    def treats_digits_alike(self) -> bool:
        patterns = (self.record(index).pattern for index in range(len(self)))
        return all(treats_digits_alike(each.trigger or each.regex) for each in patterns)

    @property
    def patterns(self) -> list[Pattern]:
        return [record.pattern for record in self.records]

    def complete(self) -> Compiled:
        return self

    def parts(self, _data: bytes) -> Sequence[Compiled]:
        return (self,)


class Record(NamedTuple):
    """One pattern at run time."""

    pattern: Pattern
    width: int
    ahead: int
    """The maximum number of bytes from the start of a match to the end of its trigger match."""
    told: int
    """Bytes from the start of the value to the end of a trigger match; -1 if that is not fixed."""
    known: int
    """Characters of the regex that a trigger match has covered, so that prefiltering by the others
    pays; 0 if it does not.
    """


def _record(fields: dict[str, Any]) -> Record:
    found = [fields.pop(name) for name in ("at_most", "ahead", "told", "known")]
    return Record(pattern_of(fields), *found)


def pattern_of(fields: dict[str, Any]) -> Pattern:
    """Return the pattern from the fields of `fields_of`, also after they were converted to JSON and
    back.
    """
    context, possible = fields["context"], fields["possible"]
    return Pattern(
        **fields
        | {
            "validators": tuple(fields["validators"]),
            "keywords": tuple(fields["keywords"]),
            "labels": tuple(fields["labels"]),
            "category": Category(fields["category"]),
            "context": _context(context) if context else None,
            "possible": Possible(possible[0], tuple(possible[1])) if possible else None,
        }
    )


def _context(fields: Sequence[Any]) -> Context:
    return Context._make(tuple(each) if isinstance(each, list) else each for each in fields)


def pack(patterns: Sequence[Pattern], *, is_checked: bool = False) -> Block:
    """Compile the patterns; an error names the regex that an engine refuses. Those of files were
    checked for what only RE2 refuses.
    """
    from dlpctl.detect.automaton.database import (
        check_context,
        checked_width,
        compile_anchors,
        compile_database,
        usual_width,
    )

    records: list[bytes] = []
    ends = array("I")
    widest = reach = 0
    for pattern in patterns:
        width = usual_width(pattern) if is_checked else checked_width(pattern)[0]
        if not is_checked:
            check_context(pattern)
        widest = max(widest, width + context_width(pattern))
        reach = max(reach, width)
        ahead = width
        prefix = prefix_of(pattern.regex)
        told = _told(prefix, pattern.trigger or "")
        if told == 0 and width >= _WIDE:
            ahead = min(width, usual_width(pattern._replace(regex=prefix, width=None)))
        # If a trigger match shows the start of the value, only a validator rejects more; otherwise,
        # the shape after a word does, such as a label.
        telling = pattern.validators if told >= 0 else _WORD.search(prefix)
        known = len(prefix) if telling else 0
        found = {"at_most": width, "ahead": ahead, "told": told, "known": known}
        records.append(json.dumps(fields_of(pattern) | found).encode())
        ends.append((ends[-1] if ends else 0) + len(records[-1]))
    # If one pattern must be searched everywhere, so must the others.
    anchors = b""
    if patterns and all(pattern.gated for pattern in patterns):
        needed = (NUMBERS if pattern.labels else ANCHORS for pattern in patterns)
        anchors = compile_anchors(list(dict.fromkeys(chain.from_iterable(needed))))
    # A label precedes its value, which contains the anchor.
    after = reach if any(not pattern.labels for pattern in patterns) else 0
    names = json.dumps([name_of(pattern) for pattern in patterns]).encode()
    head = _HEAD.pack(len(ends), widest, reach, after, len(anchors), len(names))
    content = b"".join((head, anchors, ends.tobytes(), names, *records))
    return Block(content, compile_database(patterns) if patterns else b"")


def name_of(pattern: Pattern) -> PatternName:
    return PatternName(pattern.id, pattern.type, pattern.category)


def _told(prefix: str, trigger: str) -> int:
    """Return the number of bytes of the value that a trigger includes after the prefix; -1 for
    other triggers.
    """
    for start in (prefix, loosened(prefix)):
        if start and trigger.startswith(start):
            taken = _TAKEN.fullmatch(trigger, len(start))
            if taken:
                return int(taken[2] or 1) if taken[1] else 0
    return -1


def fields_of(pattern: Pattern) -> dict[str, Any]:
    """Return the fields of a pattern that the engine needs, as plain data."""
    return {name: value for name, value in pattern._asdict().items() if name not in _NOT_RUN}


def from_patterns(patterns: Sequence[Pattern], cache: Cache | None) -> Compiled:
    """Return patterns that are not in a file, such as those of a policy."""
    from dlpctl.detect.patterns.library import unique

    unique(patterns)
    key = key_of(_content(patterns))
    return (kept_set(key, cache) if cache else None) or compile_set(key, patterns, cache)


def packed(patterns: Sequence[Pattern], cache: Cache) -> Compiled | None:
    """Return a policy's patterns as `keep_packed` stored them; None if missing or stale."""
    return kept_set(key_of(_content(patterns)), cache, _OF_POLICIES)


def keep_packed(patterns: Sequence[Pattern], block: Block, cache: Cache) -> None:
    _keep(key_of(_content(patterns)), block, cache, _OF_POLICIES)


def _content(patterns: Sequence[Pattern]) -> str:
    return json.dumps([fields_of(pattern) for pattern in patterns])


def compile_set(
    key: bytes, patterns: Sequence[Pattern], cache: Cache | None, *, is_checked: bool = False
) -> Compiled:
    """Compile a set, and store it."""
    block = pack(patterns, is_checked=is_checked)
    if cache:
        _keep(key, block, cache)
    return Compiled(block)


def key_of(state: str) -> bytes:
    from dlpctl.detect.automaton.database import version

    made = f"{_FORMAT} {__version__} {version()} {_makers()} {state}"
    return made.encode("utf-8", "surrogateescape")


@cache
def _makers() -> str:
    return state_of(file for file in _MAKERS if file.exists())


def state_of(files: Iterable[Path]) -> str:
    """Return a digest of the content of files.

    Reading a library takes a millisecond. Modification times would be free, but those in a
    container image change whenever the image is unpacked.
    """
    contents: list[tuple[str, bytes]] = []
    for file in files:
        try:
            contents.append((file.name, read_regular(file)))
        except OSError as problem:
            raise PatternError(f"{file}: cannot be read: {problem.strerror or problem}") from None
    return repr([(name, len(content), zlib.crc32(content)) for name, content in contents])


def keep_patterns(key: bytes, patterns: Sequence[Pattern], cache: Cache) -> None:
    """Store patterns that are parsed, but not compiled."""
    _keep(key, Block(_content(patterns).encode(), b""), cache)


def kept_patterns(key: bytes, cache: Cache) -> list[Pattern] | None:
    """Return patterns as `keep_patterns` stored them; None if missing or stale."""
    block = _kept(key, cache)
    return [pattern_of(fields) for fields in json.loads(block.records)] if block else None


def kept_set(key: bytes, cache: Cache, prefix: str = _PREFIX) -> Compiled | None:
    block = _kept(key, cache, prefix)
    try:
        return Compiled(block) if block else None
    except EngineError:
        return None  # damaged, or made by another Hyperscan or for another processor


def _keep(key: bytes, block: Block, cache: Cache, prefix: str = _PREFIX) -> None:
    if cache.write(_name(key, prefix), _framed(key) + block.records, block.database):
        cache.evict(prefix, _MOST_BYTES[prefix])


def _kept(key: bytes, cache: Cache, prefix: str = _PREFIX) -> Block | None:
    entry = cache.read(_name(key, prefix))
    framed = _framed(key)
    if entry is None or not entry[0].startswith(framed):
        return None
    return Block(entry[0][len(framed) :], entry[1])


def _name(key: bytes, prefix: str) -> str:
    return f"{prefix}{zlib.crc32(key):08x}"


def _framed(key: bytes) -> bytes:
    """Return the key as the head of an entry, since entries of different keys may share a name."""
    return len(key).to_bytes(4, "little") + key
