"""The checksums of bech32 (BIP-173) and of the addresses of Bitcoin Cash."""

from __future__ import annotations

from collections.abc import Iterable

CHARACTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
"""The numbers from 0 to 31."""
_BECH32 = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CASHADDR = (0x98F2BC8E61, 0x79B76D99E2, 0xF33E5FB3C4, 0xAE2EABE2A8, 0x1E4F43E470)


def numbers_of(text: str) -> list[int]:
    return [CHARACTERS.index(char) for char in text]


def bech32(prefix: str, numbers: Iterable[int]) -> int:
    """Return what the checksum leaves of a prefix and numbers: 1 if it is right."""
    high, low = [ord(char) >> 5 for char in prefix], [ord(char) & 31 for char in prefix]
    return _remainder([*high, 0, *low, *numbers], _BECH32, 25)


def cash_address(prefix: str, numbers: Iterable[int]) -> int:
    """Return what the checksum leaves of a prefix and numbers: 1 if it is right."""
    return _remainder([*(ord(char) & 31 for char in prefix), 0, *numbers], _CASHADDR, 35)


def _remainder(numbers: Iterable[int], generators: Iterable[int], bits: int) -> int:
    check = 1
    for number in numbers:
        top = check >> bits
        check = (check & (1 << bits) - 1) << 5 ^ number
        for bit, generator in enumerate(generators):
            check ^= generator if top >> bit & 1 else 0
    return check
