"""Sections of an ORC file are files that hold all of it, and damage is refused."""

from __future__ import annotations

import io
import json
import random
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.orc")

from pyarrow import orc  # noqa: E402

from dlpctl.errors import FormatError  # noqa: E402
from dlpctl.formats.columnar.orc_sections import orc_sections  # noqa: E402
from dlpctl.formats.columnar.orc_tail import OrcTail  # noqa: E402
from dlpctl.formats.sections import FileRange, Section  # noqa: E402

if TYPE_CHECKING:
    from limits import Limiter

ROWS = 1_000
CODECS = ("uncompressed", "zlib", "snappy", "zstd", "lz4")


@cache
def written(codec: str, stripe: int = 64 << 20) -> bytes:
    rows = range(ROWS)
    columns = {
        "text": [None if n % 7 == 0 else f"{n} {'x' * (n % 40)}" for n in rows],
        "number": rows,
        "flag": [n % 3 == 0 for n in rows],
        "nested": [
            {"a": [{"b": str(n)}] * (n % 4), "c": [[n], []]} if n % 9 else None for n in rows
        ],
        "map": pyarrow.array(
            [[(f"k{n}", n)] if n % 5 else None for n in rows], pyarrow.map_("string", "int64")
        ),
        "category": ["abc"[n % 3] for n in rows],
        "time": pyarrow.array(rows, pyarrow.timestamp("ns")),
        "raw": [b"12" * (n % 5) for n in rows],
    }
    output = io.BytesIO()
    orc.write_table(
        pyarrow.table(columns), output, compression=codec, stripe_size=stripe, batch_size=200
    )
    return output.getvalue()


def sections_of(data: bytes) -> list[Section]:
    return [*orc_sections(lambda first, last: data[first:last], len(data))]


def read_all(data: bytes) -> dict[str, list[Any]]:
    """Return the values of each column over all sections, which JSON carries."""
    values: dict[str, list[Any]] = defaultdict(list)
    for each in sections_of(data):
        carried = Section.unpacked(*json.loads(json.dumps(each.packed())))
        contents = carried.contents(lambda first, last: data[first:last])
        read = orc.read_table(io.BytesIO(contents))
        for name in read.column_names:
            values[name] += read.column(name).to_pylist()
    return values


@pytest.mark.parametrize(
    ("codec", "stripe"), [*((each, 64 << 20) for each in CODECS), ("zlib", 8_000)]
)
def test_sections_hold_all_values(limit: Limiter, codec: str, stripe: int) -> None:
    data = written(codec, stripe)
    expected = orc.read_table(io.BytesIO(data)).to_pydict()
    for memory in (20 << 20, 20_000):  # by stripes, and by columns
        limit("dlpctl.formats.columnar.orc_sections._MEMORY", memory)
        assert read_all(data) == expected
    found = sections_of(data)
    assert found[0].first == 0
    assert all(each.first for each in found[1:])
    assert len(found) > 6
    assert found[1].label.startswith("stripe 1, column ")


def test_a_table_without_rows_has_one_section() -> None:
    output = io.BytesIO()
    orc.write_table(pyarrow.table({"a": pyarrow.array([], "string")}), output)
    data = output.getvalue()
    (only,) = sections_of(data)
    contents = only.contents(lambda first, last: data[first:last])
    assert orc.read_table(io.BytesIO(contents)).schema.names == ["a"]


@pytest.mark.parametrize("codec", ["uncompressed", "zstd", "lz4"])
def test_damaged_files_are_refused_or_read_within_their_bytes(limit: Limiter, codec: str) -> None:
    limit("dlpctl.formats.columnar.orc_sections._MEMORY", 20_000)
    whole = written(codec)
    chance = random.Random(1)
    refused = 0
    for _ in range(50):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 5)):
            data[-chance.randrange(1, 800)] = chance.randrange(256)
        try:
            found = sections_of(bytes(data))
        except FormatError:
            refused += 1
        else:
            ranges = [each for one in found for each in one.pieces if isinstance(each, FileRange)]
            assert all(0 <= each.first <= each.last <= len(data) for each in ranges)
    assert refused > 5
    with pytest.raises(FormatError):
        sections_of(whole[:-40])


def test_encrypted_files_and_unknown_codecs_are_refused() -> None:
    data = written("uncompressed")
    tail = OrcTail.read(lambda first, last: data[first:last], len(data))
    with pytest.raises(FormatError, match="encrypted"):
        sections_of(data + tail.end_of(tail.footer.replaced({10: [b""]})))
    end = OrcTail(tail.postscript.replaced({2: [6]}), tail.footer).end_of(tail.footer)
    packed = bytes((end[0] & 0xFE,)) + end[1:]
    with pytest.raises(FormatError, match="unknown codec"):
        sections_of(data + packed)
