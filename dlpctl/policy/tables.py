"""Taking values out of tables that people wrote, with errors that name the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NoReturn, TypeVar

from dlpctl.errors import PolicyError, did_you_mean
from dlpctl.types import LARGEST_NUMBER

_SHOWN = 60
_DEEPEST = 8

E = TypeVar("E", bound=StrEnum)


def fail(place: str, problem: str) -> NoReturn:
    raise PolicyError(f"{place}: {problem}" if place else problem)


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def inside(place: str, key: str) -> str:
    """`policy.toml: rules[2]` and `action` make `policy.toml: rules[2].action`."""
    if not place or place.endswith(":"):
        return f"{place} {key}".strip()
    return f"{place}.{key}"


class Table:
    """A mapping of which every key must be asked for; the rest is unknown."""

    def __init__(self, data: object, place: str, known: Iterable[str]) -> None:
        self.place = place
        if not isinstance(data, Mapping):
            fail(place.removesuffix(":"), f"must be a table, not {shown(data)}")
        self._data = data
        known = list(known)
        for key in data:
            if key not in known:
                fail(
                    inside(place, str(key)), f"there is no such key{did_you_mean(str(key), known)}"
                )

    def __contains__(self, key: str) -> bool:
        return self._data.get(key) is not None

    def at(self, key: str) -> str:
        return inside(self.place, key)

    def required(self, key: str) -> object:
        if key not in self:
            fail(self.at(key), "is missing")
        return self._data[key]

    def text(self, key: str, default: str | None = None) -> str:
        if default is not None and key not in self:
            return default
        value = self.required(key)
        if not isinstance(value, str):
            fail(self.at(key), f"must be text, not {shown(value)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        if key not in self:
            return default
        value = self._data[key]
        if not isinstance(value, bool):
            fail(self.at(key), f"must be true or false, not {shown(value)}")
        return value

    def whole(self, key: str, default: int) -> int:
        if key not in self:
            return default
        value = self._data[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 1:
            fail(self.at(key), f"must be a whole number of at least 1, not {shown(value)}")
        if value > LARGEST_NUMBER:
            fail(self.at(key), f"must be at most {LARGEST_NUMBER:,}")
        if int(value) != value:
            fail(self.at(key), "must be a whole number")
        return int(value)

    def score(self, key: str) -> float | None:
        if key not in self:
            return None
        value = self._data[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            fail(self.at(key), f"must be a number from 0 to 1, not {shown(value)}")
        return float(value)

    def items(self, key: str, *, required: bool = False) -> list[tuple[str, object]]:
        """The items of a list, each with its place."""
        if not required and key not in self:
            return []
        value = self.required(key)
        if not isinstance(value, list | tuple):
            fail(self.at(key), f"must be a list, not {shown(value)}")
        return [(f"{self.at(key)}[{index}]", item) for index, item in enumerate(value)]

    def texts(self, key: str, *, required: bool = False) -> list[tuple[str, str]]:
        found = []
        for place, item in self.items(key, required=required):
            if not isinstance(item, str):
                fail(place, f"must be text, not {shown(item)}")
            found.append((place, item))
        return found


def one_of(place: str, value: object, kind: type[E], noun: str) -> E:
    """A member of an enumeration, case ignored."""
    if isinstance(value, str) and value.upper() in kind.__members__:
        return kind[value.upper()]
    hint = did_you_mean(value, kind.__members__) if isinstance(value, str) else ""
    fail(
        place,
        f"{shown(value)} is not {noun}{hint or '; there are: ' + ', '.join(kind.__members__)}",
    )


def plain(place: str, value: object, depth: int = 0) -> object:
    """Return a copy of what every JSON reader can read; anything else is refused."""
    if depth > _DEEPEST:
        fail(place, "is nested too deeply")
    if isinstance(value, str):
        if not _is_text(value):
            fail(place, "holds half of a surrogate pair, which is no character")
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
            fail(place, f"must be a number from -{LARGEST_NUMBER:,} to {LARGEST_NUMBER:,}")
        return value
    if isinstance(value, Mapping):
        keys = {str(plain(place, str(key))): item for key, item in value.items()}
        return {key: plain(inside(place, key), item, depth + 1) for key, item in keys.items()}
    if isinstance(value, list | tuple):
        return [plain(f"{place}[{index}]", item, depth + 1) for index, item in enumerate(value)]
    fail(place, f"must be text, a number, true, false, a list or a table, not {shown(value)}")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
