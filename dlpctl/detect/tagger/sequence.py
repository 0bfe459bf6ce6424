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
# Where the exact sums are cut short, in stored units; the differences are far below what moves a score.
_START = (
    5 * SCALE
)  # an entity does not start at a token whose labels that can start one are this far below "outside"
_STAY = 12 * SCALE  # an entity does not go on over a token whose other labels are this far below "outside"
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
        # What the best way into a label is worth counts as a part of the label's own score, so that scores compare.
        entry = [max(row[label] for row in model.transitions) for label in range(_COUNT)]
        self._bias = _BIAS + sum((value - entry[0]) << LANE * label for label, value in enumerate(entry))
        self._matrix = [
            [
                0.0 if value == FORBIDDEN else exp((value - best) / SCALE)
                for value, best in zip(row, entry, strict=True)
            ]
            for row in model.transitions
        ]

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
        dull = (
            outline in ("x", "x1")
            and bool(flags >> COMMON & 3)
            and not flags & (3 << GIVEN | STREET | TITLE | PARTICLE)
        )
        return Word(
            self._numbers.setdefault(key, len(self._numbers)),
            self._classes.setdefault(cls, len(self._classes)),
            flags,
            outline,
            dull,
            kind,
            *votes,
            key,
            cls,
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
        bias = self._bias
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
                bias
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
            if not run:
                if score[0] - max(score[1], score[3], score[5], score[6]) > _START:
                    continue
            elif score[0] - max(score[1:]) > _STAY:
                self._marginals(run, scores, chances)
                run, scores = [], []
                continue
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
        vote = cache[other.number, word.cls] = self._model.vectors(
            neighbour_features(side, other.key, word.cls_name), 1
        )[0]
        return vote

    def _marginals(
        self, run: list[int], scores: list[tuple[int, ...]], chances: dict[int, list[float]]
    ) -> None:
        """Forward-backward over a stretch between two tokens that are surely outside.

        Written out for the seven labels (o outside, b and i of a person, a and j of an address, l place, g organization):
        this is the innermost loop, and loops over labels take three times as long.
        """
        (
            (oo, ob, _, oa, _, ol, og),
            (bo, bb, bi, ba, _, bl, bg),
            (io, ib, ii, ia, _, il, ig),
            (ao, ab, _, aa, aj, al, ag),
            (jo, jb, _, ja, jj, jl, jg),
            (lo, lb, _, la, _, ll, lg),
            (go, gb, _, ga, _, gl, gg),
        ) = self._matrix
        weight = _EXP
        o, b, i, a, j, l, g = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        ahead, weights = [], []
        for score in scores:
            best = max(score)
            wo, wb, wi, wa, wj, wl, wg = [weight[best - value] for value in score]
            weights.append((wo, wb, wi, wa, wj, wl, wg))
            ni = wi * (b * bi + i * ii)
            nj = wj * (a * aj + j * jj)
            no = wo * (o * oo + b * bo + i * io + a * ao + j * jo + l * lo + g * go)
            nb = wb * (o * ob + b * bb + i * ib + a * ab + j * jb + l * lb + g * gb)
            na = wa * (o * oa + b * ba + i * ia + a * aa + j * ja + l * la + g * ga)
            nl = wl * (o * ol + b * bl + i * il + a * al + j * jl + l * ll + g * gl)
            ng = wg * (o * og + b * bg + i * ig + a * ag + j * jg + l * lg + g * gg)
            part = 1.0 / (no + nb + ni + na + nj + nl + ng)
            o, b, i, a, j, l, g = no * part, nb * part, ni * part, na * part, nj * part, nl * part, ng * part
            ahead.append((o, b, i, a, j, l, g))
        o, b, i, a, j, l, g = oo, bo, io, ao, jo, lo, go
        for place in range(len(run) - 1, -1, -1):
            fo, fb, fi, fa, fj, fl, fg = ahead[place]
            fo, fb, fi, fa, fj, fl, fg = fo * o, fb * b, fi * i, fa * a, fj * j, fl * l, fg * g
            part = 1.0 / (fo + fb + fi + fa + fj + fl + fg)
            chances[run[place]] = [
                fo * part,
                fb * part,
                fi * part,
                fa * part,
                fj * part,
                fl * part,
                fg * part,
            ]
            wo, wb, wi, wa, wj, wl, wg = weights[place]
            no, nb, ni, na, nj, nl, ng = (
                wo * o * part,
                wb * b * part,
                wi * i * part,
                wa * a * part,
                wj * j * part,
                wl * l * part,
                wg * g * part,
            )
            o = no * oo + nb * ob + na * oa + nl * ol + ng * og
            b = no * bo + nb * bb + ni * bi + na * ba + nl * bl + ng * bg
            i = no * io + nb * ib + ni * ii + na * ia + nl * il + ng * ig
            a = no * ao + nb * ab + na * aa + nj * aj + nl * al + ng * ag
            j = no * jo + nb * jb + na * ja + nj * jj + nl * jl + ng * jg
            l = no * lo + nb * lb + na * la + nl * ll + ng * lg
            g = no * go + nb * gb + na * ga + nl * gl + ng * gg


_TAIL = 100 * SCALE
_EXP = [exp(-difference / SCALE) for difference in range(_TAIL)] + [exp(-100)] * ((1 << LANE) - _TAIL)
