"""Sections of a ZIP archive: ranges of entries, each with its own directory."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.containers.zip_files import BROKEN
from dlpctl.formats.sections import SECTION_BYTES, RangeFile, ReadRange, Section

_RECORD_SIZE = 46
_LENGTHS_AT, _OFFSET_AT = 28, 42
_END = struct.Struct("<4s4H2LH")
_MOST_ENTRIES = 256
"""The maximum number of entries in a section: files with more than `limits.entries`
are not read.
"""


class _Entry(NamedTuple):
    start: int
    record: bytes
    """The entry's record in the directory."""


def zip_sections(read: ReadRange, size: int) -> Iterator[Section]:
    """Yield sections that contain every byte before the directory of an archive."""
    try:
        with zipfile.ZipFile(RangeFile(read, size)) as archive:
            infos, directory, comment = archive.infolist(), archive.start_dir, archive.comment
        records = _records(RangeFile(read, size), directory, len(infos))
    except BROKEN as error:
        raise FormatError("the ZIP archive is damaged") from error
    entries = sorted(
        (_Entry(info.header_offset, record) for info, record in zip(infos, records, strict=True)),
        key=lambda entry: entry.start,
    )
    ends = [*(entry.start for entry in entries[1:]), directory]
    chosen: list[_Entry] = []
    first = 0
    for entry, end in zip(entries, ends, strict=True):
        if not 0 <= entry.start <= end:
            raise FormatError("the ZIP archive is damaged")
        is_full = end - first > SECTION_BYTES or len(chosen) == _MOST_ENTRIES
        if chosen and is_full:
            yield _section(first, entry.start, chosen, comment)
            chosen, first, comment = [], entry.start, b""
        chosen.append(entry)
    yield _section(first, directory, chosen, comment)


def _records(file: RangeFile, start: int, count: int) -> list[bytes]:
    """Return the unchanged records of a directory."""
    file.seek(start)
    data = file.read()
    records: list[bytes] = []
    at = 0
    for _ in range(count):
        lengths = struct.unpack_from("<3H", data, at + _LENGTHS_AT)
        end = at + _RECORD_SIZE + sum(lengths)
        records.append(data[at:end])
        at = end
    return records


def _section(first: int, last: int, entries: list[_Entry], comment: bytes) -> Section:
    directory = b"".join(
        entry.record[:_OFFSET_AT]
        + struct.pack("<L", entry.start - first)
        + entry.record[_OFFSET_AT + 4 :]
        for entry in entries
    )
    # A section that is too large to be read needs no directory.
    at = min(last - first, 0xFFFFFFFF)
    counts = (len(entries), len(entries), len(directory), at, len(comment))
    return Section(first, last, b"", directory + _END.pack(b"PK\5\6", 0, 0, *counts) + comment)
