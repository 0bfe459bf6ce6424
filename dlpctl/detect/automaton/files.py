"""Sets of patterns from files, already compiled or compiled on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.detect.automaton.compiled import (
    Compiled,
    PatternSet,
    compile_set,
    keep_patterns,
    kept_patterns,
    kept_set,
    key_of,
    state_of,
)
from dlpctl.types import Category

if TYPE_CHECKING:
    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.patterns.model import Pattern


def from_files(
    library: Sequence[Path],
    files: Sequence[Path],
    cache: Cache | None,
    on_compile: Callable[[], None] | None = None,
) -> list[PatternSet]:
    """Return the patterns of files, from the cache if possible; patterns of the library are
    compiled on demand. `on_compile` is called before a complete set is compiled for the first time.

    There is a set for each category of the library, and two for gated patterns, without and with
    labels: in one database, numbers of all types take three times as long to compile as in separate
    ones, and scanning is no faster. Other files are a set of their own, so that a change there does
    not compile the library again.
    """
    further = [state_of(files)] if files else []
    state = state_of(library)
    names = (*Category, "gated", "labelled") if library else ()
    keys = [key_of(each) for each in (*(f"{name} {state}" for name in names), *further)]
    kept = [kept_set(key, cache) if cache else None for key in keys]
    if None not in kept:
        return [each for each in kept if each]
    from dlpctl.detect.automaton.on_demand import OnDemand
    from dlpctl.detect.patterns.library import load_patterns, unique

    own = _parsed(library, key_of(f"parsed {state}"), cache)
    more = load_patterns(files, check_regexes=True)
    unique([*own, *more])
    compiling = _once(on_compile)
    sets: list[PatternSet] = []
    for name, key, found in zip_longest(names, keys, kept):
        patterns = more if name is None else [each for each in own if _set_name(each) == name]

        def complete(key: bytes = key, patterns: Sequence[Pattern] = patterns) -> Compiled:
            compiling()
            return compile_set(key, patterns, cache, is_checked=True)

        if found is not None:
            sets.append(found)
        else:
            sets.append(OnDemand(patterns, complete) if name and patterns else complete())
    return sets


def _parsed(library: Sequence[Path], key: bytes, cache: Cache | None) -> Sequence[Pattern]:
    """Return the patterns of the library, from the cache if possible: parsing them takes twenty
    times as long, and every short command would do it until the library is compiled.
    """
    from dlpctl.detect.patterns.library import load_patterns

    patterns = kept_patterns(key, cache) if cache else None
    if patterns is None:
        patterns = load_patterns(library)
        if cache and library:
            keep_patterns(key, patterns, cache)
    return patterns


def _set_name(pattern: Pattern) -> str:
    if pattern.gated:
        return "labelled" if pattern.labels else "gated"
    return pattern.category


def _once(function: Callable[[], None] | None) -> Callable[[], None]:
    """Return a function that calls another one only the first time."""
    left = [function] if function else []
    return lambda: left.pop()() if left else None
