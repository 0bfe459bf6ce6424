"""Numbers that authorities assign, declared as tables in `dlpctl_patterns/numbers`.

To add a number, write a table there; `patterns/README.md` describes its keys. A table is parsed
when its validator is first used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import mul
from pathlib import Path
from typing import Any

from dlpctl.detect.validators import checksums
from dlpctl.detect.validators.checksums import ALPHABET, alphanumeric, compact, digits, varied
from dlpctl.detect.validators.dates import exists
from dlpctl.detect.validators.registry import Accepts, Validator
from dlpctl.regex import lazy

Find = Callable[[str], Validator]
_Sum = Callable[[str], int]
_TABLE = lazy(r"^\[{1,2}(\w+)\]{1,2}\n(?:(?!\[).*\n?)*", re.MULTILINE)
_NEXT = ">"
"""In `digits`: the next row of weights decides."""
_ALGORITHMS: dict[str, Accepts] = {
    "luhn": checksums.luhn_checks,
    "verhoeff": checksums.verhoeff_checks,
    "ean": checksums.ean_checks,
    "mod_11_10": checksums.mod_11_10_checks,
    "mod_11_2": checksums.mod_11_2_checks,
}


def names() -> list[str]:
    return list(_sources())


def load(name: str, find: Find) -> Validator:
    """Return the validator that a table declares; `find` returns those that the table refers to."""
    import tomllib

    declared = tomllib.loads(_sources()[name])[name]
    forms: list[dict[str, Any]] = declared if isinstance(declared, list) else [declared]
    accepts = [_form(form, find) for form in forms]
    proves = any("checks" in form or form.get("proves") for form in forms)
    if "any_of" in forms[0]:
        proves = any(find(each).proves for each in forms[0]["any_of"])
    return Validator(name, accepts[0] if len(accepts) == 1 else _any(accepts), proves)


@cache
def _sources() -> dict[str, str]:
    """Return the text of the tables by name."""
    import dlpctl_patterns

    texts: dict[str, str] = {}
    for file in sorted((Path(dlpctl_patterns.__path__[0]) / "numbers").glob("*.toml")):
        for table in _TABLE.finditer(file.read_text(encoding="utf-8")):
            texts[table[1]] = texts.get(table[1], "") + table[0]
    return texts


def _form(table: Mapping[str, Any], find: Find) -> Accepts:
    """Return the check of one form of a number."""
    if "any_of" in table:
        return _any([find(name).accepts for name in table["any_of"]])
    if "by_length" in table:
        return _by_length(table["by_length"], find)
    if "by_prefix" in table:
        return _by_prefix(table["by_prefix"], find)
    read = _shape_reader(table["shape"]) if "shape" in table else _digit_reader(table)
    tests = tuple(_tests(table))

    def accepts(value: str) -> bool:
        bare = read(value)
        if not bare:
            return False
        for test in tests:
            if not test(bare):
                return False
        return True

    return accepts


def _any(checks: Sequence[Accepts]) -> Accepts:
    def accepts(value: str) -> bool:
        return any(check(value) for check in checks)

    return accepts


def _by_length(groups: Mapping[str, Sequence[str]], find: Find) -> Accepts:
    checks: dict[int, Accepts] = {}

    def accepts(value: str) -> bool:
        bare = digits(value.replace("+", "-"))
        if not varied(bare) or (length := str(len(bare))) not in groups:
            return False
        if len(bare) not in checks:
            checks[len(bare)] = _any([find(name).accepts for name in groups[length]])
        return checks[len(bare)](bare)

    return accepts


def _by_prefix(names_by_prefix: Mapping[str, str], find: Find) -> Accepts:
    def accepts(value: str) -> bool:
        bare = compact(value)
        name = names_by_prefix.get(bare[:2])
        return name is not None and alphanumeric(bare) and find(name).accepts(bare[2:])

    return accepts


def _digit_reader(table: Mapping[str, Any]) -> Callable[[str], str]:
    """Return a function that reads digits of the given lengths, or an empty text."""
    lengths, pad = table["lengths"], table.get("pad", 0)

    def read(value: str) -> str:
        bare = digits(value, *lengths)
        return bare.zfill(pad) if pad and bare else bare

    return read


def _shape_reader(shape: str) -> Callable[[str], str]:
    """Return a function that reads the groups of a regex that the complete number matches, or all
    of it without groups.
    """
    regex = re.compile(shape)

    def read(value: str) -> str:
        found = regex.fullmatch(compact(value))
        return ("".join(found.groups()) or found[0]) if found else ""

    return read


def _tests(table: Mapping[str, Any]) -> Iterator[Accepts]:
    """Yield the tests of the bare number, cheapest first."""
    for part, ranges in table.get("ranges", {}).items():
        yield _range_test(_slice(part), _ranges(ranges))
    if "varied" in table:
        yield _varied_test(_slice(table["varied"]))
    if "date" in table:
        yield _date_test(**table["date"])
    for check in table.get("checks", ()):
        if "algorithm" in check:
            yield _algorithm_test(**check)
        elif "remainders" in check:
            yield _remainder_test(check)
        elif isinstance(check["at"], str):
            yield _number_test(check)
        else:
            yield _digit_test(check)


def _slice(part: str) -> slice:
    return slice(*(int(bound) if bound else None for bound in part.split(":")))


def _ranges(listed: str) -> tuple[tuple[int, int], ...]:
    pairs = (entry.partition("-") for entry in listed.split())
    return tuple((int(low), int(high or low)) for low, _, high in pairs)


def _range_test(part: slice, ranges: tuple[tuple[int, int], ...]) -> Accepts:
    if len(ranges) == 1:
        low, high = ranges[0]
        if part.start is not None and part.stop is not None and 0 <= part.start < part.stop:
            # As texts of one length: numbers of them take twice the time.
            first, last = (str(each).zfill(part.stop - part.start) for each in (low, high))
            return lambda bare: first <= bare[part] <= last
        return lambda bare: low <= int(bare[part]) <= high
    numbers = frozenset(number for low, high in ranges for number in range(low, high + 1))
    return lambda bare: int(bare[part]) in numbers


def _varied_test(part: slice) -> Accepts:
    return lambda bare: varied(bare[part])


def _date_test(
    year: str,
    month: str,
    day: str,
    centuries: Sequence[int] | Mapping[str, str] = (1900, 2000),
    century_at: int = 0,
    month_offsets: Sequence[int] = (0,),
    month_centuries: Mapping[str, int] | None = None,
    day_offsets: Sequence[int] = (0,),
) -> Accepts:
    """Return the test of a date; its century is fixed, given by a character, or added
    to the month.
    """
    year_part, month_part, day_part = map(_slice, (year, month, day))
    if year_part.stop - year_part.start == 4:
        centuries = (0,)
    by_character: dict[str, Sequence[int]] = {}
    fixed: Sequence[int] = ()
    if isinstance(centuries, Mapping):
        by_character = {char: (int(c),) for c, chars in centuries.items() for char in chars}
    else:
        fixed = centuries
    months: list[tuple[int, Sequence[int]]] = [(offset, ()) for offset in month_offsets]
    if month_centuries is not None:
        months = [(int(offset), (start,)) for offset, start in month_centuries.items()]

    def test(bare: str) -> bool:
        starts = fixed or by_character.get(bare[century_at], ())
        years, monthly, daily = int(bare[year_part]), int(bare[month_part]), int(bare[day_part])
        return any(
            exists(start + years, monthly - offset, daily - added)
            for offset, told in months
            if 1 <= monthly - offset <= 12
            for added in day_offsets
            if 1 <= daily - added <= 31
            for start in told or starts
        )

    return test


def _algorithm_test(algorithm: str, of: str = ":", prepend: str = "") -> Accepts:
    checks, text = _ALGORITHMS[algorithm], _selector(of)
    return lambda bare: checks(prepend + text(bare))


def _selector(of: str) -> Callable[[str], str]:
    """Return a function that joins the listed parts of a number."""
    parts = [_slice(part) for part in of.split()]
    if len(parts) == 1:
        part = parts[0]
        return lambda bare: bare[part]
    return lambda bare: "".join(bare[part] for part in parts)


def _sum(check: Mapping[str, Any], weights: Sequence[int]) -> _Sum:
    """Return a function that computes the weighted sum of a number, or its value
    without weights.
    """
    plus, plus_at = check.get("plus", 0), check.get("plus_at", 0)
    added: _Sum = (lambda bare: plus[bare[plus_at]]) if isinstance(plus, dict) else lambda _: plus
    if "number" in check:
        number = _slice(check["number"])
        return lambda bare: added(bare) + int(bare[number])
    text = _selector(check.get("of", ":"))
    backwards = slice(None, None, -1 if check.get("from_right") else 1)
    value = _values(tuple(check.get("alphabet", (ALPHABET,)))).__getitem__
    base = check.get("digit_sums")

    def total(bare: str) -> int:
        products: Iterable[int] = map(mul, map(value, text(bare)[backwards]), weights)
        if base:
            products = (product // base + product % base for product in products)
        return added(bare) + sum(products)

    return total


@cache
def _values(alphabets: tuple[str, ...]) -> dict[str, int]:
    return {char: value for alphabet in alphabets for value, char in enumerate(alphabet)}


def _remainder_test(check: Mapping[str, Any]) -> Accepts:
    total, modulus = _sum(check, check.get("weights", ())), check["modulus"]
    remainders = frozenset(check["remainders"])
    return lambda bare: total(bare) % modulus in remainders


def _number_test(check: Mapping[str, Any]) -> Accepts:
    """Return the test of check digits that are the remainder, or its complement to `complement`."""
    total, modulus = _sum(check, check.get("weights", ())), int(check["modulus"])
    part, complement = _slice(check["at"]), int(check.get("complement", 0))
    wraps_at = int(check.get("wraps_at", modulus))

    def test(bare: str) -> bool:
        remainder = total(bare) % modulus % wraps_at
        return int(bare[part]) == (complement - remainder if complement else remainder)

    return test


def _digit_test(check: Mapping[str, Any]) -> Accepts:
    """Return the test of a check character, which `digits` defines for each remainder."""
    rows = check.get("weights", [()])
    rows = rows if isinstance(rows[:1], list) and isinstance(rows[0], list) else [rows]
    listed = check.get("digits", "0123456789")
    listed = listed if isinstance(listed, list) else [listed]
    steps = [
        (_sum(check, weights), str(expected).ljust(check["modulus"], "-"))
        for weights, expected in zip(rows, listed, strict=True)
    ]
    modulus, at = int(check["modulus"]), int(check["at"])

    def test(bare: str) -> bool:
        for total, expected in steps:
            digit = expected[total(bare) % modulus]
            if digit != _NEXT:
                return digit == bare[at]
        return False

    return test
