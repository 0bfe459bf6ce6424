"""Checks of the structure of tokens: checksums, encoded parts, key blocks."""

from __future__ import annotations

import binascii
import re
import zlib
from itertools import pairwise

from dlpctl.detect.validators import secrets_judge as judge
from dlpctl.detect.validators.bech32 import CHARACTERS, bech32, numbers_of
from dlpctl.detect.validators.secrets_literals import password
from dlpctl.detect.validators.wordlists import read_words
from dlpctl.regex import lazy

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE64_URL = str.maketrans("-_", "+/")
_LONGEST = 16_384
_FEWEST_BYTES, _FEWEST_DECIMAL_BYTES = 8, 16
_NUMBER = lazy(r"-?(?:0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3})(?![0-9a-fA-FxX])")
_ESCAPED_BYTE = lazy(r"\\x([0-9a-fA-F]{2})|[ -~]")
_KNOWN_SEED = "JBSWY3DPE"
"""The start of the seed of manuals: base32 of `Hello`."""


def in_base(number: int, alphabet: str, width: int) -> str:
    """Return the number in the positional system of the alphabet, padded with its zero to the
    width.
    """
    digits = ""
    while number:
        number, digit = divmod(number, len(alphabet))
        digits = alphabet[digit] + digits
    return digits.rjust(width, alphabet[0])


def base62_crc(value: str) -> bool:
    """GitHub's and npm's scheme: random characters and their CRC-32 in six digits of base 62."""
    body = value.rpartition("_")[2]
    return in_base(zlib.crc32(body[:-6].encode("utf-8", "replace")), BASE62, 6) == body[-6:]


def gitlab_routable(value: str) -> bool:
    """`glpat-payload.2ccccccc`: the payload's length in base 36, and a CRC-32 of all before."""
    signed, checksum = value[:-7], value[-7:]
    payload = signed.rpartition("-")[2] if "_" not in signed else signed.partition("-")[2]
    payload = payload.partition(".")[0]
    declared = signed[-2:]
    sized = in_base(len(payload), BASE36, 2) == declared
    return sized and in_base(zlib.crc32(signed.encode("utf-8", "replace")), BASE36, 7) == checksum


def base64_bytes(text: str) -> bytes | None:
    """Return the decoded bytes of base64 in either alphabet, padded or not, or None."""
    plain = text.rstrip("=").translate(_BASE64_URL)
    try:
        return binascii.a2b_base64(plain + "=" * (-len(plain) % 4), strict_mode=True)
    except ValueError:
        return None


def jwt(value: str) -> bool:
    """A header that names an algorithm and, unless encrypted, claims that are a JSON object."""
    parts = value[:_LONGEST].split(".")
    header = base64_bytes(parts[0])
    if header is None or not header.startswith(b"{") or b'"alg"' not in header.replace(b" ", b""):
        return False
    if len(parts) == 5 or b'"enc"' in header:
        return True
    claims = base64_bytes(parts[1]) if len(parts) > 1 else None
    return (
        claims is not None
        and claims.lstrip().startswith(b"{")
        and (b":" in claims or claims.strip() == b"{}")
    )


def discord_bot(value: str) -> bool:
    """A token whose first part is the bot's numeric id in base64."""
    identity = base64_bytes(value.partition(".")[0])
    return identity is not None and identity.isdigit() and 17 <= len(identity) <= 20


def otp_seed(value: str) -> bool:
    """The seed of one-time passwords in base32, in one piece or in groups of four."""
    seed = value.replace(" ", "").replace("-", "")
    return not seed.isalpha() and judge.token(seed) and not seed.upper().startswith(_KNOWN_SEED)


def basic_auth(value: str) -> bool:
    """Base64 of `user:password` with a password that is not a placeholder."""
    decoded = base64_bytes(value[:1024])
    if not decoded or b":" not in decoded:
        return False
    text = decoded.decode("utf-8", "replace")
    if not text.isprintable() or "\ufffd" in text:
        return False
    secret = text.partition(":")[2]
    # An empty password means that the user name is the key, as with payment providers.
    return url_password(secret) if secret else judge.is_random(text[:-1])


def bech32_key(value: str) -> bool:
    """A key of age, with the checksum of BIP-173."""
    prefix, _, data = value.lower().rpartition("1")
    if not prefix or len(value) > 200 or any(char not in CHARACTERS for char in data):
        return False
    return bech32(prefix, numbers_of(data)) == 1


_KEY_HEADER = lazy(r"[A-Za-z-]{4,24}: [^\n\\]{0,200}")
_BLANK = lazy(r"\\[nrt]|[\s\"'+,\\|*#>;()]|^-|<br ?/?>", re.IGNORECASE)
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]+")


def private_key(value: str) -> bool:
    """A key block with a body: at least 40 characters of base64 of more than one class, without an
    ellipsis.
    """
    body = (
        value[:_LONGEST].partition("KEY")[2].lstrip(" BLOCK").lstrip("-").partition("-----END")[0]
    )
    body = _BLANK.sub("", _KEY_HEADER.sub("", body))
    if "..." in body or "xxxxx" in body.lower() or "example" in body.lower():
        return False
    run = max(_BASE64_RUN.findall(body), key=len, default="")
    return len(run) >= 40 and len(set(run)) >= 14


def private_key_body(value: str) -> bool:
    """The base64 of a private key without armor."""
    return len(set(value[:_LONGEST])) >= 30 and "xxxxx" not in value[:_LONGEST].lower()


def base64_private_key(value: str) -> bool:
    """Base64 of a PEM file with a private key, not just certificates."""
    decoded = base64_bytes(value[: _LONGEST - _LONGEST % 4])
    if decoded is None:
        decoded = base64_bytes(value[: len(value[:_LONGEST]) // 4 * 4 - 4])
    return decoded is not None and b"PRIVATE KEY" in decoded


def putty_key(value: str) -> bool:
    """The private lines of a PuTTY key, which are base64."""
    run = max(
        _BASE64_RUN.findall(value[:_LONGEST].rpartition("Private-Lines:")[2]), key=len, default=""
    )
    return len(run) >= 24 and len(set(run)) >= 10


def base64_object(value: str) -> bool:
    """Base64 of a JSON object, as service account keys and some tokens are."""
    decoded = base64_bytes(value[: _LONGEST - _LONGEST % 4])
    return decoded is not None and decoded.lstrip().startswith(b"{") and b'"' in decoded


_PUBLIC = read_words("url_password_labels")


def url_password(value: str) -> bool:
    """The password of a URL: a literal, possibly short and simple, but not a word for password."""
    if len(value) < 3 or value.lower() in _PUBLIC:
        return False
    if any(
        mark in value
        for mark in ("${", "{{", "$(", "<", ">", "...", "***", "%s", "%(", "{", "}", "[", "]", "`")
    ):
        return False
    if value.startswith(("$", "%25", "@", ":")) or (value.startswith("%") and value.endswith("%")):
        return False
    if (
        value.isupper()
        and value.replace("_", "").isalpha()
        and ("PASS" in value or "TOKEN" in value or "SECRET" in value)
    ):
        return False
    return password(value) or (len(set(value)) > 2 and not judge.has_placeholder_words(value))


def key_bytes(value: str) -> bool:
    """The bytes of a key as numbers or escapes: neither counted up, nor repeated, nor a text."""
    value = value[:_LONGEST]
    if "\\x" in value:
        found = [
            int(match[1], 16) if match[1] else ord(match[0])
            for match in _ESCAPED_BYTE.finditer(value)
        ]
        fewest = _FEWEST_BYTES
    else:
        numbers = _NUMBER.findall(value)
        found = [int(number, 0 if "x" in number.lower() else 10) for number in numbers]
        is_hexadecimal = any("x" in number.lower() for number in numbers)
        fewest = _FEWEST_BYTES if is_hexadecimal else _FEWEST_DECIMAL_BYTES
    if len(found) < fewest or not all(-128 <= byte < 256 for byte in found):
        return False
    steps = [after - before for before, after in pairwise(found)]
    return (
        len(set(found)) > len(found) // 2
        and len(set(steps)) > len(steps) // 2
        and any(byte < 0 or byte > 127 for byte in found)
    )
