"""Features of several tokens, identified by a number made of numbers of the tokens.

Most pairs and triples of classes in a text never occurred in training, and a number is made faster
than a name. Training uses these functions, too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

_MASK = (1 << 32) - 1
_BEFORE, _HERE, _AFTER = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_FAR_BEFORE, _FAR_AFTER, _KEY_BEFORE, _KEY_AFTER = 0x27D4EB2F, 0x165667B1, 0xD6E8FEB9, 0xA3B19553
_MOOD, _MIX = 0xB5297A4D, 0x68E31DA5
"""Odd numbers, which distinguish what precedes a token from what follows it."""


class ClassCodes(NamedTuple):
    """A coarse class as a part of features, by the position of its token."""

    own: int
    before: int
    after: int
    far_before: int
    far_after: int


@lru_cache(maxsize=4096)
def class_codes(cls: str) -> ClassCodes:
    code = crc32(cls.encode("utf-8", "surrogatepass"))
    return ClassCodes(
        *(code * odd & _MASK for odd in (_HERE, _BEFORE, _AFTER, _FAR_BEFORE, _FAR_AFTER))
    )


def key_codes(key: str) -> tuple[int, int]:
    """Return a word as a part of features, before the token and after it."""
    code = crc32(key.encode("utf-8", "surrogatepass"))
    return code * _KEY_BEFORE & _MASK, code * _KEY_AFTER & _MASK


def triple_codes(mood: int, left: int, right: int, own: int) -> list[int]:
    """Return the features of a token and of the classes beside it."""
    codes = [left, right, (left * _MIX + right) & _MASK]
    return [*codes, own ^ mood * _MOOD & _MASK] if mood else codes
