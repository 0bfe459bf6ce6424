"""Marginal probabilities of labels for the tokens of a text."""

from __future__ import annotations

import struct
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.detect.tagger.model import FORBIDDEN, LABELS, LANE, SCALE, Model
from dlpctl.detect.tagger.words import (
    COMMON,
    GIVEN,
    PARTICLE,
    STREET,
    TITLE,
    TOKEN,
    is_word,
    look_up_keys,
    neighbour_features,
    own_features,
    setting,
    shape,
    triple_features,
    word_key,
)

_COUNT = len(LABELS)
_UNPACK = struct.Struct(f"<{_COUNT}H").unpack
_BYTES = _COUNT * LANE // 8
_BIAS = sum(1 << (LANE * (label + 1) - 1) for label in range(_COUNT))
_CERTAIN = 4 * SCALE  # a token whose best other label is this far below "outside" is outside
_REACH = 5 * SCALE  # a label this far below the best one of its token is not followed further
_MOST_WORDS = 60_000
_MOST_PAIRS = 200_000


class Word(NamedTuple):
    """A token as the tagger knows it; `own` to `after_line` are its votes for its own label and for those of its neighbours."""

    number: int
    cls: int
    flags: int
    outline: str
    dull: bool  # a common word in lower case: no name begins, ends or lies between such words
    kind: int  # 0 punctuation or number, 1 word, 2 line break
    own: int
    to_next: int
    to_previous: int
    to_next_but_one: int
    to_previous_but_one: int
    after: int  # for the first token behind it and some punctuation
    after_line: int  # the same across a line break
    before: int
    before_line: int
    key: str
    cls_name: str


class Tagged(NamedTuple):
    """The tokens of a region, and label probabilities of those that are not surely outside of every entity."""

    words: list[Word]
    starts: list[int]
    ends: list[int]
    chances: dict[int, list[float]]


class Sequencer:
    """Holds the caches; one instance may be shared by threads, since every cache entry is computed from constants."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._words: dict[str, Word] = {}
        self._classes: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._triples: dict[tuple[int, int, int, int], int] = {}
        self._left: dict[tuple[int, int], int] = {}
        self._right: dict[tuple[int, int], int] = {}
        self._border = self._make("\n\n", border=True)
        self._matrix = [[0.0 if value == FORBIDDEN else exp(value / SCALE) for value in row] for row in model.transitions]
        self._to_outside = [row[0] for row in self._matrix]

    def word(self, token: str) -> Word:
        found = self._words.get(token)
        if found is None:
            if len(self._words) > _MOST_WORDS:
                self._words.clear()
            found = self._words[token] = self._make(token)
        return found

    def _make(self, token: str, *, border: bool = False) -> Word:
        outline = "NL2" if border else shape(token)
        key = word_key(token, outline)
        kind = 1 if is_word(token) and outline[0] in "xX" else 2 if outline[0] == "N" else 0
        flags = self._model.flags(look_up_keys(token)) if kind == 1 else 0
        cls, names = own_features(token, outline, flags)
        votes = self._model.vectors(names)
        dull = outline in ("x", "x1") and bool(flags >> COMMON & 3) and not flags & (3 << GIVEN | STREET | TITLE | PARTICLE)
        return Word(
            self._numbers.setdefault(key, len(self._numbers)), self._classes.setdefault(cls, len(self._classes)),
            flags, outline, dull, kind, *votes, key, cls,
        )

    def tag(self, text: str, start: int, end: int) -> Tagged:
        """The label probabilities in `text[start:end]`, which is taken for a text of its own."""
        known = self._words
        words: list[Word] = []
        starts: list[int] = []
        ends: list[int] = []
        for match in TOKEN.finditer(text, start, end):
            token = match[0]
            word = known.get(token) or self.word(token)
            words.append(word)
            starts.append(match.start())
            ends.append(match.end())
        chances: dict[int, list[float]] = {}
        if words:
            self._decode(words, chances)
        return Tagged(words, starts, ends, chances)

    def _decode(self, words: list[Word], chances: dict[int, list[float]]) -> None:
        border = self._border
        mood = setting([word.outline for word in words])
        count = len(words)
        words = [*words, border, border]  # words[-1] and words[-2] serve as the tokens before the first
        dull = [word.dull for word in words]
        triples, left, right = self._triples, self._left, self._right
        run: list[int] = []
        scores: list[tuple[int, ...]] = []
        for here in range(count):
            if dull[here] and (dull[here - 1] or here == 0) and (dull[here + 1] or here == count - 1):
                if run:
                    self._marginals(run, scores, chances)
                    run, scores = [], []
                continue
            word, previous, following = words[here], words[here - 1], words[here + 1]
            key = (mood, previous.cls, word.cls, following.cls)
            shared = triples.get(key)
            if shared is None:
                shared = self._triple(key, previous, word, following)
            beside = left.get((previous.number, word.cls))
            if beside is None:
                beside = self._neighbour(left, "l", previous, word)
            beyond = right.get((following.number, word.cls))
            if beyond is None:
                beyond = self._neighbour(right, "r", following, word)
            total = (
                _BIAS
                + word.own
                + previous.to_next
                + following.to_previous
                + words[here - 2].to_next_but_one
                + words[here + 2].to_previous_but_one
                + shared
                + beside
                + beyond
            )
            if previous.kind != 1:
                total += self._before(words, here)
            if following.kind != 1:
                total += self._behind(words, here, count)
            score = _UNPACK(total.to_bytes(_BYTES, "little"))
            if score[0] - max(score[1:]) > _CERTAIN:
                if run:
                    self._marginals(run, scores, chances)
                    run, scores = [], []
            else:
                run.append(here)
                scores.append(score)
        if run:
            self._marginals(run, scores, chances)

    @staticmethod
    def _before(words: list[Word], here: int) -> int:
        """The vote of the last word before the punctuation that precedes a token."""
        line = False
        for place in range(here - 1, max(here - 7, -1), -1):
            word = words[place]
            if word.kind == 1:
                return word.after_line if line else word.after
            line = line or word.kind == 2
        return 0

    @staticmethod
    def _behind(words: list[Word], here: int, count: int) -> int:
        line = False
        for place in range(here + 1, min(here + 7, count)):
            word = words[place]
            if word.kind == 1:
                return word.before_line if line else word.before
            line = line or word.kind == 2
        return 0

    def _triple(self, key: tuple[int, int, int, int], previous: Word, word: Word, following: Word) -> int:
        if len(self._triples) > _MOST_PAIRS:
            self._triples.clear()
        names = triple_features(key[0], previous.cls_name, word.cls_name, following.cls_name)
        vote = self._triples[key] = self._model.vectors(names, 1)[0]
        return vote

    def _neighbour(self, cache: dict[tuple[int, int], int], side: str, other: Word, word: Word) -> int:
        if len(cache) > _MOST_PAIRS:
            cache.clear()
        vote = cache[other.number, word.cls] = self._model.vectors(neighbour_features(side, other.key, word.cls_name), 1)[0]
        return vote

    def _marginals(self, run: list[int], scores: list[tuple[int, ...]], chances: dict[int, list[float]]) -> None:
        """Forward-backward over a stretch between two tokens that are surely outside; labels far below the best are left out."""
        matrix = self._matrix
        possible: list[list[tuple[int, float]]] = []
        ahead: list[list[tuple[int, float]]] = []
        prior = _OUTSIDE
        for score in scores:
            best = max(score)
            least = best - _REACH
            labels = [(label, _EXP[best - value]) for label, value in enumerate(score) if value > least]
            now = []
            total = 0.0
            for label, weight in labels:
                mass = 0.0
                for before, share in prior:
                    mass += share * matrix[before][label]
                mass *= weight
                total += mass
                now.append((label, mass))
            if not total:  # only labels that cannot follow what is before: outside is always possible
                labels, now, total = [*labels, (0, _EXP[_REACH])], [*now, (0, 1.0)], 1.0
            prior = [(label, mass / total) for label, mass in now]
            possible.append(labels)
            ahead.append(prior)
        later = self._to_outside
        for place in range(len(run) - 1, -1, -1):
            values = [0.0] * _COUNT
            total = 0.0
            for label, mass in ahead[place]:
                mass *= later[label]
                values[label] = mass
                total += mass
            chances[run[place]] = [mass / total for mass in values]
            if place:
                weighted = [(label, weight * later[label] / total) for label, weight in possible[place]]
                later = [0.0] * _COUNT
                for label, _ in ahead[place - 1]:
                    row = matrix[label]
                    mass = 0.0
                    for after, weight in weighted:
                        mass += row[after] * weight
                    later[label] = mass


_OUTSIDE = [(0, 1.0)]
_EXP = [exp(-difference / SCALE) for difference in range(1 << LANE)]
