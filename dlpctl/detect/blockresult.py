"""The result of a block of a long text, as a child process returns it."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

from dlpctl.detect.entities.known import Header
from dlpctl.detect.resolve import Candidate
from dlpctl.regex import lazy

ZONE = 1024
"""Bytes on both sides of a border for which both blocks report their candidates."""
# The start of a word is checked after its first letter, for which most texts are searched faster.
_WORDS = lazy(r"[A-Z\x80-\U0010FFFF](?<![^\W\d_].)[^\W\d_]*(?:['’][^\W\d_]+)*", re.DOTALL)
_PARTS = lazy(r"[^\W\d_]+")


class State(NamedTuple):
    """The names and the header that the taggers know from the text so far."""

    names: frozenset[str] = frozenset()
    header: Header | None = None


class Border(NamedTuple):
    """The candidates of a block around its start or end."""

    zone: list[Candidate]
    """The candidates of patterns that start in the zone around the border."""
    tagged: list[Candidate]
    """The tagged candidates on the block's own side of the border."""
    reach: int
    """The end of the last candidate that starts before the zone."""

    @classmethod
    def at(cls, position: int, near: Sequence[Candidate], tagged: Sequence[Candidate]) -> Border:
        """Return the border at a position, from the candidates near it, in order."""
        low = bisect_left(near, position - ZONE, key=start_of)
        high = bisect_left(near, position + ZONE, key=start_of)
        close = [
            candidate
            for candidate in tagged
            if position - ZONE < candidate.end and candidate.start < position + ZONE
        ]
        reach = max((candidate.end for candidate in near[:low]), default=0)
        return cls(list(dict.fromkeys(near[low:high])), close, reach)

    def to_json(self) -> object:
        return [self.zone, self.tagged, self.reach]

    @classmethod
    def of_json(cls, plain: Any) -> Border:
        zone, tagged, reach = plain
        return cls([*map(Candidate._make, zone)], [*map(Candidate._make, tagged)], reach)


class Block(NamedTuple):
    """The result of a block."""

    found: bytes
    state: State
    loose: frozenset[str]
    """Capitalized words outside of tagged spans: a block that knows such a word from elsewhere may
    find a name.
    """
    depends: bool
    """True if the result of the block depends on what is known before it."""
    start: Border
    end: Border

    def to_bytes(self) -> bytes:
        plain = [
            sorted(self.state.names),
            self.state.header,
            sorted(self.loose),
            self.depends,
            self.start.to_json(),
            self.end.to_json(),
        ]
        return json.dumps(plain).encode() + b"\n" + self.found

    @classmethod
    def of_bytes(cls, data: bytes) -> Block:
        plain, _, found = data.partition(b"\n")
        names, header, loose, depends, *borders = json.loads(plain)
        state = State(frozenset(names), header_of(header))
        return cls(found, state, frozenset(loose), depends, *map(Border.of_json, borders))


def header_of(plain: list[object] | None) -> Header | None:
    if plain is None:
        return None
    delimiter, keys = plain
    assert isinstance(delimiter, str)
    assert isinstance(keys, list)
    return Header(delimiter, tuple(keys))


def loose_words(data: bytes, tagged: Sequence[Candidate], first: int) -> frozenset[str]:
    """Return the capitalized words outside of tagged spans."""
    parts: list[bytes] = []
    done = 0
    for candidate in tagged:
        parts.append(data[done : max(done, candidate.start - first)])
        done = max(done, candidate.end - first)
    parts.append(data[done:])
    words = set(_WORDS.findall(b"|".join(parts).decode("utf-8", "replace")))
    words.update(*(_PARTS.findall(word) for word in words if not word.isalpha()))
    return frozenset(word for word in words if word[0].isupper())


def start_of(candidate: Candidate) -> int:
    return candidate.start
