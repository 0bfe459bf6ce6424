"""Convert the numbers that a spreadsheet stores to their displayed form: dates, or
grouped digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from dlpctl.formats.office.parts import tags
from dlpctl.formats.office.xmltext import TOKEN
from dlpctl.regex import lazy

Shown = Callable[[str], str]
_BUILT_IN_DATES = {*range(14, 18), 22, *range(27, 37), *range(50, 59)}
_NOT_CODE = lazy(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_CONDITION = lazy(r"\[(<=|>=|<|>|=)(-?\d+(?:\.\d+)?)\]")
_LITERAL = lazy(r'"([^"]*)"|\\(.)|_.|\*.|\[[^\]]*\]|(.)')
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30, tzinfo=UTC), datetime(1904, 1, 1, tzinfo=UTC)
_LAST_DAY = 2_958_466
_WHOLE = 1e18


def shown_by_style(styles: str, *, from_1904: bool) -> dict[str, Shown]:
    """Return the converter of each cell style that changes the display of stored numbers."""
    codes = {
        each.get("numFmtId", ""): each.get("formatCode", "")
        for each, _, _ in tags(styles, "numFmt")
    }
    found: dict[str, Shown] = {}
    by_format: dict[str, Shown | None] = {}
    for index, number in enumerate(_formats_of_cells(styles)):
        if number not in by_format:
            by_format[number] = shown_by_code(number, codes, from_1904)
        shown = by_format[number]
        if shown is not None:
            found[str(index)] = shown
    return found


def plain(stored: str) -> str:
    """Return a stored number without exponent, so that all digits of a long number are visible."""
    if stored.isdecimal() or not ("E" in stored or "e" in stored or "." in stored):
        return stored
    try:
        number = float(stored)
    except ValueError:
        return stored
    return str(int(number)) if number.is_integer() and abs(number) < _WHOLE else stored


def _formats_of_cells(styles: str) -> list[str]:
    inside, found = False, []
    for token in TOKEN.finditer(styles):
        if token["name"] == "cellXfs":
            inside = not token["close"]
        elif inside and token["name"] == "xf" and not token["close"]:
            number = re.search(r"numFmtId\s*=\s*[\"'](\d+)", token["attributes"])
            found.append(number[1] if number else "0")
    return found


def shown_by_code(number: str, codes: Mapping[str, str], from_1904: bool) -> Shown | None:
    """Return the converter of a number format; None if it shows numbers as they are stored."""
    if number.isdecimal() and int(number) in _BUILT_IN_DATES:
        return _date(from_1904)
    code = codes.get(number, "")
    letters = _NOT_CODE.sub("", code).lower()
    if code and ("y" in letters or "d" in letters) and "general" not in letters:
        return _date(from_1904)
    sections = [(section, _CONDITION.match(section)) for section in code.split(";")]
    digits = [(_digits(section), condition) for section, condition in sections]
    if not code or digits[0][0] is None:
        return None

    def show(stored: str) -> str:
        text = plain(stored)
        if not text.isdecimal():
            return text
        for template, condition in digits:
            if template is not None and (condition is None or _holds(condition, int(text))):
                return template(text)
        return text

    return show


def _date(from_1904: bool) -> Shown:
    epoch = _EPOCH_1904 if from_1904 else _EPOCH

    def show(stored: str) -> str:
        try:
            days = float(stored)
        except ValueError:
            return stored
        if not 1 <= days < _LAST_DAY:
            return plain(stored)
        moment = epoch + timedelta(days=days)
        return (
            moment.strftime("%Y-%m-%d")
            if days.is_integer()
            else moment.strftime("%Y-%m-%d %H:%M:%S")
        )

    return show


def _digits(section: str) -> Callable[[str], str] | None:
    """Return the converter for a section of digits and literals, such as `000-00-0000`, or None."""
    template: list[tuple[str, bool]] = []
    for quoted, escaped, char in _LITERAL.findall(section):
        if char in {"0", "#"}:
            template.append((char, True))
        elif char and char not in "-() /:+$":
            return None
        else:
            template += ((each, False) for each in quoted or escaped or char)
    locations = sum(is_place for _, is_place in template)
    if locations < 4 or (all(is_place for _, is_place in template) and template[0][0] == "#"):
        return None

    def show(digits: str) -> str:
        filled = digits.rjust(locations, "\0")
        extra, rest = filled[: len(filled) - locations], filled[len(filled) - locations :]
        text, at = [], 0
        for char, is_place in template:
            if not is_place:
                text.append(char)
                continue
            digit = rest[at]
            text.append(
                (extra if at == 0 else "")
                + (digit if digit != "\0" else "0" if char == "0" else "")
            )
            at += 1
        return "".join(text).replace("\0", "")

    return show


def _holds(condition: re.Match[str], number: int) -> bool:
    limit = float(condition[2])
    return {
        "<": number < limit,
        ">": number > limit,
        "<=": number <= limit,
        ">=": number >= limit,
        "=": number == limit,
    }[condition[1]]
