"""Compression of ZIP entries that 7-Zip and Windows use beside Deflate, if their libraries are
installed; py7zr brings both.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Protocol

_PACKED = 1 << 14
"""Packed bytes that are expanded at once."""


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Deflate64:
    def __init__(self, packed: bytes, size: int) -> None:
        import inflate64

        self._inflater = inflate64.Inflater()
        self._packed = packed
        self._at = 0

    def read(self, size: int, /) -> bytes:
        data = b""
        while not data and self._at < len(self._packed):
            data = self._inflater.inflate(self._packed[self._at : self._at + _PACKED])
            self._at += _PACKED
        return data


class _Ppmd:
    """PPMd in variant I; two bytes of parameters precede the data."""

    def __init__(self, packed: bytes, size: int) -> None:
        import pyppmd

        parameters = int.from_bytes(packed[:2], "little")
        order, memory = (parameters & 15) + 1, (parameters >> 4 & 0xFF) + 1 << 20
        self._decoder = pyppmd.Ppmd8Decoder(order, memory, parameters >> 12)
        self._packed = packed[2:]
        self._left = size

    def read(self, size: int, /) -> bytes:
        data = self._decoder.decode(self._packed, min(size, self._left)) if self._left else b""
        self._packed = b""
        self._left -= len(data)
        return bytes(data)


METHODS: dict[int, Callable[[bytes, int], _Stream]] = {
    number: method
    for number, module, method in ((9, "inflate64", _Deflate64), (98, "pyppmd", _Ppmd))
    if find_spec(module) is not None
}
"""Readers of packed bytes with the size that they expand to, by the number of the method."""
