"""The log of a Delta table: the schema and the files of its current version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from dlpctl.errors import FormatError, InputError
from dlpctl.regex import lazy
from dlpctl.system.regular import read_regular

LOG = "_delta_log"
_COMMIT = lazy(r"(\d{20})\.json\Z")
_CHECKPOINT = lazy(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet\Z")
_FEATURES = frozenset(
    (
        *("appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"),
        *("timestampNtz", "vacuumProtocolCheck"),
    )
)
"""Features of readers and writers that have no effect on how rows are read."""
_MODE = "delta.columnMapping.mode"

CheckpointRows = Callable[[bytes], Iterable[str]]
"""Returns the rows of a Parquet file, each as JSON."""


class DataFile(NamedTuple):
    path: Path
    partition: dict[str, str | None]
    """The values of the columns that are not in the file."""


class DeltaLog(NamedTuple):
    """The current version of a table."""

    protocol: dict[str, Any]
    metadata: dict[str, Any]
    files: list[DataFile]


def is_delta(folder: Path) -> bool:
    """Return whether a folder is a Delta table."""
    try:
        return (folder / LOG).is_dir()
    except PermissionError:
        return False


def files_below(folder: Path) -> list[str]:
    """Return all files of a table, including its log and earlier versions."""
    return [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]


def read_log(folder: Path, rows_of: CheckpointRows) -> DeltaLog:
    """Read the log of a table; raise `FormatError` if it cannot be read with certainty."""
    protocol: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    added: dict[str, dict[str, Any]] = {}
    for action in _actions(folder / LOG, rows_of):
        protocol = _table(action, "protocol") or protocol
        metadata = _table(action, "metaData") or metadata
        if removed := _table(action, "remove"):
            added.pop(_text(removed, "path"), None)
        if file := _table(action, "add"):
            added[_text(file, "path")] = file
    if not protocol or not metadata:
        raise _incomplete()
    _require_known(protocol, metadata)
    files = [_data_file(folder, file) for file in added.values()]
    return DeltaLog(_given(protocol), _given(metadata), files)


def _actions(log: Path, rows_of: CheckpointRows) -> Iterator[dict[str, Any]]:
    """Yield the actions of the log, from the latest checkpoint on."""
    commits: dict[int, Path] = {}
    checkpoints: dict[int, list[Path]] = {}
    parts: dict[int, int] = {}
    for path in sorted(log.iterdir()):
        if found := _COMMIT.match(path.name):
            commits[int(found[1])] = path
        elif found := _CHECKPOINT.match(path.name):
            checkpoints.setdefault(int(found[1]), []).append(path)
            parts[int(found[1])] = int(found[3] or 1)
    complete = [number for number, paths in checkpoints.items() if len(paths) == parts[number]]
    start = max(complete, default=-1)
    for path in checkpoints.get(start, ()):
        for row in rows_of(_read(path)):
            yield _parsed(row)
    following = [number for number in sorted(commits) if number > start]
    if following != list(range(start + 1, start + 1 + len(following))):
        raise _incomplete()
    for number in following:
        try:
            lines = _read(commits[number]).decode().splitlines()
        except UnicodeDecodeError:
            raise _damaged() from None
        yield from map(_parsed, filter(str.strip, lines))


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as problem:
        raise InputError(f"a file of the log cannot be read: {problem.strerror}") from None


def _parsed(line: str) -> dict[str, Any]:
    try:
        action = json.loads(line)
    except (ValueError, RecursionError):
        raise _damaged() from None
    if not isinstance(action, dict):
        raise _damaged()
    return action


def _table(action: dict[str, Any], name: str) -> dict[str, Any]:
    value = action.get(name) or {}
    if not isinstance(value, dict):
        raise _damaged()
    return value


def _text(table: dict[str, Any], name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str):
        raise _damaged()
    return value


def _given(action: dict[str, Any]) -> dict[str, Any]:
    """Return an action in the form of a commit: a checkpoint has null for missing fields, and pairs
    for maps.
    """
    given = {name: value for name, value in action.items() if value is not None}
    if "configuration" in given:
        given["configuration"] = _as_map(given["configuration"])
    if isinstance(given.get("format"), dict):
        given["format"] = given["format"] | {"options": _as_map(given["format"].get("options"))}
    return given


def _as_map(value: Any) -> dict[str, Any]:
    """Return a map, which a checkpoint stores as pairs."""
    try:
        return dict(value or {})
    except (TypeError, ValueError):
        raise _damaged() from None


def _require_known(protocol: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Refuse a table whose rows differ from those of its files."""
    features = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
    if unknown := sorted(map(str, features - _FEATURES)):
        raise FormatError(f"the Delta table needs {unknown[0]}: write a copy of it without that")
    if _as_map(metadata.get("configuration")).get(_MODE, "none") != "none":
        raise FormatError("the Delta table maps its columns to other names: write a copy of it")


def _data_file(folder: Path, file: dict[str, Any]) -> DataFile:
    if file.get("deletionVector"):
        raise FormatError("the Delta table has deleted rows in its files: purge them first")
    path = PurePosixPath(unquote(_text(file, "path")))
    if ":" in path.parts[0] or path.is_absolute() or ".." in path.parts:
        raise FormatError("the Delta table has files outside of its folder: write a copy of it")
    partition = _as_map(file.get("partitionValues"))
    if not all(value is None or isinstance(value, str) for value in partition.values()):
        raise _damaged()
    return DataFile(folder / path, partition)


def _damaged() -> FormatError:
    return FormatError("the log of the Delta table is damaged")


def _incomplete() -> FormatError:
    return FormatError("the log of the Delta table is not complete")
