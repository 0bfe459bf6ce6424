"""Measure how many valid identifiers of 90 countries are found next to their labels.

python tests/bench/identifiers.py              labels of the development part
python tests/bench/identifiers.py --test       labels of the test part, only for reports
python tests/bench/identifiers.py --missed IT  each label of a country that is missed, by framing
python tests/bench/identifiers.py --clean DIR  findings per MB of the same types in files without any
"""

from __future__ import annotations

import argparse
import json
import random
import re
import re._parser as grammar
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from dlpctl.detect import validators
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.measure.recall import CARRIERS

_TRIES = 9000
_SEPARATORS = " -./"
_DATES = {
    "yyyymmdd": r"(19[5-9]\d|200\d)(0[1-9]|1[0-2])(0[1-9]|1\d|2[0-8])",
    "ymd": r"[5-9]\d(0[1-9]|1[0-2])(0[1-9]|1\d|2[0-8])",
    "dmy": r"(0[1-9]|1\d|2[0-8])(0[1-9]|1[0-2])[5-9]\d",
}
_SENTENCES = {
    "de": "Guten Tag, {label} lautet {value}, bitte prüfen.",
    "fr": "Bonjour, mon {label} est {value}, merci de vérifier.",
    "es": "Hola, mi {label} es {value}, gracias.",
    "it": "Buongiorno, il mio {label} è {value}, grazie.",
    "pt": "Bom dia, o meu {label} é {value}, obrigado.",
    "nl": "Goedemiddag, mijn {label} is {value}, alvast bedankt.",
    "sv": "Hej, mitt {label} är {value}, tack.",
    "fi": "Hei, {label} on {value}, kiitos.",
    "no": "Hei, mitt {label} er {value}, takk.",
    "pl": "Dzień dobry, mój {label} to {value}, proszę sprawdzić.",
    "tr": "Merhaba, {label} {value}, kontrol eder misiniz?",
    "ru": "Здравствуйте, {label} {value}, проверьте, пожалуйста.",
    "id": "Halo, {label} saya adalah {value}, terima kasih.",
}
_LANGUAGES = {
    country: language
    for language, countries in {
        "de": "DE AT CH",
        "fr": "FR BE LU MA TN DZ",
        "es": "ES MX AR CL CO PE EC UY VE BO PY CR GT DO SV HN PA",
        "it": "IT",
        "pt": "PT BR",
        "nl": "NL",
        "sv": "SE",
        "fi": "FI",
        "no": "NO DK",
        "pl": "PL",
        "tr": "TR",
        "ru": "RU UA KZ BG",
        "id": "ID",
    }.items()
    for country in countries.split()
}


class Identifier(NamedTuple):
    country: str
    type: str
    oracle: str
    shape: str
    labels: tuple[str, ...]


def identifiers() -> Iterator[Identifier]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            country, type_, oracle, rest = line.split(" | ", 3)
            shape, labels = rest.rsplit(" | ", 1)
            yield Identifier(country, type_, oracle, shape, tuple(labels.split("; ")))


def written(shape: str, chance: random.Random) -> str:
    """Return a random text that the regex matches."""
    for name, regex in _DATES.items():
        shape = shape.replace(name, regex)
    return _written(grammar.parse(shape), chance, chance.random())


def _written(parts: object, chance: random.Random, style: float) -> str:
    """Return a random text; its style decides on all separators alike."""
    text = ""
    for kind, value in parts:  # type: ignore[attr-defined]
        name = str(kind)
        if name == "LITERAL":
            text += chr(value)
        elif name == "IN":
            members = _members(value)
            text += (
                chance.choice(members)
                if members.strip(_SEPARATORS)
                else members[int(style * 7 % 1 * len(members))]
            )
        elif name == "SUBPATTERN":
            text += _written(value[-1], chance, style)
        elif name == "BRANCH":
            text += _written(chance.choice(value[1]), chance, style)
        elif name == "MAX_REPEAT":
            least, most, part = value
            example = _written(part, chance, style)
            times = chance.randint(least, most) if example.strip(_SEPARATORS) else int(style * 2)
            text += "".join(_written(part, chance, style) for _ in range(times))
        else:
            raise ValueError(name)
    return text


def _members(items: list[tuple[object, object]]) -> str:
    chars = ""
    for kind, value in items:
        name = str(kind)
        if name == "LITERAL":
            chars += chr(value)  # type: ignore[arg-type]
        elif name == "RANGE":
            chars += "".join(map(chr, range(value[0], value[1] + 1)))  # type: ignore[index]
        else:
            chars += "0123456789"
    return chars


def valid_value(identifier: Identifier, chance: random.Random) -> str:
    """Return a random value that python-stdnum accepts, or else our own table of the number."""
    if identifier.oracle == "-":
        return written(identifier.shape, chance)
    is_valid: Callable[[str], bool] = (
        import_module(f"stdnum.{identifier.oracle}").is_valid
        if "." in identifier.oracle
        else validators.find(identifier.oracle).accepts
    )
    for _ in range(_TRIES):
        value = written(identifier.shape, chance)
        if is_valid(value):
            return value
    raise ValueError(f"no valid value of {identifier.country} {identifier.oracle}")


def framings(country: str, label: str, value: str) -> Iterator[tuple[str, str]]:
    yield "label", f"Reference copy\n{label}: {value}\nThank you"
    yield "sentence", f"As agreed, the {label} is {value}, please update it."
    own = _SENTENCES.get(_LANGUAGES.get(country, ""), "Update {label} {value} in the records.")
    yield "own language", own.format(label=label, value=value)
    yield "key", CARRIERS["JSON"](label, value)
    yield "header", CARRIERS["CSV"](label, value)
    yield "form", f"Personal details\n\n{label}\n{value}\n\nSigned"
    yield "chat", f"Agent: Could you tell me your {label}?\nCustomer: Sure, it's {value}"
    if value.upper() != value.lower():
        yield "lower case", f"{label.lower()} {value.lower()}"


class Outcome(NamedTuple):
    country: str
    type: str
    label: str
    framing: str
    text: str
    found: bool


def outcomes(detector: Detector, test_part: bool) -> Iterator[Outcome]:
    for identifier in identifiers():
        chance = random.Random(f"{identifier} {test_part}")
        for label in identifier.labels:
            if crc32(f"{identifier.country}{label}".encode()) % 5 < 2 != test_part:
                continue
            value = valid_value(identifier, chance)
            for framing, text in framings(identifier.country, label, value):
                start = text.lower().index(value.lower(), text.lower().find(label.lower()) + 1)
                places = set(range(start, start + len(value)))
                left = places - {
                    place for one in detector.scan(text) for place in range(one.start, one.end)
                }
                found = len(left) <= len(value) // 10
                yield Outcome(identifier.country, identifier.type, label, framing, text, found)


def _shares(found: list[Outcome], by: str) -> dict[str, tuple[float, int]]:
    grouped: dict[str, list[bool]] = defaultdict(list)
    for one in found:
        grouped[getattr(one, by)].append(one.found)
    return {key: (sum(flags) / len(flags), len(flags)) for key, flags in sorted(grouped.items())}


def best_labels(found: list[Outcome]) -> float:
    """Return the share of kinds found beside the best of their labels, over framings."""
    shares: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        shares[one.country, one.type][one.label].append(one.found)
    best = [max(sum(each) / len(each) for each in labels.values()) for labels in shares.values()]
    return sum(best) / len(best)


def false_findings(detector: Detector, folder: Path, most: int) -> tuple[Counter[str], float]:
    """Return findings by pattern in text files without identifiers, and how many MB they have."""
    wanted = {one.type for one in identifiers()} | {"PHONE", "VAT_NUMBER"}
    counts: Counter[str] = Counter()
    size = 0
    for file in sorted(folder.rglob("*")):
        if size > most or not file.is_file() or file.stat().st_size > 2_000_000:
            continue
        data = file.read_bytes()
        if b"\0" in data[:4096]:
            continue
        size += len(data)
        counts.update(
            f"{one.type} {one.pattern_id}"
            for one in detector.scan_bytes(data)
            if one.type in wanted or one.type.endswith(("_ID", "_CODE"))
        )
    return counts, size / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--missed", nargs="*")
    parser.add_argument("--framing")
    parser.add_argument("--clean", type=Path)
    parser.add_argument("--most", type=int, default=30_000_000)
    asked = parser.parse_args()
    detector = Detector().without_names()
    if asked.clean:
        counts, size = false_findings(detector, asked.clean, asked.most)
        print(f"{sum(counts.values()) / size:.2f} findings a MB in {size:.1f} MB")
        for name, count in counts.most_common(40):
            print(f"{count:6} {name}")
        return
    found = list(outcomes(detector, asked.test))
    share = sum(one.found for one in found) / len(found)
    if asked.missed is not None and not asked.test:
        for one in found:
            wanted = not asked.missed or one.country in asked.missed or one.type in asked.missed
            if wanted and not one.found and asked.framing in (None, one.framing):
                text = re.sub(r"\s+", " ", one.text)[:110]
                print(f"{one.country} {one.type:16} {one.framing:12} {text}")
    tables = {by: _shares(found, by) for by in ("framing", "country", "type")}
    if asked.json:
        print(json.dumps({"recall": share, "best label": best_labels(found), **tables}))
        return
    print(f"recall {share:.3f} of {len(found)}; beside the best label {best_labels(found):.3f}")
    for by, shares in tables.items():
        print(f"\n{by}: " + "  ".join(f"{key} {part:.2f}" for key, (part, _) in shares.items()))


if __name__ == "__main__":
    main()
