"""Masking operators: what takes the place of one value. To add one, add its row to `OPERATORS`.

An operator knows a value and its type, and neither a text nor a policy: `dlpctl.masking` applies
operators to texts, and `dlpctl.policy` names them. Another module of this room is imported when an
operator that needs it is prepared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import MaskingError
from dlpctl.types import Category

if TYPE_CHECKING:
    from dlpctl.operators.tokens import TokenStore

MOST_REMEMBERED = 1 << 16
"""Replacements of one document that are kept, since equal values are frequent."""
_HASH_DIGITS = 12

Replace = Callable[[str, Category, str], str]
"""Returns the replacement for a type, a category and a value."""


class Setup(NamedTuple):
    """The parts of which an operator is prepared, for one document."""

    key: bytes
    """Empty unless the operator needs one."""
    text: str
    """The text after the colon: `replace:TEXT`."""
    tokens: TokenStore
    has_vault: bool
    """True if `tokens` outlives the document, so that a token can be reversed."""


class Operator(NamedTuple):
    """The properties of an operator."""

    summary: str
    """The part of a value that remains, for people."""
    prepare: Callable[[Setup], Replace]
    takes_text: bool = False
    needs_key: bool = False
    keeps_shape: bool = False
    """True if the result is made from parts of the value, which must be complete."""
    writes_ciphertext: bool = False
    """True if only the holder of the key can tell a result from a real value."""
    writes_tokens: bool = False
    """True if a result may be a token of the store, which alone remembers it: a transaction that
    fails takes its tokens back.
    """


def _remove(_setup: Setup) -> Replace:
    return lambda _type, _category, _value: ""


def _redact(_setup: Setup) -> Replace:
    return lambda type_name, _category, _value: redact(type_name)


def _replace(setup: Setup) -> Replace:
    return lambda _type, _category, _value: setup.text


def _hash(setup: Setup) -> Replace:
    import hmac

    from dlpctl.operators.tokens import token_type
    from dlpctl.values import canonical, derive_key

    derived = derive_key(setup.key, "hash")

    def replacement(type_name: str, category: Category, value: str) -> str:
        name = token_type(type_name)
        message = f"{name}\0{canonical(value, category)}".encode("utf-8", "surrogatepass")
        return f"[{name}#{hmac.digest(derived, message, 'sha256').hex()[:_HASH_DIGITS]}]"

    return replacement


def _encrypt(setup: Setup) -> Replace:
    """Values with too few digits become tokens if a vault can reverse them."""
    from dlpctl.operators.fpe import DigitCipher, is_encryptable

    encrypted = lru_cache(MOST_REMEMBERED)(DigitCipher(setup.key).encrypt)

    def replacement(type_name: str, _category: Category, value: str) -> str:
        if setup.has_vault and not is_encryptable(value):
            return setup.tokens.token(type_name, value)
        return encrypted(type_name, value) or redact(type_name)

    return replacement


def _token(setup: Setup) -> Replace:
    return lambda type_name, _category, value: setup.tokens.token(type_name, value)


def _surrogate(setup: Setup) -> Replace:
    from dlpctl.operators.surrogate import Surrogates

    surrogates = Surrogates(setup.key)

    def replacement(type_name: str, category: Category, value: str) -> str:
        return surrogates.surrogate(type_name, category, value) or redact(type_name)

    return replacement


def _partial(_setup: Setup) -> Replace:
    from dlpctl.operators.partial import partial

    return partial


OPERATORS = {
    "remove": Operator("nothing stays", _remove),
    "redact": Operator("only the type stays: [EMAIL]", _redact),
    "replace": Operator("a fixed text: replace:TEXT", _replace, takes_text=True),
    "hash": Operator(
        "a keyed code, the same for equal values: [EMAIL#3f9a1c2b7d4e]", _hash, needs_key=True
    ),
    "encrypt": Operator(
        "other digits, reversible with the key (FF1)",
        _encrypt,
        needs_key=True,
        keeps_shape=True,
        writes_ciphertext=True,
        writes_tokens=True,
    ),
    "token": Operator("reversible with a vault: <EMAIL_1>", _token, writes_tokens=True),
    "surrogate": Operator(
        "a realistic value that nobody can hold", _surrogate, needs_key=True, keeps_shape=True
    ),
    "partial": Operator(
        "the shape and a few characters stay: j***@example.com", _partial, keeps_shape=True
    ),
}
"""By name, from the least to the most revealing: the first of two overlapping operators wins."""
DEFAULT_OPERATOR = "partial"


def redact(type_name: str) -> str:
    from dlpctl.operators.tokens import token_type

    return f"[{token_type(type_name)}]"


def operator_named(operator: str) -> Operator:
    """Return the operator of `NAME` or `NAME:TEXT`; raise `MaskingError` if there is none."""
    name, colon, _ = operator.partition(":")
    found = OPERATORS.get(name)
    if found is None or (colon and not found.takes_text):
        raise MaskingError(
            f"there is no masking operator {operator!r}; there are: {', '.join(OPERATORS)}"
        )
    if found.takes_text and not colon:
        raise MaskingError(f"operator {name!r} needs its text: {name}:TEXT")
    return found
