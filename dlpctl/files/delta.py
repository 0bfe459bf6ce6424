"""Mask Delta tables: a copy holds only the current version, with a log of its own.

Earlier versions, removed files and statistics, which hold values of columns, are left out of the
copy.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dlpctl.errors import CannotMaskError, InputError, UsageError
from dlpctl.files.deltalog import LOG, DataFile, DeltaLog, read_log
from dlpctl.files.report import FileReport
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Limits
from dlpctl.system.newfiles import write_whole
from dlpctl.system.regular import read_regular

Mask = Callable[[bytes, str], FileReport]
"""Masks a file; raises `StillExposedError` if that fails."""
_FIRST_COMMIT = f"{LOG}/{0:020}.json"
_OTHERWISE = ("schemaString", "createdTime")
"""Fields of the metadata that are not masked as texts."""
_NAMED = "name of "
_LONGEST_NAME = 255
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def mask_table(folder: Path, output: Path, mask: Mask, limits: Limits) -> Iterator[FileReport]:
    """Write a masked copy of a table as a new folder; yield a report on each file of the table."""
    if find_spec("pyarrow") is None:
        raise UsageError("a Delta table needs pyarrow: install it, or dlpctl[parquet]")
    with Files(limits) as files:
        log = read_log(folder, lambda data: _rows(files, data))
    with _new_folder(output) as copy:
        described, report = _described(log, mask)
        yield report
        schema = json.dumps(described["schema"], ensure_ascii=False)
        made = created if isinstance(created := log.metadata.get("createdTime"), int) else 0
        metadata = described["table"] | {"schemaString": schema, "createdTime": made}
        actions: list[dict[str, Any]] = [{"protocol": log.protocol}, {"metaData": metadata}]
        types = {field["name"]: field.get("type") for field in described["schema"]["fields"]}
        for number, file in enumerate(log.files):
            report = _masked(file, mask)
            yield report
            assert report.masked is not None
            partition = {
                column: new
                if types.get(column) == "string" or new == file.partition[column]
                else None
                for column, new in described["rows"][number].items()
            }
            name = "/".join((*_folders(partition), f"part-{number:05}.parquet"))
            (copy / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(copy / name, report.masked, overwrite=False)
            actions.append({"add": _added(quote(name), len(report.masked), partition, made)})
        lines = (json.dumps(action, ensure_ascii=False) for action in actions)
        write_whole(copy / _FIRST_COMMIT, "\n".join(lines).encode(), overwrite=False)


def _rows(files: Files, data: bytes) -> Iterator[str]:
    """Yield the rows of a checkpoint, which a separate process reads."""
    files.reset()
    *rows, _ = files.read_again("parquet", data)
    yield from rows


@contextmanager
def _new_folder(output: Path) -> Iterator[Path]:
    """Yield a folder that appears as `output` if the block ends without an error."""
    copy = Path(tempfile.mkdtemp(prefix=f".{output.name[:40]}.", dir=output.parent))
    try:
        (copy / LOG).mkdir(mode=0o700)
        yield copy
        if output.exists():
            raise InputError(f"{output} exists: name another folder")
        os.rename(copy, output)  # noqa: PTH104 -- keeps the type of the path
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise


def _described(log: DeltaLog, mask: Mask) -> tuple[dict[str, Any], FileReport]:
    """Return the log's description of the table and its partitions, masked."""
    table = {name: value for name, value in log.metadata.items() if name not in _OTHERWISE}
    schema = _schema(log.metadata)
    given = {"table": table, "schema": schema, "rows": [file.partition for file in log.files]}
    report = mask(json.dumps(given, ensure_ascii=False).encode(), "table.json")
    assert report.masked is not None
    described: dict[str, Any] = json.loads(report.masked)
    columns = table.get("partitionColumns"), described["table"].get("partitionColumns")
    if columns[0] != columns[1] or _structure(described["schema"]) != _structure(schema):
        raise _bad_name()
    rows = zip(described["rows"], log.files, strict=True)
    if any(row.keys() != file.partition.keys() for row, file in rows):
        raise _bad_name()
    return described, report


def _schema(metadata: dict[str, Any]) -> dict[str, Any]:
    try:
        schema = json.loads(metadata["schemaString"])
        if all(isinstance(field["name"], str) for field in schema["fields"]):
            return {**schema}
    except (KeyError, TypeError, ValueError, RecursionError):
        pass
    raise CannotMaskError("the schema of the Delta table is damaged")


def _structure(schema: Any) -> Any:
    """Return a schema without comments and other properties."""
    if isinstance(schema, list):
        return [_structure(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _structure(each) for key, each in schema.items() if key != "metadata"}


def _masked(file: DataFile, mask: Mask) -> FileReport:
    try:
        data = read_regular(file.path)
    except OSError as problem:
        raise InputError(f"a file of the table cannot be read: {problem.strerror}") from None
    report = mask(data, "part.parquet")
    if any((each.locator or "").startswith(_NAMED) for each in report.report.findings):
        raise _bad_name()
    return report


def _bad_name() -> CannotMaskError:
    return CannotMaskError("the name of a column of the Delta table holds a value: change it")


def _folders(partition: dict[str, str | None]) -> Iterator[str]:
    """Yield the folders of a file, from which some readers take the values of its partition."""
    for column, value in partition.items():
        shown = _NO_VALUE if value is None else quote(value, safe="")
        name = f"{quote(column, safe='')}={shown}"
        if len(name) <= _LONGEST_NAME:  # the log has all values
            yield name


def _added(name: str, size: int, partition: dict[str, str | None], made: int) -> dict[str, Any]:
    return {
        "path": name,
        "partitionValues": partition,
        "size": size,
        "modificationTime": made,
        "dataChange": True,
    }
