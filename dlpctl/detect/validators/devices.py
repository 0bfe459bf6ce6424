"""Numbers of vehicles and documents, and coordinates."""

from __future__ import annotations

import re
from functools import cache

from dlpctl.detect.validators.checksums import alphanumeric, compact, varied
from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_rows
from dlpctl.regex import lazy

_VIN_VALUES = dict(
    zip(
        "ABCDEFGHJKLMNPRSTUVWXYZ0123456789",
        (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10), *range(10)),
        strict=True,
    )
)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_NUMBER = lazy(r"[0-9]+(?:\.[0-9]+)?")
_NO_DOCUMENT = lazy(r"0[xX][0-9A-Fa-f]+|[0-9](?:\.[0-9])+(?: [0-9](?:\.[0-9])+)*")
"""A number in hexadecimal, and versions."""
_YEARS = lazy(r"(?:19|20)[0-9]{2} ?[-–/ ] ?(?:19|20)[0-9]{2}")
_DATE = lazy(
    r"(?:19|20)\d\d([-/.])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[1-9]|[12]\d|3[01])([-/.])(?:0[1-9]|1[0-2])\2(?:19|20)\d\d"
)
_RUN = lazy(r"[0-9]{3}")
_NO_REFERENCE = lazy(
    r"[0-9]{1,2}/[0-9]{2}|(?:[0-9]{1,2}[-/])?(?:19|20)[0-9]{2}(?:[-/](?:19|20)?[0-9]{2})?|[0-9]{1,3}\.[0-9]+|[0-9]+\.[0-9]{1,2}"
    r"|[0-9]+(?:\.[0-9]{1,3}){2,3}|[0-9]{1,4}00|[0-9]+000|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}"
    r"|[0-9a-f]*[0-9][a-f]+[0-9][0-9a-f]*|[a-z]{2}[0-9]{12,}"
    r"|(?i:(?:v|sha|md|utf|iso|rfc|cve|cmp|pep|win|cp|us)[-._]?[0-9].{0,6}|[xu][0-9]{1,4}|0x.*)"
)
"""Years, decimals, versions, round amounts, days, hashes, identifiers of elements, and names of
standards and programs.
"""
_LONGEST_CODE = 16
_COORDINATE = lazy(r"[-+]?[0-9]{1,3}\.[0-9]+")


def _vin_shaped(bare: str) -> bool:
    return (
        len(bare) == 17
        and set(bare) <= set(_VIN_VALUES)
        and sum(char.isdigit() for char in bare) >= 5
        and any(map(str.isalpha, bare))
    )


@validator("vin", proves=True)
def vin(value: str) -> bool:
    """Vehicles of North America and China: the ninth character checks the others."""
    bare = compact(value)
    if not _vin_shaped(bare):
        return False
    check = (
        sum(_VIN_VALUES[char] * weight for char, weight in zip(bare, _VIN_WEIGHTS, strict=True))
        % 11
    )
    return "0123456789X"[check] == bare[8]


@validator("vin_shape")
def vin_shape(value: str) -> bool:
    """Vehicles of Europe, whose numbers have no checksum: letters and digits, with digits at the
    end.
    """
    bare = compact(value)
    return _vin_shaped(bare) and bare[-4:].isdigit()


@validator("coordinates")
def coordinates(value: str) -> bool:
    """Latitude and longitude on the globe, not both at its centre."""
    found = _COORDINATE.findall(value[:80])
    if len(found) != 2:
        return False
    latitude, longitude = map(float, found)
    return (
        abs(latitude) <= 90
        and abs(longitude) <= 180
        and (abs(latitude) > 0.001 or abs(longitude) > 0.001)
    )


@validator("has_digits")
def has_digits(value: str) -> bool:
    """A document's number, not a word, a date or a span of years: at least two are digits."""
    bare = compact(value)
    has_two = bare.isalnum() and sum("0" <= char <= "9" for char in bare) >= 2
    return has_two and not (tells_time(value) or _NO_DOCUMENT.fullmatch(value))


@validator("private_address")
def private_address(value: str) -> bool:
    """Not the address of an organization that licenses contain."""
    return not _published().match(value)


@cache
def _published() -> re.Pattern[str]:
    return re.compile("|".join(read_rows("published_addresses")), re.IGNORECASE)


def tells_time(value: str) -> bool:
    """Return whether a value is a date, or a span of years as in copyright notices."""
    return _YEARS.fullmatch(value) is not None or _DATE.fullmatch(value) is not None


@validator("varied_digits")
def varied_digits(value: str) -> bool:
    """Letters and digits that differ, and are not a date or a span of years."""
    bare = compact(value)
    return alphanumeric(bare) and varied(bare) and not tells_time(value)


@validator("chosen_digits")
def chosen_digits(value: str) -> bool:
    """Digits of a code that somebody chose: not a year, a round number or a power of two."""
    bare = value.strip("#*")
    if bare == value and value.isdigit() and len(value) <= _LONGEST_CODE:
        number = int(value)
        is_year = len(value) == 4 and 1900 <= number < 2100
        if is_year or number % 100 == 0 or number & (number - 1) == 0:
            return False
    return varied_digits(bare)


@validator("long_number")
def long_number(value: str) -> bool:
    """Seven letters and digits or more that differ, of which most are digits."""
    bare = compact(value)
    return len(bare) > 6 and varied_digits(value) and 2 * sum(map(str.isdigit, bare)) >= len(bare)


@validator("reference_number")
def reference_number(value: str) -> bool:
    """Four to 24 letters and digits with a run of three digits, as registers number persons and
    contracts: not a date, an amount, a version, a hash or a name with a number.
    """
    bare = compact(value.replace(":", ""))
    figures = [char for char in bare if char.isdigit()]
    return (
        bare.isalnum()
        and 4 <= len(bare) <= 24
        and len(figures) >= 4
        and len(set(figures)) > 1
        and _RUN.search(bare) is not None
        and sum(map(str.islower, value)) <= 2
        and not _NO_REFERENCE.fullmatch(value)
        and not tells_time(value)
    )


@validator("plate")
def plate(value: str) -> bool:
    """A vehicle's plate: four to thirteen letters and digits with a digit among them."""
    bare = compact(value).replace("·", "")
    return bare.isalnum() and 4 <= len(bare) <= 13 and any(char.isdigit() for char in bare)


@validator("degrees")
def degrees(value: str) -> bool:
    """Degrees of latitude and longitude; minutes and seconds, if any, are below sixty."""
    north, _, east = value[:96].upper().replace("S", "N").partition("N")
    parts = [[float(number) for number in _NUMBER.findall(side)] for side in (north, east)]
    if not all(0 < len(side) <= 3 and all(rest < 60 for rest in side[1:]) for side in parts):
        return False
    return parts[0][0] <= 90 and parts[1][0] <= 180


@validator("zip_code")
def zip_code(value: str) -> bool:
    """Not the ZIP code of the Free Software Foundation, which is in the license of every second
    file.
    """
    return value not in {"02111-1307", "02110-1301", "02110-1335"}
