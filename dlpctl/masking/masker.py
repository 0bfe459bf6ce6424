"""The object that applies operators to the values of one document."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dlpctl.errors import MaskingError
from dlpctl.operators import Replace, Setup, operator_named
from dlpctl.operators.tokens import TokenStore
from dlpctl.types import Category

_MOST_REMEMBERED = 1 << 14
"""The number of replacements that are remembered for one operator and type."""


class Masker:
    """Applies operators; use one for each document, so that equal values stay equal."""

    def __init__(self, key: bytes | None = None, tokens: TokenStore | None = None) -> None:
        """`key` is for hash, surrogate and encrypt; without `tokens`, a new store is used.

        With `tokens`, encrypt returns a token for values with too few digits to be encrypted.
        """
        self._key = key
        self._has_vault = tokens is not None
        self.tokens: TokenStore = TokenStore() if tokens is None else tokens
        self._made: dict[tuple[str, str], dict[str, str]] = {}
        """The replacements that are remembered, by operator and type: one column may have few
        values, and another one only different ones.
        """
        self._prepared: dict[str, tuple[Replace, bool]] = {}

    def replacement(self, operator: str, type_name: str, category: Category, value: str) -> str:
        """Return the replacement; raise `MaskingError` for an unknown operator or a missing key."""
        known = self._made.get((operator, type_name))
        if known is None:
            known = self._made[operator, type_name] = {}
        made = known.get(value)
        if made is None:
            replace, is_remembered = self._of(operator)
            made = replace(type_name, category, value)
            if is_remembered:
                if len(known) >= _MOST_REMEMBERED:
                    known.clear()
                known[value] = made
        return made

    def replacing(self, operator: str, type_name: str, category: Category) -> Callable[[str], str]:
        """Return the function that replaces values of a type. It remembers none of them, which is
        for distinct ones.
        """
        return partial(self._of(operator)[0], type_name, category)

    def _of(self, operator: str) -> tuple[Replace, bool]:
        """Return the function of an operator, and whether its replacements are remembered."""
        prepared = self._prepared.get(operator)
        if prepared is None:
            prepared = self._prepared[operator] = self._prepare(operator)
        return prepared

    def _prepare(self, operator: str) -> tuple[Replace, bool]:
        found = operator_named(operator)
        name, _, text = operator.partition(":")
        if found.needs_key and self._key is None:
            raise MaskingError(
                f"operator {name!r} needs a key, so that the same value always becomes the same"
            )
        setup = Setup(self._key or b"", text, self.tokens, self._has_vault)
        return found.prepare(setup), not found.writes_tokens
