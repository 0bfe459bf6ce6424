"""Table files keep types, nulls, categories and nested values, and contain no value
after masking.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from typing import Any

import pytest

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.orc")

from pyarrow import feather, orc, parquet  # noqa: E402

from dlpctl.detect.engine import Detector  # noqa: E402
from dlpctl.files.checking import FileChecker  # noqa: E402
from dlpctl.preflight import Checker, checker_for  # noqa: E402

MAIL = "jane.doe@northwind.org"
OTHER = "omar.khan@northwind.org"
ROWS = 300
WRITERS: dict[str, Callable[[Any, Any], None]] = {
    "parquet": lambda table, output: parquet.write_table(table, output, row_group_size=125),
    "orc": orc.write_table,
    "feather": feather.write_feather,
    "arrows": lambda table, output: write_stream(table, output),
}
READERS: dict[str, Callable[[Any], Any]] = {
    "parquet": parquet.read_table,
    "orc": orc.read_table,
    "feather": feather.read_table,
    "arrows": lambda data: pyarrow.ipc.open_stream(data).read_all(),
}


def write_stream(table: Any, output: Any) -> None:
    with pyarrow.ipc.new_stream(output, table.schema) as writer:
        writer.write_table(table)


def columns(kind: str) -> Any:
    """Return a table with values in every kind of column that a format has."""
    mails = [None] * ROWS
    mails[3], mails[275] = MAIL, OTHER
    numbers = [4111111111111111 if row == 7 else row for row in range(ROWS)]
    nested = [{"to": [MAIL] if row == 5 else ["x"], "n": row} for row in range(ROWS)]
    table = {
        "mail": pyarrow.array(mails, "string"),
        "raw": pyarrow.array([(mail or "x").encode() for mail in mails], "binary"),
        "number": pyarrow.array(numbers, "int64"),
        "born": pyarrow.array([datetime.date(1980, 2, 3)] * ROWS, "date32"),
        "nested": pyarrow.array(nested),
        "flag": pyarrow.array([row % 2 == 0 for row in range(ROWS)]),
    }
    if kind != "orc":
        table["category"] = pyarrow.array(
            [MAIL if row == 200 else "ab"[row % 2] for row in range(ROWS)]
        ).dictionary_encode()
    return pyarrow.table(table)


@pytest.fixture(scope="module")
def checker(library: Detector) -> Checker:
    detector = library.for_types(["EMAIL", "CREDIT_CARD"])
    return checker_for("VENDOR", None, detector, None, None)


@pytest.mark.parametrize("kind", list(WRITERS))
def test_masked_files_keep_their_types(checker: Checker, kind: str) -> None:
    table = columns(kind)
    output = io.BytesIO()
    WRITERS[kind](table, output)
    report = FileChecker(checker).check(output.getvalue(), f"a.{kind}")
    assert report.masked is not None, report.summary
    assert report.places_by_type()["CREDIT_CARD"] == ["column 3, row 8"]
    masked = READERS[kind](io.BytesIO(report.masked))
    assert masked.schema.types == table.schema.types
    before, after = table.to_pydict(), masked.to_pydict()
    for name in table.column_names:
        changed = [row for row in range(ROWS) if before[name][row] != after[name][row]]
        wanted = {"mail": [3, 275], "raw": [3, 275], "number": [7], "nested": [5]}
        assert changed == (wanted | {"category": [200]}).get(name, []), name
    assert after["nested"][5]["n"] == 5
    shown = str(after)
    assert not any(value in shown for value in (MAIL, OTHER, "4111111111111111"))
    assert MAIL.encode() not in report.masked


def test_rows_are_counted_over_row_groups(checker: Checker) -> None:
    mails = [None] * 1500
    mails[1300] = MAIL
    output = io.BytesIO()
    parquet.write_table(pyarrow.table({"mail": mails}), output, row_group_size=400)
    report = FileChecker(checker).check(output.getvalue(), "a.parquet")
    assert report.places_by_type() == {"EMAIL": ["column 1, row 1301"]}
    assert report.masked is not None
    file = parquet.ParquetFile(io.BytesIO(report.masked))
    assert file.metadata.num_row_groups == 4


def test_binary_values_that_are_no_text_block_the_file(checker: Checker) -> None:
    output = io.BytesIO()
    parquet.write_table(pyarrow.table({"photo": [b"\xff\xd8\xff", None]}), output)
    report = FileChecker(checker).check(output.getvalue(), "a.parquet")
    assert report.masked is None
    assert "not inspected: binary data" in report.summary


@pytest.mark.parametrize("kind", list(WRITERS))
def test_damaged_files_are_refused(checker: Checker, kind: str) -> None:
    output = io.BytesIO()
    WRITERS[kind](columns(kind), output)
    data = bytearray(output.getvalue())
    middle = len(data) // 2
    for spoiled in (data[:middle], data[:middle] + bytes(64) + data[middle + 64 :]):
        report = FileChecker(checker).check(bytes(spoiled), f"a.{kind}")
        assert report.masked is None or MAIL.encode() not in report.masked
    assert FileChecker(checker).check(bytes(data[:middle]), f"a.{kind}").masked is None


def test_fields_without_nulls_may_be_in_structs_with_nulls(checker: Checker) -> None:
    needed = pyarrow.struct(
        [
            pyarrow.field("mail", "string", nullable=False),
            pyarrow.field("tags", pyarrow.map_("string", "string"), nullable=False),
            pyarrow.field("n", "int64", nullable=False),
        ]
    )
    rows = [{"mail": MAIL, "tags": [("a", MAIL)], "n": 1}, None, {"mail": "x", "tags": [], "n": 2}]
    output = io.BytesIO()
    parquet.write_table(pyarrow.table({"to": pyarrow.array(rows, needed)}), output)
    report = FileChecker(checker).check(output.getvalue(), "a.parquet")
    assert report.masked is not None, report.summary
    masked = parquet.read_table(io.BytesIO(report.masked))
    assert masked.schema.field("to").type == needed
    first, second, third = masked.to_pydict()["to"]
    assert (second, third) == (None, rows[2])
    assert first["n"] == 1
    assert MAIL not in str(first)
