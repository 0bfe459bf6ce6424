"""Read tables that people wrote: policies, settings and other files.

Every mistake of a file is collected with its path and line, and all are raised together. A reader
goes on after a mistake with a value that fits, since nothing that it returns is used then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from dlpctl.errors import DlpctlError, did_you_mean
from dlpctl.types import LARGEST_NUMBER

_LONGEST_VALUE = 60
_DEEPEST = 8
_MOST_PROBLEMS = 20

Item = TypeVar("Item")
Member = TypeVar("Member", bound=StrEnum)
Lines = Callable[[], Mapping[str, int]]


class UnfitError(ValueError):
    """A value that does not fit; `path` leads from the value to the part that is wrong."""

    def __init__(self, problem: str, path: str = "", *, value: object = None) -> None:
        """`value` is for messages that may show it."""
        super().__init__(problem)
        self.problem = problem
        self.path = path
        self.problem_with_value = problem if value is None else f"{problem}, not {shown(value)}"


class Problems:
    """The mistakes of one file, one request, or one set of settings."""

    def __init__(self, error: type[DlpctlError]) -> None:
        self._error = error
        self._messages: list[str] = []

    def add(self, message: str) -> None:
        """Note a mistake; raise after many, so that a hostile file costs no more than they do."""
        self._messages.append(message)
        if len(self._messages) >= _MOST_PROBLEMS:
            self._messages.append("further mistakes are not listed")
            self.raise_any()

    def __bool__(self) -> bool:
        return bool(self._messages)

    def raise_any(self) -> None:
        """Raise one error for all mistakes, if there are any."""
        if self._messages:
            raise self._error("; ".join(self._messages), self._messages)


class Source:
    """A file or a request that holds tables, and its mistakes."""

    def __init__(
        self,
        name: str,
        error: type[DlpctlError],
        lines: Lines = dict,
        problems: Problems | None = None,
    ) -> None:
        """`lines` returns the line of each path; it is called for the first mistake."""
        self.name = name
        self.problems = Problems(error) if problems is None else problems
        self._lines = lines

    def location(self, path: str) -> str:
        """Return the location of a path for an error: file, line and path."""
        if not self.name:
            return path
        return f"{self.where(path)}: {path}" if path else self.where(path)

    def where(self, path: str) -> str:
        """Return the file of a path, with the line if that is known."""
        line = self._line(path)
        return f"{self.name}:{line}" if line else self.name

    def fail(self, path: str, problem: str) -> None:
        location = self.location(path)
        self.problems.add(f"{location}: {problem}" if location else problem)

    def _line(self, path: str) -> int | None:
        """Return the line of the path, or of the closest part that has one."""
        lines = self._lines()
        while path and path not in lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return lines.get(path)


class KnownTable:
    """A mapping whose keys are known. Each method returns the value of a key, or one that fits."""

    def __init__(self, data: object, source: Source, path: str, known: Iterable[str]) -> None:
        self.source = source
        self.path = path
        self._is_table = isinstance(data, Mapping)
        self._data: Mapping[str, object] = data if isinstance(data, Mapping) else {}
        self._misspelled: list[str] = []
        if not self._is_table:
            source.fail(path, f"must be a table, not {shown(data)}")
        names = list(known)
        for key in self._data:
            if key not in names:
                hint = did_you_mean(str(key), names)
                self._misspelled.append(hint)
                source.fail(self.at(str(key)), f"there is no such key{hint}")

    def __contains__(self, key: str) -> bool:
        return self._data.get(key) is not None

    def at(self, key: str) -> str:
        return inside(self.path, key)

    def fail(self, key: str, problem: str) -> None:
        self.source.fail(self.at(key), problem)

    def get(self, key: str) -> object:
        return self._data.get(key)

    def required(self, key: str) -> object:
        """Return the value of a key; report a missing one, unless it is misspelled."""
        value = self._data.get(key)
        is_misspelled = any(f"'{key}'" in hint for hint in self._misspelled)
        if value is None and self._is_table and not is_misspelled:
            self.fail(key, "is missing")
        return value

    def checked(
        self, key: str, check: Callable[[object], object], default: object = None
    ) -> object:
        """Return the checked value of an optional key."""
        if key not in self:
            return default
        try:
            return check(self._data[key])
        except UnfitError as unfit:
            self.fail(key + unfit.path, unfit.problem_with_value)
            return default

    def text(self, key: str, default: str | None = None) -> str:
        if default is None and self.required(key) is None:
            return ""
        return str(self.checked(key, as_text, default or ""))

    def flag(self, key: str, default: bool) -> bool:
        return bool(self.checked(key, as_flag, default))

    def count(self, key: str, default: int) -> int:
        value = self.checked(key, lambda value: as_integer(value, 1), default)
        assert isinstance(value, int)
        return value

    def score(self, key: str) -> float | None:
        value = self.checked(key, lambda value: as_number(value, 0, 1))
        return value if isinstance(value, float) else None

    def member(self, key: str, enumeration: type[Member], noun: str) -> Member:
        """Return a member of an enumeration, case ignored; the key is required."""
        value = self.required(key)
        first = next(iter(enumeration))
        return (
            first if value is None else self.source_member(self.at(key), value, enumeration, noun)
        )

    def source_member(
        self, path: str, value: object, enumeration: type[Member], noun: str
    ) -> Member:
        """Return the member that a value at a path names."""
        try:
            return as_member(value, enumeration, noun)
        except UnfitError as unfit:
            self.source.fail(path, unfit.problem)
            return next(iter(enumeration))

    def items(
        self, key: str, *, required: bool = False, most: int | None = None
    ) -> list[tuple[str, object]]:
        """Return the items of a list, each with its path."""
        value = self.required(key) if required else self.get(key)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            self.fail(key, f"must be a list, not {shown(value)}")
            return []
        if most is not None and len(value) > most:
            self.fail(key, f"holds {len(value):,} {key}; the limit is {most:,}")
            return []
        return [(f"{self.at(key)}[{index}]", item) for index, item in enumerate(value)]

    def texts(self, key: str, *, required: bool = False) -> list[tuple[str, str]]:
        """Return the texts of a list, each with its path."""
        found = []
        for path, item in self.items(key, required=required):
            if isinstance(item, str):
                found.append((path, item))
            else:
                self.source.fail(path, f"must be text, not {shown(item)}")
        return found

    def tables(self, key: str, known: Iterable[str], *, required: bool = False) -> list[KnownTable]:
        """Return the tables of a list."""
        items = self.items(key, required=required)
        return [KnownTable(item, self.source, path, known) for path, item in items]


def keys_of(record: type[NamedTuple]) -> list[str]:
    """Return the keys of a record's fields in files: `dataTypes` for `data_types`."""
    words = (name.split("_") for name in record._fields)
    return [first + "".join(map(str.title, rest)) for first, *rest in words]


def inside(path: str, key: str) -> str:
    """Return the path of a key: `rules[2]` and `action` make `rules[2].action`."""
    return f"{path}.{key}" if path else key


def shown(value: object) -> str:
    """Return a value as errors show it: shortened."""
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def as_text(value: object) -> str:
    if not isinstance(value, str):
        raise UnfitError("must be text", value=value)
    return value


def as_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise UnfitError("must be true or false", value=value)
    return value


def as_number(value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise UnfitError(f"must be a number from {low:g} to {high:g}", value=value)
    return float(value)


def as_integer(value: object, low: int, high: int | None = None) -> int:
    """Return a whole number from `low` to `high`; 2.0 is one, too."""
    wanted = f"of at least {low:,}" if high is None else f"from {low:,} to {high:,}"
    most = LARGEST_NUMBER if high is None else high
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= low:
        raise UnfitError(f"must be a whole number {wanted}", value=value)
    if high is None and value > most:
        raise UnfitError(f"must be at most {most:,}")
    if value > most or int(value) != value:
        raise UnfitError(f"must be a whole number {wanted}", value=value)
    return int(value)


def as_list(value: object, check: Callable[[Any], Item], wanted: str = "a list") -> list[Item]:
    """Return the items of a list, each checked."""
    if not isinstance(value, list | tuple):
        raise UnfitError(f"must be {wanted}", value=value)
    return [part_of(item, f"[{index}]", check) for index, item in enumerate(value)]


def part_of(value: object, path: str, check: Callable[[Any], Item]) -> Item:
    """Return a checked part of a value; `path` leads from the value to the part."""
    try:
        return check(value)
    except UnfitError as unfit:
        raise UnfitError(unfit.problem, path + unfit.path) from None


def as_member(value: object, enumeration: type[Member], noun: str) -> Member:
    """Return the member of an enumeration that a value names, case ignored."""
    if isinstance(value, str) and value.upper() in enumeration.__members__:
        return enumeration[value.upper()]
    hint = did_you_mean(value, enumeration.__members__) if isinstance(value, str) else ""
    known = hint or "; there are: " + ", ".join(enumeration.__members__)
    raise UnfitError(f"{shown(value)} is not {noun}{known}")


def as_json(value: object, path: str = "", depth: int = 0) -> object:
    """Return a copy of a value that every JSON reader can read; refuse anything else."""
    if depth > _DEEPEST:
        raise UnfitError("is nested too deeply", path)
    if isinstance(value, str):
        if not _is_text(value):
            raise UnfitError("holds half of a surrogate pair, which is no character", path)
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
            bounds = f"-{LARGEST_NUMBER:,} to {LARGEST_NUMBER:,}"
            raise UnfitError(f"must be a number from {bounds}", path)
        return value
    if isinstance(value, Mapping):
        keys = {str(as_json(str(key), path)): item for key, item in value.items()}
        return {key: as_json(item, f"{path}.{key}", depth + 1) for key, item in keys.items()}
    if isinstance(value, list | tuple):
        items = enumerate(value)
        return [as_json(item, f"{path}[{index}]", depth + 1) for index, item in items]
    wanted = "text, a number, true, false, a list or a table"
    raise UnfitError(f"must be {wanted}, not {shown(value)}", path)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
