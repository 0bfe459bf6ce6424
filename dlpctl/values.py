"""Normal forms of values, and keyed fingerprints of them.

Counting distinct values, exceptions, the hash operator and surrogates must agree on these.
"""

from __future__ import annotations

import unicodedata

from dlpctl.regex import lazy
from dlpctl.types import Category

SHORTEST_SEARCHED = 5
"""The characters of the shortest value to search for: any text contains shorter ones by
coincidence, which only detection recognizes.
"""
FEWEST_DIGITS_SEARCHED = 7
"""The digits of the shortest number to search for in any grouping."""
_SPACES = lazy(r"\s+")
_SEPARATORS = lazy(r"[\s\-.()/_]+")
_DOTTED_QUAD = lazy(r"\d{1,3}(?:\.\d{1,3}){3}")
# A date has at most eight digits; without its separators 1/12/1990 and 11/2/1990 would be one.
_SHORTEST_GROUPED_NUMBER = 9


def canonical(value: str, category: Category) -> str:
    """Return one spelling for all spellings of a value: case, width and digit groups do not count.

    Secrets are only stripped, since every one of their characters counts.
    """
    if category is Category.SECRETS:
        return value.strip()
    if not value.isascii():
        value = unicodedata.normalize("NFKC", value)
    text = _SPACES.sub(" ", value.strip()).casefold()
    if (
        "@" in text
        or ":" in text
        or not any(map(str.isdigit, text))
        or _DOTTED_QUAD.fullmatch(text)
    ):
        return text
    joined = _SEPARATORS.sub("", text)
    return joined if len(joined) >= _SHORTEST_GROUPED_NUMBER else text


def derive_key(key: bytes, purpose: str) -> bytes:
    """Return a key for one purpose, so that uses of one key cannot be combined in an attack."""
    import hmac

    return hmac.digest(key, b"dlpctl:" + purpose.encode(), "sha256")


def fingerprint(key: bytes, type_name: str, value: str, category: Category) -> str:
    """Return a name of a value that does not reveal it: 128 bits of a keyed hash."""
    import hmac

    message = f"{type_name}\0{canonical(value, category)}".encode("utf-8", "surrogatepass")
    return hmac.digest(derive_key(key, "fingerprint"), message, "sha256").hex()[:32]
