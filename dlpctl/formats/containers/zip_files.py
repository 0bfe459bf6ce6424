"""ZIP as a container: the code that archives and ZIP-based documents share.

A format defines the meaning of the entries; opening, reading within the limits and finding bytes
that belong to no entry are the same for all formats.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dlpctl.errors import DlpctlError, FormatError
from dlpctl.formats.containers.zip_methods import METHODS
from dlpctl.formats.interface import Child
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.formats.archive import Allowance

ENCRYPTED = 0x1
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)
"""Errors of zipfile for damaged files, unknown compression methods and encryption."""
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_DESCRIPTOR = b"PK\x07\x08"
_MARKERS = (_DESCRIPTOR, b"PK00")
"""The first bytes of a split archive."""
_DESCRIPTOR_SIZES = (12, 20)
_WORD = lazy(rb"(?:[\x20-\x7e]\0?){5}")
_END_RECORD, _END_SIZE = b"PK\x05\x06", 22
_SHORTEST_TEXT = 4
"""Characters of a text in an extra field."""


@contextmanager
def opened(data: bytes) -> Iterator[zipfile.ZipFile]:
    """Open an archive for reading; errors become a `FormatError`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
    except DlpctlError:
        raise
    except BROKEN as error:
        raise FormatError("the ZIP archive is damaged") from error


def contents(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    allowance: Allowance,
    password: str | None = None,
) -> bytes:
    """Return the decompressed entry, within the limits."""
    if info.compress_type in METHODS and not info.flag_bits & ENCRYPTED:
        return _unpacked(archive, info, allowance)
    with archive.open(info, pwd=None if password is None else password.encode()) as stream:
        return allowance.read(stream, info.compress_size)


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance) -> bytes:
    assert archive.fp is not None
    archive.fp.seek(info.header_offset)
    archive.fp.seek(info.header_offset + local_size(archive.fp.read(_LOCAL_HEADER.size)))
    packed = archive.fp.read(info.compress_size)
    data = allowance.read(METHODS[info.compress_type](packed, info.file_size), len(packed))
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(info.CRC)
    return data


def gaps(data: bytes, archive: zipfile.ZipFile, noun: str) -> Iterator[Child]:
    """Return the bytes of no entry and those after the end, for a search; a masked copy lacks them.

    Overlapping entries are refused, since they let a small file expand without end.
    """
    at = 0
    for info in sorted(archive.infolist(), key=lambda each: each.header_offset):
        start = info.header_offset
        if start < at:
            raise FormatError(
                f"{noun} of the ZIP archive overlap: it is made to expand without end"
            )
        yield from _gap(data, at, start, noun, is_first=not at)
        header = data[start : start + _LOCAL_HEADER.size]
        if len(header) < _LOCAL_HEADER.size:
            raise FormatError("the ZIP archive is damaged")
        at = start + local_size(header) + info.compress_size
    yield from _gap(data, at, archive.start_dir, noun, is_first=not at)
    end = data.rfind(_END_RECORD) + _END_SIZE + len(archive.comment)
    yield from _gap(data, end, len(data), noun, is_first=True)


def extra_texts(data: bytes, info: zipfile.ZipInfo) -> str:
    """Return the texts in the extra fields of an entry, which it has in two places."""
    header = data[info.header_offset : info.header_offset + _LOCAL_HEADER.size]
    end = info.header_offset + local_size(header)
    (own_size,) = _LOCAL_HEADER.unpack(header)[-1:]
    fields = dict.fromkeys((info.extra, data[end - own_size : end]))
    return "\n".join(filter(None, map(printable, fields)))


def printable(raw: bytes) -> str:
    """Return the texts in bytes, one per line."""
    text = "".join(char if char.isprintable() else "\n" for char in raw.decode("utf-8", "replace"))
    return "\n".join(line for line in text.split("\n") if len(line) >= _SHORTEST_TEXT)


def local_size(header: bytes) -> int:
    """Return the number of bytes of an entry before its contents."""
    fields = _LOCAL_HEADER.unpack(header)
    return int(_LOCAL_HEADER.size + fields[9] + fields[10])


def _gap(data: bytes, start: int, end: int, noun: str, *, is_first: bool) -> Iterator[Child]:
    between = data[start:end]
    expected = between in _MARKERS if is_first else _is_descriptor(between)
    if between.strip(b"\0") and not expected:
        location = f"bytes {start}-{end} between {noun}"
        contents = between if is_first else between.removeprefix(_DESCRIPTOR)
        yield Child(f"gap {start}", location, contents, spare=True)


def _is_descriptor(between: bytes) -> bool:
    """Return whether bytes are an entry's checksum and sizes, and not a text of that length."""
    written = between.removeprefix(_DESCRIPTOR)
    return len(written) in _DESCRIPTOR_SIZES and _WORD.search(written) is None


def copy_of(info: zipfile.ZipInfo, name: str) -> zipfile.ZipInfo:
    """Return an entry for a copy of the archive, without its extra fields and comment."""
    copy = zipfile.ZipInfo(name, info.date_time)
    copy.external_attr, copy.create_system = info.external_attr, info.create_system
    copy.compress_type = info.compress_type
    return copy
