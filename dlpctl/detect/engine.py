"""The detector: automaton, confirm, derive, entities, resolve. It joins the rooms and decides
nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dlpctl.detect.automaton.compiled import from_patterns
from dlpctl.detect.automaton.files import from_files, state_of
from dlpctl.detect.automaton.first_pass import FirstPass, Hits
from dlpctl.detect.confirm.runner import Runner, Trace
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.texts import derived_texts
from dlpctl.detect.entities.taggers import TAGGED, Taggers
from dlpctl.detect.patterns.library import builtin_files, unique
from dlpctl.detect.resolve import Candidate, merged, resolve
from dlpctl.errors import EngineError, UsageError
from dlpctl.regex import lazy
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from pathlib import Path

    from dlpctl.detect.aside import Aside
    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.automaton.compiled import Compiled, PatternSet
    from dlpctl.detect.derived.interface import DerivedText
    from dlpctl.detect.derived.tables import OpenTable
    from dlpctl.detect.entities.known import Known
    from dlpctl.detect.patterns.model import Pattern

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
    ) -> None:
        """Take all patterns of the library and of further `files`, with names and addresses, or
        else just `patterns`.

        Without a `cache`, the library is compiled into the user's own, and `patterns` into none.
        What a cache lacks of the library is compiled on demand; see `compile`.
        """
        self._taggers: Taggers | None = None
        files = tuple(files)
        if patterns is None:
            usual = cache or _usual_cache()
            self._taggers = Taggers(usual)
            sets: Sequence[PatternSet] = from_files(builtin_files(), files, usual, on_compile)
        else:
            sets = [from_patterns(patterns, cache)]
        self.cache = cache
        self.aside: Aside | None = None
        """Leave to look into long texts with a second process."""
        self.first_pass: FirstPass = FirstPass(sets)
        self._use_as_headers(sets if patterns is not None else sets[-1:] if files else [])
        self._runners: dict[int, Runner] = {}
        self._selected: frozenset[int] | None = None
        self._joins_lines = True
        self._of_selected = self._of_others = frozenset[int]()

    def _use_as_headers(self, sets: Sequence[PatternSet]) -> None:
        """Let the labels of these patterns, which are not the library's, name columns of tables."""
        self._further_sets = tuple(sets)
        self._header_words = HeaderWords(
            lambda: [pattern for each in sets for pattern in each.patterns]
        )

    def for_types(self, selectors: Iterable[str]) -> Detector:
        """Return a detector for the findings of these categories, types or pattern ids alone."""
        wanted = {selector.upper() for selector in selectors}
        known = {name for pattern in self.known for name in _names(pattern)}
        for unknown in sorted(wanted - known):
            raise UsageError(
                f"{unknown!r} is no category, type or pattern; see 'dlpctl patterns list'"
            )
        return self.for_known(wanted)

    def for_known(self, selectors: Iterable[str]) -> Detector:
        """Do the same for names that may be unknown, as a policy's may be."""
        wanted = {selector.upper() for selector in selectors}
        return self._narrowed(lambda _, pattern: bool(_names(pattern) & wanted))

    def for_categories(self, categories: Collection[Category]) -> Detector:
        """Return a detector that is narrowed further, to these categories."""
        selected = self._selected
        return self._narrowed(
            lambda index, pattern: (
                pattern.category in categories and (selected is None or index in selected)
            )
        )

    def _narrowed(self, is_wanted: Callable[[int, Pattern], bool]) -> Detector:
        narrowed = self._copy()
        numbered = enumerate(self.known, start=-len(self._tagged))
        wanted = {index: pattern for index, pattern in numbered if is_wanted(index, pattern)}
        narrowed._select(frozenset(wanted))
        # Only numbers and addresses go on after a line end.
        narrowed._joins_lines = any(
            pattern.category is not Category.SECRETS for pattern in wanted.values()
        )
        return narrowed

    def without_names(self) -> Detector:
        """Return a detector that looks for no names and addresses."""
        narrowed = self._copy()
        narrowed._taggers = None
        return narrowed

    @property
    def names_wanted(self) -> bool:
        """Whether names or addresses were asked for, rather than everything."""
        return self._selected is not None and self._wants_tagged

    def _select(self, selected: frozenset[int]) -> None:
        self._selected = selected
        self._of_selected = self.first_pass.holding(selected)
        self._of_others = frozenset(range(len(self.first_pass.sets))) - self._of_selected

    def extended(self, patterns: Sequence[Pattern], compiled: Compiled | None = None) -> Detector:
        """Return a detector with further patterns; without `compiled`, they are compiled now."""
        unique([*self.known, *patterns])
        wider = self._copy()
        further = compiled or from_patterns(patterns, self.cache)
        wider.first_pass = FirstPass([*self.first_pass.sets, further])
        wider._use_as_headers([*self._further_sets, further])
        wider._runners = dict(
            self._runners
        )  # another extension has other patterns under the same numbers
        wider._joins_lines = True
        if self._selected is not None:
            wider._select(self._selected | set(range(len(self.first_pass), len(wider.first_pass))))
        return wider

    def _copy(self) -> Detector:
        copied = object.__new__(Detector)
        copied.__dict__ = dict(self.__dict__)
        return copied

    def __reduce__(self) -> tuple[Callable[..., Detector], tuple[object, ...]]:
        """Send a detector as what it looks for; the other process compiles that, or has it
        compiled.
        """
        of_library = len(self._further_sets) < len(self.first_pass.sets)
        further = [each.patterns for each in self._further_sets]
        library = state_of(builtin_files()) if of_library else ""
        names = self._taggers is not None
        return _restored, (library, further, names, self._selected, self._joins_lines)

    @property
    def is_compiled(self) -> bool:
        """Return whether nothing that is looked for is left to be compiled on demand."""
        return not self.first_pass.on_demand(self._wanted_sets)

    def compile(
        self, progress: Callable[[int, int], object] | None = None, *, rivals: bool = False
    ) -> None:
        """Compile now what else is compiled on demand: for a process that reads much, or forks.

        `progress` is called with the number of patterns that are compiled, and of all; `rivals` are
        patterns that were not asked for, and may win where those that were match.
        """
        taggers = self._taggers if self._wants_tagged else None
        sets = range(len(self.first_pass.sets)) if rivals else self._wanted_sets
        self.first_pass.compile(sets, taggers.compile if taggers else None, progress)

    @property
    def _wanted_sets(self) -> Iterable[int]:
        return range(len(self.first_pass.sets)) if self._selected is None else self._of_selected

    @property
    def widest(self) -> int:
        """The most bytes that a match and its context take."""
        return self.first_pass.widest

    @property
    def patterns(self) -> list[Pattern]:
        return [pattern for each in self.first_pass.sets for pattern in each.patterns]

    @property
    def known(self) -> list[Pattern]:
        """All that can be found: what the taggers find, and the patterns."""
        return [*self._tagged, *self.patterns]

    def label(self, pattern_id: str) -> str:
        """Return the label of a pattern that something was found of."""
        known: list[Pattern | Runner] = [*self._tagged, *self._runners.values()]
        return next(each.label for each in known if each.id == pattern_id)

    @property
    def _tagged(self) -> tuple[Pattern, ...]:
        return TAGGED if self._taggers else ()

    @property
    def not_inspected(self) -> str:
        """The reason why names and addresses were not looked for although they were asked for."""
        return self._taggers.problem if self._taggers and self._wants_tagged else ""

    @property
    def _wants_tagged(self) -> bool:
        return self._selected is None or min(self._selected, default=0) < 0

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
        aside = self.aside
        if (
            aside is None
            or self._selected is not None  # what was tagged has a say in what is looked for
            or self._taggers is None
            or not self._taggers.is_ready
            or not aside.is_worthwhile(len(data))
        ):
            tagged: Sequence[Candidate] = self.tagged(data, min_score)
            return self.resolved(data, self.candidates(data, min_score, tagged=tagged), tagged)
        with aside.begun(lambda: self.tagged(data, min_score)) as outcome:
            candidates = self.candidates(data, min_score)
            return self.resolved(data, candidates, list(outcome()))

    def tagged(self, data: bytes, min_score: float, known: Known | None = None) -> list[Candidate]:
        """Return the names and addresses in valid UTF-8, as far as they are asked for."""
        if self._taggers is None or not self._wants_tagged:
            return []
        return self._taggers.candidates(data, min_score, known)

    def triggers(self, data: bytes) -> Iterable[int]:
        """Return the ends of what may be parts of names and addresses in short texts."""
        if self._taggers is None or not self._wants_tagged:
            return ()
        return self._taggers.triggers(data)

    def resolved(
        self, data: bytes, candidates: list[Candidate], tagged: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return what is kept of candidates and of what was tagged, without overlaps, in the order
        of the text.
        """
        found = resolve(candidates)
        return merged(data, found, tagged, self._type) if tagged else found

    def _type(self, index: int) -> str:
        return self._runner(index).type

    def candidates(
        self,
        data: bytes,
        min_score: float,
        progress: dict[int, list[int]] | None = None,
        tagged: Sequence[Candidate] = (),
        table: OpenTable | None = None,
    ) -> list[Candidate]:
        """Return all that patterns find in valid UTF-8 and in what is derived from it, overlaps
        included.

        `progress` takes, by pattern, where the search resumes, as a list that starts with the place
        to resume from and gets the end of each match: what a scan in pieces needs to go on as if it
        were in one. What was `tagged` is no part of the answer, but what else is found there is,
        whether asked for or not. `table` is the one whose rows the text starts with.
        """
        found = self._in_text(data, min_score, progress, tagged)
        for text in self.derived(data, table):
            text.settle(found, self._label_score)
            held = () if self._selected is None else list(text.holders())
            for one in self._in_text(text.data, min_score, None, held, text):
                if place := text.original_span(one.start, one.end):
                    found.append(_new(Candidate, (*place, *one[2:])))
        return found

    def derived(self, data: bytes, table: OpenTable | None = None) -> list[DerivedText]:
        """Return the texts that are derived from a text, and searched as well."""
        return derived_texts(data, table, self._header_words, joins_lines=self._joins_lines)

    def _in_text(
        self,
        data: bytes,
        min_score: float,
        progress: dict[int, list[int]] | None,
        tagged: Sequence[Candidate],
        derived: DerivedText | None = None,
    ) -> list[Candidate]:
        """Return all that patterns find in one text, apart from what is settled in a derived one."""
        selected = self._selected
        if selected is None or progress is not None:
            # In pieces, rivals too must know where to resume.
            return [
                one
                for index, ends in self._hits(data, None, derived).items()
                for one in self._confirm(index, data, ends, min_score, progress)
            ]
        found: list[Candidate] = []
        waiting: Hits = {}
        for index, ends in self._hits(data, self._of_selected, derived).items():
            if index in selected:
                found += self._confirm(index, data, ends, min_score, progress)
            else:
                waiting[index] = ends
        if (found or tagged) and self._of_others:
            waiting.update(self._hits(data, self._of_others, derived))
        return self._with_rivals(found, tagged, waiting, data, min_score, progress)

    def _hits(self, data: bytes, sets: Iterable[int] | None, derived: DerivedText | None) -> Hits:
        hits = self.first_pass.hits(data, sets)
        if derived is None:
            return hits
        still_open: Hits = {}
        for index, ends in hits.items():
            runner = self._runner(index)
            if kept := derived.open_hits(ends, runner.best, runner.proven, index):
                still_open[index] = kept
        return still_open

    def _label_score(self, index: int, label: bytes) -> float | None:
        return self._runner(index).label_score(label)

    def _with_rivals(
        self,
        found: list[Candidate],
        tagged: Sequence[Candidate],
        waiting: Hits,
        data: bytes,
        min_score: float,
        progress: dict[int, list[int]] | None,
    ) -> list[Candidate]:
        """Return also what patterns that were not asked for find in the same places, since it may
        win there.
        """
        fresh = [*found, *tagged]
        found = list(found)
        while fresh and waiting:
            places = sorted((one.start, one.end) for one in fresh)
            near = [
                index for index, ends in waiting.items() if self._runner(index).meets(ends, places)
            ]
            fresh = [
                one
                for index in near
                for one in self._confirm(index, data, waiting.pop(index), min_score, progress)
            ]
            found += fresh
        return found

    def _confirm(
        self,
        index: int,
        data: bytes,
        ends: list[int],
        min_score: float,
        progress: dict[int, list[int]] | None,
    ) -> list[Candidate]:
        runner = self._runner(index)
        if runner.best < min_score:
            return []
        return runner.run(
            data, ends, min_score, None if progress is None else progress.setdefault(index, [0])
        )

    def _runner(self, index: int) -> Runner:
        runner = self._runners.get(index)
        if runner is None:
            patterns, at = self.first_pass.of(index)
            runner = self._runners[index] = Runner(patterns.record(at), index)
        return runner

    def traces(self, text: str) -> Iterator[Trace]:
        """Return every match of every pattern with the reasons for its score: slow, for
        explanations.
        """
        data = encode(text)
        selected = self._selected
        for index, ends in self.first_pass.hits(data).items():
            if selected is None or index in selected:
                yield from self._runner(index).traces(data, ends)
        for finding in self.findings(
            self.tagged(data, 0.0), data if len(data) != len(text) else None
        ):
            tagged = next(one for one in TAGGED if one.type == finding.type)
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
        selected = self._selected
        runners = {
            index: self._runner(index) for index in {one.pattern for one in found} if index >= 0
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
        restored._select(selected)
    restored._joins_lines = joins_lines
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
    """Return as many bytes, with each that is not UTF-8 replaced by a control character that is in
    no pattern.
    """
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return _SURROGATES.sub("\x1a", data.decode("utf-8", "surrogateescape")).encode()
    return data


def _names(pattern: Pattern) -> set[str]:
    return {pattern.category.value, pattern.type, pattern.id.upper()}
