"""The parts of an ORC file that say where the others are, in chunks that may be packed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple, Self

from dlpctl.errors import FormatError
from dlpctl.formats.protobuf import ProtoMessage
from dlpctl.formats.sections import RangeFile, ReadRange

MAGIC = b"ORC"
_LARGEST_TAIL = 64 << 20
_LARGEST_CHUNK = (1 << 23) - 1
_FOOTER_SIZE, _CODEC, _BLOCK, _METADATA_SIZE, _STATISTICS_SIZE, _MAGIC = 1, 2, 3, 5, 7, 8000
HEADER_SIZE, CONTENT_SIZE, STRIPES, TYPES, METADATA, ROWS, STATISTICS = range(1, 8)
_ENCRYPTION = 10
_HEADER = 3
"""The size of the number before a chunk: twice its size, and one more if it is not packed."""


class OrcTail(NamedTuple):
    """The end of an ORC file: its footer, and how chunks are packed."""

    postscript: ProtoMessage
    footer: ProtoMessage

    @classmethod
    def read(cls, read: ReadRange, size: int) -> Self:
        (length,) = read(size - 1, size)
        end = size - 1 - length
        postscript = ProtoMessage(read(end, size - 1))
        if postscript.bytes_of(_MAGIC) != [MAGIC]:
            raise damaged()
        first = end - postscript.number(_FOOTER_SIZE)
        if first < len(MAGIC):
            raise damaged()
        tail = cls(postscript, ProtoMessage())
        footer = tail.message(read, first, end)
        if footer.bytes_of(_ENCRYPTION):
            raise FormatError("the file of orc is encrypted")
        return cls(postscript, footer)

    def message(self, read: ReadRange, first: int, last: int) -> ProtoMessage:
        """Return the message in a range of the file."""
        file = RangeFile(read, last)
        file.seek(first)
        data = file.read(last - first)
        codec = self.postscript.number(_CODEC)
        if not codec:
            return ProtoMessage(data)
        pieces: list[bytes] = []
        at = taken = 0
        while at < len(data):
            head = int.from_bytes(data[at : at + _HEADER], "little")
            at += _HEADER
            chunk = data[at : at + (head >> 1)]
            at += head >> 1
            pieces.append(chunk if head & 1 else _unpacked(codec, chunk))
            taken += len(pieces[-1])
            if taken > _LARGEST_TAIL:
                raise FormatError("the directory of the file is too large")
        return ProtoMessage(b"".join(pieces))

    def chunks(self, message: ProtoMessage) -> bytes:
        """Return a message as chunks that are not packed."""
        data = bytes(message)
        if not self.postscript.number(_CODEC):
            return data
        most = min(self.postscript.number(_BLOCK) or _LARGEST_CHUNK, _LARGEST_CHUNK)
        chunks = [data[first : first + most] for first in range(0, len(data), most)]
        return b"".join(
            (len(chunk) << 1 | 1).to_bytes(_HEADER, "little") + chunk for chunk in chunks
        )

    def end_of(self, footer: ProtoMessage) -> bytes:
        """Return the end of a file with a footer of its own, and without statistics."""
        made = self.chunks(footer)
        sizes = {_FOOTER_SIZE: [len(made)], _METADATA_SIZE: [0], _STATISTICS_SIZE: [0]}
        postscript = bytes(self.postscript.replaced(sizes))
        return made + postscript + bytes((len(postscript),))


def _unpacked(codec: int, chunk: bytes) -> bytes:
    if codec not in _CODECS:
        raise FormatError("the file of orc is packed by an unknown codec")
    try:
        return _CODECS[codec](chunk)
    except (zlib.error, OSError) as error:
        raise damaged() from error


def _inflated(chunk: bytes) -> bytes:
    return zlib.decompressobj(-15).decompress(chunk, _LARGEST_CHUNK)


def _from_snappy(chunk: bytes) -> bytes:
    import pyarrow

    size = shift = 0
    for byte in chunk[:4]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    data: bytes = pyarrow.Codec("snappy").decompress(chunk, min(size, _LARGEST_CHUNK), asbytes=True)
    return data


def _from_zstd(chunk: bytes) -> bytes:
    import pyarrow

    with pyarrow.CompressedInputStream(pyarrow.BufferReader(chunk), "zstd") as stream:
        data: bytes = stream.read(_LARGEST_CHUNK)
    return data


def _from_lz4(chunk: bytes) -> bytes:
    """Return a block of LZ4, whose size nothing tells."""
    made = bytearray()
    at = 0

    def length(number: int) -> int:
        nonlocal at
        more = number == 15
        while more:
            number += chunk[at]
            more = chunk[at] == 255
            at += 1
        return number

    while at < len(chunk):
        token = chunk[at]
        at += 1
        literals = length(token >> 4)
        made += chunk[at : at + literals]
        at += literals
        if at >= len(chunk):
            break
        offset = int.from_bytes(chunk[at : at + 2], "little")
        at += 2
        left = length(token & 15) + 4
        if not 0 < offset <= len(made) or len(made) + left > _LARGEST_CHUNK:
            raise damaged()
        while left:
            piece = made[-offset:][:left]
            made += piece
            left -= len(piece)
    return bytes(made)


_CODECS: dict[int, Callable[[bytes], bytes]] = {
    1: _inflated,
    2: _from_snappy,
    4: _from_lz4,
    5: _from_zstd,
}


def damaged() -> FormatError:
    return FormatError("the file of orc is damaged or encrypted")
