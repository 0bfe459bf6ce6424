"""Keys that users hold (of policies, licenses and administrators), and the secrets that protect
them.

A key consists of a prefix, 256 random bits and a checksum, so that detectors can identify it. The
store holds an HMAC for look-up and, for keys that can be shown again, a ciphertext. Both require
the key file beside the database.
"""

from __future__ import annotations

import hmac
import secrets
import zlib
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from dlpctl.control.access import SHORTENED
from dlpctl.control.keyfile import KeyFile
from dlpctl.errors import StoreError
from dlpctl.values import derive_key

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_LENGTH = 43
_CHECKSUM_LENGTH = 6
_NONCE_BYTES = 12
_SHOWN_END = 4


class KeyKind(StrEnum):
    """The purpose of a key: its prefix."""

    POLICY = "dlp_pk_"
    LICENSE = "dlp_lk_"
    ADMIN = "dlp_at_"


def mint(prefix: KeyKind) -> str:
    body = _base62(secrets.randbits(256), _RANDOM_LENGTH)
    return f"{prefix}{body}{_checksum(body)}"


def well_formed(key_kind: KeyKind, key: str) -> bool:
    """Return whether a text has the form and checksum of a key of this kind."""
    length = len(key_kind) + _RANDOM_LENGTH + _CHECKSUM_LENGTH
    return (
        len(key) == length
        and key.isascii()
        and key.startswith(key_kind)
        and key.endswith(_checksum(key[len(key_kind) : -_CHECKSUM_LENGTH]))
    )


def shortened(key: str) -> str:
    """Return the part of a key that identifies it to users who may not see the key."""
    return f"{key[: key.rindex('_') + 1]}{SHORTENED}{key[-_SHOWN_END:]}"


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


class Secrets:
    """The secrets derived from one key file."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._derived: dict[str, bytes] = {}
        self.check = self.key_for("check")
        """Shows whether two secrets are equal without disclosing them."""

    def __repr__(self) -> str:
        return "Secrets()"

    def key_for(self, purpose: str) -> bytes:
        derived = self._derived.get(purpose)
        if derived is None:
            derived = self._derived[purpose] = derive_key(self.key, f"control-{purpose}")
        return derived

    def mac(self, purpose: str, content: bytes) -> bytes:
        return hmac.digest(self.key_for(purpose), content, "sha256")

    def lookup(self, key: str) -> bytes:
        """Return the keyed hash by which the store looks a key up."""
        return self.mac("lookup", key.encode("utf-8", "surrogatepass"))

    def seal(self, plain: bytes, owner: str) -> bytes:
        """Encrypt for one owner: in another owner's row, the ciphertext cannot be decrypted."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self.key_for("display")).encrypt(nonce, plain, owner.encode())

    def open(self, sealed: bytes, owner: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            cipher = AESGCM(self.key_for("display"))
            return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], owner.encode())
        except (InvalidTag, ValueError):
            raise StoreError(
                f"{owner}: its stored data cannot be decrypted: the database was changed or"
                f" damaged; "
                "restore a backup with 'dlpctl db restore'"
            ) from None


class RetiredKey(NamedTuple):
    """A replaced key file, and the last records that were linked with it."""

    secrets: Secrets
    last_seq: int
    last_event: int
    retired_at: datetime


class KeyRing:
    """The secrets of one control plane: those of its key file and of earlier key files."""

    def __init__(self, key: bytes, file: KeyFile | None = None) -> None:
        self._file = file
        self._earlier: set[bytes] = set()
        self.current = Secrets(key)
        self.retired: tuple[RetiredKey, ...] = ()

    @classmethod
    def load(cls, file: Path, *, create: bool) -> KeyRing:
        """Read the key file; if `create` allows it, create a missing one with mode 0600."""
        found = KeyFile(file)
        return cls(found.read(create=create), found)

    def __repr__(self) -> str:
        return "KeyRing()"

    def follow(self, check: bytes) -> bool:
        """Use the key that the database is sealed with; return whether it differs from the previous
        one.

        Raises `StoreError` if no key file contains it. An older state of the database changes
        nothing.
        """
        if check == self.current.check or check in self._earlier:
            return False
        for key in self._file.candidates() if self._file else ():
            found = Secrets(key)
            if hmac.compare_digest(found.check, check):
                self._earlier.add(self.current.check)
                self.current = found
                return True
        where = self._file.path if self._file else "the key"
        raise StoreError(
            f"{where}: is not the key of the database beside it; put the right key there"
        )

    def linked_with(self, seq: int, event: int) -> Secrets:
        """Return the secrets that the records up to this position were linked with."""
        for retired in self.retired:
            if seq <= retired.last_seq and event <= retired.last_event:
                return retired.secrets
        return self.current

    def retired_since(self, moment: datetime) -> list[Secrets]:
        """Return the secrets that were replaced after a given time, newest first."""
        return [each.secrets for each in reversed(self.retired) if each.retired_at > moment]

    def key_for(self, purpose: str) -> bytes:
        return self.current.key_for(purpose)

    def mac(self, purpose: str, content: bytes) -> bytes:
        return self.current.mac(purpose, content)

    def lookup(self, key: str) -> bytes:
        return self.current.lookup(key)

    def seal(self, plain: bytes, owner: str) -> bytes:
        return self.current.seal(plain, owner)

    def open(self, sealed: bytes, owner: str) -> bytes:
        return self.current.open(sealed, owner)
