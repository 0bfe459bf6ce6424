"""Keys that people hold (of policies, of licenses, of administrators), and what is kept of them.

A key is a prefix, 256 random bits and their checksum, so that a detector can tell it from anything else. The store holds an HMAC to
look it up by and, where the interface shows it again, a ciphertext. Both need the key file beside the database.
"""

from __future__ import annotations

import hmac
import secrets
import zlib
from enum import StrEnum
from pathlib import Path

from dlpctl.control.access import SHORTENED
from dlpctl.errors import StoreError, VaultError
from dlpctl.values import derive_key

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_LENGTH = 43
_CHECKSUM_LENGTH = 6
_NONCE_BYTES = 12
_SHOWN_END = 4


class Kind(StrEnum):
    """What a key opens, which its first characters say."""

    POLICY = "dlp_pk_"
    LICENSE = "dlp_lk_"
    ADMIN = "dlp_at_"


def mint(kind: Kind) -> str:
    body = _base62(secrets.randbits(256), _RANDOM_LENGTH)
    return f"{kind}{body}{_checksum(body)}"


def well_formed(kind: Kind, key: str) -> bool:
    """Whether it can be one of ours at all."""
    length = len(kind) + _RANDOM_LENGTH + _CHECKSUM_LENGTH
    return (
        len(key) == length
        and key.isascii()
        and key.startswith(kind)
        and key.endswith(_checksum(key[len(kind) : -_CHECKSUM_LENGTH]))
    )


def shortened(key: str) -> str:
    """Enough to tell keys apart, for those who may not see them."""
    return f"{key[: key.rindex('_') + 1]}{SHORTENED}{key[-_SHOWN_END:]}"


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


class KeyRing:
    """The secrets of one control plane, all derived from its key file."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._lookup = derive_key(key, "control-lookup")
        self._display = derive_key(key, "control-display")

    @classmethod
    def load(cls, file: Path, *, create: bool) -> KeyRing:
        """From the key file, which is made, mode 0600, where `create` allows it."""
        from dlpctl.masking.vault import vault_key

        try:
            return cls(vault_key(file, {}, create=create))
        except VaultError as error:
            raise StoreError(error.message) from None

    def __repr__(self) -> str:
        return "KeyRing()"

    def key_for(self, purpose: str) -> bytes:
        return derive_key(self._key, f"control-{purpose}")

    def lookup(self, key: str) -> bytes:
        """What the store knows a key by."""
        return hmac.digest(self._lookup, key.encode("utf-8", "surrogatepass"), "sha256")

    def seal(self, plain: bytes, owner: str) -> bytes:
        """Encrypted for one owner: put into another's row, it does not open."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self._display).encrypt(nonce, plain, owner.encode())

    def open(self, sealed: bytes, owner: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(self._display).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], owner.encode())
        except (InvalidTag, ValueError):
            raise StoreError(
                f"{owner}: what is stored of it cannot be decrypted: the database was changed or damaged; "
                "restore a backup with 'dlpctl db restore'"
            ) from None
