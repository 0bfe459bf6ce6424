"""Telephone numbers that are valid in a country's numbering plan."""

from __future__ import annotations

from dlpctl.detect.validators.groups import no_series
from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_table
from dlpctl.regex import lazy

_LENGTHS = {
    code: tuple(map(int, bounds.split("-"))) for code, bounds in read_table("phone_lengths").items()
}
_NOT_DIGITS = str.maketrans("", "", " -./()\u00a0\u2009\u202f\u2010\u2011\u2012\u2013\t")
_MARKS = b" -./()\t"
_LONGEST = 48
_DATE = lazy(
    r"(?:19|20)[0-9]{2}[-./][0-9]{1,2}[-./][0-9]{1,2}|^(?:19|20)[0-9]{2} ?[-–/] ?(?:19|20)[0-9]{2}$"
    r"|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)[0-9]{2}"
)
_COORDINATES = lazy(r"\+[0-9]{4}(?:[0-9]{2})?-[01][0-9]{4}(?:[0-9]{2})?")
"""Latitude and longitude by ISO 6709, as in the table of time zones."""


def _bare(value: str) -> str:
    """Return the digits of a number with its plus sign, without an extension, or an empty text."""
    if len(value) > _LONGEST:
        return ""
    if "(0)" not in value:
        written = value.encode("utf-8", "surrogatepass").translate(None, _MARKS)
        if written.removeprefix(b"+").isdigit():  # the most common case
            return written.decode()
    text = value.lower()
    for mark in ("ext", "x", "#", ";"):
        text = text.partition(mark)[0]
    text = text.replace("(0)", "").translate(_NOT_DIGITS)
    return text if text.removeprefix("+").isdecimal() and text.isascii() else ""


def _plausible(number: str) -> bool:
    return len(set(number)) > 2 and number not in "012345678901234567890"


@validator("phone_international")
def phone_international(value: str) -> bool:
    """A country's code after a plus sign, 00 or 011, and as many digits as its plan has."""
    if _COORDINATES.fullmatch(value):
        return False
    text = _bare(value)
    number = (
        text[1:]
        if text.startswith("+")
        else text[3:]
        if text.startswith("011")
        else text[2:]
        if text.startswith("00")
        else ""
    )
    for size in (1, 2, 3):
        if bounds := _LENGTHS.get(number[:size]):
            rest = number[size:]
            if number[0] == "1":
                return len(rest) == 10 and rest[0] in "23456789" and len(set(rest)) > 2
            return bounds[0] <= len(rest.lstrip("0")) <= bounds[1] and len(set(rest)) > 2
    return False


@validator("phone_nanp")
def phone_nanp(value: str) -> bool:
    """North America: an area code from 2 to 9, seven more digits, perhaps a 1 before."""
    text = _bare(value).removeprefix("+").removeprefix("001")
    text = text[1:] if len(text) == 11 and text[0] == "1" else text
    return len(text) == 10 and text[0] in "23456789" and text[1:3] != "11" and len(set(text)) > 2


@validator("phone_national")
def phone_national(value: str) -> bool:
    """Seven to thirteen digits, neither all equal nor a sequence nor a series of groups."""
    text = _bare(value).removeprefix("+")
    return 7 <= len(text) <= 13 and _plausible(text) and no_series(value)


@validator("phone_trunk")
def phone_trunk(value: str) -> bool:
    """Nine to twelve digits, the first of which is the trunk prefix 0."""
    text = _bare(value)
    return 9 <= len(text) <= 12 and text[0] == "0" and _plausible(text)


@validator("phone_labelled")
def phone_labelled(value: str) -> bool:
    """A number of any plan after a word for telephone, not a date."""
    text = _bare(value)
    if text.startswith(("+", "00")):
        return phone_international(value)
    return phone_shape(value) and _plausible(text)


@validator("phone_shape")
def phone_shape(value: str) -> bool:
    """As many different digits as numbers have, also counted ones, but not a date."""
    text = _bare(value)
    is_date = _DATE.search(value[:_LONGEST]) is not None
    return 7 <= len(text) <= 13 and len(set(text)) > 2 and not is_date
