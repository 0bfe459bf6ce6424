"""The object that applies operators to the values of one document."""

from __future__ import annotations

from dlpctl.errors import MaskingError
from dlpctl.operators import MOST_REMEMBERED, Replace, Setup, operator_named
from dlpctl.operators.tokens import TokenStore
from dlpctl.types import Category


class Masker:
    """Applies operators; use one for each document, so that equal values stay equal."""

    def __init__(self, key: bytes | None = None, tokens: TokenStore | None = None) -> None:
        """`key` is for hash, surrogate and encrypt; without `tokens`, a new store is used.

        With `tokens`, encrypt returns a token for values with too few digits to be encrypted.
        """
        self._key = key
        self._has_vault = tokens is not None
        self.tokens: TokenStore = TokenStore() if tokens is None else tokens
        self._made: dict[tuple[str, str, str], str] = {}
        self._prepared: dict[str, tuple[Replace, bool]] = {}

    def replacement(self, operator: str, type_name: str, category: Category, value: str) -> str:
        """Return the replacement; raise `MaskingError` for an unknown operator or a missing key."""
        known = (operator, type_name, value)
        made = self._made.get(known)
        if made is None:
            prepared = self._prepared.get(operator)
            if prepared is None:
                prepared = self._prepared[operator] = self._prepare(operator)
            replace, is_remembered = prepared
            made = replace(type_name, category, value)
            if is_remembered:
                if len(self._made) >= MOST_REMEMBERED:
                    self._made.clear()
                self._made[known] = made
        return made

    def forget(self) -> None:
        """Forget the replacements; equal values get the same ones again."""
        self._made.clear()

    def _prepare(self, operator: str) -> tuple[Replace, bool]:
        found = operator_named(operator)
        name, _, text = operator.partition(":")
        if found.needs_key and self._key is None:
            raise MaskingError(
                f"operator {name!r} needs a key, so that the same value always becomes the same"
            )
        setup = Setup(self._key or b"", text, self.tokens, self._has_vault)
        return found.prepare(setup), not found.writes_tokens
