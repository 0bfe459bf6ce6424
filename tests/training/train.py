"""Builds the data file of the tagger from corpora, package lists and templates. `python train.py
--help`
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from zlib import crc32

import compose
import corpora
import lists as word_lists
import prose

from dlpctl.detect.entities.crf.crosses import class_codes, key_codes, triple_codes
from dlpctl.detect.entities.crf.model import FORBIDDEN, LABELS, SCALE, SLOTS, pack
from dlpctl.detect.entities.crf.words import (
    CALENDAR,
    COMMON,
    PLACE,
    TOKEN,
    feature_code,
    is_word,
    look_up_keys,
    normalize,
    own_features,
    setting,
    shape,
)

HERE = Path(__file__).parent
_TELLING = 3
"""The weight, times `SCALE`, that a feature must have for a label: others decide nothing."""
LABEL_OF = {"PERSON": "P", "ADDRESS": "A", "LOCATION": "LOC", "ORGANIZATION": "ORG"}
# Which features vote in which slots; the rest vote for their own token only.
REACH = {
    "w": SLOTS,
    "k": ("0", "-1", "+1", "-2", "+2"),
    "g": ("0", "-1", "+1"),
    "3": ("0", "-1", "+1"),
}
SHARES = {"en": 68.0, "xx": 10.0, "de": 8.0, "fr": 7.0, "es": 7.0, "it": 5.0, "pt": 5.0, "nl": 5.0}


def kept_for_training(name: str) -> bool:
    """A seventh of all names is never seen in training texts, so that the bench can use it."""
    return crc32(name.lower().encode()) % 7 != 0


def attributes(tokens: list[str], gazetteer: dict[str, int], hidden: set[str]) -> list[list[str]]:
    """The features of a sequence, as the run time adds them up."""
    own, classes, keys, kinds, outlines = [], [], [], [], []
    for token in tokens:
        outline = shape(token)
        kind = 1 if is_word(token) and outline[0] in "xX" else 2 if outline[0] == "N" else 0
        flags = (
            next((gazetteer[key] for key in look_up_keys(token) if key in gazetteer), 0)
            if kind == 1 and token not in hidden
            else 0
        )
        cls, key, names = own_features(token, outline, flags)
        own.append(names)
        classes.append(cls)
        keys.append(key)
        kinds.append(kind)
        outlines.append(outline)
    mood = setting(outlines, keys)
    count = len(tokens)
    border_class, border_key, border_names = own_features("\n\n", "NL2", 0)
    # Two borders on either side; a place in these lists is two more than the token's.
    codes = [class_codes(cls) for cls in (border_class,) * 2 + tuple(classes) + (border_class,) * 2]
    words = [key_codes(key) for key in (border_key,) * 2 + tuple(keys) + (border_key,) * 2]
    result = []
    for here in range(count):
        found = [f"0|{feature_code(name)}" for name in own[here]]
        for offset, slot in ((-1, "-1"), (1, "+1"), (-2, "-2"), (2, "+2")):
            place = here + offset
            names = own[place] if 0 <= place < count else border_names
            found += [
                f"{slot}|{feature_code(name)}"
                for name in names
                if slot in REACH.get(name[0], ()) and name[1] == ":"
            ]
        farther_before, before, token, following, farther_following = codes[here : here + 5]
        left, right = before.before ^ token.own, token.own ^ following.after
        crossed = (
            *triple_codes(mood, left, right, token.own),
            left ^ farther_before.far_before,
            right ^ farther_following.far_after,
            words[here + 1][0] ^ token.own,
            words[here + 3][1] ^ token.own,
        )
        found += [f"0|{code}" for code in crossed]
        if not here or kinds[here - 1] != 1:
            found += _across(here, range(here - 1, max(here - 7, -1), -1), kinds, keys, "<")
        if here + 1 >= count or kinds[here + 1] != 1:
            found += _across(here, range(here + 1, min(here + 7, count)), kinds, keys, ">")
        result.append(found)
    return result


def _across(here: int, places: range, kinds: list[int], keys: list[str], slot: str) -> list[str]:
    line = False
    for place in places:
        if kinds[place] == 1:
            return [f"{slot * 2 if line else slot}|{feature_code('w:' + keys[place])}"]
        line = line or kinds[place] == 2
    return []


def labels_of(tokens: list[tuple[str, int, int]], spans: list[compose.Span]) -> list[str]:
    labels = ["O"] * len(tokens)
    for kind, start, end in sorted(spans, key=lambda span: span[0] in ("PERSON", "ADDRESS")):
        first = True
        mark = LABEL_OF[kind]
        for place, (token, left, right) in enumerate(tokens):
            core_left = left + len(token) - len(token.lstrip())
            core_right = left + len(token.rstrip()) if token.strip() else right
            if (
                core_left >= start
                and core_right <= end
                and (token.strip() or not first)
                and not (not token.strip() and right > end)
            ):
                labels[place] = mark if len(mark) == 3 else f"{'B' if first else 'I'}-{mark}"
                first = False
            elif left >= end:
                break
    for place in range(1, len(labels)):
        if (labels[place] in ("I-P", "I-A") and labels[place - 1][-1:] != labels[place][-1]) or (
            labels[place - 1] in ("LOC", "ORG") and labels[place].startswith("I-")
        ):
            labels[place] = "B" + labels[place][1:]
    return labels


def code_negatives(paths: list[Path], rng: random.Random, most: int) -> list[corpora.Row]:
    """Pieces of source files, in which nothing is a name; files that tell who wrote them are left
    out by their first lines.
    """
    rows: list[corpora.Row] = []
    files = sorted(
        file
        for path in paths
        for pattern in (
            "*.py",
            "*.js",
            "*.c",
            "*.h",
            "*.pm",
            "*.ts",
            "*.css",
            "*.json",
            "*.toml",
            "*.yml",
            "*.sh",
            "*.java",
            "*.go",
        )
        for file in path.rglob(pattern)
    )
    rng.shuffle(files)
    total = 0
    for file in files:
        if total > most:
            break
        text = file.read_text(encoding="utf-8", errors="ignore")
        if (
            "author" in text[:3000].lower()
            or "names" in file.parts
            or "/person/" in str(file)
            or len(text) < 2500
        ):
            continue
        start = rng.randint(1500, max(1500, len(text) - 3000))
        start = text.find("\n", start) + 1
        piece = text[start : start + rng.choice((300, 800, 2000))]
        rows.append({"text": piece, "spans": [], "source": "code"})
        total += len(piece)
    return rows


def is_telling(pairs: list[tuple[int, int]]) -> bool:
    """Return whether one of a feature's weights, as places and values, may decide something."""
    return any(abs(value) >= _TELLING for _, value in pairs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--corpus",
        type=Path,
        action="append",
        default=[],
        help="a JSONL file of annotated text; repeat",
    )
    parser.add_argument(
        "--code",
        type=Path,
        action="append",
        default=[],
        help="a folder of source code in which nothing is a name; repeat",
    )
    parser.add_argument(
        "--scowl", type=Path, required=True, help="the folder of the SCOWL word lists"
    )
    parser.add_argument(
        "--prose",
        type=Path,
        action="append",
        default=[],
        help="the folder of a language in LibreOffice's help; repeat",
    )
    parser.add_argument(
        "--nouns", type=Path, action="append", default=[], help="a list of German nouns; repeat"
    )
    parser.add_argument("--prose-bytes", type=int, default=70_000, help="of each language")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--synthetic", type=int, default=30_000)
    parser.add_argument("--code-bytes", type=int, default=900_000)
    parser.add_argument("--iterations", type=int, default=90)
    parser.add_argument("--c1", type=float, default=0.25)
    parser.add_argument("--c2", type=float, default=0.01)
    parser.add_argument(
        "--minimum", type=int, default=3, help="features seen less often are left out"
    )
    parser.add_argument(
        "--hide",
        type=float,
        default=0.18,
        help="the share of names whose gazetteer entry is hidden in training",
    )
    parser.add_argument(
        "--all-names",
        action="store_true",
        help="use also the names that the bench keeps for itself",
    )
    parser.add_argument("--keep", type=Path, help="keep CRFsuite's own model here")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    import pycrfsuite

    began = time.monotonic()
    rng = random.Random(options.seed)
    lists = word_lists.load()
    pages = prose.of_languages(options.prose)
    common = [prose.common_words(language, texts) for language, texts in pages.items()]
    nouns = {noun for path in options.nouns for noun in path.read_text(encoding="utf-8").split()}
    gazetteer = word_lists.gazetteer(lists, options.scowl, common, nouns)
    composer = compose.Composer(
        lists, rng, (lambda _: True) if options.all_names else kept_for_training
    )
    composer.learn_doubles(
        lambda name: (
            gazetteer.get(normalize(name), 0) >> PLACE & 3 > 0
            or gazetteer.get(normalize(name), 0) >> COMMON & 3 > 1
            or bool(gazetteer.get(normalize(name), 0) & CALENDAR)
        ),
        lambda name: gazetteer.get(normalize(name), 0) >> COMMON & 3 > 1,
    )
    rows: list[corpora.Row] = []
    for path in options.corpus:
        loaded = corpora.load(path, gazetteer)
        composer.language = "en"
        rows += loaded + corpora.exchange(loaded, composer, 1.0)
    rows = corpora.cut(rows, rng)
    templates = compose.templates(HERE / "templates")
    rows += compose.generate(composer, templates, options.synthetic, shares=SHARES)
    for language, texts in pages.items():
        beside = templates.get(language.partition("-")[0], templates["xx"])
        rows += prose.rows(language.partition("-")[0], texts, composer, beside, options.prose_bytes)
    rows += code_negatives(options.code, rng, options.code_bytes)
    trainer = pycrfsuite.Trainer(verbose=False)
    counts: Counter[str] = Counter()
    for row in rows:
        tokens = [(m[0], m.start(), m.end()) for m in TOKEN.finditer(row["text"])]
        if not tokens:
            continue
        labels = labels_of(tokens, row["spans"])
        hidden = set()
        for (token, _, _), label in zip(tokens, labels, strict=True):
            if label[-1] == "P" and rng.random() < options.hide:
                hidden.add(token)
        trainer.append(attributes([token for token, _, _ in tokens], gazetteer, hidden), labels)
        counts.update(labels)
    print("labels", dict(counts), f"{time.monotonic() - began:.0f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = str(options.keep or Path(folder) / "model")
        trainer.set_params(
            {
                "c1": options.c1,
                "c2": options.c2,
                "max_iterations": options.iterations,
                "feature.minfreq": options.minimum,
                "feature.possible_transitions": True,
            }
        )
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        info = tagger.info()
    place_of = {label: place for place, label in enumerate(LABELS)}
    weights: dict[int, list[tuple[int, int]]] = {}
    for (attribute, label), weight in info.state_features.items():
        value = max(-127, min(127, round(weight * SCALE)))
        if value and label in place_of:
            slot, code = attribute.split("|")
            place = SLOTS.index(slot) * len(LABELS) + place_of[label]
            weights.setdefault(int(code), []).append((place, value))
    weights = {code: pairs for code, pairs in weights.items() if is_telling(pairs)}
    clipped = sum(abs(weight) * SCALE > 127 for weight in info.state_features.values())
    print(f"{clipped} weights are cut to what a byte holds")
    transitions = [
        [
            FORBIDDEN
            if after.startswith("I-") and before[-1] != after[-1]
            else round(info.transitions.get((before, after), 0.0) * SCALE)
            for after in LABELS
        ]
        for before in LABELS
    ]
    words = {
        crc32(word.encode("utf-8", "surrogatepass")): flags for word, flags in gazetteer.items()
    }
    data = pack(words, weights, transitions)
    options.out.write_bytes(data)
    print(
        f"{options.out}: {len(data)} bytes, {len(words)} words, {len(weights)} features, {sum(map(len, weights.values()))} weights, {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
