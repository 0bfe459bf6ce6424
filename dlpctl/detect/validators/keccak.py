"""Keccak-256 as Ethereum and Monero use it: with the padding before standardization, unlike SHA-3
in hashlib.
"""

from __future__ import annotations

_RATE = 136
_MASK = (1 << 64) - 1


def _round_constants() -> list[int]:
    """Compute the constants with the linear feedback shift register of the specification."""
    constants = []
    state = 1
    for _ in range(24):
        constant = 0
        for exponent in range(7):
            if state & 1:
                constant |= 1 << ((1 << exponent) - 1)
            state = (state << 1) ^ (0x171 if state & 0x80 else 0)
        constants.append(constant)
    return constants


def _rotations() -> list[int]:
    offsets = [0] * 25
    x, y = 1, 0
    for step in range(24):
        offsets[x + 5 * y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return offsets


_CONSTANTS = _round_constants()
_ROTATIONS = _rotations()
_PLACES = [y + 5 * ((2 * x + 3 * y) % 5) for y in range(5) for x in range(5)]
"""The new position of the lane at x + 5y."""


def _rotate(lane: int, by: int) -> int:
    return ((lane << by) | (lane >> (64 - by))) & _MASK


def _permute(lanes: list[int]) -> list[int]:
    for constant in _CONSTANTS:
        columns = [
            lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
            for x in range(5)
        ]
        mixed = [columns[x - 1] ^ _rotate(columns[(x + 1) % 5], 1) for x in range(5)]
        moved = [0] * 25
        for index, lane in enumerate(lanes):
            moved[_PLACES[index]] = _rotate(lane ^ mixed[index % 5], _ROTATIONS[index])
        lanes = [
            moved[index]
            ^ (
                ~moved[index - index % 5 + (index + 1) % 5]
                & moved[index - index % 5 + (index + 2) % 5]
            )
            for index in range(25)
        ]
        lanes[0] ^= constant
    return lanes


def keccak_256(message: bytes) -> bytes:
    padded = bytearray(message + bytes(_RATE - len(message) % _RATE))
    padded[len(message)] |= 0x01
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE):
        for index in range(_RATE // 8):
            lanes[index] ^= int.from_bytes(
                padded[start + 8 * index : start + 8 * index + 8], "little"
            )
        lanes = _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
