"""Sections of Arrow files and streams are streams that hold all of it, and damage is refused."""

from __future__ import annotations

import decimal
import io
import json
import random
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.arrow_messages import starts_stream
from dlpctl.formats.columnar.arrow_sections import arrow_parts, arrow_sections
from dlpctl.formats.sections import FileRange, Section

if TYPE_CHECKING:
    from limits import Limiter

ROWS = 600
LARGE = 1_500
"""The size from which on batches are divided, and that of their sections."""


@pytest.fixture(autouse=True)
def small_sections(limit: Limiter) -> None:
    limit("dlpctl.formats.columnar.arrow_sections.SECTION_BYTES", LARGE)
    limit("dlpctl.formats.columnar.arrow_sections._LARGEST_BATCH", LARGE)
    limit("dlpctl.formats.columnar.arrow_sections._SMALL_BATCH", 0)


def table() -> pa.Table:
    """Return a table with columns of every layout."""
    rows, maps = range(ROWS), pa.map_("string", "int64")
    columns = {
        "text": [None if n % 7 == 0 else f"{n} {'x' * (n % 40)}" for n in rows],
        "large": pa.array([f"large {n}" for n in rows], "large_string"),
        "number": pa.array(rows, "int16"),
        "flag": [n % 3 == 0 for n in rows],
        "list": [[str(k) * 3 for k in range(n % 5)] if n % 11 else None for n in rows],
        "nested": [
            {"a": [{"b": str(n)}] * (n % 4), "c": [[n], []]} if n % 9 else None for n in rows
        ],
        "map": pa.array([[("k", n)] if n % 5 else None for n in rows], maps),
        "three": pa.array([[n, n, 1] if n % 9 else None for n in rows], pa.list_(pa.int32(), 3)),
        "category": pa.array([("a", "b", None)[n % 3] for n in rows]).dictionary_encode(),
        "other": pa.array([str(n % 50) for n in rows]).dictionary_encode(),
        "view": pa.array([f"longer than twelve {n}" for n in rows], pa.string_view()),
        "nothing": pa.nulls(ROWS),
        "fixed": pa.array([b"12345"] * ROWS, pa.binary(5)),
        "money": pa.array([decimal.Decimal(n) for n in rows], pa.decimal128(10, 2)),
        "time": pa.array(rows, pa.timestamp("ns", "Europe/Oslo")),
        "half": pa.array(map(float, rows), pa.float16()),
    }
    return pa.table(columns).replace_schema_metadata({"owner": "kept"})


def written(kind: str, chunk: int = ROWS, compression: str | None = None) -> bytes:
    output = io.BytesIO()
    made = table().combine_chunks()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with getattr(pa.ipc, f"new_{kind}")(output, made.schema, options=options) as writer:
        writer.write_table(made, max_chunksize=chunk)
    return output.getvalue()


def sections_of(data: bytes) -> list[Section]:
    return [*arrow_sections(lambda first, last: data[first:last], len(data))]


def read_all(data: bytes) -> dict[str, list[Any]]:
    """Return the values of each column over all sections, which JSON carries."""
    values: dict[str, list[Any]] = defaultdict(list)
    for each in sections_of(data):
        carried = Section.unpacked(*json.loads(json.dumps(each.packed())))
        contents = carried.contents(lambda first, last: data[first:last])
        read = pa.ipc.open_stream(contents).read_all()
        read.validate(full=True)
        for name in read.column_names:
            values[name] += read.column(name).to_pylist()
    return values


@pytest.mark.parametrize("chunk", [ROWS, 50])
@pytest.mark.parametrize(
    ("kind", "compression"), [("file", None), ("stream", None), ("file", "zstd")]
)
def test_sections_hold_all_values(kind: str, compression: str | None, chunk: int) -> None:
    data = written(kind, chunk, compression)
    assert read_all(data) == table().to_pydict()
    found = sections_of(data)
    assert found[0].first == 0
    assert all(each.first for each in found[1:])
    assert found[-1].label.startswith(f"batch {ROWS // chunk}, column ")
    if chunk == ROWS and not compression:
        assert found[1].label.startswith("batch 1, column 1, from row ")
        small = [each for each in found if each.label.startswith("batch 1, column 3, from row ")]
        assert len(small) > 2  # two bytes a value, and places that take more
        views = "batch 1, column 11"  # they need all buffers
        assert all(each.size <= 2 * LARGE for each in found if not each.label.startswith(views))


def parts_of(data: bytes) -> list[tuple[str, pa.Table]]:
    read = arrow_parts(lambda first, last: data[first:last], len(data))
    return [(part.label, pa.ipc.open_stream(stream).read_all()) for part, stream in read]


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_columns_are_unpacked_by_rows(compression: str) -> None:
    found = parts_of(written("stream", 400, compression))
    values: dict[str, list[Any]] = defaultdict(list)
    for _, each in found:
        each.validate(full=True)
        for name in each.column_names:
            values[name] += each.column(name).to_pylist()
    assert values == table().to_pydict()
    large = {label for label, each in found if each.nbytes > 2 * LARGE and each.num_rows > 64}
    assert large == {f"batch {n}, column 11" for n in (1, 2)}  # views need all of their buffers
    assert found[1][0] == "batch 1, column 1, from row 65"


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_damaged_compressed_columns_are_refused(compression: str) -> None:
    whole = written("file", compression=compression)
    chance = random.Random(2)
    refused = 0
    for _ in range(30):
        data = bytearray(whole)
        for _ in range(3):
            data[chance.randrange(3_000, len(data) - 3_000)] ^= 1 << chance.randrange(8)
        try:
            parts_of(bytes(data))
        except (FormatError, pa.ArrowException, OSError):
            refused += 1
    assert refused > 10


def test_files_of_old_versions_are_divided() -> None:
    rows = pa.table({"a": [f"text {n}" for n in range(1_000)], "b": range(1_000)})
    output = io.BytesIO()
    version = pa.ipc.MetadataVersion.V4
    options = pa.ipc.IpcWriteOptions(use_legacy_format=True, metadata_version=version)
    with pa.ipc.new_file(output, rows.schema, options=options) as writer:
        writer.write_table(rows)
    assert read_all(output.getvalue()) == rows.to_pydict()
    assert all(starts_stream(each.before) for each in sections_of(output.getvalue()))


def test_small_batches_are_read_together() -> None:
    output = io.BytesIO()
    rows = pa.table({"a": [str(n) for n in range(100)]})
    with pa.ipc.new_file(output, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=1)
    data = output.getvalue()
    found = sections_of(data)
    assert 3 < len(found) < 50
    assert found[1].label.startswith("batches ")
    assert [each.repeats for each in found[:2]] == [False, True]
    assert read_all(data) == rows.to_pydict()


def test_a_table_without_batches_has_one_section() -> None:
    output = io.BytesIO()
    with pa.ipc.new_file(output, table().schema):
        pass
    (only,) = sections_of(output.getvalue())
    data = only.contents(lambda first, last: output.getvalue()[first:last])
    assert pa.ipc.open_stream(data).read_all().schema.names == table().schema.names


def test_sizes_of_compressed_columns_are_known(limit: Limiter) -> None:
    rows = pa.table({"a": pa.array(["x" * 1000] * 1000, pa.string_view())})
    output = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(output, rows.schema, options=options) as writer:
        writer.write_table(rows)
    limit("dlpctl.formats.columnar.arrow_sections._LARGEST_BATCH", 100)
    limit("dlpctl.formats.columnar.arrow_sections._SMALL_BUFFER", 0)
    (only,) = sections_of(output.getvalue())
    assert only.memory >= 1_000_000 > only.size
    assert len(parts_of(output.getvalue())) == 1
    limit("dlpctl.formats.columnar.arrow_sections._LARGEST_ROWS", 500_000)
    with pytest.raises(FormatError, match="batch 1, column 1 takes more"):
        parts_of(output.getvalue())


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_damaged_files_are_refused_or_read_within_their_bytes(kind: str) -> None:
    whole = written(kind)
    chance = random.Random(1)
    refused = 0
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(3_000)
            data[-at if at % 2 else at] = chance.randrange(256)
        try:
            found = sections_of(bytes(data))
        except FormatError:
            refused += 1
        else:
            ranges = [*chain.from_iterable(each.pieces for each in found)]
            assert all(
                0 <= each.first <= each.last <= len(data)
                for each in ranges
                if isinstance(each, FileRange)
            )
    assert refused > 10


def test_what_a_file_does_not_list_is_refused() -> None:
    data = written("file")
    at = int.from_bytes(data[-10:-6], "little")
    hidden = data[: -10 - at] + bytes(200) + data[-10 - at :]
    for spoiled in (hidden, data[:-40], written("stream") + b"more data", written("stream")[:-200]):
        with pytest.raises(FormatError):
            sections_of(spoiled)


def test_large_categories_are_refused(limit: Limiter) -> None:
    limit("dlpctl.formats.columnar.arrow_sections._LARGEST_DICTIONARIES", 100)
    for compression in (None, "zstd"):
        with pytest.raises(FormatError, match="the categories"):
            sections_of(written("file", compression=compression))


def test_rows_that_are_too_large_are_refused(limit: Limiter) -> None:
    limit("dlpctl.formats.columnar.arrow_sections._LARGEST_ROWS", 100)
    with pytest.raises(FormatError, match="64 rows of a column"):
        parts_of(written("file", compression="zstd"))


def test_offsets_that_overflow_are_refused() -> None:
    numbers = (-(2**31)).to_bytes(4, "little", signed=True)
    with pytest.raises(FormatError):
        FileRange(0, 4, 4, 5).read(lambda first, last: numbers[first:last])
