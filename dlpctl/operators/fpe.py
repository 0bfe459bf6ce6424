"""Format-preserving encryption of digits: FF1 of NIST SP 800-38G, reversible with the key."""

from __future__ import annotations

from collections.abc import Callable

from dlpctl.regex import lazy
from dlpctl.values import derive_key

_DIGIT = lazy(r"[0-9]")
_OTHER_LETTER_OR_DIGIT = lazy(r"[^\W_0-9]")
SHORTEST = 6
"""Fewer digits could be guessed one by one; the standard requires a million possibilities."""


def is_encryptable(value: str) -> bool:
    """Return whether a value has enough digits and no letters."""
    return len(_DIGIT.findall(value)) >= SHORTEST and not _OTHER_LETTER_OR_DIGIT.search(value)


class DigitCipher:
    """Encrypts the digits of a value and keeps its separators; the detection type is the tweak."""

    def __init__(self, key: bytes) -> None:
        from ffx import FF1

        self._cipher = FF1(derive_key(key, "encrypt"), radix=10)

    def encrypt(self, type_name: str, value: str) -> str | None:
        """Return the encrypted value; None if it has letters or fewer than six digits."""
        return self._changed(type_name, value, self._cipher.encrypt)

    def decrypt(self, type_name: str, value: str) -> str | None:
        return self._changed(type_name, value, self._cipher.decrypt)

    def _changed(self, type_name: str, value: str, change: Callable[..., str]) -> str | None:
        if not is_encryptable(value):
            return None
        digits = "".join(_DIGIT.findall(value))
        changed = iter(change(digits, tweak=type_name.encode()))
        return _DIGIT.sub(lambda _: next(changed), value)
