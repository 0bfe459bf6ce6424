"""Reversible placeholders: `<EMAIL_1>` for a value, and the value for `<EMAIL_1>`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Self

from dlpctl.regex import lazy

# A name has at most 64 characters and a number at most nine digits, so that a token that arrives
# in pieces has an end.
_NAME_THEN_NUMBER = lazy(r"[A-Za-z][A-Za-z0-9_]{0,63}_[1-9][0-9]{0,8}")
_NOT_IN_NAMES = lazy(r"[^A-Z0-9]+")


def token_type(type_name: str) -> str:
    """Return the type as tokens spell it."""
    name = _NOT_IN_NAMES.sub("_", type_name.upper()).strip("_")[:64].rstrip("_")
    return name if name[:1].isalpha() else "VALUE"


class TokenStore:
    """The tokens that replace values. Equal values of a type have one token and keep it."""

    suffix = ""
    """The suffix of the types of new tokens."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        """`values` maps the token names of an earlier store (`EMAIL_1`) to values."""
        self._values: dict[str, str] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._highest: dict[str, int] = {}
        self._taken: set[str] = set()
        self.add(values or {})

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Issue tokens within this block; a store in a file saves them at its end."""
        yield self

    def clear(self) -> None:
        self._values.clear()
        self._names.clear()
        self._highest.clear()

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} values>"

    def add(self, values: Mapping[str, str]) -> None:
        """Take over tokens that are already in use."""
        for name, value in values.items():
            token_type, _, number = name.rpartition("_")
            self._values[name] = value
            self._names[token_type, value] = name
            self._highest[token_type] = max(self._highest.get(token_type, 0), int(number))

    def items(self) -> Iterator[tuple[str, str]]:
        return iter(self._values.items())

    def avoid(self, texts: Iterable[str]) -> None:
        """Avoid names for new tokens that occur in these texts, which would be replaced there."""
        for text in texts:
            self._taken.update(name.upper() for name in _NAME_THEN_NUMBER.findall(text))

    def token(self, type_name: str, value: str) -> str:
        """Return the token of a value, creating it if there is none."""
        prefix = token_type(type_name) + self.suffix
        name = self._names.get((prefix, value))
        if name is None:
            number = self._highest.get(prefix, 0) + 1
            while f"{prefix}_{number}" in self._taken:
                number += 1
            name = f"{prefix}_{number}"
            self._highest[prefix] = number
            self._values[name] = value
            self._names[prefix, value] = name
        return f"<{name}>"

    def value(self, name: str) -> str | None:
        """Return the value of a token name; None if it was never issued."""
        return self._values.get(name)
