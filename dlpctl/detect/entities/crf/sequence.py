"""Marginal probabilities of labels for the tokens of a text."""

from __future__ import annotations

import struct
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from dlpctl.detect.entities.crf.chain import Chain, Chances, Score
from dlpctl.detect.entities.crf.crosses import class_codes, key_codes, triple_codes
from dlpctl.detect.entities.crf.model import (
    LABELS,
    LANE,
    MARK_BIT,
    MARK_BYTE,
    SCALE,
    SLOT,
    SLOTS,
    Model,
)
from dlpctl.detect.entities.crf.words import (
    LONGEST_NUMBER,
    SETTINGS,
    TOKEN,
    WordFlags,
    class_features,
    feature_code,
    form_features,
    is_word,
    look_up_keys,
    own_features,
    setting,
    shape,
    word_flags,
    word_key,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

_COUNT = len(LABELS)
_SCORES = struct.Struct(f"<{_COUNT}H")
_BYTES = SLOT // 8
# What makes all lanes of a slot, or of all slots, positive, so that they can be parted.
_BIAS = sum(1 << (LANE * (label + 1) - 1) for label in range(_COUNT))
_ALL_BIAS = sum(_BIAS << SLOT * slot for slot in range(len(SLOTS)))
_SLOT_MASK = (1 << SLOT) - 1
_SHIFTS = tuple(SLOT * slot for slot in range(len(SLOTS)))
_DULL = 3 * SCALE  # a word with so high a score for "outside" counts as a common one
_ACROSS = 6  # a word votes for tokens that are so many places away
_NEAR = 5
"""The most tokens between a word that may be in a name or an address and any other part of it."""
_AROUND = b"\1" * (2 * _NEAR + 1)
_LONGEST = 64  # characters of a token that are read
_MOST_WORDS = 30_000
_MOST_LOOKED_UP = 1 << 14
_MOST_REMEMBERED = 2_000
_LONGEST_REMEMBERED = 5_000
_MOST_PAIRS = 100_000


_Key = TypeVar("_Key")
_Vote = TypeVar("_Vote")


class Word:
    """A token as the tagger knows it, with its votes for itself and its neighbours.

    Not a named tuple: the innermost loop reads twenty of these, and a slot is read in half the
    time.
    """

    __slots__ = (
        "after",  # for the first token after it and some punctuation
        "after_line",  # the same across a line break
        "before",
        "before_line",
        "class_after",  # its class as a part of features, by position
        "class_before",
        "class_far_after",
        "class_far_before",
        "class_here",
        "flags",
        "is_line_break",
        "is_sign",  # punctuation or a number
        "is_word",
        "key",
        "key_after",
        "key_before",
        # evidence for an entity around it: 0 a dull word, 1 a capital or a mark, 2 a number
        # or a telling word
        "level",
        "needs",  # the evidence beside it that it needs to be a part of one
        "outline",
        "own",
        "to_next",
        "to_next_but_one",
        "to_previous",
        "to_previous_but_one",
    )

    def __init__(
        self, outline: str, *, is_word: bool, flags: WordFlags, cls: str, key: str, votes: int
    ) -> None:
        self.outline = outline
        self.is_word = is_word
        self.is_line_break = outline[0] == "N"
        self.is_sign = not (is_word or self.is_line_break)
        self.flags = flags
        self.key = key
        (
            self.class_here,
            self.class_before,
            self.class_after,
            self.class_far_before,
            self.class_far_after,
        ) = class_codes(cls)
        self.key_before, self.key_after = key_codes(key)
        votes += _ALL_BIAS
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
        ) = [(votes >> shift & _SLOT_MASK) - _BIAS for shift in _SHIFTS]
        self.level = self.needs = 0


class Tagged(NamedTuple):
    """The tokens of a region, and the label probabilities of those that are not surely outside."""

    words: list[Word]
    matches: list[re.Match[str]]
    chances: Chances
    tokens: list[str]


class Sequencer:
    """Contains the caches. Threads may share it: a cached value depends only on its key."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._words: dict[str, Word] = {}
        self._triples = [
            _Votes(partial(self._triple, mood)) for mood in range(SETTINGS)
        ]  # by the setting
        self._crossed: _Votes[int, int] = _Votes(model.vote)
        self._marks = model.marks
        self._shared: _Votes[str, int] = _Votes(lambda name: model.votes(feature_code(name)))
        self._classes = _Votes(self._class_votes)
        self.flags = lru_cache(_MOST_LOOKED_UP)(
            lambda token: word_flags(model.flags(look_up_keys(token)))
        )
        """The gazetteer's entries of words."""
        # What a region was found to hold, by its length and its hash: the history of a chat, quoted
        # mail and the heads of files come again and again. A hash, so that nothing of the text
        # itself is kept.
        self._remembered: dict[tuple[int, int], Chances] = {}
        # The score of the best way into a label is included in the label's own score, so that
        # scores are comparable.
        entry = [max(row[label] for row in model.transitions) for label in range(_COUNT)]
        self._bias = _BIAS + sum(
            (value - entry[0]) << LANE * label for label, value in enumerate(entry)
        )
        self._chain = Chain(model.transitions, entry)
        self._border = self._make("\n\n", border=True)
        self._border.level, self._border.needs = 0, 9

    def word(self, token: str) -> Word:
        token = token[:_LONGEST]
        found = self._words.get(token)
        if found is None:
            if len(self._words) > _MOST_WORDS:
                self._words.clear()
            # Of a number, only the length counts.
            known = "0" * min(len(token), LONGEST_NUMBER) if token.isdigit() else token
            found = self.word(known) if known != token else self._make(token)
            self._words[token] = found
        return found

    def _make(self, token: str, *, border: bool = False) -> Word:
        outline = "NL2" if border else shape(token)
        in_letters = is_word(token) and outline[0] in "xX"
        flags = self.flags(token) if in_letters else word_flags(0)
        if in_letters:
            key = word_key(token, outline)
            cls, votes = self._classes[outline, flags.code]
            names = form_features(key, outline)
        else:
            cls, key, (_, *names) = own_features(token, outline, 0)
            votes = 0
        # All features but the word itself are shared with many words.
        votes += self._model.votes(feature_code(f"w:{key}")) + sum(
            map(self._shared.__getitem__, names)
        )
        word = Word(outline, is_word=in_letters, flags=flags, cls=cls, key=key, votes=votes)
        dull = (
            outline in ("x", "x1")
            and flags.common > 0
            and not (flags.given or flags.street or flags.title or flags.particle)
        ) or self._is_dull(word)
        if in_letters:
            word.level, word.needs = (0, 2) if dull else (1 if outline[0] == "X" else 2, 0)
        else:
            word.level, word.needs = 1 if outline[0] in "pNT" else 2, 1 if dull else 0
        word.own += self._bias
        return word

    @staticmethod
    def _is_dull(word: Word) -> bool:
        own = _SCORES.unpack((word.own + _BIAS).to_bytes(_BYTES, "little"))
        return bool(own[0] - max(own[1:]) > _DULL)

    def _class_votes(self, form: tuple[str, int]) -> tuple[str, int]:
        """Return the coarse class of an outline and a gazetteer entry, and the votes of both."""
        cls, names = class_features(*form)
        return cls, sum(self._model.votes(feature_code(name)) for name in names)

    def _words_of(self, tokens: list[str]) -> list[Word]:
        words = list(map(self._words.get, tokens))
        if None in words:
            words = [word or self.word(token) for word, token in zip(words, tokens, strict=True)]
        return cast("list[Word]", words)

    def tag(self, text: str, regions: Iterable[tuple[int, int]]) -> list[Tagged]:
        """The label probabilities in each region, which is taken for a text of its own."""
        tagged: list[Tagged] = []
        fresh: dict[int, list[Tagged]] = {}  # by their settings
        waiting: list[tuple[tuple[int, int], Chances]] = []
        for start, end in regions:
            matches = list(TOKEN.finditer(text, start, end))
            tokens = [match[0] for match in matches]
            words = self._words_of(tokens)
            key = (end - start, hash(text[start:end]))
            chances = self._remembered.get(key)
            tagged.append(Tagged(words, matches, {} if chances is None else chances, tokens))
            if chances is None:
                mood = setting([word.outline for word in words], [word.key for word in words])
                fresh.setdefault(mood, []).append(tagged[-1])
                if end - start < _LONGEST_REMEMBERED:
                    waiting.append((key, tagged[-1].chances))
        for mood, alike in fresh.items():
            self._decode(mood, alike)
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered.update(
            waiting[-_MOST_REMEMBERED:]
        )  # a single text may have any number of regions
        return tagged

    def _decode(self, mood: int, regions: list[Tagged]) -> None:
        """Tag regions of one setting at once, with borders between them."""
        border = [self._border] * _NEAR
        words = [*border]
        firsts = []
        for region in regions:
            firsts.append(len(words))
            words += region.words
            words += border
        near = bytearray(len(words))
        for at, word in enumerate(words):
            if word.is_word and not word.needs:
                near[at - _NEAR : at + _NEAR + 1] = _AROUND
        levels = [word.level for word in words]
        needs = [word.needs for word in words[1:-1]]
        indexes = [
            index
            for index, (before, needed, following, is_near) in enumerate(
                zip(levels, needs, levels[2:], near[1:], strict=False), 1
            )
            if is_near and before + following >= needed
        ]
        chances: Chances = {}
        self._chain.decode(indexes, self._scores(mood, words, indexes), chances)
        at = 0
        for index in sorted(chances):
            while at + 1 < len(firsts) and firsts[at + 1] <= index:
                at += 1
            regions[at].chances[index - firsts[at]] = chances[index]

    def _scores(self, mood: int, words: list[Word], indexes: list[int]) -> list[Score]:
        """Return the scores of the labels of some tokens."""
        crossed, marks, triples = self._crossed, self._marks, self._triples[mood]
        totals: list[bytes] = []
        near: dict[tuple[Word, ...], int] = {}  # rows repeat what is between their values
        for index in indexes:
            window = tuple(words[index - 2 : index + 3])
            far_before, before, word, following, far_after = window
            in_sentence = word.is_word and before.is_word
            total = 0 if in_sentence else near.get(window, 0)
            if not total:
                middle = word.class_here
                left, right = before.class_before ^ middle, following.class_after ^ middle
                total = (
                    word.own
                    + before.to_next
                    + following.to_previous
                    + far_before.to_next_but_one
                    + far_after.to_previous_but_one
                    + triples[left, right, middle]
                )
                # Most codes have no feature, and the mark that tells so is read faster than a
                # cache.
                for code in (
                    far_before.class_far_before ^ left,
                    far_after.class_far_after ^ right,
                    before.key_before ^ middle,
                    following.key_after ^ middle,
                ):
                    if marks[code >> MARK_BYTE] >> (code >> MARK_BIT & 7) & 1:
                        total += crossed[code]
                if not in_sentence:
                    near[window] = total
            if not before.is_word:
                if not far_before.is_word:
                    total += self._farther_before(words, index - 2)
                else:
                    total += far_before.after_line if before.is_line_break else far_before.after
            if not following.is_word:
                if not far_after.is_word:
                    total += self._farther_after(words, index + 2)
                else:
                    total += far_after.before_line if following.is_line_break else far_after.before
            totals.append(total.to_bytes(_BYTES, "little"))
        return list(_SCORES.iter_unpack(b"".join(totals)))

    def _farther_before(self, words: list[Word], at: int) -> int:
        """Return the votes of the nearest word before some punctuation that ends after `at`."""
        line = words[at + 1].is_line_break
        for index in range(at, at + 1 - _ACROSS, -1):
            word = words[index]
            if word.is_word:
                return word.after_line if line else word.after
            if word is self._border:
                break
            line = line or word.is_line_break
        return 0

    def _farther_after(self, words: list[Word], at: int) -> int:
        """Return the votes of the nearest word after some punctuation that starts before `at`."""
        line = words[at - 1].is_line_break
        for index in range(at, at - 1 + _ACROSS):
            word = words[index]
            if word.is_word:
                return word.before_line if line else word.before
            if word is self._border:
                break
            line = line or word.is_line_break
        return 0

    def _triple(self, mood: int, codes: tuple[int, int, int]) -> int:
        total, marks = 0, self._marks
        for code in triple_codes(mood, *codes):
            if marks[code >> MARK_BYTE] >> (code >> MARK_BIT & 7) & 1:
                total += self._crossed[code]
        return total


class _Votes(dict[_Key, _Vote]):
    """Votes that are computed when they are asked for first."""

    def __init__(self, make: Callable[[_Key], _Vote]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: _Key) -> _Vote:
        vote = self._make(key)
        if len(self) > _MOST_PAIRS:
            self.clear()
        self[key] = vote
        return vote
