"""The tables of fonts: TrueType, OpenType, WOFF and WOFF 2, read and written."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import PurePosixPath

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance
from dlpctl.formats.interface import Limits
from dlpctl.regex import lazy

_SFNT, _WOFF, _WOFF2 = (b"\0\1\0\0", b"OTTO", b"true"), b"wOFF", b"wOF2"
MAGICS = (*_SFNT, _WOFF, *((_WOFF2,) if find_spec("brotli") is not None else ()))
_HEADER, _ENTRY = struct.Struct(">4s4H"), struct.Struct(">4s3L")
_WOFF_HEADER, _WOFF_ENTRY = struct.Struct(">4s4sLHHLHH5L"), struct.Struct(">4s4L")
_WOFF2_HEADER = struct.Struct(">4s4sLHHLLHH5L")
_TAGS_OF_WOFF2 = (
    b"cmapheadhheahmtxmaxpnameOS/2postcvt fpgmglyflocaprepCFF VORGEBDTEBLCgasphdmxkernLTSHPCLT"
    b"VDMXvheavmtxBASEGDEFGPOSGSUBEBSCJSTFMATHCBDTCBLCCOLRCPALSVG sbixacntavarbdatblocbslncvar"
    b"fdscfeatfmtxfvargvarhstyjustlcarmortmorxopbdproptrakZapfSilfGlatGlocFeatSill"
)
_LONGEST_NUMBER = 5
"""Bytes of a number in WOFF 2."""
_ADJUSTMENT_AT, _ADJUSTMENT = 8, 0xB1B0AFBA
_SIGNATURE, _HEAD = b"DSIG", b"head"
_OBFUSCATED, _OBFUSCATED_BYTES = ".odttf", 32
_GUID = lazy(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


@dataclass(frozen=True, slots=True)
class FontTables:
    """The tables of one font, and everything else in its file."""

    version: bytes
    tables: tuple[tuple[bytes, bytes], ...]
    """Tag and contents of each table."""
    metadata: bytes = b""
    """XML that only WOFF has."""
    outside: bytes = b""
    """The bytes that belong to no table."""
    container: bytes = b""
    """The magic of WOFF; empty for TrueType and OpenType."""

    def with_table(self, tag: bytes, contents: bytes) -> FontTables:
        """Return the font with other contents of a table, without anything outside of tables."""
        tables = tuple(
            (each, contents if each == tag else before)
            for each, before in self.tables
            if each != _SIGNATURE
        )
        return replace(self, tables=tables, metadata=b"", outside=b"")

    def written(self) -> bytes:
        if self.container == _WOFF2:
            raise CannotMaskError("a WOFF 2 font cannot be written: save it as TrueType")
        sfnt = _sfnt(self.version, self.tables)
        return _woff(self.version, sfnt) if self.container else sfnt


def read(data: bytes, limits: Limits) -> FontTables:
    try:
        if data.startswith(_WOFF2):
            return _read_woff2(data, limits)
        return _read_woff(data, limits) if data.startswith(_WOFF) else _read_sfnt(data)
    except (struct.error, zlib.error, IndexError) as error:
        raise FormatError("the font is damaged") from error


def obfuscated(name: str, data: bytes) -> bytes:
    """Return a font of an XPS file in its other form: plain, or obfuscated by its name."""
    path = PurePosixPath(name)
    guid = _GUID.search(path.stem) if path.suffix.lower() == _OBFUSCATED else None
    if guid is None or len(data) < _OBFUSCATED_BYTES:
        return data
    key = bytes.fromhex(guid[0].replace("-", ""))[::-1] * 2
    changed = bytes(byte ^ mask for byte, mask in zip(data, key, strict=False))
    return changed + data[_OBFUSCATED_BYTES:]


def _read_sfnt(data: bytes) -> FontTables:
    version, count, *_ = _HEADER.unpack_from(data)
    tables: list[tuple[bytes, bytes]] = []
    ranges = [(0, _HEADER.size + count * _ENTRY.size)]
    left = len(data)
    for index in range(count):
        tag, _, start, size = _ENTRY.unpack_from(data, _HEADER.size + index * _ENTRY.size)
        left -= size
        tables.append((tag, _slice(data, start, size, left)))
        ranges.append((start, start + size))
    return FontTables(version, tuple(tables), outside=_outside(data, ranges))


def _read_woff(data: bytes, limits: Limits) -> FontTables:
    _, version, _, count, _, _, _, _, meta_at, meta_size, _, private_at, private_size = (
        _WOFF_HEADER.unpack_from(data)
    )
    allowance = Allowance(limits)
    tables: list[tuple[bytes, bytes]] = []
    ranges = [(0, _WOFF_HEADER.size + count * _WOFF_ENTRY.size), (meta_at, meta_at + meta_size)]
    left = len(data)
    for index in range(count):
        tag, start, packed, size, _ = _WOFF_ENTRY.unpack_from(
            data, _WOFF_HEADER.size + index * _WOFF_ENTRY.size
        )
        left -= packed
        contents = _slice(data, start, packed, left)
        tables.append((tag, contents if packed == size else _inflated(contents, allowance)))
        ranges.append((start, start + packed))
    metadata = _inflated(_slice(data, meta_at, meta_size), allowance) if meta_size else b""
    outside = _outside(data, ranges) + _slice(data, private_at, private_size)
    return FontTables(version, tuple(tables), metadata, outside, _WOFF)


def _read_woff2(data: bytes, limits: Limits) -> FontTables:
    header = _WOFF2_HEADER.unpack_from(data)
    version, count, packed = header[1], header[3], header[6]
    meta_at, meta_size, _, private_at, private_size = header[9:]
    if version == b"ttcf":
        raise FormatError("the font is a collection")
    at = _WOFF2_HEADER.size
    sizes: list[tuple[bytes, int]] = []
    for _ in range(count):
        flags, at = data[at], at + 1
        tag = _TAGS_OF_WOFF2[4 * (flags & 63) : 4 * (flags & 63) + 4]
        if flags & 63 == 63:
            tag, at = data[at : at + 4], at + 4
        size, at = _number(data, at)
        # Only the outlines are transformed unless the flag says so, and all others if it does.
        if (tag in {b"glyf", b"loca"}) != bool(flags >> 6):
            size, at = _number(data, at)
        sizes.append((tag, size))
    allowance = Allowance(limits)
    ranges = [(0, at + packed), (meta_at, meta_at + meta_size)]
    unpacked = _from_brotli(_slice(data, at, packed), allowance)
    metadata = _from_brotli(_slice(data, meta_at, meta_size), allowance) if meta_size else b""
    tables, read_to = [], 0
    for tag, size in sizes:
        tables.append((tag, _slice(unpacked, read_to, size)))
        read_to += size
    outside = _outside(data, ranges) + _slice(data, private_at, private_size)
    return FontTables(version, tuple(tables), metadata, outside + unpacked[read_to:], _WOFF2)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, and the position after it."""
    value = 0
    for after in range(at + 1, at + 1 + _LONGEST_NUMBER):
        value = value << 7 | data[after - 1] & 127
        if not data[after - 1] & 128:
            return value, after
    raise FormatError("a number of the font is too long")


def _slice(data: bytes, start: int, size: int, left: int = 0) -> bytes:
    """Return a part of a font; `left` is below zero if its parts share bytes, of which each would
    be copied many times.
    """
    if start + size > len(data):
        raise FormatError("the font is cut off")
    if left < 0:
        raise FormatError("the tables of the font overlap")
    return data[start : start + size]


def _inflated(packed: bytes, allowance: Allowance) -> bytes:
    inflater = zlib.decompressobj()
    output = b"".join(_chunks(inflater, packed, allowance))
    if inflater.unused_data or not inflater.eof:
        raise FormatError("the font is damaged")
    return output


def _from_brotli(packed: bytes, allowance: Allowance) -> bytes:
    import brotli

    unpacker = brotli.Decompressor()
    chunks: list[bytes] = []
    try:
        while not unpacker.is_finished():
            chunks.append(unpacker.process(packed, output_buffer_limit=1 << 20))
            allowance.expanded(len(chunks[-1]))
            if not packed and not chunks[-1]:
                raise FormatError("the font is cut off")
            packed = b""
    except brotli.error as error:
        raise FormatError("the font is damaged") from error
    return b"".join(chunks)


def _chunks(inflater: zlib._Decompress, packed: bytes, allowance: Allowance) -> Iterator[bytes]:
    while packed and not inflater.eof:
        chunk = inflater.decompress(packed, 1 << 20)
        allowance.expanded(len(chunk))
        packed = inflater.unconsumed_tail
        yield chunk


def _outside(data: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """Return the bytes in none of the ranges, without the zeros that align tables."""
    parts: list[bytes] = []
    at = 0
    for start, end in sorted(ranges):
        parts.append(data[at:start].strip(b"\0"))
        at = max(at, end)
    return b"".join((*parts, data[at:].strip(b"\0")))


def _sfnt(version: bytes, tables: tuple[tuple[bytes, bytes], ...]) -> bytes:
    count = len(tables)
    power = 1 << count.bit_length() - 1
    header = _HEADER.pack(version, count, power * 16, power.bit_length() - 1, (count - power) * 16)
    at = len(header) + count * _ENTRY.size
    entries, body = bytearray(), bytearray()
    head_at = 0
    for tag, contents in tables:
        padded = contents + bytes(-len(contents) % 4)
        if tag == _HEAD:
            head_at = at + len(body)
            padded = padded[:_ADJUSTMENT_AT] + bytes(4) + padded[_ADJUSTMENT_AT + 4 :]
        entries += _ENTRY.pack(tag, _checksum(padded), at + len(body), len(contents))
        body += padded
    font = bytearray(header + entries + body)
    if head_at:
        adjustment = (_ADJUSTMENT - _checksum(bytes(font))) & 0xFFFFFFFF
        struct.pack_into(">L", font, head_at + _ADJUSTMENT_AT, adjustment)
    return bytes(font)


def _checksum(padded: bytes) -> int:
    numbers: tuple[int, ...] = struct.unpack(f">{len(padded) // 4}L", padded)
    return sum(numbers) & 0xFFFFFFFF


def _woff(version: bytes, sfnt: bytes) -> bytes:
    count = _HEADER.unpack_from(sfnt)[1]
    at = _WOFF_HEADER.size + count * _WOFF_ENTRY.size
    entries, body = bytearray(), bytearray()
    for index in range(count):
        tag, checksum, start, size = _ENTRY.unpack_from(sfnt, _HEADER.size + index * _ENTRY.size)
        packed = min(zlib.compress(sfnt[start : start + size]), sfnt[start : start + size], key=len)
        entries += _WOFF_ENTRY.pack(tag, at + len(body), len(packed), size, checksum)
        body += packed + bytes(-len(packed) % 4)
    header = (_WOFF, version, at + len(body), count, 0, len(sfnt), 1, 0, 0, 0, 0, 0, 0)
    return b"".join((_WOFF_HEADER.pack(*header), entries, body))
