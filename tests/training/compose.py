"""Own synthetic text: templates filled with names, addresses, organizations and numbers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from lists import Lists

HERE = Path(__file__).parent
Span = tuple[str, int, int]

ENGLISH = ["en", "en_GB", "en_US", "en_NZ", "en_IE"]
LANGUAGES = {
    "de": ["de_DE", "de_AT", "de_CH"],
    "fr": ["fr_FR", "fr_BE", "fr_CH", "fr_CA"],
    "es": ["es_ES", "es_MX", "es_CL", "es_CO", "es_AR"],
    "it": ["it_IT"],
    "pt": ["pt_PT", "pt_BR"],
    "nl": ["nl_NL", "nl_BE"],
}
US = [
    "AL",
    "AK",
    "AZ",
    "AR",
    "CA",
    "CO",
    "CT",
    "DE",
    "FL",
    "GA",
    "HI",
    "ID",
    "IL",
    "IN",
    "IA",
    "KS",
    "KY",
    "LA",
    "ME",
    "MD",
    "MA",
    "MI",
    "MN",
    "MS",
    "MO",
    "MT",
    "NE",
    "NV",
    "NH",
    "NJ",
    "NM",
    "NY",
    "NC",
    "ND",
    "OH",
    "OK",
    "OR",
    "PA",
    "RI",
    "SC",
    "SD",
    "TN",
    "TX",
    "UT",
    "VT",
    "VA",
    "WA",
    "WV",
    "WI",
    "WY",
    "DC",
]


def _entries(text: str) -> list[str]:
    return [entry for line in text.splitlines() for entry in line.split("|") if entry]


PHRASES = tomllib.loads((HERE / "phrases.toml").read_text(encoding="utf-8"))
ENDINGS, WOODS, CITY_US, BRANDS, COMPANY_ENDINGS, PRODUCTS, TOPICS, JOBS, STREET_EN = (
    _entries(PHRASES[name])
    for name in (
        "endings",
        "woods",
        "city_us",
        "brands",
        "company_endings",
        "products",
        "topics",
        "jobs",
        "street_en",
    )
)
TITLES = {language: _entries(text) for language, text in PHRASES["titles"].items()}
WORLD = _entries(PHRASES["world"])
FLOORS = {language: _entries(text) for language, text in PHRASES["floors"].items()}
STREET_OTHER = {language: _entries(text) for language, text in PHRASES["streets"].items()}
PLACES = {
    language: (values["countries"], _entries(values["postcodes"]), _entries(values["written"]))
    for language, values in PHRASES["places"].items()
}
STREET_EN_WEIGHTS = [9, 7, 3, 6, 6, 2, 8, 5, 2, 5, 3, 2, 5, 3, 4, 4, 2] + [1] * 100
VOWELS = frozenset("aeiouyąęáéěůőöüäå")
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Composer:
    """Fills templates. `keep` decides which names may be drawn: training and bench use disjoint
    ones.
    """

    def __init__(self, lists: Lists, rng: random.Random, keep: Callable[[str], bool]) -> None:
        self.rng = rng
        self.lists = lists
        self.given_all = [row for row in lists.census_given if keep(row[0])]
        self.surnames_all = [row for row in lists.census_surnames if keep(row[0])]
        self.given_weights = [row[1] for row in self.given_all]
        self.surname_weights = [row[1] for row in self.surnames_all]
        self.given = {
            name: [w for w in locale.given if keep(w)] for name, locale in lists.locales.items()
        }
        self.surnames = {
            name: [w for w in locale.surnames if keep(w)] for name, locale in lists.locales.items()
        }
        self.named = [
            name
            for name in self.given
            if len(self.given[name]) > 25 and len(self.surnames[name]) > 25
        ]
        self.by_country: dict[str, list[str]] = {}
        for name, population, country in lists.cities:
            if keep(name) and population > 20_000:
                self.by_country.setdefault(country, []).append(name)
        self.cities_all = [
            name for name, population, _ in lists.cities if population > 100_000 and keep(name)
        ]
        self.street_lists = [
            locale.streets for locale in lists.locales.values() if len(locale.streets) > 30
        ]
        self.double_given = [name for name, _ in self.given_all]
        self.double_surnames = [name for name, _ in self.surnames_all]
        self.things = PRODUCTS
        self.language = "en"
        self.makers: dict[str, Callable[[], str]] = {
            "c": self.city,
            "o": self.organization,
            "t": self.title,
            "n": lambda: self.digits(rng.choice((3, 4, 5, 6, 8))),
            "y": lambda: str(rng.randint(1930, 2026)),
            "dt": self.date,
            "em": self.email,
            "ph": self.phone,
            "job": lambda: rng.choice(JOBS),
            "x": lambda: rng.choice(PRODUCTS),
            "k": lambda: rng.choice(TOPICS),
            "m": lambda: rng.choice(MONTHS),
            "wd": lambda: rng.choice(WEEKDAYS),
            "st": self.street,
            "w": lambda: self.surname().lower().replace(" ", ""),
            "tm": lambda: f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}",
            "co": lambda: rng.choice(lists.countries + lists.states),
            "amt": lambda: f"{rng.randint(1, 9999):,}.{self.digits(2)}",
            "th": lambda: rng.choice(self.things),
        }

    def learn_doubles(self, given: Callable[[str], bool], surname: Callable[[str], bool]) -> None:
        """Collect names with another meaning, such as Austin, June, Park and Banks: they are used
        only where a person must be meant.
        """
        usual = sorted(self.given_all, key=lambda row: -row[1])[:1200]
        self.double_given = [name for name, _ in usual if given(name)]
        self.double_surnames = [name for name, _ in self.surnames_all[:3500] if surname(name)]

    def digits(self, count: int) -> str:
        return "".join(self.rng.choice("0123456789") for _ in range(count))

    def _letters(self, count: int) -> str:
        return "".join(self.rng.choice("ABCDEFGHJKLNPRSTUWXYZ") for _ in range(count))

    def _locales(self) -> list[str]:
        return LANGUAGES.get(self.language, self.named)

    def first(self) -> str:
        r = self.rng.random()
        if self.language != "en" and r < 0.75:
            return self.rng.choice(self.given[self.rng.choice(self._locales())])
        if r < 0.45:
            return self.rng.choices(self.given_all, self.given_weights)[0][0]
        if r < 0.6:
            return self.rng.choice(self.given_all)[0]
        return self.rng.choice(self.given[self.rng.choice(self.named)])

    def surname(self) -> str:
        r = self.rng.random()
        if self.language != "en" and r < 0.75:
            return self.rng.choice(self.surnames[self.rng.choice(self._locales())])
        if r < 0.35:
            return self.rng.choices(self.surnames_all, self.surname_weights)[0][0]
        if r < 0.55:
            return self.rng.choice(self.surnames_all)[0]
        return self.rng.choice(self.surnames[self.rng.choice(self.named)])

    def family_first(self) -> str:
        """Return a name in Korean or Vietnamese order, with joined, hyphenated or separate syllables."""
        rng = self.rng
        korean, vietnamese = PHRASES["korean"], PHRASES["vietnamese"]
        if rng.random() < 0.5:
            given = (
                f"{rng.choice(_entries(korean['first']))}-{rng.choice(_entries(korean['second']))}"
            )
            family = rng.choice(_entries(korean["family"]))
            return rng.choice(
                [f"{family} {given}", f"{given} {family}", f"{family}, {given}", given]
            )
        return " ".join(
            rng.choice(_entries(vietnamese[part])) for part in ("family", "middle", "given")
        )

    def person(self) -> str:
        rng = self.rng
        if rng.random() < 0.012:
            return self.family_first()
        if rng.random() < 0.4:
            locale = rng.choice(self._locales() if self.language != "en" else self.named)
            given, surname = rng.choice(self.given[locale]), rng.choice(self.surnames[locale])
        else:
            given, surname = self.first(), self.surname()
        r = rng.random()
        if r < 0.66:
            name = f"{given} {surname}"
        elif r < 0.75:
            name = f"{given} {rng.choice('ABCDEFGHJKLMNPRSTW')}{rng.choice(['. ', '. ', ' '])}{surname}"
        elif r < 0.79:
            name = f"{given} {self.first()} {surname}"
        elif r < 0.81:
            name = f"{given[0]}. {surname}"
        elif r < 0.83:
            name = f"{given[0]}.{rng.choice([' ', ''])}{rng.choice('ABCDEFGHJKLM')}. {surname}"
        elif r < 0.86:
            name = f"{given} {surname}-{self.surname()}"
        elif r < 0.88:
            name = f"{given}-{self.first()} {surname}"
        elif r < 0.92:
            particle = rng.choice(
                [
                    "de",
                    "van",
                    "von",
                    "bin",
                    "al-",
                    "da",
                    "del",
                    "O'",
                    "O’",
                    "Mc",
                    "di",
                    "la",
                    "van der",
                    "van den",
                    "De",
                    "D'",
                    "el-",
                    "Al-",
                    "dos",
                    "ibn",
                    "Mac",
                    "St. ",
                ]
            )
            name = f"{given} {particle}{'' if particle[-1] in '-’c ' or particle[-1] == chr(39) else ' '}{surname}"
        elif r < 0.95:
            name = f"{given} {surname} {self.surname()}"
        elif r < 0.96:
            name = f"{given} {surname}{rng.choice([', ', ' '])}{rng.choice(ENDINGS[:5])}"
        else:
            name = f"{given} {surname}"
        return name

    def initials(self) -> str:
        rng = self.rng
        letters = [rng.choice("ABCDEFGHJKLMNPRSTW") for _ in range(rng.choice((1, 2, 2, 2, 3)))]
        gap = rng.choice([". ", ". ", ".", " "])
        return f"{gap.join(letters)}{'. ' if gap[0] == '.' else ' '}{self.surname()}"

    def reversed(self) -> str:
        middle = self.rng.choice(
            ["", "", "", f" {self.rng.choice('ABCDEFGHJKLM')}.", f" {self.first()}"]
        )
        return f"{self.surname()}, {self.first()}{middle}"

    def title(self) -> str:
        return self.rng.choice(TITLES[self.language])

    def city(self) -> str:
        r = self.rng.random()
        if self.language in PLACES and r < 0.6:
            return self.local_city(self.language)
        if r < 0.35:
            return self.rng.choice(CITY_US)
        if r < 0.85:
            return self.rng.choice(self.cities_all)
        return self.rng.choice(self.lists.countries)

    def local_city(self, language: str) -> str:
        country = self.rng.choice(PLACES[language][0].split())
        return self.rng.choice(self.by_country.get(country) or self.cities_all)

    def english_city(self) -> str:
        r = self.rng.random()
        if r < 0.4:
            return self.rng.choice(CITY_US)
        if r < 0.75:
            return self.rng.choice(self.by_country["US"])
        return (
            self.rng.choice(["North", "South", "East", "West", "New", "Lake", "Port"])
            + " "
            + self.rng.choice(
                [
                    self.first(),
                    self.surname().capitalize()
                    + self.rng.choice(
                        [
                            "ton",
                            "ville",
                            "burgh",
                            "view",
                            "side",
                            "mouth",
                            "fort",
                            "stad",
                            "berg",
                            "shire",
                            "land",
                        ]
                    ),
                ]
            )
        )

    def organization(self) -> str:
        r = self.rng.random()
        if r < 0.3:
            return f"{self.rng.choice(BRANDS)} {self.rng.choice(COMPANY_ENDINGS)}"
        if r < 0.6:
            return f"{self.surname()} {self.rng.choice(COMPANY_ENDINGS)}"
        if r < 0.66:
            return f"{self.surname()}, {self.surname()} and {self.surname()}"
        if r < 0.73:
            return f"{self.surname()} & {self.surname()}{self.rng.choice([' LLP', '', ' Ltd'])}"
        if r < 0.78:
            return f"{self.surname()}-{self.surname()}"
        if r < 0.82:
            return f"{self.rng.choice(['St.', 'Saint', 'University of', 'Bank of', 'City of', 'The'])} {self.city()}"
        if r < 0.86:
            return f"{self.first()}'s {self.rng.choice(['Bakery', 'Diner', 'Pizza', 'Garage', 'Flowers', 'Kitchen', 'Books', 'Bar & Grill'])}"
        return self.rng.choice(PRODUCTS)

    def email(self) -> str:
        user = self.rng.choice(
            [
                f"{self.first()}.{self.surname()}",
                f"{self.first()[0]}{self.surname()}",
                self.first() + self.digits(2),
                "support",
                "info",
            ]
        )
        host = self.rng.choice(
            [
                "example.com",
                "example.org",
                "gmail.com",
                f"{self.rng.choice(BRANDS)}.com",
                "mail.example.net",
            ]
        )
        return re.sub(r"[^\w.@+-]", "", f"{user}@{host}".lower())

    def phone(self) -> str:
        d = self.digits
        return self.rng.choice(
            [
                f"({d(3)}) {d(3)}-{d(4)}",
                f"+{d(2)} {d(3)} {d(3)} {d(4)}",
                f"{d(3)}-{d(3)}-{d(4)}",
                f"0{d(3)} {d(6)}",
                f"+1{d(10)}",
            ]
        )

    def date(self) -> str:
        rng = self.rng
        return rng.choice(
            [
                f"20{self.digits(2)}-0{rng.randint(1, 9)}-1{self.digits(1)}",
                f"{rng.randint(1, 12)}/{rng.randint(1, 28)}/20{self.digits(2)}",
                f"{rng.choice(MONTHS)} {rng.randint(1, 28)}, 20{self.digits(2)}",
                f"{rng.randint(1, 28)} {rng.choice(MONTHS)}",
                f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.20{self.digits(2)}",
            ]
        )

    def number(self) -> str:
        r = self.rng.random()
        if r < 0.3:
            return str(self.rng.randint(1, 99))
        if r < 0.6:
            return str(self.rng.randint(100, 999))
        if r < 0.9:
            return str(self.rng.randint(1000, 19999))
        return str(self.rng.randint(1, 200)) + self.rng.choice(
            ["A", "B", "a", "b", "-2", "/3", "bis", " A", "-" + str(self.rng.randint(2, 99))]
        )

    def unit(self) -> str:
        rng = self.rng
        if rng.random() < 0.55:
            return ""
        kind = rng.choice(
            [
                "Apt",
                "Apt.",
                "Suite",
                "Ste",
                "Ste.",
                "Unit",
                "#",
                "Apartment",
                "Flat",
                "Floor",
                "Room",
                "Building",
                "Bldg",
            ]
        )
        value = rng.choice(
            [
                str(rng.randint(1, 999)),
                f"{rng.randint(1, 40)}{rng.choice('ABCDEF')}",
                rng.choice("ABCDEFGH"),
            ]
        )
        return rng.choice([" ", ", ", " "]) + (kind + value if kind == "#" else f"{kind} {value}")

    def english_street(self) -> str:
        rng = self.rng
        r = rng.random()
        if r < 0.4:
            name = rng.choice(WOODS)
            if rng.random() < 0.2:
                name += " " + rng.choice(WOODS)
        elif r < 0.72:
            name = rng.choice(self.surnames_all)[0]
        elif r < 0.85:
            n = rng.randint(1, 180)
            name = (
                f"{n}{'th' if 10 < n % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"
            )
        elif r < 0.9:
            name = f"{self.first()} {self.surname()}"
        elif r < 0.95:
            name = self.first()
        else:
            name = rng.choice(
                [
                    "Martin Luther King Jr",
                    "Old Mill",
                    "Stone Creek",
                    "Fox Run",
                    "Deer Hollow",
                    "Rocky Point",
                    "St James",
                    "Queen's",
                    "King's",
                    "the Americas",
                ]
            )
        before = rng.choice(
            [
                "",
                "",
                "",
                "",
                "",
                "N ",
                "S ",
                "E ",
                "W ",
                "North ",
                "South ",
                "West ",
                "East ",
                "N. ",
                "S. ",
                "NW ",
                "SE ",
            ]
        )
        behind = rng.choice(["", "", "", "", "", "", "", " N", " NW", " SW", " East", " West"])
        if rng.random() < 0.05:
            return rng.choice(
                [
                    "Highway {}",
                    "State Route {}",
                    "County Road {}",
                    "US-{}",
                    "Hwy {}",
                    "FM {}",
                    "Avenue of the {n}",
                    "Broadway",
                    "The {n}",
                ]
            ).format(rng.randint(1, 400), n=name)
        return (
            before
            + name
            + " "
            + rng.choices(STREET_EN, STREET_EN_WEIGHTS[: len(STREET_EN)])[0]
            + behind
        )

    def street(self) -> str:
        return self.english_street() if self.language == "en" else self.local_street(self.language)

    def local_street(self, language: str) -> str:
        rng = self.rng
        if language == "xx" and rng.random() < 0.35:
            return rng.choice(rng.choice(self.street_lists))
        locales = LANGUAGES.get(language, self.named)
        name = rng.choice(
            [
                lambda: rng.choice(self.surnames[rng.choice(locales)]),
                lambda: self.local_city(language).split()[0],
                lambda: rng.choice(self.given[rng.choice(locales)]),
                lambda: rng.choice(rng.choice(self.street_lists)),
            ]
        )()
        pattern = rng.choice(STREET_OTHER[language])
        if pattern.startswith("{n}") and pattern[3:4].islower():
            name = name.replace(" ", "").capitalize() if " " in name else name
        return pattern.format(
            n=name, g=rng.choice(self.given[rng.choice(locales)]), d=rng.randint(1, 150)
        )

    def postcode(self, language: str) -> str:
        pattern = self.rng.choice(PLACES[language][1])
        code = re.sub(r"\{(\d)\}", lambda m: self.digits(int(m[1])), pattern)
        return re.sub(r"\{A\}", lambda _: self.rng.choice("ABCDEFGHJKLNPRSTUWXZ"), code)

    def separator(self) -> str:
        return self.rng.choice([", ", ", ", ",\n", "\n", "\n", ", ", " "])

    def address(self) -> str:
        rng = self.rng
        language = (
            self.language
            if self.language != "en" and rng.random() < 0.85
            else rng.choices(
                ["en", "xx", "de", "fr", "es", "it", "pt", "nl"], [12, 6, 1.5, 1.5, 1.5, 1, 1, 1]
            )[0]
        )
        if language == "en" and rng.random() < 0.1:
            return self.odd_address()
        return self.english_address() if language == "en" else self.local_address(language)

    def english_address(self) -> str:
        rng = self.rng
        sep = self.separator()
        r = rng.random()
        street = f"{self.number()} {self.english_street()}{self.unit()}"
        city = self.english_city()
        state = rng.choice(US) if rng.random() < 0.8 else rng.choice(self.lists.states)
        letters = self._letters
        if r < 0.52:
            text = street
            q = rng.random()
            if q < 0.12:
                return text
            if q < 0.2:
                return text + sep + city
            text += sep + city + rng.choice([", ", ", ", " "]) + state
            if q > 0.28:
                text += (
                    rng.choice([" ", " ", ", "])
                    + self.digits(5)
                    + rng.choice(["", "", "", "-" + self.digits(4)])
                )
            return text + (
                rng.choice([", ", "\n"]) + rng.choice(["USA", "United States", "US"])
                if rng.random() < 0.15
                else ""
            )
        if r < 0.68:
            flat = rng.choice(
                [
                    "",
                    "",
                    f"Flat {rng.randint(1, 60)}, ",
                    f"{rng.choice(['Rose', 'Ivy', 'Willow', 'Manor'])} {rng.choice(['Cottage', 'House'])}, ",
                ]
            )
            code = (
                letters(rng.choice((1, 2)))
                + self.digits(rng.choice((1, 2)))
                + rng.choice([" ", " ", ""])
                + self.digits(1)
                + letters(2)
            )
            middle = rng.choice(
                [
                    "",
                    "",
                    "",
                    sep
                    + rng.choice(
                        [
                            "Kent",
                            "Surrey",
                            "Essex",
                            "Lancashire",
                            "Devon",
                            "West Midlands",
                            "Cambridgeshire",
                        ]
                    ),
                ]
            )
            return (
                flat
                + f"{self.number()}{rng.choice([' ', ' ', ', '])}{self.english_street()}{sep}{city}{middle}{rng.choice([sep, ' ', ', '])}{code}"
                + rng.choice(["", "", ", UK", sep + "United Kingdom"])
            )
        if r < 0.78:
            code = (
                letters(1)
                + self.digits(1)
                + letters(1)
                + rng.choice([" ", ""])
                + self.digits(1)
                + letters(1)
                + self.digits(1)
            )
            return (
                street
                + sep
                + city
                + rng.choice([", ", " "])
                + rng.choice(["ON", "QC", "BC", "AB", "MB", "NS"])
                + " "
                + code
                + rng.choice(["", "", sep + "Canada"])
            )
        if r < 0.88:
            lead = rng.choice(
                [
                    "",
                    "",
                    f"Unit {rng.randint(1, 60)}, ",
                    f"{rng.randint(1, 30)}/",
                    f"Level {rng.randint(1, 30)}, ",
                ]
            )
            city = city.upper() if rng.random() < 0.25 else city
            return (
                f"{lead}{self.number()} {self.english_street()}{sep}{city} {rng.choice(['NSW', 'VIC', 'QLD', 'WA', 'SA', 'TAS', 'ACT'])} {self.digits(4)}"
                + rng.choice(["", "", ", Australia"])
            )
        if r < 0.95:
            box = rng.choice(
                [
                    "P.O. Box ",
                    "PO Box ",
                    "P O Box ",
                    "Post Office Box ",
                    "Box ",
                    "PO BOX ",
                    "P.O.Box ",
                ]
            ) + self.digits(rng.choice((2, 3, 4, 5)))
            return (
                box
                + sep
                + city
                + rng.choice([", " + state + " " + self.digits(5), " " + self.digits(4), ""])
            )
        code = self.digits(rng.choice((4, 4, 6)))
        return f"{street}{sep}{city}{rng.choice([' ', ', '])}{code}{sep}{rng.choice(['New Zealand', 'South Africa', 'India', 'Singapore', 'Ireland', 'Nigeria', 'Kenya', 'Malaysia'])}"

    def odd_address(self) -> str:
        """Return an address without a street and a number, or whose street has an unusual name."""
        rng = self.rng
        town = f"{self.english_city()}{rng.choice([', ', ' '])}{rng.choice(US)} {self.digits(5)}"
        route = rng.choice(["RR", "R.R.", "Rural Route", "HC", "HCR", "Star Route", "RR#", "HC-"])
        force = (
            rng.choice(["APO", "FPO", "DPO"])
            + rng.choice([" ", ", "])
            + rng.choice(["AE", "AP", "AA"])
        )
        house = rng.choice(
            [
                "Rose Cottage",
                "The Old Rectory",
                "Ivy House",
                "The Barn",
                "Mill House",
                "Hillside",
                "The Granary",
            ]
        )
        road = f"{rng.choice(WOODS)} {rng.choice(['Lane', 'Road', 'Street', 'Hill', 'Close'])}"
        code = f"{self._letters(2)}{self.digits(2)} {self.digits(1)}{self._letters(2)}"
        return rng.choice(
            [
                f"{route}{rng.choice([' ', ''])}{rng.randint(1, 90)}{rng.choice([' ', ', '])}Box {self.digits(3)}, {town}",
                f"PSC {self.digits(4)}{rng.choice([' ', ', '])}Box {self.digits(4)}, {force} {self.digits(5)}",
                f"Unit {self.digits(4)} Box {self.digits(4)}, {force} {self.digits(5)}",
                f"CMR {self.digits(3)} Box {self.digits(4)}, {force} {self.digits(5)}",
                f"USS {self.surname()}, {force} {self.digits(5)}",
                f"General Delivery, {town}",
                f"{self.number()} Avenue of the {rng.choice(['Americas', 'Stars', 'Arts', 'Republic'])}{self.unit()}, {town}",
                f"{self.number()} {rng.choice(['Broadway', 'Main', 'Riverside', 'The Esplanade'])}, {town}",
                f"{self.number()} {rng.choice(['County Road', 'Highway', 'State Highway', 'FM', 'Route', 'US-'])} {rng.randint(1, 400)}, {town}",
                f"{self.number()} {self.surname()} {rng.choice(['Center', 'Plaza', 'Mall', 'Landing', 'Commons', 'Park'])}, {town}",
                f"{house}, {road}, {self.english_city()}{rng.choice([', ', ' '])}{code}",
                f"{house}, {road}, {self.english_city()}, {code}",
                f"{self.surname()} House, {self.number()} {road}, {self.english_city()} {code}",
                f"{self.unit().strip(' ,') or 'Suite 12'}, {self.number()} {self.english_street()}, {town}",
                f"{self.number()} {self.english_street()}, {self.digits(2)}th Floor, {town}",
            ]
        )

    def crossing(self) -> str:
        joint = self.rng.choice([" and ", " & ", " and ", " at ", "/"])
        return f"{self.english_street()}{joint}{self.english_street()}"

    def world_address(self) -> str:
        rng = self.rng
        text = rng.choice(WORLD)
        text = re.sub(r"\{(\d)\}", lambda match: self.digits(int(match[1])), text)
        makers = {
            "n": self.surname,
            "c": lambda: rng.choice(self.cities_all),
            "A": lambda: self._letters(1),
        }
        text = re.sub(r"\{([ncA])\}", lambda match: makers[match[1]](), text)
        text = re.sub(r"\{d\}", lambda _: str(rng.randint(1, 150)), text)
        return text.replace(", ", rng.choice([", ", ", ", ", ", "\n", ",\n"]))

    def local_address(self, language: str) -> str:
        rng = self.rng
        if language == "xx" and rng.random() < 0.45:
            return self.world_address()
        sep = self.separator()
        street, number = self.local_street(language), self.number()
        if language == "fr":
            line = rng.choice(
                [
                    f"{number} {street}",
                    f"{number}, {street}",
                    f"{number} {street}",
                    f"{street} {number}",
                ]
            )
        else:
            line = rng.choice(
                [f"{street} {number}"] * 4
                + [
                    f"{street}, {number}",
                    f"{street} nº {number}" if language in ("es", "pt") else f"{street} {number}",
                    f"{number} {street}",
                ]
            )
        if rng.random() < 0.2:
            line += rng.choice([", ", " ", sep]) + rng.choice(FLOORS[language]).format(
                d=rng.randint(1, 40)
            )
        city, code = self.local_city(language), self.postcode(language)
        q = rng.random()
        if q < 0.62:
            text = f"{line}{sep}{code} {city}"
        elif q < 0.72:
            text = f"{line}{sep}{city} {code}"
        elif q < 0.8:
            text = f"{line}{sep}{city}"
        elif q < 0.9:
            text = f"{line}{sep}{code} {city} ({rng.choice(['MI', 'RM', 'TO', 'SP', 'RJ', 'NA'])})"
        else:
            text = (
                f"{line}{sep}{city} - {rng.choice(['SP', 'RJ', 'MG', 'RS'])}{rng.choice([', ', ' '])}{code}"
                if language == "pt"
                else f"{line}{sep}{code}, {city}"
            )
        if rng.random() < 0.3:
            text += rng.choice([", ", "\n", sep]) + rng.choice(PLACES[language][2])
        return text

    def fill(self, template: str) -> tuple[str, list[Span]]:
        out: list[str] = []
        length, here = 0, 0
        spans: list[Span] = []
        for match in re.finditer(r"\{(\w+)(?:\+([^{}]+))?\}", template):
            key = match[1]
            maker = {
                "p": self.person,
                "f": self.first,
                "l": self.surname,
                "r": self.reversed,
                "pu": lambda: self.person().upper(),
                "pl": lambda: self.person().lower(),
                "fl": lambda: self.first().lower(),
                "a": self.address,
                "a1": lambda: self.address().replace(",\n", ", ").replace("\n", ", "),
                "ix": self.crossing,
                "in": self.initials,
                "fa": lambda: self.rng.choice(self.double_given),
                "la": lambda: self.rng.choice(self.double_surnames),
                "ru": lambda: self.reversed().upper(),
                "lu": lambda: self.surname().upper(),
            }.get(key)
            if maker:
                value = inflected(maker(), match[2] or "")
                kind = "ADDRESS" if key in ("a", "a1", "ix") else "PERSON"
            elif key in self.makers:
                value = self.makers[key]()
                kind = {
                    "c": "LOCATION",
                    "o": "ORGANIZATION",
                    "x": "ORGANIZATION",
                    "co": "LOCATION",
                }.get(key, "")
            else:
                continue
            out.append(template[here : match.start()])
            length += match.start() - here
            if kind:
                spans.append((kind, length, length + len(value)))
            out.append(value)
            length += len(value)
            here = match.end()
        out.append(template[here:])
        return "".join(out), _joined(spans, "".join(out))


def inflected(name: str, ending: str) -> str:
    """Return a name with an ending, which replaces a final vowel if it starts with one."""
    both = name[-1:] + ending[:1]
    return (name[:-1] if len(both) == 2 and set(both.lower()) <= VOWELS else name) + ending


def _joined(spans: list[Span], text: str) -> list[Span]:
    """A given name and a surname side by side are one name."""
    joined: list[Span] = []
    for kind, start, end in spans:
        if (
            joined
            and kind == "PERSON"
            and joined[-1][0] == kind
            and text[joined[-1][2] : start] == " "
        ):
            joined[-1] = (kind, joined[-1][1], end)
        else:
            joined.append((kind, start, end))
    return joined


def templates(folder: Path, files: str = "*.txt") -> dict[str, list[str]]:
    """Language -> templates; a file holds one a line, with \\n for line breaks, and # for comments."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob(files)):
        lines = [
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.strip() and not line.startswith("#! ")
        ]
        found.setdefault(path.stem.split("_")[0], []).extend(
            line.replace("\\n", "\n").replace("\\t", "\t") for line in lines
        )
    return found


def generate(
    composer: Composer, found: dict[str, list[str]], count: int, *, shares: dict[str, float]
) -> list[dict[str, object]]:
    """Documents of one to six filled templates of one language."""
    rng = composer.rng
    rows: list[dict[str, object]] = []
    languages = list(shares)
    for _ in range(count):
        language = rng.choices(languages, [shares[name] for name in languages])[0]
        composer.language = language if language in TITLES else "en"
        text, spans = "", []
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
            part, found_spans = composer.fill(rng.choice(found[language]))
            r = rng.random()
            if r < 0.05 and len(part.lower()) == len(part):
                part = part.lower()
            elif r < 0.08 and len(part.upper()) == len(part):
                part = part.upper()
            if text:
                text += rng.choice(["\n", " ", "\n\n", "\n"])
            spans += [
                (kind, start + len(text), end + len(text)) for kind, start, end in found_spans
            ]
            text += part
        rows.append({"text": text, "spans": spans, "source": f"synthetic-{language}"})
    return rows
