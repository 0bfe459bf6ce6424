"""Find names and addresses in a text: tag its regions, then complete, reject and score spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dlpctl.detect.automaton.gates import MayMatch
from dlpctl.detect.confirm.code_density import SHORT, dense
from dlpctl.detect.entities import (
    addresses,
    label_keys,
    labelled,
    objectlines,
    replies,
    roles,
    shapes,
)
from dlpctl.detect.entities.boundaries import complete, split_lines, trim, written_span
from dlpctl.detect.entities.crf.model import LABELS, Model
from dlpctl.detect.entities.crf.sequence import Sequencer, Tagged, Word
from dlpctl.detect.entities.evidence import is_bare, is_of_a_person, is_ordinary, least_score
from dlpctl.detect.entities.known import Known
from dlpctl.detect.entities.listed_names import listed_names
from dlpctl.detect.entities.regions import Region, RegionFinder, TriggerMatch
from dlpctl.detect.entities.rejections import is_rejected
from dlpctl.detect.entities.repeated import without_terms, without_things
from dlpctl.detect.entities.triggers import PATTERNS
from dlpctl.detect.entities.truecase import Truecaser
from dlpctl.detect.resolve import Overlaps
from dlpctl.regex import lazy
from dlpctl.types import Category, Finding

DATA = Path("names") / "tagger.bin"
LOWEST = 0.2  # the lowest score that is reported
_LIKELY = 0.5
# the most that a single word without a cue is adjusted in source code, or with the cue of a place
_REJECTED = 0.3
_UNPROVEN = 0.4  # the factor for a name with too little evidence
_ADDRESS_FLOOR = 0.25  # of the tokens of an address: its structure decides
_REPEATED = 0.75  # the score of a part of a name that the text has in full elsewhere
_SURE = 0.7
_FIRST, _INSIDE = LABELS.index("B-P"), LABELS.index("I-P")
_ADDRESS = (LABELS.index("B-A"), LABELS.index("I-A"))


class NameTagger:
    """The tagger for names and addresses: built once from the packed file and shared by threads."""

    def __init__(self, model: Model) -> None:
        self._sequencer = Sequencer(model)
        self._flags = self._sequencer.flags
        self._regions = RegionFinder(self._flags)
        self._truecaser = Truecaser(self._flags)

    @classmethod
    def load(cls, path: Path) -> NameTagger:
        return cls(Model.load(path))

    def with_capitals(self, text: str) -> str:
        """Return a text in lower case with capitals where it may have names."""
        return self._truecaser.with_capitals(text)

    def regions(
        self, text: str, matches: Iterable[TriggerMatch], code: list[bool] | None = None
    ) -> list[Region]:
        """Return the parts of a text to tag. A match is an index in `PATTERNS` and an end in
        characters.
        """
        return self._regions.regions(text, matches, code)

    def opening(self, text: str, matches: Iterable[TriggerMatch]) -> Iterator[int]:
        """Yield the ends of the matches in short lines from which names may be found."""
        return self._regions.opening(text, matches)

    def find(
        self,
        text: str,
        matches: Sequence[TriggerMatch],
        code: list[bool] | None = None,
        known: Known | None = None,
    ) -> list[Finding]:
        """Return what `tag` finds in the regions of a text, and the cells of its tables by their
        labels.
        """
        known = known or Known()
        headers = [end - 2 for index, end in matches if PATTERNS[index].evidence == "header"]
        cells, known.header = labelled.cells_of(text, headers, known.header, self._flags)
        objectlines.add_cells(text, cells, self._flags)
        for cell in labelled.cells_found(cells):
            self._remember(text, cell, known.names)
        regions = self._regions.regions(text, matches, code, cells.settled())
        if not regions:
            return labelled.joined((), cells)
        found = self.tag(text, regions, known.names)
        found = without_things(text, found, self._flags)
        return labelled.joined(found, cells)

    def listed(self, data: bytes, may_match: MayMatch) -> Iterator[Finding]:
        """Yield the names below headers of listings in a text in UTF-8."""
        for span in listed_names(data, may_match, self._flags):
            yield _finding(*span, labelled.CELL)

    def tag(
        self, text: str, regions: Iterable[Region], known: set[str] | None = None
    ) -> list[Finding]:
        """Return findings with a score of at least `LOWEST`, in the order of their positions.

        `known` contains parts of names from the preceding text of the document, and takes those of
        this text.
        """
        tagged = self._sequencer.tag(text, regions)
        found: list[Finding] = []
        for region in tagged:
            own: list[Finding] = []
            if region.chances:
                own = [
                    *self._names(text, region),
                    *addresses.find(text, region, self._spans(region, _ADDRESS, (_ADDRESS_FLOOR,))),
                ]
            found += self._with_shapes(region, own)
        fields = [field for region in tagged for field in self._fields(text, region)]
        if fields:
            found = _with_fields(text, fields, found)
        if len(text) > SHORT:
            tokens = [region.tokens for region in tagged]
            found = without_terms(text, tokens, found, self._flags)
        found += self._repeats(text, tagged, found, set() if known is None else known)
        found.sort(key=lambda finding: (finding.start, finding.end))
        return found

    @staticmethod
    def _spans(
        region: Tagged, labels: tuple[int, int], floors: tuple[float, ...]
    ) -> Iterable[tuple[int, int, float]]:
        """Yield runs of tokens (first, end, score) above one floor after the other, each token
        once.
        """
        first, inside = labels
        chance = {}
        for index, votes in region.chances.items():
            both = votes[first] + votes[inside]
            if both >= LOWEST:
                chance[index] = both
        if not chance:
            return
        indexes = list(chance)
        for floor in floors:
            run: list[int] = []
            for index in [*indexes, -1]:
                fits = index >= 0 and chance[index] >= floor
                starts = (
                    fits
                    and region.chances[index][first] > region.chances[index][inside]
                    and region.chances[index][first] > _LIKELY
                )
                if run and (not fits or index != run[-1] + 1 or starts):
                    values = [chance[token] for token in run]
                    if floor == floors[0] or max(values) < floors[0]:
                        yield run[0], run[-1] + 1, sum(values) / len(values)
                    run = []
                if fits:
                    run.append(index)

    def _names(self, text: str, region: Tagged) -> Iterable[Finding]:
        code = len(text) > SHORT and dense(
            text[region.matches[0].start() : region.matches[-1].end()]
        )
        done: set[int] = set()
        for first, end, score in self._spans(region, (_FIRST, _INSIDE), (_LIKELY, LOWEST)):
            stop = complete(region.words, first, end)
            if first in done:
                continue
            done.update(range(first, stop))
            for left, right in split_lines(region.words, first, stop):
                bare = trim(region.words, left, right)
                span = bare and written_span(text, region, *bare)
                if bare and span:
                    tokens = region.words, *bare
                    rejected = (code and is_bare(*tokens)) or is_rejected(*tokens)
                    proven = score >= least_score(*tokens)
                    adjusted = score if proven else score * _UNPROVEN
                    yield _finding(*span, min(adjusted, _REJECTED) if rejected else adjusted)

    @staticmethod
    def _with_shapes(region: Tagged, found: list[Finding]) -> list[Finding]:
        """Return the findings of a region with those that their shape gives away."""
        kept = Overlaps(found)
        among_persons = any(
            finding.type == "PERSON_NAME" and finding.score >= _SURE for finding in found
        )
        for first, stop, score in shapes.find(region, among_persons=among_persons):
            shaped = _finding(region.matches[first].start(), region.matches[stop - 1].end(), score)
            rivals = kept.overlapping(shaped)
            wins = all(
                _contains(shaped, other) for other in rivals.values() if other.score >= _LIKELY
            )
            if wins and not is_rejected(region.words, first, stop):
                kept.replace(rivals, shaped)
        return kept.findings()

    def _fields(self, text: str, region: Tagged) -> Iterable[Finding]:
        if not region.matches:
            return
        first, stop = region.matches[0].start(), region.matches[-1].end()
        for match in label_keys.labels(text, first, stop):
            if label_keys.is_key(match[1]) or is_of_a_person(text, match[1], match.end(1)):
                field = labelled.field(text, match[1], match.end(1), self._flags)
                if field:
                    yield field
        for names in (roles.names, roles.names_before_mail, replies.names):
            for span in names(text, first, stop, self._flags):
                yield _finding(*span, labelled.SCORE)

    def _repeats(
        self, text: str, tagged: Sequence[Tagged], found: list[Finding], known: set[str]
    ) -> list[Finding]:
        """Return parts of found names elsewhere: after "Amara Okafor", "Okafor" is a name."""
        for finding in found:
            self._remember(text, finding, known)
        if not known:
            return []
        taken = sorted(
            (finding.start, finding.end) for finding in found if finding.score >= _LIKELY
        )
        linked: list[Finding] = []
        next_taken = 0
        for region in tagged:
            previous = -2
            if known.isdisjoint(region.tokens):
                continue
            for index, token in enumerate(region.tokens):
                if token not in known:
                    continue
                start, end = region.matches[index].start(), region.matches[index].end()
                while next_taken < len(taken) and taken[next_taken][1] <= start:
                    next_taken += 1
                if next_taken < len(taken) and taken[next_taken][0] < end:
                    continue
                if (
                    _is_other_entity(region.chances.get(index))
                    or is_rejected(region.words, index, index + 1)
                    or _is_part_of_term(region, index, known)
                ):
                    continue
                if previous == index - 1 and linked:
                    linked[-1] = linked[-1]._replace(end=end)
                else:
                    linked.append(_finding(start, end, _REPEATED))
                previous = index
        starts = {finding.start for finding in linked}
        found[:] = [
            finding for finding in found if finding.score >= _LIKELY or finding.start not in starts
        ]
        return linked

    def _remember(self, text: str, finding: Finding, known: set[str]) -> None:
        """Remember the parts of a name, but for a compound, that name a person by themselves."""
        if finding.type == "PERSON_NAME" and finding.score >= _SURE:
            name = text[finding.start : finding.end]
            parts = _PART.findall(name)
            if " " in name if len(parts) > 1 else finding.score > 0.9:
                sure = self._is_of_person(text, finding.start, parts)
                known.update(
                    part for part in parts if part not in known and self._names_alone(part, sure)
                )

    def _is_of_person(self, text: str, start: int, parts: Iterable[str]) -> bool:
        """Return whether a name has a given name, or follows a title or a label."""
        if any(self._sequencer.word(part).flags.given for part in parts):
            return True
        before = _WORD_BEFORE.search(text, max(0, start - _LONGEST_TITLE), start)
        flags = self._sequencer.word(before[1]).flags if before else None
        return flags is not None and (flags.title or flags.label)

    def _names_alone(self, part: str, sure: bool) -> bool:
        word = self._sequencer.word(part)
        return (
            len(part) > 2
            and (sure or word.flags.named)
            and (word.outline == "Xx" or (word.outline == "XX" and bool(word.flags.named)))
            and not word.flags.common
            and not is_ordinary(word)
            and not (word.flags.title or word.flags.company or word.flags.calendar)
        )


_LONGEST_TITLE = 24
_WORD_BEFORE = lazy(r"([^\W\d_]++)[\s.:,\"']*+$")
_PART = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def _with_fields(text: str, fields: Iterable[Finding], found: list[Finding]) -> list[Finding]:
    """Return the values of labels, and the findings that overlap none of them."""
    others = Overlaps(found)
    values = [
        field
        for field in fields
        if not _is_cut_off(text, field, others.overlapping(field).values())
    ]
    labelled_values = Overlaps(values)
    return [*values, *(each for each in found if not labelled_values.overlapping(each))]


def _contains(outer: Finding, inner: Finding) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end and outer[2:4] != inner[2:4]


def _is_cut_off(text: str, field: Finding, found: Iterable[Finding]) -> bool:
    """Return whether an unquoted value continues after the mark that was taken for its end."""
    return text[field.end : field.end + 1] in (",", ";", " ", "-") and any(
        other.type == field.type
        and other.score >= _LIKELY
        and other.start <= field.start
        and other.end > field.end
        for other in found
    )


def _is_part_of_term(region: Tagged, index: int, known: set[str]) -> bool:
    """Return whether a word that no list has as a name is beside one with a capital that is no
    part of a name either: Hive Metastore.
    """
    words = region.words
    if words[index].flags.named:
        return False
    beside = [at for at in (index - 1, index + 1) if 0 <= at < len(words)]
    return any(
        words[at].outline[0] in "Xx"
        and words[at].outline not in ("x", "x1", "X1")
        and region.tokens[at] not in known
        and not (at < index and _starts_sentence(words, at))
        and not (words[at].flags.title or words[at].flags.label)
        for at in beside
    )


def _starts_sentence(words: Sequence[Word], at: int) -> bool:
    """Return whether a usual word is the first of its sentence: Según Alesanco."""
    before = words[at - 1] if at else None
    is_first = before is None or before.is_line_break or before.key == ". "
    return is_first and words[at].flags.common > 1


def _is_other_entity(chances: list[float] | None) -> bool:
    return bool(chances) and chances is not None and max(chances[3:]) > _LIKELY


def _finding(start: int, end: int, score: float) -> Finding:
    return Finding("PERSON_NAME", Category.PII, start, end, round(score, 4), "person-name")
