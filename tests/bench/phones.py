"""Measure how many telephone numbers in national forms are found, with and without a label.

python tests/bench/phones.py             shares by country and framing
python tests/bench/phones.py --missed    each form that is missed, with its framing
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dlpctl.detect.engine import Detector

_FRAMINGS = {
    "sentence": "Please get back to Ms Ito under {} before noon.",
    "signature": "Best regards\nAda Brandt\n{}\nSales",
    "brackets": "The office ({}) is closed on Mondays.",
    "end": "Ask for Ada: {}",
    "cell": "name,city,x\nAda Brandt,Lund,{}\nKim Ito,Bern,{}\n",
    "label": "Phone: {}",
    "own label": "Tel. {}",
}
_LABELLED = ("label", "own label")


class Outcome(NamedTuple):
    country: str
    form: str
    framing: str
    found: bool


def forms() -> Iterator[tuple[str, str]]:
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            country, listed = line.split(" | ")
            yield from ((country, form) for form in listed.split("; "))


def outcomes(detector: Detector, times: int) -> Iterator[Outcome]:
    for country, form in forms():
        source = random.Random(f"{country} {form}")
        for framing, text in _FRAMINGS.items():
            for _ in range(times):
                value = "".join(
                    source.choice({"#": "0123456789", "A": "23456789"}.get(char, char))
                    for char in form
                )
                filled = text.format(value, value)
                start = filled.index(value)
                found = any(
                    one.type == "PHONE"
                    and one.start <= start + 1
                    and one.end >= start + len(value) - 1
                    for one in detector.scan(filled)
                )
                yield Outcome(country, form, framing, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--missed", action="store_true")
    asked = parser.parse_args()
    found = list(outcomes(Detector().for_known(["PHONE"]), 1 if asked.short else asked.times))
    tables: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        tables["framing"][one.framing].append(one.found)
        if one.framing not in _LABELLED:
            tables["country, without a label"][one.country].append(one.found)
            tables["all, without a label"][""].append(one.found)
            if asked.missed:
                tables["form"][f"{one.country} {one.form}"].append(one.found)
    shares = {
        title: {name: round(sum(each) / len(each), 3) for name, each in rows.items()}
        for title, rows in tables.items()
    }
    if asked.missed:
        forms_ = shares.pop("form")
        print("\n".join(f"{share:5} {name}" for name, share in forms_.items() if share < 1))
    print(json.dumps(shares) if asked.json else "\n".join(f"{k}: {v}" for k, v in shares.items()))


if __name__ == "__main__":
    main()
