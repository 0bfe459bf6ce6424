"""Gates: quick checks of whether a regex may match in a text, or which of several do.

Hyperscan tells in a fraction of the time in which RE2 searches, and builds nothing while it scans.
Each gate has a database of its own, since one for all would be slower than all of them together.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from dlpctl.detect.automaton.compiled import key_of
from dlpctl.detect.automaton.first_pass import PART
from dlpctl.detect.automaton.scratches import Scratches

if TYPE_CHECKING:
    import hyperscan

    from dlpctl.detect.automaton.cache import Cache

Gate = str | tuple[str, ...]
"""A regex, or several that are checked at once."""
MayMatch = Callable[[Gate, bytes], Collection[int]]
"""Tells which regexes of a gate may match in valid UTF-8, by their numbers."""
_PREFIX = "gates-"
_MOST_BYTES = 16 << 20
"""The maximum total size of cache entries; one takes about 1.2 MB."""
_LONG = 1 << 20
"""The bytes that gates are asked about until it pays to compile them."""


def all_open(gate: Gate, _data: bytes) -> Collection[int]:
    return range(1 if isinstance(gate, str) else len(gate))


class Gates:
    """Some gates, which are open until they are compiled. Threads may share them."""

    def __init__(self, gates: Sequence[Gate], cache: Cache | None) -> None:
        self._gates = gates
        self._cache = cache
        self._lock = threading.Lock()
        self._serialized: dict[Gate, bytes] = {}
        self._databases: dict[Gate, hyperscan.Database] = {}
        self._scratches = Scratches()
        self._was_read = False
        self._asked = 0

    def may_match(self, gate: Gate, data: bytes) -> Collection[int]:
        """Return the numbers of the regexes of a gate that may match in valid UTF-8."""
        known = self._databases
        database = known[gate] if gate in known else self._loaded(gate, len(data))
        if database is None or data[PART : PART + 1]:
            return all_open(gate, data)
        matching: list[int] = []

        def on_match(number: int, *_: object) -> None:
            matching.append(number)

        database.scan(data, match_event_handler=on_match, scratch=self._scratches.of(database))
        return matching

    def in_lines_of(self, text: bytes) -> Callable[[bytes], MayMatch]:
        """Return a function that returns `may_match` for a line of a text and for what is derived
        from it: a gate that is closed for the text is not asked for each of its lines.
        """
        known: dict[Gate, Collection[int]] = {}

        def in_line(line: bytes) -> MayMatch:
            def may_match(gate: Gate, data: bytes) -> Collection[int]:
                if data is line:
                    matching = known.get(gate)
                    if matching is None:
                        matching = known[gate] = self.may_match(gate, text)
                    if not matching:
                        return matching
                return self.may_match(gate, data)

            return may_match

        return in_line

    def compile(self) -> None:
        """Compile the gates now, unless they are in the cache."""
        with self._lock:
            if not self._read():
                self._compile()

    def _loaded(self, gate: Gate, size: int) -> hyperscan.Database | None:
        with self._lock:
            self._asked += size
            if not self._read():
                if self._asked < _LONG:
                    return None
                self._compile()
            if gate not in self._databases:
                from dlpctl.detect.automaton.database import load_database

                self._databases[gate] = load_database(self._serialized[gate])
            return self._databases[gate]

    def _read(self) -> bool:
        """Return whether the gates are compiled, now or in the cache."""
        if not self._was_read and self._cache:
            entry = self._cache.read(self._entry)
            if entry and entry[0].startswith(self._head):
                ends = array("I", entry[0][len(self._head) :])
                self._serialized = {
                    gate: entry[1][start:end]
                    for gate, (start, end) in zip(self._gates, pairwise((0, *ends)), strict=True)
                }
        self._was_read = True
        return bool(self._serialized)

    def _compile(self) -> None:
        from dlpctl.detect.automaton.database import compile_gate

        self._serialized = {gate: compile_gate(gate) for gate in self._gates}
        if self._cache:
            ends = array("I", accumulate(map(len, self._serialized.values())))
            sealed = b"".join(self._serialized.values())
            if self._cache.write(self._entry, self._head + ends.tobytes(), sealed):
                self._cache.evict(_PREFIX, _MOST_BYTES)

    @cached_property
    def _head(self) -> bytes:
        return key_of(repr(self._gates)) + b"\n"

    @property
    def _entry(self) -> str:
        return f"{_PREFIX}{crc32(self._head):08x}"
