"""Avro files keep their schema, codec and all values without replacements."""

from __future__ import annotations

import datetime
import io
import json
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from dlpctl.files.checking import FileChecker
from dlpctl.formats.interface import APART
from dlpctl.preflight import Checker, checker_for

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.files.report import FileReport

fastavro = pytest.importorskip("fastavro")

MAIL = "jane.doe@northwind.org"
OTHER = "omar.khan@northwind.org"
CARD = 4111111111111111
CODECS = ("null", "deflate", "snappy", "zstandard", "bzip2", "xz")
SCHEMA = {
    "type": "record",
    "name": "Order",
    "namespace": "shop.orders",
    "doc": "an order",
    "fields": [
        {"name": "mail", "type": ["null", "string"]},
        {"name": "raw", "type": "bytes"},
        {"name": "number", "type": ["string", "long", "null"]},
        {"name": "needed", "type": "long"},
        {"name": "ratio", "type": ["float", "double"]},
        {"name": "born", "type": {"type": "int", "logicalType": "date"}},
        {"name": "seen", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 4}},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
        {"name": "to", "type": {"type": "array", "items": {
            "type": "record", "name": "Contact", "fields": [
                {"name": "address", "type": "string"},
                {"name": "next", "type": ["null", "Contact"]},
            ],
        }}},
    ],
}  # fmt: skip


def order(row: int, **others: Any) -> dict[str, Any]:
    return {
        "mail": None,
        "raw": b"x",
        "number": row,
        "needed": row,
        "ratio": 0.1,
        "born": datetime.date(1980, 2, 3),
        "seen": datetime.datetime(2024, 5, 6, 7, 8, 9, 10, tzinfo=datetime.UTC),
        "price": Decimal("12.50"),
        "key": uuid.UUID(int=row),
        "state": "PAID",
        "code": b"ab12",
        "tags": {"a": "b"},
        "to": [{"address": "x", "next": None}],
    } | others


ROWS = [order(row) for row in range(300)]
ROWS[3] = order(3, mail=MAIL)
ROWS[7] = order(7, raw=MAIL.encode(), number=CARD)
ROWS[9] = order(9, needed=CARD)
ROWS[200] = order(200, tags={"a": OTHER, OTHER: "b", "c": "d"}, to=[{"address": "x", "next": {"address": MAIL, "next": None}}])  # fmt: skip


def avro(codec: str = "deflate", schema: Any = SCHEMA, rows: Any = ROWS, **options: Any) -> bytes:
    output = io.BytesIO()
    fastavro.writer(output, schema, rows, codec, sync_interval=4000, **options)
    return output.getvalue()


def read(data: bytes) -> list[Any]:
    return list(fastavro.reader(io.BytesIO(data)))


@pytest.fixture(scope="module")
def checker(library: Detector) -> Checker:
    detector = library.for_types(["EMAIL", "CREDIT_CARD"])
    return checker_for("VENDOR", None, detector, None, None)


def check(checker: Checker, data: bytes) -> FileReport:
    return FileChecker(checker).check(data, "a.avro")


@pytest.mark.parametrize("codec", CODECS)
def test_values_are_gone_and_all_others_stay(checker: Checker, codec: str) -> None:
    data = avro(codec)
    report = check(checker, data)
    assert report.masked is not None, report.summary
    assert report.places_by_type()["CREDIT_CARD"] == ["column 3, row 8", "column 4, row 10"]
    reader = fastavro.reader(io.BytesIO(report.masked))
    assert reader.metadata["avro.codec"] == codec
    assert json.loads(reader.metadata["avro.schema"]) == json.loads(
        fastavro.reader(io.BytesIO(data)).metadata["avro.schema"]
    )
    before, after = read(data), list(reader)
    changed = [row for row in range(300) if before[row] != after[row]]
    assert changed == [3, 7, 9, 200]
    assert after[7]["number"] is None
    assert after[9]["needed"] == 0
    assert after[7] == before[7] | {"raw": after[7]["raw"], "number": None}
    assert after[200]["tags"]["c"] == "d"
    assert len(after[200]["tags"]) == 3
    shown = str(after)
    assert not any(value in shown for value in (MAIL, OTHER, str(CARD)))


def test_the_bytes_of_unions_and_other_blocks_stay(checker: Checker) -> None:
    """A float that is read and written by a union's first branch would lose its digits."""
    data = avro("null", rows=[order(1, ratio=("double", 0.1)), *ROWS[2:]])
    masked = check(checker, data).masked
    assert masked is not None
    first = len(data) - len(data.partition(b'"symbols"')[2])
    assert masked[:first] == data[:first]
    assert read(masked)[0]["ratio"] == read(data)[0]["ratio"]
    assert data.count(data[-16:]) == masked.count(data[-16:])


def test_documentation_and_metadata_are_masked(checker: Checker) -> None:
    schema = {
        "type": "record",
        "name": "R",
        "doc": f"ask {MAIL}",
        "fields": [{"name": "a", "type": "string", "default": OTHER}],
        "owner": MAIL,
    }
    data = avro(schema=schema, rows=[{"a": "b"}], metadata={"writer": MAIL, "number": "12"})
    masked = check(checker, data).masked
    assert masked is not None
    assert b"northwind" not in masked.replace(b"@northwind.org", b"")
    assert not any(each.encode() in masked for each in (MAIL, OTHER))
    reader = fastavro.reader(io.BytesIO(masked))
    assert list(reader) == [{"a": "b"}]
    assert reader.metadata["number"] == "12"


def test_a_name_that_holds_a_value_blocks_the_file(library: Detector) -> None:
    schema = {"type": "enum", "name": "E", "symbols": ["a", "card_4111111111111111"]}
    detector = library.for_types(["CREDIT_CARD"])
    report = check(
        checker_for("VENDOR", None, detector, None, None), avro(schema=schema, rows=["a"])
    )
    assert report.masked is None
    assert "the Avro schema" in report.summary


def test_dates_and_decimals_are_read_as_people_write_them(library: Detector) -> None:
    from dlpctl.formats.files import Files

    with Files() as files:
        node = files.open(avro(rows=ROWS[:2]), "a.avro")
    texts = {view.context: view.text for view in node.document.views if view.context}
    assert texts["born"] == "1980-02-03\n\n1980-02-03"
    assert texts["seen"].startswith("2024-05-06 07:08:09.000010")
    assert texts["price"] == "12.50\n\n12.50"
    assert texts["needed"] == "0\n\n1"


def test_values_are_read_after_their_keys() -> None:
    from dlpctl.formats.files import Files

    pair = [{"name": part, "type": "string"} for part in ("name", "value")]
    fields = [
        {"name": "map", "type": {"type": "map", "values": "string"}},
        {"name": "set", "type": {"type": "record", "name": "S", "fields": pair}},
    ]
    schema = {"type": "record", "name": "R", "fields": fields}
    rows = [{"map": {"pin": str(n)}, "set": {"name": "ssn", "value": str(n)}} for n in (1, 2)]
    with Files() as files:
        node = files.open(avro(schema=schema, rows=rows), "a.avro")
    shown = {view.text for view in node.document.views if view.name == "keys and values"}
    assert {text.replace(APART, "\n") for text in shown} == {"pin: 1\npin: 2\n", "ssn: 1\nssn: 2\n"}


def test_a_masked_day_is_nobodys_birthday(library: Detector) -> None:
    days = [("date_of_birth", "int", "date"), ("birthdate", "long", "timestamp-nanos")]
    fields = [
        {"name": name, "type": {"type": plain, "logicalType": logical}}
        for name, plain, logical in days
    ]
    schema = {"type": "record", "name": "r", "fields": fields}
    data = avro(schema=schema, rows=[{"date_of_birth": 5_665, "birthdate": 489_456_000 * 10**9}])
    report = check(checker_for("VENDOR", None, library, None, None), data)
    assert report.masked is not None, report.summary
    (row,) = read(report.masked)
    assert str(row["date_of_birth"]) == "1800-01-01"


def test_a_file_without_a_record_has_one_column(checker: Checker) -> None:
    report = check(checker, avro(schema=["null", "string"], rows=[None, MAIL, "x"]))
    assert report.places_by_type() == {"EMAIL": ["column 1, row 2"]}
    assert report.masked is not None
    assert read(report.masked)[::2] == [None, "x"]


def test_binary_values_that_are_no_text_block_the_file(checker: Checker) -> None:
    report = check(checker, avro(schema="bytes", rows=[b"\xff\xd8\xff"]))
    assert report.masked is None
    assert "not inspected: binary data" in report.summary


@pytest.mark.parametrize("codec", ["null", "snappy"])
def test_damaged_files_are_refused(checker: Checker, codec: str) -> None:
    data = avro(codec)
    middle = len(data) // 2
    for spoiled in (data[:middle], data[:middle] + bytes(64) + data[middle + 64 :]):
        report = check(checker, spoiled)
        assert report.masked is None or MAIL.encode() not in report.masked
    assert check(checker, data[:middle]).masked is None
