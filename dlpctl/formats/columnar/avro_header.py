"""The header of an Avro file."""

from __future__ import annotations

from typing import NamedTuple

from dlpctl.formats.columnar.avro_values import damaged, read_bytes, read_long

MAGIC = b"Obj\x01"
SYNC = 16
"""The length of the sync marker after the header and after each block."""


class AvroHeader(NamedTuple):
    metadata: dict[str, bytes]
    mark: bytes
    end: int


def read_header(data: bytes) -> AvroHeader:
    """Return the header at the start of a file; raise `FormatError` if it is not complete."""
    metadata: dict[str, bytes] = {}
    at, count = len(MAGIC), -1
    try:
        while count:
            count, at = read_long(data, at)
            if count < 0:
                _, at = read_long(data, at)
            for _ in range(abs(count)):
                key, at = read_bytes(data, at)
                metadata[key.decode()], at = read_bytes(data, at)
    except (IndexError, UnicodeDecodeError) as error:
        raise damaged() from error
    mark = data[at : at + SYNC]
    if len(mark) < SYNC:
        raise damaged()
    return AvroHeader(metadata, mark, at + SYNC)
