"""The footer of a Parquet file: its fields by number, and the footer of a section."""

from __future__ import annotations

from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.thrift import LIST, STRUCT, ThriftFields, ThriftValue, written
from dlpctl.formats.sections import VALUE_BYTES

MAGIC = b"PAR1"
INT32, INT64 = 5, 6
SCHEMA, ROWS, GROUPS, METADATA, ORDERS = 2, 3, 4, 5, 7
REPETITION, CHILDREN, REPEATED = 3, 5, 2
COLUMNS, GROUP_SIZE, GROUP_ROWS, GROUP_AT, ORDINAL = 1, 2, 3, 5, 7
CHUNK_PATH, CHUNK_AT, CHUNK = 1, 2, 3
VALUES, UNPACKED_SIZE, PACKED_SIZE, DATA_AT, DICTIONARY_AT = 5, 6, 7, 9, 11
ELSEWHERE = {COLUMNS: (4, 5, 6, 7), CHUNK: (10, 14, 15)}
"""Fields with the positions of indexes, which a section lacks."""


class RowGroup(NamedTuple):
    """A row group, or some of its columns."""

    number: int
    first: int
    last: int
    fields: ThriftFields

    @property
    def size(self) -> int:
        """Return the memory of the row group: its bytes, compressed or not, or its values."""
        values = self.fields[GROUP_ROWS].value * len(self.chunks)
        return int(max(self.last - self.first, self.fields[GROUP_SIZE].value, values * VALUE_BYTES))

    @property
    def chunks(self) -> list[ThriftFields]:
        chunks: list[ThriftFields] = self.fields[COLUMNS].value[1]
        return chunks


def without(fields: ThriftFields, numbers: tuple[int, ...]) -> ThriftFields:
    return {number: field for number, field in fields.items() if number not in numbers}


def end_of(footer: ThriftFields, rows: int, groups: list[ThriftFields]) -> bytes:
    """Return the footer of a section, and the bytes after the footer."""
    fields = footer | {
        ROWS: ThriftValue(INT64, rows),
        GROUPS: ThriftValue(LIST, (STRUCT, groups)),
    }
    made = written(fields)
    return made + len(made).to_bytes(4, "little") + MAGIC


def damaged() -> FormatError:
    return FormatError("the Parquet file is damaged or encrypted")
