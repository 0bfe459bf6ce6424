"""JSON with positions: a value can be replaced while all other bytes stay as they are."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from dlpctl.errors import InputError

MOST_NESTED = 200
_SMALL = 2_048
"""The number of characters of siblings that are inspected together."""
_LONG_NUMBER = 9
"""From this many digits on, a number may identify a card, an account or a person."""
_SPACES = " \t\n\r"
_SPACE = re.compile(f"[{_SPACES}]*")
_ATOM = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)"
)

_CLOSING = {"{": "}", "[": "]"}

Step = str | int


class Leaf(NamedTuple):
    """A text, key or long number and its position, without quotes."""

    path: str
    """The keys to it, with `[]` for each array: `messages[].content`."""
    steps: tuple[Step, ...]
    start: int
    end: int
    text: str
    is_key: bool = False
    is_number: bool = False


class Splice(NamedTuple):
    """A replacement of a range of characters."""

    start: int
    end: int
    text: str


class Unit(NamedTuple):
    """Siblings in an array or object that are inspected together."""

    path: str
    """The path of the array or object."""
    steps: tuple[Step, ...]
    start: int
    end: int
    first: int | None
    """The index of the first sibling in an array; -1 in an object, -2 for a single key, and None
    for a single value.
    """


def decoded(body: bytes) -> str:
    """Return a body as text; raise `InputError` if it is not UTF-8."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("the body is not UTF-8") from None


def loads(text: str) -> Any:
    """Return the value of a JSON text; raise `InputError` if it is invalid or ambiguous."""
    too_deep = InputError(f"the JSON is nested deeper than {MOST_NESTED} levels")
    try:
        value = _STRICT.decode(text)
    except RecursionError:
        raise too_deep from None
    except ValueError:
        raise InputError("the body is not valid JSON") from None
    if _is_deep(value):
        raise too_deep
    return value


def parsed(text: str) -> Any:
    """Return the value of a JSON text that is only read; raise `InputError` if it is invalid."""
    try:
        return _LENIENT.decode(text)
    except (RecursionError, ValueError):
        raise InputError("the text is not valid JSON") from None


def _is_deep(value: Any) -> bool:
    """Return whether a value is nested deeper than allowed."""
    containers: list[Iterable[Any]] = [[value]]
    for _ in range(MOST_NESTED + 1):
        containers = [
            inner.values() if isinstance(inner, dict) else inner
            for each in containers
            for inner in each
            if isinstance(inner, dict | list)
        ]
        if not containers:
            return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InputError("the JSON has a duplicate key in an object")
    return members


def _no_constant(name: str) -> Any:
    raise InputError(f"the JSON has {name}, which is not a number")


_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
_LENIENT = json.JSONDecoder(parse_constant=_no_constant)
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def _after_space(text: str, position: int) -> int:
    if text[position : position + 1] not in _SPACES:
        return position
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()


def units(text: str) -> list[Unit]:
    """Divide a valid JSON text into units: large containers are split, small siblings stay
    together.
    """
    start = _after_space(text, 0)
    found: list[Unit] = []
    if text[start] in "[{":
        _divide(text, start, "", (), found)
    else:
        found.append(Unit("", (), start, len(text.rstrip(" \t\n\r")), None))
    return found


class _Run:
    """Adjacent small siblings, collected until there are enough."""

    def __init__(self, path: str, steps: tuple[Step, ...], found: list[Unit]) -> None:
        self._path = path
        self._steps = steps
        self._found = found
        self._start = self._end = self._first = -1

    def add(self, start: int, end: int, number: int) -> None:
        if self._start >= 0 and end - self._start > _SMALL:
            self.close()
        if self._start < 0:
            self._start, self._first = start, number
        self._end = end

    def close(self) -> None:
        if self._start >= 0:
            self._found.append(Unit(self._path, self._steps, self._start, self._end, self._first))
        self._start = -1


def _divide(text: str, position: int, path: str, steps: tuple[Step, ...], found: list[Unit]) -> int:
    """Add the units of a container, and return the position after it."""
    is_object = text[position] == "{"
    run = _Run(path, steps, found)
    position = _after_space(text, position + 1)
    number = 0
    while text[position] not in "]}":
        start, key = position, ""
        if is_object:
            key, position = scanstring(text, position + 1)
            key_end = position
            position = _after_space(text, _after_space(text, position) + 1)
        is_container = text[position] in "[{"
        end = (_end_of_small if is_container else _end_of_scalar)(text, position)
        if end is not None:
            run.add(start, end, -1 if is_object else number)
        else:
            run.close()
            if is_object:
                found.append(Unit(path, steps, start, key_end, -2))
            inner = path_of(path, key) if is_object else f"{path}[]"
            end = _divide(text, position, inner, (*steps, key if is_object else number), found)
        position = _after_space(text, end)
        if text[position] == ",":
            position = _after_space(text, position + 1)
        number += 1
    run.close()
    return position + 1


def _end_of_small(text: str, position: int) -> int | None:
    """Return the end of a container; None if it is large."""
    if text.find(_CLOSING[text[position]], position, position + _SMALL) < 0:
        return None
    try:
        _, end = _scan(text[position : position + _SMALL], 0)
    except (StopIteration, ValueError):
        return None
    return position + int(end)


def _end_of_scalar(text: str, position: int) -> int:
    if text[position] == '"':
        return int(scanstring(text, position + 1)[1])
    atom = _ATOM.match(text, position)
    assert atom is not None
    return atom.end()


def path_of(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def leaves_of(text: str, unit: Unit) -> list[Leaf]:
    if unit.first == -2:
        return [_key(text, unit.path, unit.steps, unit.start)[0]]
    return list(_Walk(text, unit.start, unit.end, unit.path, unit.steps, unit.first).leaves())


def leaves(text: str) -> list[Leaf]:
    """Return the leaves of a valid JSON text."""
    start = _after_space(text, 0)
    return list(_Walk(text, start, len(text), "", (), None).leaves())


def _key(text: str, path: str, steps: tuple[Step, ...], position: int) -> tuple[Leaf, int]:
    key, end = scanstring(text, position + 1)
    leaf = Leaf(path_of(path, key), (*steps, key), position + 1, end - 1, key, is_key=True)
    return leaf, _after_space(text, _after_space(text, end) + 1)


class _Walk:
    """A walk over valid JSON; its stack holds the open containers."""

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        path: str,
        steps: tuple[Step, ...],
        first: int | None,
    ) -> None:
        """`first` is the index of the first sibling, -1 in an object; None for a single value."""
        self._text = text
        self._end = end
        self._stack: list[tuple[str, tuple[Step, ...], int]] = []
        self._path, self._steps, self._position = path, steps, start
        if first is not None:
            self._stack.append((path, steps, first))

    def leaves(self) -> Iterator[Leaf]:
        if self._stack:
            yield from self._next_member()
        while True:
            yield from self._value()
            if not self._proceed():
                return
            yield from self._next_member()

    def _value(self) -> Iterator[Leaf]:
        """Yield the leaf of a value; enter containers until there is one."""
        text = self._text
        while (character := text[self._position]) in "[{":
            inside = _after_space(text, self._position + 1)
            if text[inside] in "]}":
                self._position = inside + 1
                return
            self._stack.append((self._path, self._steps, -1 if character == "{" else 0))
            self._position = inside
            yield from self._next_member()
        start = self._position
        if character == '"':
            value, self._position = scanstring(text, start + 1)
            yield Leaf(self._path, self._steps, start + 1, self._position - 1, value)
            return
        atom = _ATOM.match(text, start)
        assert atom is not None
        self._position = atom.end()
        if atom.end() - start >= _LONG_NUMBER:
            yield Leaf(self._path, self._steps, start, atom.end(), atom[0], is_number=True)

    def _proceed(self) -> bool:
        """Close the containers that end here, and return whether another member follows."""
        text = self._text
        while True:
            position = _after_space(text, self._position)
            if position >= self._end or not self._stack:
                return False
            if text[position] == ",":
                self._position = _after_space(text, position + 1)
                path, steps, number = self._stack[-1]
                self._stack[-1] = (path, steps, number + 1 if number >= 0 else number)
                return True
            self._stack.pop()
            self._position = position + 1

    def _next_member(self) -> Iterator[Leaf]:
        path, steps, number = self._stack[-1]
        if number >= 0:
            self._path, self._steps = f"{path}[]", (*steps, number)
            return
        leaf, self._position = _key(self._text, path, steps, self._position)
        self._path, self._steps = leaf.path, leaf.steps
        yield leaf


def escaped(text: str) -> str:
    """Return a text as written in a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1].translate(_SURROGATES)


_SURROGATES = {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}


def raw_splices(text: str, leaf: Leaf, splices: Iterable[Splice]) -> Iterator[Splice]:
    """Convert splices of a leaf's decoded text to splices of the JSON text."""
    if leaf.is_number:
        changed = spliced(leaf.text, splices)
        yield Splice(leaf.start, leaf.end, f'"{escaped(changed)}"')
        return
    positions = _Places(text, leaf)
    for start, end, new in splices:
        yield Splice(positions.raw(start), positions.raw(end), escaped(new))


class _Places:
    """The positions of the characters of a string that has escapes."""

    def __init__(self, text: str, leaf: Leaf) -> None:
        self._start = leaf.start
        self._decoded: list[int] = []
        self._shift: list[int] = []
        if leaf.end - leaf.start == len(leaf.text):
            return
        shift = 0
        for match in _ESCAPE.finditer(text, leaf.start, leaf.end):
            shift += len(match[0]) - 1
            self._decoded.append(match.end() - leaf.start - shift)
            self._shift.append(shift)

    def raw(self, position: int) -> int:
        index = bisect_right(self._decoded, position)
        return self._start + position + (self._shift[index - 1] if index else 0)


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Return a text with splices applied; they must be in order and not overlap."""
    parts: list[str] = []
    position = 0
    for start, end, new in splices:
        parts += (text[position:start], new)
        position = end
    parts.append(text[position:])
    return "".join(parts)


def at(value: Any, steps: Iterable[Step]) -> Any:
    """Return the value at a path within a value; None if there is no such path."""
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
