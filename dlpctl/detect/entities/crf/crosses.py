"""Features of several tokens at once, named by a number that is put together from numbers of the
tokens.

Most pairs and triples of classes that a text shows were never seen before, and a number for each is
made faster than a name. Training uses this, too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

_MASK = (1 << 32) - 1
_BEFORE, _HERE, _BEHIND, _FAR_BEFORE, _FAR_BEHIND, _KEY_BEFORE, _KEY_BEHIND, _MOOD, _MIX = (
    0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1, 0xD6E8FEB9, 0xA3B19553, 0xB5297A4D, 0x68E31DA5,
)  # fmt: skip
"""Odd numbers: what stands before a token must not count as what stands behind it."""


class ClassCodes(NamedTuple):
    """A coarse class as a part of a feature, by where its token stands."""

    here: int
    before: int
    behind: int
    far_before: int
    far_behind: int


@lru_cache(maxsize=4096)
def class_codes(cls: str) -> ClassCodes:
    code = crc32(cls.encode("utf-8", "surrogatepass"))
    return ClassCodes(
        *(code * odd & _MASK for odd in (_HERE, _BEFORE, _BEHIND, _FAR_BEFORE, _FAR_BEHIND))
    )


def key_codes(key: str) -> tuple[int, int]:
    """A word as a part of a feature, where it stands before the token and where it stands behind
    it.
    """
    code = crc32(key.encode("utf-8", "surrogatepass"))
    return code * _KEY_BEFORE & _MASK, code * _KEY_BEHIND & _MASK


def triple_codes(mood: int, left: int, right: int, here: int) -> list[int]:
    """The features of a token and the classes beside it, from its code xored with that of either,
    and its own.
    """
    codes = [left, right, (left * _MIX + right) & _MASK]
    return [*codes, here ^ mood * _MOOD & _MASK] if mood else codes
