"""The texts in a JSON value: read in a fixed order and written back without changing the shape of
the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dlpctl.errors import InputError

_DEEPEST = 200
_LONG_NUMBER = 10**11
"""From this size on, integers may be card or account numbers."""


class Leaf(NamedTuple):
    """A text in a JSON value."""

    text: str
    is_key: bool = False
    """True for a key, whose value is the next leaf."""


def leaves(value: Any) -> list[Leaf]:
    """Return the texts of a JSON value, including keys and long integers."""
    return list(_walk(value, 0))


def _walk(value: Any, depth: int) -> Iterator[Leaf]:
    _check(depth)
    if isinstance(value, str):
        yield Leaf(value)
    elif _is_long_number(value):
        yield Leaf(str(value))
    elif isinstance(value, list):
        for each in value:
            yield from _walk(each, depth + 1)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield Leaf(key, is_key=True)
            yield from _walk(each, depth + 1)


def rebuilt(value: Any, changed: Callable[[str], str]) -> Any:
    """Return a copy with `changed` applied to each leaf, in the order of `leaves`."""
    if isinstance(value, str):
        return changed(value)
    if _is_long_number(value):
        text = changed(str(value))
        return value if text == str(value) else text
    if isinstance(value, list):
        return [rebuilt(each, changed) for each in value]
    if isinstance(value, dict):
        return {changed(key): rebuilt(each, changed) for key, each in value.items()}
    return value


def _is_long_number(value: Any) -> bool:
    return type(value) is int and abs(value) >= _LONG_NUMBER


def _check(depth: int) -> None:
    if depth > _DEEPEST:
        raise InputError(f"the JSON nests deeper than {_DEEPEST} levels")


_STRUCTURAL = ("type", "filePath", "file_path", "kind", "media_type", "mode", "status")
"""Keys whose values give the type of an object; an agent rejects objects without them."""


_ATTACHED = ("audio", "image", "resource")
"""Types of content without texts to replace."""


def withheld(value: Any, text: str) -> Any:
    """Return a value of the same shape in which one text replaces all others."""
    if isinstance(value, str):
        return text if value else value
    if isinstance(value, list):
        return [withheld(each, text) for each in value]
    if isinstance(value, dict):
        if value.get("type") in _ATTACHED:
            return {"type": "text", "text": text}
        return {
            key: each if key in _STRUCTURAL else withheld(each, text) for key, each in value.items()
        }
    return value
