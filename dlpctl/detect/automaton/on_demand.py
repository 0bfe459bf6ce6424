"""Patterns that are compiled when a text needs them: compiling all of them takes seconds.

RE2 finds in milliseconds which triggers a short text contains, and their patterns compile in
milliseconds, too. For long texts, the complete set is compiled once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from dlpctl.detect.automaton.alike import treats_digits_alike
from dlpctl.detect.automaton.compiled import Compiled, Record, name_of, pack
from dlpctl.detect.patterns.model import WIDEST, Pattern, PatternName

_LONG = 1 << 18
"""The total size of texts in bytes from which on the complete set is compiled."""
_EVERYTHING = "(?s:.)"
"""A regex that matches any text; if it does not, RE2 had too little memory to search."""
_MEGABYTES = 512


class OnDemand:
    """A set of patterns, of which only those in a text are compiled."""

    widest = WIDEST
    """The width in bytes of the widest pattern with its context, or more."""

    def __init__(self, patterns: Sequence[Pattern], compile_all: Callable[[], Compiled]) -> None:
        self.patterns = patterns
        self._compile_all = compile_all
        self._lock = threading.RLock()
        self._complete: Compiled | None = None
        self._parts: list[Compiled] = []
        self._compiled: dict[int, tuple[Compiled, int]] = {}
        self._searched = 0

    def __len__(self) -> int:
        return len(self.patterns)

    @property
    def names(self) -> Sequence[PatternName]:
        return [name_of(pattern) for pattern in self.patterns]

    @cached_property
    def treats_digits_alike(self) -> bool:
        return all(treats_digits_alike(each.trigger or each.regex) for each in self.patterns)

    @property
    def is_complete(self) -> bool:
        return self._complete is not None

    def complete(self) -> Compiled:
        """Return the complete set, compiled now if necessary."""
        with self._lock:
            if self._complete is None:
                self._complete = self._compile_all()
                self._parts, self._compiled = [], {}
            return self._complete

    def parts(self, data: bytes) -> Sequence[Compiled]:
        """Return compiled sets with every pattern that may match in the data."""
        with self._lock:
            self._searched += len(data)
            if self._complete is None and self._searched <= _LONG:
                numbers = self._triggers.Match(data) if data else [len(self)]
                if numbers and len(self) in numbers:
                    self._compile(sorted({*numbers} - {len(self)} - self._compiled.keys()))
                    return tuple(self._parts)
            return (self.complete(),)

    def record(self, index: int) -> Record:
        with self._lock:
            if self._complete is not None:
                return self._complete.record(index)
            if index not in self._compiled:
                self._compile([index])
            part, at = self._compiled[index]
            return part.record(at)

    def _compile(self, numbers: Sequence[int]) -> None:
        if numbers:
            wanted = [self.patterns[number] for number in numbers]
            part = Compiled(pack(wanted, is_checked=True), numbers)
            self._parts.append(part)
            self._compiled |= {number: (part, at) for at, number in enumerate(numbers)}

    @cached_property
    def _triggers(self) -> Any:
        """Return the triggers of all patterns as one RE2 automaton, with one more that matches any
        text.
        """
        import re2

        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEGABYTES << 20
        triggers = re2.Set.SearchSet(options)
        for pattern in self.patterns:
            triggers.Add(pattern.trigger or pattern.regex)
        triggers.Add(_EVERYTHING)
        triggers.Compile()
        return triggers
