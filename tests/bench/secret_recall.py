"""Recall of secrets in generated texts, by the form of a value and its carrier, and false findings.

    python tests/bench/secret_recall.py [--part development|test] [--count N] [--missed] [--json] [--short]
        [--min-score S] [--clean FOLDER ...]

Texts are composed of the lists in `secret_recall.toml`, of which each part has its own rows: what is
tuned on the development part is reported on the test part. `--clean` counts the findings in files that
hold no secrets.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import string
import tomllib
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.detect import blocks
from dlpctl.detect.engine import Detector

LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LEET = str.maketrans("aeios", "431$5")
FORMS = {
    "constant": lambda words: "_".join(words).upper(),
    "words": " ".join,
    "header": lambda words: "-".join(word.title() for word in words),
    "flag": "-".join,
}
IDENTIFIERS = (
    "_".join,
    lambda words: words[0] + "".join(word.title() for word in words[1:]),
    lambda words: "".join(word.title() for word in words),
    "-".join,
    ".".join,
    "".join,
    lambda words: "_".join(words).upper(),
)
LARGEST = 4 << 20


class Case(NamedTuple):
    group: str
    text: str
    value: str
    """The secret; empty where the text holds none."""


class Composer:
    """Composes texts of the rows of one part."""

    def __init__(self, part: str, seed: int) -> None:
        self.source = random.Random(f"{part} {seed}")
        self.offset = 0 if part == "development" else 1

    def row(self, rows: list[Any]) -> Any:
        return self.source.choice(rows[self.offset :: 2] if len(rows) > 4 else rows)

    def drawn(self, alphabet: str, length: int) -> str:
        return "".join(self.source.choices(alphabet, k=length))

    def token(self, kind: str) -> str:
        if kind == "uuid":
            return str(uuid.UUID(int=self.source.getrandbits(128), version=4))
        if kind == "unknown-prefix":
            marks = self.source.choice(["_", "-"])
            lead = self.drawn(string.ascii_lowercase, self.source.randint(2, 5))
            middle = self.source.choice(["", "", f"live{marks}", f"pat{marks}", f"sk{marks}"])
            return f"{lead}{marks}{middle}{self.token('base62')}"
        alphabet, lengths = LISTS["values"][kind]
        return self.drawn(alphabet, self.source.choice(lengths))

    def label(self, carrier: str, words: list[str]) -> str:
        form = FORMS.get(carrier) or self.source.choice(IDENTIFIERS)
        return str(form(words))

    def service_words(self, kind: str) -> list[str]:
        source = self.source
        before, service = source.choice(LISTS["before"]), self.row(LISTS["services"])
        # The name of a service alone is a label of values that nothing else looks like.
        alone = kind in ("hex", "base62", "uuid", "lower-and-digits") and source.random() < 0.2
        return [
            *before.split(),
            *service.split(),
            *("" if alone else self.row(LISTS["suffixes"])).split(),
        ]

    def password(self, form: str) -> str:
        source, lists = self.source, LISTS["passwords"]
        word, other = self.row(lists["words"]), self.row(lists["words"])
        alphabet = string.ascii_letters + string.digits
        return str(
            form.format(
                word=word,
                Word=word.title(),
                WORD=word.upper(),
                other=other,
                Other=other.title(),
                number=source.randint(1, 2030),
                leet=word.translate(LEET),
                short=word[:4],
                digits=self.drawn(string.digits, source.randint(6, 9)),
                letters=self.drawn(string.ascii_letters, source.randint(10, 16)),
                random=self.drawn(alphabet, source.randint(10, 16)),
                mixed=self.drawn(alphabet + "!#%&*+-?@^_", source.randint(10, 16)),
            )
        )

    def tokens(self, count: int) -> Iterator[Case]:
        for kind in (*LISTS["values"], "uuid", "unknown-prefix"):
            for carrier, templates in LISTS["carriers"].items():
                if carrier == "bare" and kind != "unknown-prefix":
                    continue
                for _ in range(count):
                    value = self.token(kind)
                    label = self.label(carrier, self.service_words(kind))
                    text = self.row(templates).format(label=label, value=value)
                    yield Case(f"token {kind}", self.framed(text), value)

    def passwords(self, count: int) -> Iterator[Case]:
        lists = LISTS["passwords"]
        for form in lists["forms"]:
            for carrier in ("constant", "identifier", "words_carriers", "connections"):
                for _ in range(max(1, count // 2)):
                    value = self.password(form)
                    label = self.label(carrier.partition("_")[0], self.row(lists["labels"]).split())
                    text = self.row(lists[carrier]).format(label=label, value=value)
                    group = "connection" if carrier == "connections" else "password"
                    yield Case(f"{group} {form}", self.framed(text), value)

    def negatives(self, count: int) -> Iterator[Case]:
        lists = LISTS["negatives"]
        for value in lists["values"][self.offset :: 2]:
            for _ in range(max(1, count // 4)):
                written = value.replace("{{", "{").replace("}}", "}")
                text = self.source.choice(lists["lines"]).format(
                    label=self.row(lists["labels"]), value=written
                )
                yield Case("negative code", self.framed(text), "")
        for template in lists["hashes"][self.offset :: 2]:
            for _ in range(max(1, count // 4)):
                yield Case("negative hash", self.framed(self.filled(template)), "")

    def filled(self, template: str) -> str:
        def value(found: re.Match[str]) -> str:
            kind, _, length = (
                re.sub(r"(\D)(\d+)$", r"\1_\2", found[1]).replace("__", "_").rpartition("_")
            )
            alphabets = {"hex": "hex", "HEX": "hex", "b62": "base62", "base64": "base64"}
            if kind in alphabets:
                drawn = self.drawn(LISTS["values"][alphabets[kind]][0], int(length))
                return drawn.upper() if kind == "HEX" else drawn
            return self.token("uuid") if found[1] == "uuid" else self.drawn(string.digits, 8)

        return re.sub(r"\{(\w+)\}", value, template)

    def framed(self, text: str) -> str:
        return self.source.choice(["", "", "import os\n", "# settings of the shop\n", "\n"]) + text


def escaped(text: str) -> dict[str, str]:
    """Return the text as it is inside other formats."""
    import html

    once = json.dumps({"role": "tool", "content": f"see below\n{text}done"})
    return {
        "JSON string": once,
        "JSON twice": json.dumps({"body": once}),
        "HTML": f"<p>see</p><pre>{html.escape(text)}</pre>",
        "log line": "".join(
            f"2026-03-04 05:06:07,123 INFO app.web {line}\n" for line in text.splitlines()
        ),
    }


def is_found(detector: Detector, case: Case, text: str, min_score: float) -> bool:
    if case.value not in text:
        return True  # the value itself is written otherwise
    start = text.index(case.value)
    end = start + len(case.value)
    return any(one.start < end and start < one.end for one in detector.scan(text, min_score))


def measure(detector: Detector, options: argparse.Namespace) -> dict[str, Any]:
    composer = Composer(options.part, options.seed)
    found: dict[str, Counter[bool]] = defaultdict(Counter)
    false = Counter[str]()
    of_group = Counter[str]()
    for case in (*composer.tokens(options.count), *composer.passwords(options.count)):
        hit = is_found(detector, case, case.text, options.min_score)
        found[case.group][hit] += 1
        if not hit and options.missed:
            print(f"missed {case.group}: {case.text.strip()!r}")
        if hit and composer.source.random() < 0.1:
            for name, text in escaped(case.text).items():
                kept = is_found(detector, case, text, options.min_score)
                found[f"kept in {name}"][kept] += 1
                if not kept and options.missed:
                    print(f"missed in {name}: {text.strip()!r}")
    for case in composer.negatives(options.count):
        of_group[case.group] += 1
        if findings := detector.scan(case.text, options.min_score):
            false[case.group] += 1
            if options.missed:
                print(f"false {findings[0].pattern_id}: {case.text.strip()!r}")
    recall = {group: round(each[True] / each.total(), 3) for group, each in found.items()}
    rates = {group: round(false[group] / of_group[group], 3) for group in of_group}
    means = {
        name: round(sum(parts) / len(parts), 3)
        for name in ("token", "password", "connection")
        if (parts := [value for group, value in recall.items() if group.startswith(name)])
    }
    return {"recall": recall, "means": means, "false": rates}


def texts(folders: list[Path]) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = Path(root, name)
                if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
                    continue
                data = path.read_bytes()
                if data and b"\0" not in data[:8192]:
                    yield path, data


def count_false(detector: Detector, options: argparse.Namespace) -> dict[str, Any]:
    size = 0
    counts = Counter[str]()
    for path, data in texts(options.clean):
        size += len(data)
        for one in blocks.scan_bytes(detector, data, options.min_score):
            counts[one.pattern_id] += 1
            if options.missed:
                line = data[max(0, one.start - 70) : one.end + 12].decode(errors="replace")
                print(f"false {one.pattern_id} {one.score:.2f} {path}: {line!r}")
    return {"MB": round(size / 1e6, 1), "findings": counts.total(), "patterns": dict(counts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=("development", "test"), default="development")
    parser.add_argument("--count", type=int, default=40, help="texts of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--min-score", type=float, default=0.5)
    parser.add_argument("--missed", action="store_true", help="print the texts that are missed")
    parser.add_argument("--clean", type=Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.short:
        options.count = 2
    detector = Detector().for_known(["SECRETS"])
    figures = measure(detector, options)
    if options.clean:
        figures["clean"] = count_false(detector, options)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for title, rows in figures.items():
        print(title)
        for name, value in rows.items():
            print(f"  {name:32} {value}")


if __name__ == "__main__":
    main()
