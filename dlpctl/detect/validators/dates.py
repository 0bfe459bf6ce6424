"""Calendar dates in the formats that people and machines write."""

from __future__ import annotations

from datetime import date

from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_table
from dlpctl.regex import lazy

OLDEST, LATEST = 1890, 2035
"""The range of years for the birth of a living person, or for a document in use."""

_FIRST_DAY, _LAST_DAY = ((date(year, 1, 1) - date(1970, 1, 1)).days for year in (OLDEST, 2012))
_SPREADSHEET_DAYS = (date(1970, 1, 1) - date(1899, 12, 30)).days
_MONTHS = {name: int(number) for name, number in read_table("months").items()}
_PARTS = lazy(r"[0-9]+|[^\W\d_]+")
_UNITS = lazy("[年월月년日일]")
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
"""The year before the first one of each Japanese era."""
_FILLERS = frozenset(
    (
        "de",
        "del",
        "do",
        "di",
        "of",
        "the",
        "den",
        "st",
        "nd",
        "rd",
        "th",
        "er",
        "am",
        "le",
        "el",
        "o",
        "a",
    )
)


def exists(year: int, month: int, day: int) -> bool:
    """Return whether the calendar has that day."""
    try:
        date(year, month, day)
    except (ValueError, OverflowError):
        return False
    return True


def short(text: str, *centuries: int) -> bool:
    """Return whether YYMMDD is a day in one of the centuries, given by their first year."""
    year, month, day = int(text[:2]), int(text[2:4]), int(text[4:6])
    return any(exists(century + year, month, day) for century in centuries or (1900, 2000))


def short_reversed(text: str, *centuries: int) -> bool:
    """Return whether DDMMYY is a day in one of the centuries."""
    return short(text[4:6] + text[2:4] + text[:2], *centuries)


_MONTH_AND_YEAR = 2
"""The parts of a date without its day."""


@validator("calendar_date")
def calendar_date(value: str) -> bool:
    """A day that exists, in any common order of day, month and year, with digits or a
    month's name, or a month and a year.
    """
    if len(value) > 40:
        return False
    era = _ERAS.get(value[:2])
    written = _UNITS.sub(" ", value[2:] if era else value).lower()
    parts = [part for part in _PARTS.findall(written) if part not in _FILLERS]
    if era and parts and parts[0].isdecimal():
        parts[0] = str(era + int(parts[0]))
    if len(parts) == 1 and len(parts[0]) == 8 and parts[0].isdecimal():
        text = parts[0]
        return (
            _is_day(text[:4], text[4:6], text[6:])
            or _is_day(text[4:], text[:2], text[2:4])
            or _is_day(text[4:], text[2:4], text[:2])
        )
    if len(parts) < 3:
        return len(parts) == _MONTH_AND_YEAR and _is_day(parts[1], parts[0], "1")
    first, second, third = parts[:3]
    if len(first) == 4 and first.isdecimal():
        return _is_day(first, second, third)
    return _is_day(third, first, second) or _is_day(third, second, first)


@validator("calendar_day")
def calendar_day(value: str) -> bool:
    """A calendar date with or without its year."""
    return calendar_date(value) or calendar_date(f"{value} 2000")


def _is_day(year: str, month: str, day: str) -> bool:
    number = _MONTHS.get(month) or (int(month) if month.isdecimal() and len(month) <= 2 else 0)
    if not (number and year.isdecimal() and day.isdecimal() and len(day) <= 2):
        return False
    if len(year) == 2:
        return exists(2000 + int(year), number, int(day)) or exists(
            1900 + int(year), number, int(day)
        )
    return len(year) == 4 and OLDEST <= int(year) <= LATEST and exists(int(year), number, int(day))


@validator("birth_count")
def birth_count(value: str) -> bool:
    """A day before the adults of today were born, in seconds, milliseconds or days since 1970,
    or in the days of a spreadsheet.
    """
    digits = len(value.removeprefix("-"))
    if digits > 13 or not value.removeprefix("-").isdecimal():
        return False
    count = int(value)
    if digits == 5 and count > 0:
        return _FIRST_DAY <= count - _SPREADSHEET_DAYS < _LAST_DAY
    days = count if digits <= 5 else count / (86_400 if digits <= 10 else 86_400_000)
    return _FIRST_DAY <= days < _LAST_DAY


@validator("card_expiry")
def card_expiry(value: str) -> bool:
    """A month and a year within a card's life."""
    parts = _PARTS.findall(value[:20])
    if len(parts) == 1 and len(parts[0]) == 4:
        parts = [parts[0][:2], parts[0][2:]]
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        return False
    month, year = (parts[1], parts[0]) if len(parts[0]) == 4 else parts
    full = int(year) if len(year) == 4 else 2000 + int(year)
    return 1 <= int(month) <= 12 and 2000 <= full <= 2060
