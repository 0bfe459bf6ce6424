"""The operators by name, and the object that applies them to the values of one document."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from dlpctl.errors import MaskingError
from dlpctl.masking.partial import partial
from dlpctl.masking.tokens import TokenStore, token_type
from dlpctl.types import Category
from dlpctl.values import canonical, derive_key

_HASH_DIGITS = 12
_MOST_REMEMBERED = 1 << 16


class Operator(NamedTuple):
    """The properties of an operator; `OPERATORS` lists first those that reveal the least."""

    summary: str
    needs_key: bool = False
    keeps_shape: bool = False
    """True if the result is made from parts of the value, which must be complete."""


OPERATORS = {
    "remove": Operator("nothing stays"),
    "redact": Operator("only the type stays: [EMAIL]"),
    "replace": Operator("a fixed text: replace:TEXT"),
    "hash": Operator(
        "a keyed code, the same for equal values: [EMAIL#3f9a1c2b7d4e]", needs_key=True
    ),
    "encrypt": Operator(
        "other digits, reversible with the key (FF1)", needs_key=True, keeps_shape=True
    ),
    "token": Operator("reversible with a vault: <EMAIL_1>"),
    "surrogate": Operator(
        "a realistic value that nobody can hold", needs_key=True, keeps_shape=True
    ),
    "partial": Operator("the shape and a few characters stay: j***@example.com", keeps_shape=True),
}
DEFAULT_OPERATOR = "partial"


def check_operator(operator: str) -> None:
    """Raise `MaskingError` unless `operator` is a known name, or `replace:TEXT`."""
    name, colon, _ = operator.partition(":")
    if name == "replace" and not colon:
        raise MaskingError("operator 'replace' needs its text: replace:TEXT")
    if name not in OPERATORS or (colon and name != "replace"):
        raise MaskingError(
            f"there is no masking operator {operator!r}; there are: {', '.join(OPERATORS)}"
        )


def redact(type_name: str) -> str:
    return f"[{token_type(type_name)}]"


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
        self._operators: dict[str, Callable[[str, Category, str], str]] = {}

    def replacement(self, operator: str, type_name: str, category: Category, value: str) -> str:
        """Return the replacement; raise `MaskingError` for an unknown operator or a missing key."""
        if operator == "token" or (operator == "encrypt" and self._is_too_short(value)):
            # The store remembers tokens; a second cache would outlive tokens that a failed
            # transaction takes back.
            return self.tokens.token(type_name, value)
        known = (operator, type_name, value)
        made = self._made.get(known)
        if made is None:
            if len(self._made) >= _MOST_REMEMBERED:
                self._made.clear()
            made = self._made[known] = self._prepared(operator)(type_name, category, value)
        return made

    def replacing(self, operator: str, type_name: str, category: Category) -> Callable[[str], str]:
        """Return the function that replaces values of a type. It remembers none of them, which is
        for distinct ones.
        """
        if operator in ("token", "encrypt"):
            return functools.partial(self.replacement, operator, type_name, category)
        return functools.partial(self._prepared(operator), type_name, category)

    def _is_too_short(self, value: str) -> bool:
        from dlpctl.masking.fpe import is_encryptable

        return self._has_vault and not is_encryptable(value)

    def forget(self) -> None:
        """Forget the replacements; equal values get the same ones again."""
        self._made.clear()

    def _prepared(self, operator: str) -> Callable[[str, Category, str], str]:
        apply = self._operators.get(operator)
        if apply is None:
            apply = self._operators[operator] = self._prepare(operator)
        return apply

    def _prepare(self, operator: str) -> Callable[[str, Category, str], str]:
        check_operator(operator)
        name, _, text = operator.partition(":")
        if OPERATORS[name].needs_key and self._key is None:
            raise MaskingError(
                f"operator {name!r} needs a key, so that the same value always becomes the same"
            )
        key = self._key or b""
        prepare: dict[str, Callable[[], Callable[[str, Category, str], str]]] = {
            "partial": lambda: partial,
            "redact": lambda: lambda type_name, _category, _value: redact(type_name),
            "remove": lambda: lambda _type, _category, _value: "",
            "replace": lambda: lambda _type, _category, _value: text,
            "hash": lambda: _hasher(key),
            "surrogate": lambda: _surrogate(key),
            "encrypt": lambda: _encrypter(key),
        }
        return prepare[name]()


def _hasher(key: bytes) -> Callable[[str, Category, str], str]:
    import hmac

    derived = derive_key(key, "hash")

    def apply(type_name: str, category: Category, value: str) -> str:
        name = token_type(type_name)
        message = f"{name}\0{canonical(value, category)}".encode("utf-8", "surrogatepass")
        return f"[{name}#{hmac.digest(derived, message, 'sha256').hex()[:_HASH_DIGITS]}]"

    return apply


def _surrogate(key: bytes) -> Callable[[str, Category, str], str]:
    from dlpctl.masking.surrogate import Surrogates

    surrogates = Surrogates(key)

    def apply(type_name: str, category: Category, value: str) -> str:
        return surrogates.surrogate(type_name, category, value) or redact(type_name)

    return apply


def _encrypter(key: bytes) -> Callable[[str, Category, str], str]:
    from dlpctl.masking.fpe import DigitCipher

    cipher = DigitCipher(key)

    def apply(type_name: str, _category: Category, value: str) -> str:
        return cipher.encrypt(type_name, value) or redact(type_name)

    return apply
