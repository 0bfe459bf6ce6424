"""The codecs that compress the blocks of Avro files."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats import compressed
from dlpctl.formats.archive import Allowance
from dlpctl.formats.containers.unpacking import Unpacker

_CHUNK = 1 << 20
_CHECKSUM = 4
_PACKAGES = {"snappy": "pyarrow", "zstandard": "zstandard"}
_DAMAGED = "a block of the Avro file is damaged"


class BlockCodec(NamedTuple):
    unpack: Callable[[bytes, Allowance], bytes]
    pack: Callable[[bytes], bytes]


def codec_named(name: str) -> BlockCodec:
    """Return a codec; raise `FormatError` if it is unknown or its package is missing."""
    made = _CODECS.get(name)
    if made is None:
        raise FormatError("the blocks of the Avro file are packed by an unknown codec")
    try:
        return made()
    except (ImportError, StopIteration):
        raise FormatError(
            f"the blocks of the Avro file are packed by {name}: install {_PACKAGES[name]}"
        ) from None


def _null() -> BlockCodec:
    def unpack(packed: bytes, allowance: Allowance) -> bytes:
        allowance.expanded(len(packed))
        return packed

    return BlockCodec(unpack, bytes)


def _deflate() -> BlockCodec:
    def pack(data: bytes) -> bytes:
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(data) + packer.flush()

    return BlockCodec(lambda packed, of: _unpacked(compressed.Inflater(-15), packed, of), pack)


def _file(name: str) -> BlockCodec:
    """Return the codec that compresses a block like a file of a format."""
    chosen = next(each for each in compressed.FORMATS if each.name == name)
    return BlockCodec(lambda packed, of: _unpacked(chosen.unpacker(), packed, of), chosen.pack)


def _snappy() -> BlockCodec:
    import pyarrow

    codec = pyarrow.Codec("snappy")

    def unpack(packed: bytes, allowance: Allowance) -> bytes:
        body, checksum = packed[:-_CHECKSUM], packed[-_CHECKSUM:]
        size = shift = 0
        for byte in body[:5]:
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        allowance.expanded(size)
        allowance.ratio(size, len(packed))
        try:
            data: bytes = codec.decompress(body, size, asbytes=True)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise FormatError(_DAMAGED) from error
        if zlib.crc32(data).to_bytes(_CHECKSUM) != checksum:
            raise FormatError(_DAMAGED)
        return data

    def pack(data: bytes) -> bytes:
        packed: bytes = codec.compress(data, asbytes=True)
        return packed + zlib.crc32(data).to_bytes(_CHECKSUM)

    return BlockCodec(unpack, pack)


def _unpacked(unpacker: Unpacker, packed: bytes, allowance: Allowance) -> bytes:
    chunks: list[bytes] = []
    fed = packed
    size = 0
    try:
        while not unpacker.eof:
            chunk = unpacker.decompress(fed, _CHUNK)
            if not chunk and not fed and not unpacker.eof:
                raise FormatError(_DAMAGED)
            fed = b""
            size += len(chunk)
            allowance.expanded(len(chunk))
            allowance.ratio(size, len(packed))
            chunks.append(chunk)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
        raise FormatError(_DAMAGED) from error
    # A writer may leave part of zlib's checksum; readers of Avro never show more than that.
    if len(unpacker.unused_data) > _CHECKSUM:
        raise FormatError(_DAMAGED)
    return b"".join(chunks)


_CODECS: dict[str, Callable[[], BlockCodec]] = {
    "null": _null,
    "deflate": _deflate,
    "snappy": _snappy,
    "bzip2": lambda: _file("bzip2"),
    "xz": lambda: _file("xz"),
    "zstandard": lambda: _file("zstd"),
}
