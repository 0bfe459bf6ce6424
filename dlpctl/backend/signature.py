"""Tokens signed with RS256, verified by the standard library alone.

A command verifies its license each time it runs, in a few tenths of a millisecond; importing a
cryptography library takes a hundred times that. Only public values are handled here, so nothing has
to be constant in time. PKCS #1 v1.5 is verified the safe way: what must have been signed is built
and compared whole, nothing of the signature is parsed (RFC 8017, 8.2.2).
"""

from __future__ import annotations

import binascii
import json
from typing import Any, NamedTuple

from dlpctl.errors import LicenseError

ALGORITHM = "RS256"
_MAX_TOKEN = 16_384
_MIN_BITS = 2_048
_MAX_BITS = 8_192
_EXPONENT = 65_537
_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_RSA_ENCRYPTION = bytes.fromhex("06092a864886f70d0101010500")
_SEQUENCE, _INTEGER, _BIT_STRING = 0x30, 0x02, 0x03
_FROM_URL = str.maketrans("-_", "+/")


class Token(NamedTuple):
    """A token whose signature nobody has looked at yet."""

    key_id: str
    signed: bytes
    signature: bytes
    payload: bytes

    @classmethod
    def parse(cls, text: str) -> Token:
        parts = text.split(".") if len(text) <= _MAX_TOKEN and text.isascii() else []
        if len(parts) != 3:
            raise LicenseError("the license token is no signed token")
        try:
            head, payload, signature = map(_decoded, parts)
            header = json.loads(head)
            algorithm, key_id, critical = header["alg"], header["kid"], "crit" in header
        except (ValueError, KeyError, TypeError, RecursionError):
            raise LicenseError("the license token is no signed token") from None
        if algorithm != ALGORITHM or critical:
            raise LicenseError(f"the license token is not signed with {ALGORITHM}; it was refused")
        if not isinstance(key_id, str) or not key_id.isprintable():
            raise LicenseError("the license token names no key")
        return cls(key_id, ".".join(parts[:2]).encode(), signature, payload)

    def claims(self, public_key: str) -> dict[str, Any]:
        """What it says, if the owner of the key (PEM) has said it."""
        from hashlib import sha256

        modulus = _modulus(public_key)
        size = (modulus.bit_length() + 7) // 8
        digest = _SHA256_INFO + sha256(self.signed).digest()
        expected = b"\x00\x01" + b"\xff" * (size - len(digest) - 3) + b"\x00" + digest
        number = int.from_bytes(self.signature, "big")
        if (
            len(self.signature) != size
            or number >= modulus
            or pow(number, _EXPONENT, modulus).to_bytes(size, "big") != expected
        ):
            raise LicenseError(
                "the license token was not signed by the server's key; it was refused"
            )
        try:
            claims = json.loads(self.payload)
        except (ValueError, RecursionError):
            claims = None
        if not isinstance(claims, dict):
            raise LicenseError("the license token holds no claims")
        return claims


def _decoded(text: str) -> bytes:
    usual = text.translate(_FROM_URL) + "=" * (-len(text) % 4)
    data = binascii.a2b_base64(usual, strict_mode=True)
    if set(text) & set("=+/") or binascii.b2a_base64(data, newline=False).decode() != usual:
        raise ValueError  # there is one spelling of each token
    return data


def _modulus(pem: str) -> int:
    """Of a public RSA key as the server gives it out: a SubjectPublicKeyInfo."""
    try:
        lines = pem.strip().splitlines()
        if (lines[0], lines[-1]) != ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"):
            raise ValueError
        outer = _value(binascii.a2b_base64("".join(lines[1:-1]), strict_mode=True), _SEQUENCE)
        algorithm, rest = _split(outer, _SEQUENCE)
        if algorithm != _RSA_ENCRYPTION:
            raise ValueError
        bits = _value(rest, _BIT_STRING)
        if bits[:1] != b"\0":
            raise ValueError
        number, exponent = _split(_value(bits[1:], _SEQUENCE), _INTEGER)
        modulus = int.from_bytes(number, "big")
        if int.from_bytes(_value(exponent, _INTEGER), "big") != _EXPONENT or number[:1] >= b"\x80":
            raise ValueError
    except (ValueError, IndexError):
        raise LicenseError("the server's public key is no RSA key in PEM") from None
    if not _MIN_BITS <= modulus.bit_length() <= _MAX_BITS:
        raise LicenseError(
            f"the server's public key has {modulus.bit_length()} bits; it was refused"
        )
    return modulus


def _split(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The first value in DER, and what follows it."""
    if data[0] != tag:
        raise ValueError
    length, begin = data[1], 2
    if length >= 0x80:
        begin += length & 0x7F
        length = int.from_bytes(data[2:begin], "big")
    end = begin + length
    if end > len(data):
        raise ValueError
    return data[begin:end], data[end:]


def _value(data: bytes, tag: int) -> bytes:
    value, rest = _split(data, tag)
    if rest:
        raise ValueError
    return value
