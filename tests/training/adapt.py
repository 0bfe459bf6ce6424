"""Adapt the weights of a packed file to talk: chats, tickets, calls and notes in many languages.

Names in these texts are given names alone, inflected or in lower case, and often in no list: of a
part, the entry of the gazetteer is hidden, and a part is invented from the letters of names, so that
the words around a name decide. The same sentences have things in the place of names. Training
starts from the weights of the file and returns to them where texts of other kinds do not object.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import compose
import corpora
import lists as word_lists
import numpy as np
import prose
from train import HERE, SHARES, attributes, code_negatives, is_telling, labels_of

from dlpctl.detect.entities.crf.model import FORBIDDEN, LABELS, SCALE, SLOTS, Model, pack
from dlpctl.detect.entities.crf.words import TOKEN
from dlpctl.detect.entities.finder import NameTagger

if TYPE_CHECKING:
    from collections.abc import Callable

_LABELS = len(LABELS)
_LOCALES = {
    "cs": ["cs_CZ"],
    "da": ["da_DK"],
    "fi": ["fi_FI"],
    "hu": ["hu_HU"],
    "pl": ["pl_PL"],
    "sv": ["sv_SE"],
    "tr": ["tr_TR"],
}
_OWN_LANGUAGE, _INVENTED = 0.5, 0.3
"""The share of names of the text's language, and of those that are invented."""
_LINEAL = 0.03
"""The share of persons who are named after their fathers: Omar bin Khalid Al-Sayed."""
_LOWER, _LOWER_BEFORE, _TRUECASED = 0.3, 0.1, 0.6
"""The share of talk, and of the other texts, in lower case, and of these, with the capitals that
the run time gives names.
"""
_HIDDEN, _HIDDEN_BEFORE = 0.4, 0.18
"""The share of names without their gazetteer entry in talk and in the other texts."""
_BESIDE = 0.5
"""The share of talk with a paragraph of prose after it, often without a full stop before: a name
before a blank line is hardly in any other text.
"""
_LONGEST = 150
_BATCH = 64
_OFTEN = 12
"""A word that the prose of a language has so often is a thing of this language."""
_FEWEST = 3
_LEAST = 2
"""The weight, times `SCALE`, that is stored: smaller ones decide nothing."""


class Talker(compose.Composer):
    """Fills templates with names of one language and of the world, some of them invented."""

    talk = "en"

    def first(self) -> str:
        return self._drawn(self.given, super().first)

    def surname(self) -> str:
        return self._drawn(self.surnames, super().surname)

    def person(self) -> str:
        if self.rng.random() >= _LINEAL:
            return super().person()
        son = self.rng.choice(("bin", "bint", "ibn", "ben", "binti"))
        article = self.rng.choice(("Al-", "al-", "El-", "Al ", ""))
        return f"{self.first()} {son} {self.first()} {article}{self.surname()}"

    def _drawn(self, names: dict[str, list[str]], usual: Callable[[], str]) -> str:
        rng = self.rng
        own = _LOCALES.get(self.talk) or compose.LANGUAGES.get(self.talk) or self.named
        locale = rng.choice([*(name for name in own if len(names.get(name, ())) > 25), ""])
        locale = locale if locale and rng.random() < _OWN_LANGUAGE else rng.choice(self.named)
        if rng.random() < _INVENTED:
            return invented(names[locale], rng)
        return rng.choice(names[locale]) if rng.random() < 0.7 else usual()


def invented(names: list[str], rng: random.Random) -> str:
    """Return a word that no list has, made of the letters that follow each other in names."""
    following: dict[str, list[str]] = defaultdict(list)
    for name in rng.sample(names, min(len(names), 120)):
        for at, letter in enumerate(name := f"  {name.lower()}\n", 0):
            if at > 1:
                following[name[at - 2 : at]].append(letter)
    for _ in range(20):
        word = "  "
        while word[-1] != "\n" and len(word) < 14:
            word += rng.choice(following[word[-2:]])
        if 4 <= len(word.strip()) <= 10 and word.strip().isalpha():
            break
    return word.strip().title()


def talk(composer: Talker, pages: dict[str, list[str]], count: int) -> list[corpora.Row]:
    """Return talk in equal shares of its languages, some of it beside a paragraph of prose."""
    rng, rows = composer.rng, []
    found = compose.templates(HERE / "templates", "*_talk.txt")
    texts = {language.partition("-")[0]: page for language, page in pages.items()}
    things = {
        language: [
            word.capitalize()
            for word, seen in prose.common_words(language, page).items()
            if seen >= _OFTEN and len(word) > 3
        ]
        for language, page in texts.items()
    }
    for language in found:
        composer.talk = language
        strange = [invented(composer.surnames[name], rng) for name in composer.named for _ in "ab"]
        composer.things = [*things[language], *compose.PRODUCTS, *strange]
        made = compose.generate(composer, found, count // len(found), shares={language: 1.0})
        for row in made:
            if rng.random() < _BESIDE:
                text = rng.choice((row["text"], row["text"].rstrip(".!?")))
                row["text"] = text + rng.choice(("\n", "\n\n")) + rng.choice(texts[language])
        rows += made
    return rows


def lower_some(
    rows: list[corpora.Row], share: float, rng: random.Random, truecase: Callable[[str], str]
) -> None:
    """Put a share of texts in lower case, most of it with the capitals that the run time adds:
    there, a word without one is no name, as in any text with capitals.
    """
    for row in rows:
        lower = row["text"].lower()
        if rng.random() >= share or len(lower) != len(row["text"]):
            continue
        row["text"] = lower
        if rng.random() < _TRUECASED:
            text = row["text"] = truecase(lower)
            row["spans"] = [
                span for span in row["spans"] if text[span[1] : span[2]] != lower[span[1] : span[2]]
            ]


class Sequences:
    """Texts as features and labels, in batches of texts of about the same length."""

    def __init__(self, gazetteer: dict[str, int], numbers: dict[str, int]) -> None:
        self._gazetteer, self._numbers = gazetteer, numbers
        self._texts: list[tuple[list[list[int]], list[int]]] = []

    def add(self, row: corpora.Row, hide: float, rng: random.Random) -> None:
        matches = list(TOKEN.finditer(row["text"]))[:_LONGEST]
        tokens = [match[0] for match in matches]
        labels = labels_of([(m[0], m.start(), m.end()) for m in matches], row["spans"])
        hidden = {
            token
            for token, label in zip(tokens, labels, strict=True)
            if label[-1] == "P" and rng.random() < hide
        }
        number = self._numbers.setdefault
        features = [
            [number(name, len(self._numbers)) for name in names]
            for names in attributes(tokens, self._gazetteer, hidden)
        ]
        if tokens:
            self._texts.append((features, [LABELS.index(label) for label in labels]))

    def counts(self) -> Counter[int]:
        return Counter(number for texts, _ in self._texts for names in texts for number in names)

    def batches(self, kept: np.ndarray) -> list[tuple[np.ndarray, ...]]:
        """Return for each batch the features of its tokens, the tokens' first ones, their places,
        and their labels, which are -1 past the end of a text.
        """
        made, self._texts = sorted(self._texts, key=lambda text: len(text[1])), []
        batches = []
        for first in range(0, len(made), _BATCH):
            part = made[first : first + _BATCH]
            labels = np.full((len(part), len(part[-1][1])), -1)
            for row, (_, own) in enumerate(part):
                labels[row, : len(own)] = own
            names = [kept[np.array(token)] for features, _ in part for token in features]
            names = [own[own >= 0] for own in names]
            starts = np.cumsum([0, *(len(own) for own in names[:-1])])
            batches.append((np.concatenate(names), starts, labels))
        return batches


def gradient(scores: np.ndarray, labels: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the gradient of the scores of the tokens of a batch, and their loss."""
    texts, length = labels.shape
    inside = labels >= 0
    spread = np.zeros((texts, length, _LABELS))
    spread[inside] = scores
    top = spread.max(axis=2, keepdims=True)
    emitted = np.exp(spread - top)
    forward, backward = np.empty_like(spread), np.ones_like(spread)
    norm = np.empty((texts, length, 1))
    for at in range(length):
        here = emitted[:, at] * (forward[:, at - 1] @ steps if at else 1.0)
        norm[:, at] = here.sum(axis=1, keepdims=True)
        forward[:, at] = here / norm[:, at]
    for at in range(length - 2, -1, -1):
        here = (emitted[:, at + 1] * backward[:, at + 1]) @ steps.T / norm[:, at + 1]
        backward[:, at] = np.where(inside[:, at + 1 : at + 2], here, 1.0)
    likely = (forward * backward)[inside]
    likely /= likely.sum(axis=1, keepdims=True)
    true = np.eye(_LABELS)[labels[inside]]
    return likely - true, -np.log((likely * true).sum(axis=1) + 1e-9).mean()


def adapted(
    weights: np.ndarray, batches: list, steps: np.ndarray, options: argparse.Namespace
) -> np.ndarray:
    """Return the weights after some rounds over the batches (AdaGrad, pulled to the first ones)."""
    rng = random.Random(options.seed)
    first, weights = weights, weights.copy()
    sums = np.full(weights.shape, 1.0)
    for turn in range(options.rounds):
        losses = []
        for names, starts, labels in rng.sample(batches, len(batches)):
            slope, loss = gradient(np.add.reduceat(weights[names], starts), labels, steps)
            losses.append(loss)
            order = np.argsort(names, kind="stable")
            lengths = np.diff(np.append(starts, len(names)))
            token = np.repeat(np.arange(len(starts)), lengths)[order]
            distinct, at = np.unique(names[order], return_index=True)
            step = np.add.reduceat(slope[token], at)
            step += options.pull * (weights[distinct] - first[distinct])
            sums[distinct] += step**2
            weights[distinct] -= options.rate * step / np.sqrt(sums[distinct])
        print(f"round {turn}: loss {np.mean(losses):.5f}", flush=True)
    return weights


def packed(model: Model, names: list[str], weights: np.ndarray, share: float) -> bytes:
    """Return the file's bytes, in which weights have moved by a share of the way to the new ones.

    Features that the file had not are left out: they hold what is peculiar to the templates.
    """
    moved: dict[int, dict[int, float]] = defaultdict(dict)
    for name, row in zip(names, weights * SCALE, strict=True):
        slot, _, code = name.partition("|")
        first = SLOTS.index(slot) * _LABELS
        moved[int(code)].update((first + label, value) for label, value in enumerate(row))
    kept: dict[int, list[tuple[int, int]]] = {}
    for code in model._features:
        pairs = dict(stored_pairs(model.weights(code)))
        for place, value in moved.get(code, {}).items():
            before, after = pairs.get(place, 0), round(min(max(value, -127), 127))
            pairs[place] = round(before + share * (after - before))
        kept[code] = [(at, value) for at, value in sorted(pairs.items()) if abs(value) >= _LEAST]
    kept = {code: pairs for code, pairs in kept.items() if is_telling(pairs)}
    gazetteer = dict(zip(model._words, model._flags, strict=True))
    return pack(gazetteer, kept, model.transitions)


def stored_pairs(stored: bytes) -> list[tuple[int, int]]:
    """Return the places and values of weights."""
    return list(zip(stored[::2], memoryview(stored[1::2]).cast("b"), strict=True))


class PackedGazetteer(dict[str, int]):
    """The gazetteer of a packed file by words, of which it holds only the codes."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._flags = dict(zip(model._words, model._flags, strict=True))

    def __contains__(self, key: object) -> bool:
        return crc32(str(key).encode()) in self._flags

    def __getitem__(self, key: str) -> int:
        return self._flags[crc32(key.encode())]

    def get(self, key: str, default: int = 0) -> int:  # type: ignore[override]
        return self._flags.get(crc32(key.encode()), default)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path, help="the packed file to start from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--prose", type=Path, action="append", default=[])
    parser.add_argument("--code", type=Path, action="append", default=[])
    parser.add_argument("--talk", type=int, default=5000)
    parser.add_argument("--before", type=int, default=4000, help="texts of each of the old kinds")
    parser.add_argument("--prose-bytes", type=int, default=40_000, help="of each language")
    parser.add_argument("--code-bytes", type=int, default=250_000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0.06)
    parser.add_argument("--pull", type=float, default=0.05)
    parser.add_argument("--share", type=float, default=0.4, help="of the way to the new weights")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    model = Model.load(options.path)
    gazetteer = PackedGazetteer(model)
    pages = prose.of_languages(options.prose)
    lists = word_lists.load()
    composer = Talker(lists, rng, lambda _: True)
    truecase = NameTagger(model).with_capitals
    spoken = talk(composer, pages, options.talk)
    before = old_texts(composer, pages, options)
    lower_some(spoken, _LOWER, rng, truecase)
    lower_some(before, _LOWER_BEFORE, rng, truecase)
    numbers: dict[str, int] = {}
    sequences = Sequences(gazetteer, numbers)
    for row in spoken:
        sequences.add(row, _HIDDEN, rng)
    for row in before:
        sequences.add(row, _HIDDEN_BEFORE, rng)
    print(len(spoken), "of talk,", len(before), "others,", len(numbers), "features", flush=True)
    names, weights, kept = start(model, numbers, sequences.counts())
    steps = np.array(
        [[value if value > FORBIDDEN else -1e9 for value in row] for row in model.transitions]
    )
    weights = adapted(weights, sequences.batches(kept), np.exp(steps / SCALE), options)
    options.out.write_bytes(packed(model, names, weights, options.share))
    print(options.out, options.out.stat().st_size, "bytes")


def start(
    model: Model, numbers: dict[str, int], counts: Counter[int]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the names of the features to train, their weights in the file, and their numbers by
    those of the texts, which are -1 for rare new ones.
    """
    kept = np.full(len(numbers), -1)
    names, rows = [], []
    for name, number in numbers.items():
        slot, _, code = name.partition("|")
        row = np.zeros(_LABELS)
        first = SLOTS.index(slot) * _LABELS
        for place, value in stored_pairs(model.weights(int(code))):
            if first <= place < first + _LABELS:
                row[place - first] = value / SCALE
        if row.any() or counts[number] >= _FEWEST:
            kept[number] = len(names)
            names.append(name)
            rows.append(row)
    return names, np.array(rows), kept


def old_texts(
    composer: Talker, pages: dict[str, list[str]], options: argparse.Namespace
) -> list[corpora.Row]:
    """Return texts of the kinds that the weights were trained on, which must not be unlearned."""
    rng = composer.rng
    composer.talk, composer.things = "en", compose.PRODUCTS
    rows: list[corpora.Row] = []
    for path in options.corpus:
        loaded = corpora.load(path, PackedGazetteer(Model.load(options.path)))
        rows += corpora.cut(rng.sample(loaded, min(len(loaded), options.before // 3)), rng)
    templates = compose.templates(HERE / "templates")
    rows += compose.generate(composer, templates, options.before, shares=SHARES)
    for language, texts in pages.items():
        own = templates.get(language.partition("-")[0], templates["xx"])
        rows += prose.rows(language.partition("-")[0], texts, composer, own, options.prose_bytes)
    return rows + code_negatives(options.code, rng, options.code_bytes)


if __name__ == "__main__":
    main()
