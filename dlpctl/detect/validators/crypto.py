"""Addresses of cryptocurrencies and the words of a wallet's seed."""

from __future__ import annotations

from functools import cache

from dlpctl.detect.validators.bech32 import CHARACTERS, bech32, cash_address, numbers_of
from dlpctl.detect.validators.keccak import keccak_256
from dlpctl.detect.validators.registry import validator
from dlpctl.regex import lazy

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE58_RIPPLE = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
_BECH32_CONSTANTS = (1, 0x2BC830A3)
_LONGEST = 128

_VERSIONS = {
    "1": {b"\x00"},  # Bitcoin
    "3": {b"\x05"},
    "L": {b"\x30"},  # Litecoin
    "M": {b"\x32"},
    "D": {b"\x1e"},  # Dogecoin
    "9": {b"\x16"},
    "A": {b"\x16"},
    "X": {b"\x4c"},  # Dash
    "7": {b"\x10"},
    "T": {b"\x41"},  # Tron
    "t": {b"\x1c\xb8", b"\x1c\xbd"},  # Zcash
}
_HRPS = frozenset(
    {
        "bc",
        "tb",
        "ltc",
        "addr",
        "addr_test",
        "stake",
        "cosmos",
        "osmo",
        "terra",
        "celestia",
        "inj",
        "bnb",
        "zs",
        "one",
        "sei",
    }
)
_PHRASE_WORD = lazy(r"[a-z]+")
_ETHEREUM = lazy(r"0x[0-9a-fA-F]{40}")
_LONGEST_PHRASE = 640
_WORD_COUNTS = frozenset({12, 15, 18, 21, 24})


@cache
def _values(alphabet: str) -> bytes:
    """Return the value of each byte as a digit in base 58; 255 for other bytes."""
    return bytes(at if (at := alphabet.find(chr(code))) >= 0 else 255 for code in range(256))


def _from_base58(text: str, alphabet: str = _BASE58) -> bytes | None:
    if not 0 < len(text) <= _LONGEST or not text.isascii():
        return None
    digits = text.encode().translate(_values(alphabet))
    if max(digits) >= 58:
        return None
    number = 0
    for digit in digits:
        number = number * 58 + digit
    zeros = len(text) - len(text.lstrip(alphabet[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def _payload(text: str, alphabet: str = _BASE58) -> bytes | None:
    """Return the content of base58check, if its four bytes of checksum are right."""
    raw = _from_base58(text, alphabet)
    if raw is None or len(raw) < 5 or _sha256(_sha256(raw[:-4]))[:4] != raw[-4:]:
        return None
    return raw[:-4]


def _sha256(data: bytes) -> bytes:
    from hashlib import sha256  # loads OpenSSL, which takes longer than most checks

    return sha256(data).digest()


@validator("base58_address", proves=True)
def base58_address(value: str) -> bool:
    """Bitcoin, Litecoin, Dogecoin, Dash, Tron, Zcash: base58check of a version and 20 bytes."""
    payload = _payload(value) if value[:1] in _VERSIONS else None
    return payload is not None and len(payload) >= 21 and payload[:-20] in _VERSIONS[value[0]]


@validator("ripple_address", proves=True)
def ripple_address(value: str) -> bool:
    # The first character is zero, and so is the first byte.
    payload = _payload(value, _BASE58_RIPPLE) if value.startswith(_BASE58_RIPPLE[0]) else None
    return payload is not None and len(payload) == 21 and payload[0] == 0


@validator("bech32_address", proves=True)
def bech32_address(value: str) -> bool:
    """Bech32 and bech32m with a known prefix of a chain."""
    text = value.lower()
    if len(text) > _LONGEST or (value not in (text, value.upper())):
        return False
    prefix, separator, data = text.rpartition("1")
    if not separator or prefix not in _HRPS or len(data) < 14 or not set(data) <= set(CHARACTERS):
        return False
    return bech32(prefix, numbers_of(data)) in _BECH32_CONSTANTS


@validator("cashaddr", proves=True)
def cashaddr(value: str) -> bool:
    """Bitcoin Cash, with or without its prefix."""
    text = value.lower().removeprefix("bitcoincash:")
    if not 42 <= len(text) <= _LONGEST or not set(text) <= set(CHARACTERS):
        return False
    return cash_address("bitcoincash", numbers_of(text)) == 1


@validator("ethereum_address", proves=True)
def ethereum_address(value: str) -> bool:
    """EIP-55: in an address of both cases, they encode the hash of the lower-case address."""
    if not _ETHEREUM.fullmatch(value) or len(set(value[2:].lower())) < 5:
        return False
    address = value[2:]
    if address in (address.lower(), address.upper()):
        return True
    digest = keccak_256(address.lower().encode()).hex()
    return all(
        char.isdigit() or char.isupper() == (nibble >= "8")
        for char, nibble in zip(address, digest, strict=False)
    )


@validator("solana_address")
def solana_address(value: str) -> bool:
    """Thirty-two bytes in base58, which has no checksum; nobody's key is all letters or digits."""
    raw = _from_base58(value)
    return (
        raw is not None
        and len(raw) == 32
        and not value.isalpha()
        and value.upper() != value != value.lower()
    )


@validator("monero_address", proves=True)
def monero_address(value: str) -> bool:
    """Blocks of eleven characters for eight bytes each; four bytes of Keccak check the rest."""
    if len(value) not in {95, 106} or not set(value) <= set(_BASE58):
        return False
    raw = b""
    for start in range(0, len(value), 11):
        block = value[start : start + 11]
        number = 0
        for char in block:
            number = number * 58 + _BASE58.index(char)
        size = {11: 8, 7: 5}[len(block)]
        if number >= 1 << 8 * size:
            return False
        raw += number.to_bytes(size, "big")
    return raw[0] in {18, 19, 42} and keccak_256(raw[:-4])[:4] == raw[-4:]


@validator("stellar_address", proves=True)
def stellar_address(value: str) -> bool:
    """Base32 of a version, a key and a CRC-16."""
    from base64 import b32decode
    from binascii import crc_hqx

    if len(value) != 56 or not set(value) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"):
        return False
    raw = b32decode(value)
    return raw[0] == 6 << 3 and crc_hqx(raw[:-2], 0) == int.from_bytes(raw[-2:], "little")


@validator("substrate_address", proves=True)
def substrate_address(value: str) -> bool:
    """Polkadot and Kusama: base58 with two bytes of BLAKE2b."""
    from hashlib import blake2b

    # A byte takes at least one character (zero) and 1.37 on average.
    raw = _from_base58(value) if 35 <= len(value) <= 48 else None
    return (
        raw is not None
        and len(raw) == 35
        and blake2b(b"SS58PRE" + raw[:-2]).digest()[:2] == raw[-2:]
    )


@cache
def _bip39_indexes() -> dict[str, int]:
    from pathlib import Path

    import dlpctl_patterns

    words = (
        Path(dlpctl_patterns.__path__[0], "financial", "bip39_english.txt")
        .read_text(encoding="ascii")
        .split()
    )
    return {word: index for index, word in enumerate(words)}


def _phrase_words(value: str) -> list[str]:
    return _PHRASE_WORD.findall(value[:_LONGEST_PHRASE].lower())


@validator("bip39_words")
def bip39_words(value: str) -> bool:
    """As many words as a seed phrase has, all from the word list."""
    words, indexes = _phrase_words(value), _bip39_indexes()
    return (
        len(value) <= _LONGEST_PHRASE
        and len(words) in _WORD_COUNTS
        and all(word in indexes for word in words)
    )


@validator("bip39_phrase", proves=True)
def bip39_phrase(value: str) -> bool:
    """Words of eleven bits each: entropy, and at its end the first bits of its SHA-256."""
    words, indexes = _phrase_words(value), _bip39_indexes()
    if not bip39_words(value):
        return False
    bits = 0
    for word in words:
        bits = bits << 11 | indexes[word]
    checked = len(words) // 3
    entropy = (bits >> checked).to_bytes(checked * 4, "big")
    return _sha256(entropy)[0] >> 8 - checked == bits & (1 << checked) - 1


@validator("crypto_base58", proves=True)
def crypto_base58(value: str) -> bool:
    """An address of any of the chains that write base58 with a checksum."""
    return base58_address(value) or ripple_address(value) or substrate_address(value)
