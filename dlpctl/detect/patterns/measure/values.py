"""Valid values of every type, generated from a seed, to measure the recall of the library."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.detect import validators
from dlpctl.detect.patterns.placeholders import expand
from dlpctl.detect.validators.secrets_examples import GENERATORS

_TRIES = 200_000
_DIGITS = "0123456789"
_CONSONANTS = "BCDFGHJKLMNPQRSTVWXYZ"


class ValueKind(NamedTuple):
    """A way of writing the values of a type, and the words that precede them."""

    type: str
    shape: str
    validators: tuple[str, ...]
    label: str


class Secret(NamedTuple):
    """A value with the name of the variable that holds it; some need no name."""

    name: str
    value: str


@cache
def planted_table(name: str) -> dict[str, Any]:
    import tomllib

    import dlpctl_patterns

    file = Path(dlpctl_patterns.__path__[0]) / "planted" / name
    return tomllib.loads(file.read_text(encoding="utf-8"))


def secret_ids() -> list[str]:
    """Return the patterns that secrets can be generated for, in a stable order."""
    return list(planted_table("secrets.toml"))


def secret(pattern_id: str, seed: int) -> Secret:
    """Return a secret; the same for the same pattern and seed."""
    template = planted_table("secrets.toml")[pattern_id]
    value = expand(template["value"], f"{pattern_id}/{seed}", lambda: GENERATORS)
    return Secret(template.get("name", ""), value)


@cache
def value_kinds() -> tuple[ValueKind, ...]:
    table = planted_table("values.toml")
    return tuple(
        ValueKind(type_, shape, tuple(names), label)
        for type_, rows in table.items()
        for shape, names, label in rows
    )


def value(value_kind: ValueKind, source: random.Random) -> str:
    """Return a value that its validators accept; the same for the same state of `source`."""
    checks: list[Callable[[str], bool]] = [
        validators.find(name).accepts for name in value_kind.validators
    ]
    for _ in range(_TRIES):
        drawn = "".join(_draw(value_kind.shape, source))
        if all(check(drawn) for check in checks):
            return drawn
    raise ValueError(f"{value_kind.type}: no value of the shape {value_kind.shape!r} is valid")


def _draw(shape: str, source: random.Random) -> Iterator[str]:
    at = 0
    while at < len(shape):
        char = shape[at]
        if char == "[":
            end = shape.index("]", at)
            inner = shape[at + 1 : end]
            yield source.choice(inner.split("|") if "|" in inner else inner)
            at = end
        elif char == "#":
            yield source.choice(_DIGITS)
        elif char == "@":
            yield source.choice(_CONSONANTS)
        elif char == "*":
            yield source.choice(_DIGITS + _CONSONANTS)
        elif char == "Y":
            yield str(source.randint(1950, 1999))
        elif char in "ymd":
            yield f"{source.randint(*_RANGES[char]):02}"
        else:
            yield char
        at += 1


_RANGES = {"y": (50, 99), "m": (1, 12), "d": (1, 28)}
