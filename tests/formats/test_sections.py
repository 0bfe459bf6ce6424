"""Sections of a large file are complete files and cover all of it, and a damaged file
is refused.
"""

from __future__ import annotations

import io
import random
import zipfile
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import fastavro
import pyarrow as pa
import pytest
from pyarrow import parquet

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.avro_sections import avro_sections
from dlpctl.formats.columnar.parquet_sections import parquet_sections
from dlpctl.formats.containers.zip_sections import zip_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from limits import Limiter

    from dlpctl.formats.sections import Section


@pytest.fixture(autouse=True)
def small_sections(monkeypatch: pytest.MonkeyPatch, limit: Limiter) -> None:
    for module in (parquet_sections, zip_sections, avro_sections):
        limit(f"{module.__module__}.SECTION_BYTES", 20_000)


def files_of(divide: Callable[..., Iterator[Section]], data: bytes) -> Iterator[bytes]:
    for each in divide(lambda first, last: data[first:last], len(data)):
        yield each.before + data[each.first : each.last] + each.after


def table(rows: int) -> bytes:
    noise = random.Random(1).randbytes
    made = pa.table(
        {
            "n": range(rows),
            "category": pa.array(["a", "b", None] * (rows // 3)).dictionary_encode(),
            "seen": pa.array(range(rows), pa.timestamp("ns", "Europe/Oslo")),
            "lasts": pa.array(range(rows), pa.duration("s")),
            "nested": [[{"a": row}] if row % 7 else None for row in range(rows)],
            "noise": [noise(20).hex() for _ in range(rows)],
        }
    ).replace_schema_metadata({"owner": "kept"})
    output = io.BytesIO()
    parquet.write_table(made, output, row_group_size=300, write_page_index=True)
    return output.getvalue()


def archive(count: int) -> bytes:
    output, noise = io.BytesIO(), random.Random(1).randbytes
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.comment = b"a comment"
        for number in range(count):
            opened.writestr(f"{number}.txt", noise(500).hex())
        opened.writestr("large.bin", noise(50_000))
    return output.getvalue()


def rows(count: int, codec: str = "null") -> bytes:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}
    output, noise = io.BytesIO(), random.Random(1).randbytes
    made = ({"a": f"{number} {noise(50).hex()}"} for number in range(count))
    fastavro.writer(output, schema, made, codec, sync_interval=2000)
    return output.getvalue()


def test_blocks_of_avro_are_in_one_section_each(limit: Limiter) -> None:
    limit("dlpctl.formats.columnar.avro_sections._STEP", 300)
    data = rows(1500)
    read = [[*fastavro.reader(io.BytesIO(each))] for each in files_of(avro_sections, data)]
    assert len(read) > 3
    assert [row for each in read for row in each] == [*fastavro.reader(io.BytesIO(data))]
    (only,) = files_of(avro_sections, rows(0))
    assert [*fastavro.reader(io.BytesIO(only))] == []


def test_a_block_of_avro_without_an_end_is_refused(limit: Limiter) -> None:
    limit("dlpctl.formats.columnar.avro_sections._LARGEST_BLOCK", 100)
    limit("dlpctl.formats.columnar.avro_sections._STEP", 300)
    data = rows(10)
    header = data[: data.index(data[-16:]) + 16]
    with pytest.raises(FormatError):
        [*files_of(avro_sections, header + bytes(100_000))]
    with pytest.raises(FormatError):
        [*files_of(avro_sections, header[:-1])]


def test_row_groups_keep_types_and_all_rows() -> None:
    data = table(3000)
    read = [parquet.read_table(io.BytesIO(each)) for each in files_of(parquet_sections, data)]
    assert len(read) > 3
    expected = parquet.read_table(io.BytesIO(data))
    assert pa.concat_tables(read).equals(expected, check_metadata=True)


def test_large_row_groups_are_read_by_columns(limit: Limiter) -> None:
    limit("dlpctl.formats.columnar.parquet_sections._LARGEST_GROUP", 10_000)
    limit("dlpctl.formats.columnar.parquet_sections.SECTION_BYTES", 9_000)
    data = table(900)
    output = io.BytesIO()
    expected = parquet.read_table(io.BytesIO(data))
    parquet.write_table(expected, output, row_group_size=600)
    read = [
        parquet.read_table(io.BytesIO(each))
        for each in files_of(parquet_sections, output.getvalue())
    ]
    assert read[0].num_rows == 600
    assert [name for each in read for name in each.column_names] == expected.column_names * 2
    assert [bool(each.schema.metadata) for each in read] == [True] + [False] * (len(read) - 1)
    assert len(read) > 4
    for name in ("n", "nested", "noise", "category"):
        parts = [each.column(name).to_pylist() for each in read if name in each.column_names]
        assert [*chain.from_iterable(parts)] == expected.column(name).to_pylist()


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_large_columns_are_read_by_pages(limit: Limiter, codec: str, version: str) -> None:
    limit("dlpctl.formats.columnar.parquet_sections._LARGEST_GROUP", 10_000)
    limit("dlpctl.formats.columnar.parquet_sections.SECTION_BYTES", 1_500)
    limit("dlpctl.formats.columnar.parquet_pages.SECTION_BYTES", 1_500)
    noise = random.Random(1).randbytes
    columns = {
        "text": [None if n % 7 == 0 else f"{n} {noise(20).hex()}" for n in range(2000)],
        "few": [f"category {n * n % 900}" for n in range(2000)],
        "number": [n * 1_000_003 for n in range(2000)],
        "list": [[str(n), noise(9).hex()] for n in range(2000)],
        "required": [noise(12) for _ in range(2000)],
    }
    fields = [pa.field("text", "string"), pa.field("few", "string"), pa.field("number", "int64")]
    fields += [pa.field("list", pa.list_(pa.string()))]
    fields += [pa.field("required", pa.binary(), nullable=False)]
    expected = pa.table(columns, pa.schema(fields, {"by": "us"}))
    output = io.BytesIO()
    parquet.write_table(
        expected,
        output,
        row_group_size=1500,
        compression=codec,
        use_dictionary=["few"],
        data_page_version=version,
        data_page_size=500,
        write_batch_size=50,
        write_page_index=True,
        write_page_checksum=True,
    )
    data = output.getvalue()
    found = [*parquet_sections(lambda first, last: data[first:last], len(data))]
    files = [each.before + data[each.first : each.last] + each.after for each in found]
    read = [
        parquet.ParquetFile(io.BytesIO(each), page_checksum_verification=True).read()
        for each in files
    ]
    assert found[0].first == 0
    assert all(one.last <= other.first for one, other in pairwise(found))
    assert found[1].label.startswith("row group 1, column 1, from row ")
    for name in columns:
        parts = [each.column(name) for each in read if name in each.column_names]
        assert len(parts) > 2 or name == "list"
        whole = pa.chunked_array(chain.from_iterable(part.chunks for part in parts))
        assert whole.equals(expected.column(name))


def test_a_table_without_rows_has_one_section() -> None:
    output = io.BytesIO()
    parquet.write_table(pa.table({"a": pa.array([], "string")}), output)
    (only,) = files_of(parquet_sections, output.getvalue())
    assert parquet.read_table(io.BytesIO(only)).num_rows == 0


def test_entries_are_in_one_section_each() -> None:
    data = b"before the archive" + archive(100)
    names: list[str] = []
    comments: list[bytes] = []
    kept = 0
    for each in files_of(zip_sections, data):
        with zipfile.ZipFile(io.BytesIO(each)) as opened:
            assert opened.testzip() is None
            names += opened.namelist()
            comments.append(opened.comment)
            kept += opened.start_dir
    assert names == [*(f"{number}.txt" for number in range(100)), "large.bin"]
    assert comments == [b"a comment"] + [b""] * (len(comments) - 1)
    assert len(comments) > 3
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert kept == opened.start_dir


@pytest.mark.parametrize("make", [partial(table, 900), partial(archive, 9)], ids=["parquet", "zip"])
def test_damaged_files_are_refused_or_read_within_their_bytes(make: Callable[[], bytes]) -> None:
    whole = make()
    divide = parquet_sections if whole.startswith(b"PAR1") else zip_sections
    chance = random.Random(1)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 5)):
            data[-chance.randrange(1, min(len(data), 2500))] = chance.randrange(256)
        try:
            found = [*divide(lambda first, last, data=data: bytes(data[first:last]), len(data))]
        except FormatError:
            refused += 1
        else:
            assert sum(each.last - each.first for each in found) <= len(data)
    assert refused > 20


def test_a_file_that_is_cut_off_is_refused() -> None:
    for divide, data in ((parquet_sections, table(900)), (zip_sections, archive(9))):
        with pytest.raises(FormatError):
            [*files_of(divide, data[:-40])]


def test_a_directory_that_is_too_large_is_refused(limit: Limiter) -> None:
    limit("dlpctl.formats.sections._LARGEST_READ", 100)
    for divide, data in ((parquet_sections, table(900)), (zip_sections, archive(9))):
        with pytest.raises(FormatError, match="too large"):
            [*files_of(divide, data)]
