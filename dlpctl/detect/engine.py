"""The detector: searches patterns, names and addresses, and resolves overlaps. It joins the
packages of `detect` and makes no decisions of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from dlpctl.detect.automaton.compiled import Compiled, PatternSet, from_patterns, name_of, state_of
from dlpctl.detect.automaton.files import from_files
from dlpctl.detect.confirm.runner import Runner, Trace
from dlpctl.detect.entities.taggers import TAGGED, Taggers
from dlpctl.detect.patterns.library import builtin_files, unique
from dlpctl.detect.resolve import Candidate, merged, resolve
from dlpctl.detect.search import PatternSearch
from dlpctl.errors import EngineError, UsageError, did_you_mean
from dlpctl.regex import lazy
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from pathlib import Path

    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.automaton.gates import MayMatch
    from dlpctl.detect.entities.known import Known
    from dlpctl.detect.patterns.model import Pattern, PatternName
    from dlpctl.system.forked import LeaveToFork

THRESHOLD = 0.5
_SURROGATES = lazy("[\ud800-\udfff]")

_new = tuple.__new__


class Detector:
    """Finds what its patterns describe. Threads may share it, and it keeps no text that it scans.

    Of names, it keeps the keyed hashes of those that it judged last.
    """

    def __init__(
        self,
        patterns: Sequence[Pattern] | None = None,
        *,
        files: Iterable[Path] = (),
        cache: Cache | None = None,
        on_compile: Callable[[], None] | None = None,
        library: Sequence[Path] | None = None,
    ) -> None:
        """Take all patterns of the library and of further `files`, with names and addresses, or
        else just `patterns`. `library` names the files of a library other than the installed one.

        Without a `cache`, the library and the gates of derived texts are compiled into the user's
        own, and `patterns` into none.
        What a cache lacks of the library is compiled on demand; see `compile`.
        """
        self._taggers: Taggers | None = None
        files = tuple(files)
        self._library = builtin_files() if library is None else library
        usual = cache or _usual_cache()
        if patterns is None:
            self._taggers = Taggers(usual)
            sets: Sequence[PatternSet] = from_files(self._library, files, usual, on_compile)
        else:
            sets = [from_patterns(patterns, cache)]
        self.cache = cache
        self.leave: LeaveToFork | None = None
        """The leave to search long texts with further processes; see `blocks`."""
        headers = sets if patterns is not None else sets[-1:] if files else []
        self.search: PatternSearch = PatternSearch(sets, headers, usual)

    def for_types(self, selectors: Iterable[str]) -> Detector:
        """Return a detector for the findings of these categories, types or pattern ids alone."""
        wanted = {selector.upper() for selector in selectors}
        known = {name for pattern in self.pattern_names for name in _names(pattern)}
        for unknown in sorted(wanted - known):
            hint = did_you_mean(unknown, known) or "; see 'dlpctl patterns list'"
            raise UsageError(f"{unknown!r} is not a category, type or pattern{hint}")
        return self.for_known(wanted)

    def for_known(self, selectors: Iterable[str]) -> Detector:
        """Do the same for names that may be unknown, as a policy's may be."""
        wanted = {selector.upper() for selector in selectors}
        return self._narrowed(lambda _, pattern: bool(_names(pattern) & wanted))

    def for_categories(self, categories: Collection[Category]) -> Detector:
        """Return a detector that is narrowed further, to these categories."""
        selected = self.search.selected
        return self._narrowed(
            lambda index, pattern: (
                pattern.category in categories and (selected is None or index in selected)
            )
        )

    def _narrowed(self, is_wanted: Callable[[int, PatternName], bool]) -> Detector:
        numbered = enumerate(self.pattern_names, start=-len(self._tagged))
        wanted = {index: pattern for index, pattern in numbered if is_wanted(index, pattern)}
        # Only numbers and addresses go on after a line end.
        joins_lines = any(pattern.category is not Category.SECRETS for pattern in wanted.values())
        narrowed = self._copy()
        narrowed.search = self.search.narrowed(frozenset(wanted), joins_lines=joins_lines)
        return narrowed

    def without_names(self) -> Detector:
        """Return a detector that looks for no names and addresses."""
        narrowed = self._copy()
        narrowed._taggers = None
        return narrowed

    @property
    def names_wanted(self) -> bool:
        """Return whether names or addresses were selected, rather than everything."""
        return self.search.selected is not None and self._wants_tagged

    def extended(self, patterns: Sequence[Pattern], compiled: Compiled | None = None) -> Detector:
        """Return a detector with further patterns; without `compiled`, they are compiled now."""
        unique([*self.known, *patterns])
        wider = self._copy()
        wider.search = self.search.extended(compiled or from_patterns(patterns, self.cache))
        return wider

    def _copy(self) -> Detector:
        copied = object.__new__(Detector)
        copied.__dict__ = dict(self.__dict__)
        return copied

    def __reduce__(self) -> tuple[Callable[..., Detector], tuple[object, ...]]:
        """Send a detector as its selection; the other process compiles the patterns, or has them
        compiled.
        """
        search = self.search
        of_library = len(search.headers) < len(search.first_pass.sets)
        further = [each.patterns for each in search.headers]
        library = state_of(self._library) if of_library else ""
        names = self._taggers is not None
        return _restored, (library, further, names, search.selected, search.joins_lines)

    @property
    def is_compiled(self) -> bool:
        """Return whether nothing that is looked for is left to be compiled on demand."""
        return not self.search.first_pass.on_demand(self.search.wanted_sets)

    def compile(
        self, progress: Callable[[int, int], object] | None = None, *, rivals: bool = False
    ) -> None:
        """Compile now what else is compiled on demand: for a process that reads much, or forks.

        `progress` is called with the number of patterns that are compiled, and of all; `rivals` are
        patterns that were not asked for, and may win where those that were match.
        """
        first_pass = self.search.first_pass
        sets = range(len(first_pass.sets)) if rivals else self.search.wanted_sets
        first_pass.compile(sets, self._compile_others, progress)
        self.search.gates.compile()

    def _compile_others(self) -> None:
        self.search.gates.compile()
        if self._taggers is not None and self._wants_tagged:
            self._taggers.compile()

    @property
    def widest(self) -> int:
        """The most bytes that a match and its context take."""
        return self.search.first_pass.widest

    @property
    def patterns(self) -> list[Pattern]:
        return [pattern for each in self.search.first_pass.sets for pattern in each.patterns]

    @property
    def known(self) -> list[Pattern]:
        """Return everything that can be found: the types of the taggers, and the patterns."""
        return [*self._tagged, *self.patterns]

    @property
    def pattern_names(self) -> list[PatternName]:
        """Return the names of everything that can be found, in the order of `known`."""
        sets = self.search.first_pass.sets
        return [*map(name_of, self._tagged), *chain.from_iterable(each.names for each in sets)]

    def label(self, pattern_id: str) -> str:
        """Return the label of a pattern that has findings."""
        known: list[Pattern | Runner] = [*self._tagged, *self.search.runners.values()]
        return next(each.label for each in known if each.id == pattern_id)

    @property
    def _tagged(self) -> tuple[Pattern, ...]:
        return TAGGED if self._taggers else ()

    @property
    def not_inspected(self) -> str:
        """The reason why names and addresses were not searched although they were selected."""
        return self._taggers.problem if self._taggers and self._wants_tagged else ""

    @property
    def _wants_tagged(self) -> bool:
        selected = self.search.selected
        return selected is None or min(selected, default=0) < 0

    def scan(self, text: str, min_score: float = THRESHOLD) -> list[Finding]:
        """Return the findings in the text, in its order and without overlaps; positions are
        characters of `text`.
        """
        data = encode(text)
        return self.findings(self._found(data, min_score), data if len(data) != len(text) else None)

    def scan_bytes(self, data: bytes, min_score: float = THRESHOLD) -> list[Finding]:
        """Return the findings in bytes that should be UTF-8; positions are bytes, and a byte that
        is not UTF-8 delimits.
        """
        return self.findings(self._found(valid_utf8(data), min_score), None)

    def scan_many(
        self, texts: Iterable[str], min_score: float = THRESHOLD, *, processes: int = 1
    ) -> Iterator[list[Finding]]:
        """Yield the findings in each of many texts, in their order.

        Several `processes` are faster from some hundred texts on; 0 takes all processors. They are
        forked, so there is one where the system or other threads do not allow it.
        """
        from dlpctl.detect.many import scan_many

        if processes != 1:
            self.compile()
        return scan_many(lambda text: self.scan(text, min_score), texts, processes)

    def _found(self, data: bytes, min_score: float) -> list[Candidate]:
        tagged = self.tagged(data, min_score)
        return self.resolved(data, self.search.candidates(data, min_score, tagged=tagged), tagged)

    def tagged(
        self,
        data: bytes,
        min_score: float,
        known: Known | None = None,
        may_match: MayMatch | None = None,
    ) -> list[Candidate]:
        """Return the names and addresses in valid UTF-8, as far as they are asked for.
        `may_match` answers for the gates of derived texts.
        """
        if self._taggers is None or not self._wants_tagged:
            return []
        may_match = may_match or self.search.gates.may_match
        return self._taggers.candidates(data, min_score, known, may_match)

    def triggers(self, data: bytes) -> tuple[Sequence[int], Sequence[int]]:
        """Return the ends of what may be parts of names and addresses in short lines, and of what
        is likely to be.
        """
        if self._taggers is None or not self._wants_tagged:
            return (), ()
        return self._taggers.triggers(data)

    def resolved(
        self, data: bytes, candidates: list[Candidate], tagged: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return the candidates and tagged spans that are kept, in the order of the text."""
        found = resolve(candidates)
        return merged(data, found, tagged, self._type) if tagged else found

    def _type(self, index: int) -> str:
        return self.search.runner(index).type

    def traces(self, text: str) -> Iterator[Trace]:
        """Return every match of every pattern with the reasons for its score: slow, for
        explanations.
        """
        data = encode(text)
        yield from self.search.traces(data)
        for finding in self.findings(
            self.tagged(data, 0.0), data if len(data) != len(text) else None
        ):
            tagged = next(each for each in TAGGED if each.type == finding.type)
            yield Trace(
                finding,
                tagged.label,
                finding.score,
                "",
                [f"the tagger scores it {finding.score:g}"],
            )

    def findings(self, found: list[Candidate], encoded: bytes | None) -> list[Finding]:
        """Return candidates as findings; with `encoded`, positions are characters of what was
        encoded.
        """
        findings: list[Finding] = []
        selected = self.search.selected
        runners = {
            index: self.search.runner(index)
            for index in {each.pattern for each in found}
            if index >= 0
        }
        position = characters = 0
        for start, end, score, _proven, index in found:
            if selected is not None and index not in selected:
                continue
            if encoded is None:
                first, last = start, end
            else:
                first = characters + len(encoded[position:start].decode())
                last = first + len(encoded[start:end].decode())
                position, characters = end, last
            runner = runners[index] if index >= 0 else TAGGED[index]
            # A named tuple made without its own constructor, which costs four times as much.
            findings.append(
                _new(Finding, (runner.type, runner.category, first, last, score, runner.id, None))
            )
        return findings


def _restored(
    library: str,
    further: Sequence[Sequence[Pattern]],
    names: bool,
    selected: frozenset[int] | None,
    joins_lines: bool,
) -> Detector:
    if library and library != state_of(builtin_files()):
        raise EngineError("has other built-in patterns; install the same version there")
    restored = Detector(None if library else further[0], cache=_usual_cache())
    for patterns in further if library else further[1:]:
        restored = restored.extended(patterns)
    if not names:
        restored = restored.without_names()
    if selected is not None:
        restored.search = restored.search.narrowed(selected, joins_lines=joins_lines)
    return restored


def _usual_cache() -> Cache:
    import os

    from dlpctl.config import locate
    from dlpctl.detect.automaton.cache import Cache

    return Cache(locate(os.environ).cache)


def encode(text: str) -> bytes:
    """Return the text in UTF-8; a lone surrogate becomes another character, so positions stay."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text).encode()


def valid_utf8(data: bytes) -> bytes:
    """Return data of the same length, with each byte that is not UTF-8 replaced by a control
    character that no pattern contains.
    """
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return _SURROGATES.sub("\x1a", data.decode("utf-8", "surrogateescape")).encode()
    return data


def _names(pattern: PatternName) -> set[str]:
    return {pattern.category.value, pattern.type, pattern.id.upper()}
