"""Locate values in TOML text, so that they can be edited in place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from dlpctl.regex import lazy

_HEADER = lazy(r"[ \t]*\[(?P<name>[^\[\]\n]+)\][ \t]*(?:#.*)?")
_KEY = lazy(r"[ \t]*(?P<key>(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*'))[ \t]*=[ \t]*")
_MOST_LINES = 200

loads = tomllib.loads


def span(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the position of the value of a key in a table that has its own header."""
    for table, start, line in _values(text):
        key = _KEY.match(text, start)
        if key is not None and (*table, next(iter(_parsed(key[0] + "0")))) == path:
            end = _end_of_value(text, key.end(), line)
            return None if end is None else (key.end(), end)
    return None


def _values(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield the lines that start a value: their tables, starts and ends."""
    table: tuple[str, ...] = ()
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        key = _KEY.match(text, position)
        if header := _HEADER.fullmatch(text[position:end].rstrip("\r")):
            table = _path_of(header["name"])
        elif key is not None:
            yield table, position, end
            after = _end_of_value(text, key.end(), end)
            end = end if after is None else max(end, text.find("\n", after))
        position = end + 1


def _path_of(name: str) -> tuple[str, ...]:
    path: list[str] = []
    data = _parsed(f"[{name}]")
    while data:
        key, data = next(iter(data.items()))
        path.append(key)
    return tuple(path)


def _end_of_value(text: str, start: int, line: int) -> int | None:
    """Return the end of a string or array, which may continue on the following lines."""
    for _ in range(_MOST_LINES):
        value = _parsed(f"x = {text[start:line]}").get("x")
        if value is not None:
            closing = "]" if isinstance(value, list) else text[start]
            end = start
            while 0 <= (end := text.find(closing, end + 1)) < line:
                if _parsed(f"x = {text[start : end + 1]}").get("x") == value:
                    return end + 1
            return None
        if line >= len(text):
            return None
        line = text.find("\n", line + 1)
        line = len(text) if line < 0 else line
    return None


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
