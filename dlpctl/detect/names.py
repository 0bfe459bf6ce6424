"""Finds names of persons and postal addresses: the regions that the gate marked go through the tagger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.detect import addresses, labelled, names_forms
from dlpctl.detect.marks import SHORT, dense
from dlpctl.detect.names_doubts import bare, doubtful, unheard
from dlpctl.detect.names_gate import Gate, Hit, Region
from dlpctl.detect.names_patterns import PATTERNS
from dlpctl.detect.tagger.model import LABELS, Model
from dlpctl.detect.tagger.sequence import Sequencer, Tagged, Word
from dlpctl.detect.tagger.words import (
    CALENDAR,
    COMMON,
    COMPANY,
    GIVEN,
    LABEL,
    PARTICLE,
    STREET,
    SUFFIX,
    SURNAME,
    TITLE,
    look_up_keys,
)
from dlpctl.regex import lazy
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DATA = Path("names") / "tagger.bin"
LOWEST = 0.2  # spans that are less likely are not reported at all
_EVEN = 0.5
_DOUBTED = (
    0.3  # the most that a single word without a cue is worth in source code, or with the cue of a place
)
_UNHEARD = 0.65  # what remains of the score of a single word that no list has
_DOUBTFUL = 0.25  # where an address may go on: its structure decides whether it is one
_LINKED = 0.75  # the score of a part of a name that the same text has in full elsewhere
_SURE = 0.7
_BEGIN, _INSIDE = LABELS.index("B-P"), LABELS.index("I-P")
_ADDRESS = (LABELS.index("B-A"), LABELS.index("I-A"))


class NameTagger:
    """Built once from the packed file and shared: `tag` keeps nothing but caches."""

    def __init__(self, model: Model) -> None:
        self._sequencer = Sequencer(model)
        self._flags = lambda token: model.flags(look_up_keys(token))
        self._gate = Gate(self._flags)

    @classmethod
    def load(cls, path: Path) -> NameTagger:
        return cls(Model.load(path))

    def regions(self, text: str, hits: Iterable[Hit], code: list[bool] | None = None) -> list[Region]:
        """The parts of a text worth tagging. A hit: index of a pattern in `PATTERNS`, end in characters."""
        return self._gate.regions(text, hits, code)

    def find(
        self, text: str, hits: Sequence[Hit], code: list[bool] | None = None, known: set[str] | None = None
    ) -> list[Finding]:
        """What `tag` finds in the regions of a text, and what the labels of its tables say."""
        regions = self.regions(text, hits, code)
        found = self.tag(text, regions, known) if regions else []
        headers = [end - 2 for index, end in hits if PATTERNS[index].kind == "header"]
        return labelled.joined(text, found, headers, self._flags) if headers else found

    def tag(self, text: str, regions: Iterable[Region], known: set[str] | None = None) -> list[Finding]:
        """PERSON_NAME and ADDRESS findings with a score of at least `LOWEST`, in order of their places.

        `known` holds parts of names from what came before in the same document, and takes those of this text.
        """
        tagged = self._sequencer.tag(text, regions)
        found: list[Finding] = []
        for region in tagged:
            if not region.chances:
                continue
            here = [
                *self._names(text, region),
                *addresses.find(text, region, self._spans(region, _ADDRESS, (_DOUBTFUL,))),
            ]
            found += self._formed(region, here)
        fields = [
            one for region in tagged for one in self._fields(text, region) if not _cut(text, one, found)
        ]
        if fields:
            found = [*fields, *(one for one in found if not any(_overlap(one, field) for field in fields))]
        found += self._linked(text, tagged, found, set() if known is None else known)
        found.sort(key=lambda finding: (finding.start, finding.end))
        return found

    @staticmethod
    def _spans(
        region: Tagged, labels: tuple[int, int], floors: tuple[float, ...]
    ) -> Iterable[tuple[int, int, float]]:
        """Runs of tokens (first, behind the last, score) from one floor upwards, each token once."""
        begin, inside = labels
        chance = {}
        for place, votes in region.chances.items():
            both = votes[begin] + votes[inside]
            if both >= LOWEST:
                chance[place] = both
        places = list(chance)
        for floor in floors:
            run: list[int] = []
            for place in [*places, -1]:
                fits = place >= 0 and chance[place] >= floor
                starts = (
                    fits
                    and region.chances[place][begin] > region.chances[place][inside]
                    and region.chances[place][begin] > _EVEN
                )
                if run and (not fits or place != run[-1] + 1 or starts):
                    values = [chance[token] for token in run]
                    if floor == floors[0] or max(values) < floors[0]:
                        yield run[0], run[-1] + 1, sum(values) / len(values)
                    run = []
                if fits:
                    run.append(place)

    def _names(self, text: str, region: Tagged) -> Iterable[Finding]:
        code = len(text) > SHORT and dense(text[region.places[0].start() : region.places[-1].end()])
        done: set[int] = set()
        for first, end, score in self._spans(region, (_BEGIN, _INSIDE), (_EVEN, LOWEST)):
            behind = _completed(region.words, first, end)
            if first in done:
                continue
            done.update(range(first, behind))
            for left, right in _lines(region.words, first, behind):
                span = _trim(text, region, left, right)
                if span:
                    doubted = (code and bare(region.words, left, right)) or doubtful(
                        region.words, left, right
                    )
                    worth = score * _UNHEARD if unheard(region.words, left, right) else score
                    yield _finding(*span, min(worth, _DOUBTED) if doubted else worth)

    @staticmethod
    def _formed(region: Tagged, found: list[Finding]) -> list[Finding]:
        """The findings of a region with those that their form gives away, which take in what is a part of them."""
        formed = [
            _finding(region.places[first].start(), region.places[behind - 1].end(), score)
            for first, behind, score in names_forms.find(region)
        ]
        for one in formed:
            rivals = [other for other in found if _overlap(one, other) and other.score >= _EVEN]
            if all(_holds(one, other) for other in rivals):
                found = [*(other for other in found if not _overlap(one, other)), one]
        return found

    def _fields(self, text: str, region: Tagged) -> Iterable[Finding]:
        if not region.places:
            return
        first, behind = region.places[0].start(), region.places[-1].end()
        if text.find(":", first, behind) < 0 and text.find("=", first, behind) < 0:
            return
        for match in labelled.LABEL.finditer(text, first, behind):
            if not _WRITTEN.fullmatch(match[1]) and labelled.is_key(match[1]):
                field = labelled.field(text, match[1], match.end(1), self._flags)
                if field:
                    yield field

    def _linked(
        self, text: str, tagged: Sequence[Tagged], found: list[Finding], known: set[str]
    ) -> list[Finding]:
        """Once "Amara Okafor" is found, "Okafor" elsewhere in the text is a name as well."""
        for finding in found:
            if finding.type == "PERSON_NAME" and finding.score >= _SURE:
                parts = _PART.findall(text[finding.start : finding.end])
                if len(parts) > 1 or finding.score > 0.9:
                    known.update(part for part in parts if self._links(part))
        if not known:
            return []
        taken = sorted((finding.start, finding.end) for finding in found if finding.score >= _EVEN)
        linked: list[Finding] = []
        next_taken = 0
        for region in tagged:
            previous = -2
            if known.isdisjoint(region.tokens):
                continue
            for place, token in enumerate(region.tokens):
                if token not in known:
                    continue
                start, end = region.places[place].start(), region.places[place].end()
                while next_taken < len(taken) and taken[next_taken][1] <= start:
                    next_taken += 1
                covered = next_taken < len(taken) and taken[next_taken][0] < end
                told_apart = _elsewhere(region.chances.get(place)) or doubtful(region.words, place, place + 1)
                if covered or told_apart:
                    continue
                if previous == place - 1 and linked:
                    linked[-1] = linked[-1]._replace(end=end)
                else:
                    linked.append(_finding(start, end, _LINKED))
                previous = place
        starts = {finding.start for finding in linked}
        found[:] = [finding for finding in found if finding.score >= _EVEN or finding.start not in starts]
        return linked

    def _links(self, part: str) -> bool:
        word = self._sequencer.word(part)
        return (
            len(part) > 2
            and (word.outline == "Xx" or (word.outline == "XX" and bool(word.flags >> GIVEN & 15)))
            and not word.flags >> COMMON & 3
            and not word.flags & (TITLE | COMPANY | CALENDAR)
        )


_WRITTEN = lazy(r"[A-ZÀ-Þ](?:[^\WA-ZÀ-Þ\d_]+|[A-ZÀ-Þ]+)")  # a label for people, as in a letter
_PART = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def _overlap(one: Finding, other: Finding) -> bool:
    return one.start < other.end and other.start < one.end


def _holds(one: Finding, other: Finding) -> bool:
    return one.start <= other.start and other.end <= one.end and one[2:4] != other[2:4]


def _cut(text: str, field: Finding, found: Iterable[Finding]) -> bool:
    """Whether a value that no quote ends goes on behind the comma that was taken for its end."""
    return text[field.end : field.end + 1] in (",", ";") and any(
        one.type == field.type and one.score >= _EVEN and one.start <= field.start and one.end > field.end
        for one in found
    )


def _elsewhere(chances: list[float] | None) -> bool:
    return bool(chances) and chances is not None and max(chances[3:]) > _EVEN


def _finding(start: int, end: int, score: float) -> Finding:
    return Finding("PERSON_NAME", Category.PII, start, end, round(score, 4), "person-name")


def _lines(words: Sequence[Word], first: int, behind: int) -> Iterable[tuple[int, int]]:
    """A name does not run over a line break."""
    start = first
    for place in range(first, behind):
        if words[place].kind == 2:
            if place > start:
                yield start, place
            start = place + 1
    if behind > start:
        yield start, behind


def _completed(words: Sequence[Word], first: int, behind: int) -> int:
    """The end of a name where the tagger stopped too early: at initials, in lower case, in "Last, First", at a hyphen."""
    return _hyphenated(words, first, _extended(words, first, _hyphenated(words, first, behind)))


def _hyphenated(words: Sequence[Word], first: int, behind: int) -> int:
    hyphen = behind - 1 if words[behind - 1].key == "-" else behind
    if hyphen + 1 >= len(words) or words[hyphen].key != "-":
        return behind
    part = words[hyphen + 1]
    syllable = part.outline == "x" and len(part.key) < 6 and part.flags >> COMMON & 3 < 2  # Kim Jong-un
    return hyphen + 2 if part.outline[0] == "X" or (syllable and hyphen - first > 1) else behind


def _extended(words: Sequence[Word], first: int, behind: int) -> int:
    last = words[behind - 1]
    if behind < len(words) and behind - first > 1 and words[behind].key in _GENERATIONS:
        return behind + 1
    if behind < len(words) and last.outline == "x" and words[behind].outline == "x":
        flags = words[behind].flags
        if flags >> SURNAME & 3 >= 2 and flags >> COMMON & 3 < 3:
            return behind + 1
    if last.key == "-" or behind == len(words):
        return behind
    if behind - first == 1 and last.flags >> GIVEN & 3 >= 2 and _surname_ends(words, first, behind):
        return behind + 1
    if _surname_follows(words, first, behind):
        return behind + 1
    place = behind
    if all(word.outline == "X1" or word.key in _STOPS for word in words[first:behind]):
        while place < len(words) and (words[place].key in _STOPS or words[place].outline == "X1"):
            place += 1
        if place < len(words) and words[place].outline == "Xx" and words[place].flags >> COMMON & 3 < 3:
            return place + 1
    if behind + 1 < len(words) and words[behind].key == ", " and behind - first == 1 and _opens(words, first):
        given = words[behind + 1]
        listed = behind + 3 < len(words) and words[behind + 2].key == ", " and words[behind + 3].kind == 1
        if given.outline != last.outline or listed:
            return behind
        if behind + 3 < len(words) and words[behind + 2].key == "-" and words[behind + 3].outline == "x":
            return behind + 4 if len(words[behind + 3].key) < 6 else behind  # Lee, Min-ho
        if given.flags >> GIVEN & 3 >= 2 and last.flags >> GIVEN & 3 != 3:
            return behind + 2
    return behind


def _surname_ends(words: Sequence[Word], first: int, place: int) -> bool:
    """Whether a surname that is an everyday word, too, follows a given name and ends the line or the value: Tom Hall, jane doe."""
    word, before = words[place], words[place - 1]
    if word.kind != 1 or word.outline != before.outline or word.flags >> SURNAME & 3 < 2:
        return False
    if word.flags & (STREET | COMPANY | CALENDAR | LABEL | TITLE):
        return False
    ends = place + 1 == len(words) or words[place + 1].kind == 2 or words[place + 1].key.strip() in _CLOSERS
    return ends and (word.outline[0] == "X" or _opens(words, first))


def _surname_follows(words: Sequence[Word], first: int, place: int) -> bool:
    """Whether a surname that means nothing else follows a given name, and nothing that it could belong to follows it."""
    word = words[place]
    if word.outline != "Xx" or words[place - 1].outline != "Xx" or not word.flags >> SURNAME & 3:
        return False
    if word.flags >> COMMON & 3 or word.flags & (STREET | COMPANY | CALENDAR | LABEL | TITLE):
        return False
    given = words[first].flags >> GIVEN & 3
    known = given > 1 and (not words[first].flags >> COMMON & 3 or (given > 2 and place - first > 1))
    return known and (place + 1 == len(words) or words[place + 1].outline[0] not in "Xd")


def _opens(words: Sequence[Word], first: int) -> bool:
    """Whether a line, a value or what follows a label begins here."""
    return first == 0 or words[first - 1].kind == 2 or words[first - 1].key.strip() in _OPENERS


_GENERATIONS = ("jr", "sr", "ii", "iii")
_STOPS = (".", ". ")
_CLOSERS = (",", ".", ";", '"', "'", "<", "(", ")", "|", "TAB")
_OPENERS = (":", '"', "=", ";", "|", "(", "TAB")


def _trim(text: str, region: Tagged, first: int, behind: int) -> tuple[int, int] | None:
    """A name without titles, common words, quotes and stops around it, or None where no name is left."""
    words = region.words
    cased = any(word.outline[0] == "X" for word in words[first:behind])
    while first < behind and _precedes(words, first, behind, cased):
        first += 1
    while first < behind and (
        words[behind - 1].kind != 1
        or (cased and _everyday(words[behind - 1]) and words[behind - 2].key != "-")
    ):
        behind -= 1
    if (
        first == behind
        or _abbreviated(words[first:behind])
        or any(word.outline[0] in "id0a" or word.outline == "xX" for word in words[first:behind])
    ):
        return None
    end = region.places[behind - 1].end()
    if (words[behind - 1].outline == "X1" or words[behind - 1].flags & SUFFIX) and text[end : end + 1] == ".":
        end += 1
    start = region.places[first].start()
    initials = (
        _INITIALS.search(text, max(0, start - 12), start) if "." in text[max(0, start - 2) : start] else None
    )
    if initials:
        start = initials.start()
    return (start, end) if end - start > 1 else None


def _abbreviated(words: Sequence[Word]) -> bool:
    """Codes of countries, keywords in capitals, letters of the alphabet: nothing in it is as long as a name."""
    named = [word for word in words if word.kind == 1]
    if len(named) == 1 and named[0].outline == "XX":
        return not named[0].flags >> GIVEN & 10  # neither a usual given name nor a usual surname
    letters = [word for word in named if word.outline == "x1"]
    return 2 * len(letters) > len(named) or all(
        word.outline == "X1" or (len(word.key) < 3 and word.outline == "XX" and not word.flags >> GIVEN & 15)
        for word in named
    )


def _precedes(words: Sequence[Word], first: int, behind: int, cased: bool) -> bool:
    """Whether the first word is no part of the name: a mark, a title, a word in lower case."""
    word = words[first]
    if word.kind != 1:
        return True
    if behind - first == 1:
        return False
    if cased and word.outline == "x" and word.flags & PARTICLE:
        return (
            behind - first > 2 and words[first + 1].flags >> GIVEN & 3 >= 2 and bool(word.flags >> COMMON & 3)
        )
    lower = cased and word.outline in ("x", "x1") and not word.flags & PARTICLE
    return lower or (bool(word.flags & (TITLE | LABEL)) and not _named(word))


def _everyday(word: Word) -> bool:
    if word.outline == "x1":
        return True
    return word.outline == "x" and word.flags >> COMMON & 3 > 0 and not word.flags & PARTICLE


_INITIALS = lazy(r"(?<![^\W_])(?:[A-Z]\.){2,4} ?$")


def _named(word: Word) -> bool:
    return word.flags >> GIVEN & 3 >= 2 or word.flags >> SURNAME & 3 >= 2
