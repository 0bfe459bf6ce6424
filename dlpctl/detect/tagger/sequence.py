"""Marginal probabilities of labels for the tokens of a text."""

from __future__ import annotations

import struct
from itertools import count
from operator import add
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dlpctl.detect.tagger.chain import Chain
from dlpctl.detect.tagger.model import LABELS, LANE, SCALE, SLOTS, Model
from dlpctl.detect.tagger.words import (
    COMMON,
    GIVEN,
    PARTICLE,
    STREET,
    TITLE,
    TOKEN,
    far_feature,
    is_word,
    look_up_keys,
    neighbour_feature,
    own_features,
    setting,
    shape,
    triple_features,
    word_key,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_COUNT = len(LABELS)
_UNPACK = struct.Struct(f"<{_COUNT}H").unpack
_BYTES = _COUNT * LANE // 8
_BIAS = sum(1 << (LANE * (label + 1) - 1) for label in range(_COUNT))
# Where the exact sums are cut short, in stored units; the differences are far below what moves a score.
# An entity does not start at a token whose labels that can start one are this far below "outside", and does not go on
# over a token whose other labels are. A number in an address says little by itself, and what stands beside it much.
_START, _STAY, _STAY_IN_ADDRESS = 3 * SCALE, 5 * SCALE, 8 * SCALE
_DULL = 3 * SCALE  # a word that speaks this strongly against every entity counts as a common one
_LONGEST = 64  # characters of a token that are looked at
_MOST_WORDS = 60_000
_MOST_PAIRS = 200_000


_Key = TypeVar("_Key")


class Word:
    """A token as the tagger knows it, with its votes for itself and its neighbours.

    Not a named tuple: the innermost loop reads twenty of these, and a slot is read in half the time.
    """

    __slots__ = (
        "after",  # for the first token behind it and some punctuation
        "after_line",  # the same across a line break
        "before",
        "before_line",
        "cls",
        "cls_name",
        "dull",  # a common word without a capital: between two such words it is outside
        "flags",
        "key",
        "kind",  # 0 punctuation or number, 1 word, 2 line break
        "number",
        "outline",
        "own",
        "to_next",
        "to_next_but_one",
        "to_previous",
        "to_previous_but_one",
    )

    def __init__(self, token: str, outline: str, kind: int, flags: int, votes: Sequence[int]) -> None:
        self.key = word_key(token, outline)
        self.outline = outline
        self.kind = kind
        self.flags = flags
        (
            self.own,
            self.to_next,
            self.to_previous,
            self.to_next_but_one,
            self.to_previous_but_one,
            self.after,
            self.after_line,
            self.before,
            self.before_line,
        ) = votes
        self.number = self.cls = 0
        self.cls_name = ""
        self.dull = False


_NO_VOTES = (0,) * len(SLOTS)


class Tagged(NamedTuple):
    """The tokens of a region, and the label probabilities of those that are not surely outside."""

    words: list[Word]
    starts: list[int]
    ends: list[int]
    chances: dict[int, list[float]]
    tokens: list[str]


class Sequencer:
    """Holds the caches. Threads may share it: what is in a cache depends on its key and on nothing else."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._words: dict[str, Word] = {}
        self._counter = count(1)
        self._classes: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._triples: dict[tuple[int, int, int, int], int] = {}
        self._left: dict[tuple[int, int], int] = {}
        self._right: dict[tuple[int, int], int] = {}
        self._far_left: dict[tuple[int, int, int], int] = {}
        self._far_right: dict[tuple[int, int, int], int] = {}
        self._classed: dict[str, tuple[int, ...]] = {}
        self._single: dict[str, int] = {}
        self._border = self._make("\n\n", border=True)
        # What the best way into a label is worth counts as a part of the label's own score, so that scores
        # compare.
        entry = [max(row[label] for row in model.transitions) for label in range(_COUNT)]
        self._bias = _BIAS + sum((value - entry[0]) << LANE * label for label, value in enumerate(entry))
        self._chain = Chain(model.transitions, entry)

    def word(self, token: str) -> Word:
        token = token[:_LONGEST]
        found = self._words.get(token)
        if found is None:
            if len(self._words) > _MOST_WORDS:
                self._forget()
            found = self._words[token] = self._make(token)
        return found

    def _forget(self) -> None:
        """Numbers are never given twice, so words that another thread still holds do no harm."""
        for cache in (self._words, self._numbers, self._classes, self._left, self._right):
            cache.clear()
        for votes in (self._triples, self._far_left, self._far_right):
            votes.clear()

    def _make(self, token: str, *, border: bool = False) -> Word:
        outline = "NL2" if border else shape(token)
        kind = 1 if is_word(token) and outline[0] in "xX" else 2 if outline[0] == "N" else 0
        flags = self._model.flags(look_up_keys(token)) if kind == 1 else 0
        cls, names = own_features(token, outline, flags)
        dull = (
            outline in ("x", "x1")
            and bool(flags >> COMMON & 3)
            and not flags & (3 << GIVEN | STREET | TITLE | PARTICLE)
        )
        votes = self._votes(names)
        own = _UNPACK((votes[0] + _BIAS).to_bytes(_BYTES, "little"))
        word = Word(token, outline, kind, flags, votes)
        word.dull = dull or own[0] - max(own[1:]) > _DULL
        word.number = self._numbers.setdefault(word.key, next(self._counter))
        word.cls = self._classes.setdefault(cls, next(self._counter))
        word.cls_name = cls
        return word

    def _votes(self, names: list[str]) -> list[int]:
        """The sums of the votes of a word's features; all but the first are shared with many words."""
        sums = self._model.vectors(names[:1])
        for name in names[1:]:
            known = self._classed.get(name)
            if known is None:
                if len(self._classed) > _MOST_WORDS:
                    self._classed.clear()
                known = self._classed[name] = tuple(self._model.vectors([name]))
            if known != _NO_VOTES:
                sums = list(map(add, sums, known))
        return sums

    def tag(self, text: str, start: int, end: int) -> Tagged:
        """The label probabilities in `text[start:end]`, which is taken for a text of its own."""
        known = self._words
        matches = list(TOKEN.finditer(text, start, end))
        tokens = [match[0] for match in matches]
        words = [known.get(token) or self.word(token) for token in tokens]
        chances: dict[int, list[float]] = {}
        if words:
            self._decode(words, chances)
        starts, ends = [match.start() for match in matches], [match.end() for match in matches]
        return Tagged(words, starts, ends, chances, tokens)

    def _decode(self, words: list[Word], chances: dict[int, list[float]]) -> None:
        border = self._border
        bias = self._bias
        mood = setting([word.outline for word in words])
        size = len(words)
        words = [*words, border, border]  # words[-1] and words[-2] serve as the tokens before the first
        dull = [word.dull for word in words]
        triples, left, right = self._triples, self._left, self._right
        far_left, far_right = self._far_left, self._far_right
        marginals = self._chain.marginals
        run: list[int] = []
        scores: list[tuple[int, ...]] = []
        for here in range(size):
            if dull[here] and (dull[here - 1] or here == 0) and (dull[here + 1] or here == size - 1):
                if run:
                    marginals(run, scores, chances)
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
            far = far_left.get((words[here - 2].cls, previous.cls, word.cls))
            if far is None:
                far = self._far(far_left, "u", words[here - 2], previous, word)
            farther = far_right.get((words[here + 2].cls, following.cls, word.cls))
            if farther is None:
                farther = self._far(far_right, "v", words[here + 2], following, word)
            total = (
                bias
                + word.own
                + previous.to_next
                + following.to_previous
                + words[here - 2].to_next_but_one
                + words[here + 2].to_previous_but_one
                + shared
                + beside
                + beyond
                + far
                + farther
            )
            if previous.kind != 1:
                total += self._before(words, here)
            if following.kind != 1:
                total += self._behind(words, here, size)
            score = _UNPACK(total.to_bytes(_BYTES, "little"))
            outside, person, inner, address, further, place, organization = score
            started = bool(run)
            low = outside - (_STAY if started else _START)
            if (
                person < low
                and place < low
                and organization < low
                and address < outside - _STAY_IN_ADDRESS
                and (not started or (inner < low and further < outside - _STAY_IN_ADDRESS))
            ):
                if started:
                    marginals(run, scores, chances)
                    run, scores = [], []
                continue
            run.append(here)
            scores.append(score)
        if run:
            marginals(run, scores, chances)

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
    def _behind(words: list[Word], here: int, size: int) -> int:
        line = False
        for place in range(here + 1, min(here + 7, size)):
            word = words[place]
            if word.kind == 1:
                return word.before_line if line else word.before
            line = line or word.kind == 2
        return 0

    def _triple(self, key: tuple[int, int, int, int], previous: Word, word: Word, following: Word) -> int:
        names = triple_features(key[0], previous.cls_name, word.cls_name, following.cls_name)
        return self._keep(self._triples, key, sum(self._shared(name) for name in names))

    def _shared(self, name: str) -> int:
        """The vote of a feature of few classes, which many triples share."""
        vote = self._single.get(name)
        return self._keep(self._single, name, self._model.vote(name)) if vote is None else vote

    def _far(
        self, cache: dict[tuple[int, int, int], int], side: str, far: Word, near: Word, word: Word
    ) -> int:
        name = far_feature(side, far.cls_name, near.cls_name, word.cls_name)
        return self._keep(cache, (far.cls, near.cls, word.cls), self._model.vote(name))

    def _neighbour(self, cache: dict[tuple[int, int], int], side: str, other: Word, word: Word) -> int:
        name = neighbour_feature(side, other.key, word.cls_name)
        return self._keep(cache, (other.number, word.cls), self._model.vote(name))

    @staticmethod
    def _keep(cache: dict[_Key, int], key: _Key, vote: int) -> int:
        if len(cache) > _MOST_PAIRS:
            cache.clear()
        cache[key] = vote
        return vote
