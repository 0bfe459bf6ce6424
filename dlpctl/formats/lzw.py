"""The compression of `compress` (.Z): codes of 9 to 16 bits, in groups of eight."""

from __future__ import annotations

from collections.abc import Iterator

MAGIC = b"\x1f\x9d"
_CLEAR, _FEWEST_BITS, _MOST_BITS = 256, 9, 16
_BITS, _CLEARS = 0x1F, 0x80
"""Parts of the third byte: the largest width, and whether code 256 clears the table."""
_CHUNK = 1 << 16


class Unpacker:
    """A decompressor with the interface of those in the standard library."""

    unused_data = b""

    def __init__(self) -> None:
        self._chunks: Iterator[bytes] | None = None
        self._left = b""
        self.eof = False

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return the next bytes; the first call must provide all compressed data."""
        if self._chunks is None:
            self._chunks = _unpacked(data)
        while not self._left:
            chunk = next(self._chunks, None)
            if chunk is None:
                self.eof = True
                return b""
            self._left = chunk
        size = len(self._left) if max_length < 0 else max_length
        chunk, self._left = self._left[:size], self._left[size:]
        return chunk


def _codes(data: bytes, most: int, width: list[int]) -> Iterator[int]:
    """Yield codes of the width that `width` holds; a new width starts at a new group."""
    at = 3
    while at < len(data):
        bits = width[0]
        group = data[at : at + bits]
        at += bits
        packed = int.from_bytes(group, "little")
        for number in range(len(group) * 8 // bits):
            yield packed >> number * bits & (1 << bits) - 1
            if width[0] != bits or width[1]:
                width[1] = 0
                break


def _unpacked(data: bytes) -> Iterator[bytes]:
    # Programs disagree on files that are limited to 9-bit codes.
    if len(data) < 3 or not _FEWEST_BITS < data[2] & _BITS <= _MOST_BITS:
        raise ValueError("no width")
    most, clears = data[2] & _BITS, bool(data[2] & _CLEARS)
    first = _CLEAR + 1 if clears else _CLEAR
    width = [_FEWEST_BITS, 0]  # the width, and whether the table was cleared
    table: list[bytes] = [bytes((byte,)) for byte in range(256)] + [b""] * (first - 256)
    last = b""
    output = bytearray()
    for code in _codes(data, most, width):
        if clears and code == _CLEAR:
            del table[first:]
            width[:] = [_FEWEST_BITS, 1]
            last = b""
            continue
        if code < len(table):
            text = table[code]
        elif code == len(table) and last:
            text = last + last[:1]
        else:
            raise ValueError("a code that is not in the table")
        output += text
        if last and len(table) < 1 << most:
            table.append(last + text[:1])
        last = text
        if len(table) >= 1 << width[0] and width[0] < most:
            width[0] += 1
        if len(output) >= _CHUNK:
            yield bytes(output)
            output.clear()
    yield bytes(output)


def pack(data: bytes) -> bytes:
    """Return the data compressed, with a table that is never cleared."""
    packed = bytearray(MAGIC + bytes((_MOST_BITS | _CLEARS,)))
    table = {bytes((byte,)): byte for byte in range(256)}
    following, bits = _CLEAR + 1, _FEWEST_BITS
    group: list[int] = []

    def flush() -> None:
        value = sum(code << number * bits for number, code in enumerate(group))
        packed.extend(value.to_bytes(bits, "little"))
        group.clear()

    known = b""
    for byte in data:
        longer = known + bytes((byte,))
        if longer in table:
            known = longer
            continue
        group.append(table[known])
        if len(group) == 8:
            flush()
        if following < 1 << _MOST_BITS:
            table[longer] = following
            following += 1
            # The reader's table lacks the last entry.
            if following > 1 << bits and bits < _MOST_BITS:
                if group:
                    flush()
                bits += 1
        known = longer[-1:]
    if known:
        group.append(table[known])
    size = (len(group) * bits + 7) // 8
    end = len(packed) + size
    flush()
    return bytes(packed[:end])
