"""Delta tables, written and read by the reference package; values in the log are masked too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

deltalake = pytest.importorskip("deltalake")

MAIL = "jane.doe@northwind.org"
OTHER = "omar.khan@northwind.org"
GONE = "gone.girl@northwind.org"
CARD = 4111111111111111
VALUES = (MAIL, OTHER, GONE, str(CARD), "ann@northwind.org")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table with two partitions and three versions, the last of which is a checkpoint."""
    folder = tmp_path / "people"
    rows = pa.table(
        {
            "mail": [MAIL, OTHER],
            "number": pa.array([CARD, 2]),
            "owner": [OTHER, None],
        }
    )
    deltalake.write_deltalake(folder, rows, partition_by=["owner"], description=f"of {VALUES[4]}")
    more = pa.table({"mail": [GONE], "number": [7], "owner": ["z"]}, schema=rows.schema)
    deltalake.write_deltalake(folder, more, mode="append")
    opened = deltalake.DeltaTable(folder)
    opened.delete("number = 7")
    opened.create_checkpoint()
    return folder


@pytest.fixture(name="dlpctl")
def of_paths(dlpctl: Callable[..., Any]) -> Callable[..., Any]:
    """Accepts paths as well as texts."""
    return lambda *arguments: dlpctl(*map(str, arguments))


def rows_of(folder: Path) -> list[dict[str, Any]]:
    read = deltalake.DeltaTable(folder).to_pyarrow_dataset().to_table(use_threads=False)
    return sorted(read.to_pylist(), key=str)


def contents(folder: Path) -> bytes:
    return b"".join(
        str(path).encode() + path.read_bytes() for path in folder.rglob("*") if path.is_file()
    )


def test_the_copy_opens_and_holds_no_value(
    dlpctl: Callable[..., Any], table: Path, tmp_path: Path
) -> None:
    """The log starts with a checkpoint; equal values stay equal in all files."""
    for commit in sorted((table / "_delta_log").glob("*.json"))[:2]:
        commit.unlink()
    copy = tmp_path / "safe"
    assert dlpctl("mask", table, "-o", copy, "--vault", tmp_path / "vault").status == 0
    first, second = rows_of(copy)
    owned, other = (first, second) if first["owner"] else (second, first)
    assert owned["owner"] == other["mail"] != owned["mail"]
    assert other["mail"].startswith("<EMAIL_")
    assert (owned["number"], other["number"], other["owner"]) == (None, 2, None)
    assert deltalake.DeltaTable(copy).schema() == deltalake.DeltaTable(table).schema()
    assert deltalake.DeltaTable(copy).version() == 0
    written = contents(copy)
    assert not any(value.encode() in written for value in VALUES)
    assert b"northwind" not in written


def test_comments_of_columns_and_long_values_of_partitions_are_masked(
    dlpctl: Callable[..., Any], tmp_path: Path
) -> None:
    """A name of a folder that would be too long is left out; the log has its value."""
    long = f"{'long ' * 60}{MAIL}"
    comment = pa.field("number", pa.int64(), metadata={"comment": f"ask {OTHER}"})
    schema = pa.schema([comment, pa.field("owner", pa.string())])
    rows = pa.table({"number": [1], "owner": [long]}, schema=schema)
    folder, copy = tmp_path / "people", tmp_path / "safe"
    deltalake.write_deltalake(folder, rows.slice(0, 0), partition_by=["owner"])
    part = folder / "a.parquet"
    parquet.write_table(rows.select(["number"]), part)
    added = {"size": part.stat().st_size, "modificationTime": 0, "dataChange": True}
    added |= {"path": part.name, "partitionValues": {"owner": long}}
    (folder / "_delta_log" / f"{1:020}.json").write_text(json.dumps({"add": added}))
    assert dlpctl("mask", folder, "-o", copy).status == 0
    (row,) = rows_of(copy)
    assert row["number"] == 1
    assert row["owner"].startswith("long long ")
    assert not any(value.encode() in contents(copy) for value in VALUES)


def test_scan_reads_the_log_and_files_of_earlier_versions(
    dlpctl: Callable[..., Any], table: Path
) -> None:
    ran = dlpctl("scan", table, "--format", "json")
    assert ran.status == 20
    paths = [each["file"] for each in json.loads(ran.out)["findings"]]
    assert any("00000000000000000000.json" in path for path in paths)
    assert any("checkpoint.parquet" in path for path in paths)
    assert any("owner=z" in path for path in paths)


def test_check_reads_all_files_and_writes_none(dlpctl: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    deltalake.write_deltalake(folder, pa.table({"mail": [MAIL]}))
    before = contents(folder)
    ran = dlpctl("check", folder, "-d", "VENDOR")
    assert ran.status == 10
    assert ran.out.count("ALLOWED_WITH_MASKING") == 2
    assert contents(folder) == before


def test_a_copy_is_a_new_folder(dlpctl: Callable[..., Any], table: Path, tmp_path: Path) -> None:
    assert dlpctl("mask", table).status == 2
    (tmp_path / "safe").mkdir()
    ran = dlpctl("mask", table, "-o", tmp_path / "safe", "--force")
    assert ran.status == 1
    assert "name a new folder" in ran.err
    assert not [*tmp_path.glob(".safe*")]


def commit(*actions: dict[str, Any]) -> str:
    return "\n".join(json.dumps(action) for action in actions)


FIELDS = [{"name": "a", "type": "string", "nullable": True, "metadata": {}}]
SCHEMA = json.dumps({"type": "struct", "fields": FIELDS})
PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
METADATA: dict[str, Any] = {"id": "x", "format": {"provider": "parquet"}, "schemaString": SCHEMA}
ADDED = {"path": "a.parquet", "partitionValues": {}, "size": 1}
REFUSED = {
    "no log": ("", "not complete"),
    "no JSON": ("{", "damaged"),
    "no object": ("[]", "damaged"),
    "deep JSON": ("[" * 100_000, "damaged"),
    "no schema": (
        commit(PROTOCOL, {"metaData": METADATA | {"schemaString": "[]"}}),
        "damaged",
    ),
    "a feature": (
        commit({"protocol": {"readerFeatures": ["deletionVectors"]}}, {"metaData": METADATA}),
        "needs deletionVectors",
    ),
    "other names": (
        commit(PROTOCOL, {"metaData": METADATA | {"configuration": {"delta.columnMapping.mode": "id"}}}),
        "maps its columns",
    ),
    "deleted rows": (
        commit(PROTOCOL, {"metaData": METADATA}, {"add": ADDED | {"deletionVector": {"offset": 1}}}),
        "deleted rows",
    ),
    "a file elsewhere": (
        commit(PROTOCOL, {"metaData": METADATA}, {"add": ADDED | {"path": "../../a.parquet"}}),
        "outside",
    ),
    "a file of another store": (
        commit(PROTOCOL, {"metaData": METADATA}, {"add": ADDED | {"path": "s3://b/a.parquet"}}),
        "outside",
    ),
    "a file that is not there": (
        commit(PROTOCOL, {"metaData": METADATA}, {"add": ADDED}),
        "cannot be read",
    ),
    "a partition of lists": (
        commit(PROTOCOL, {"metaData": METADATA}, {"add": ADDED | {"partitionValues": {"a": []}}}),
        "damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_table_that_cannot_be_read_is_refused(
    what: str, dlpctl: Callable[..., Any], tmp_path: Path
) -> None:
    written, reason = REFUSED[what]
    log = tmp_path / "table" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text(written)
    ran = dlpctl("mask", tmp_path / "table", "-o", tmp_path / "safe")
    assert ran.status in (1, 2, 20)
    assert reason in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "safe").exists()
