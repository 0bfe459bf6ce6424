"""No process of a scan takes more than 400 MB, whatever a table is unpacked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.orc")

from pyarrow import orc, parquet  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow
MAIL = "jane.doe@northwind.org"
ROWS = 1_600_000
MOST = 400 << 10
SCAN = (
    "import json, resource, subprocess, sys\n"
    "done = subprocess.run([sys.executable, '-m', 'dlpctl', 'scan', *sys.argv[1:]])\n"
    "print(json.dumps(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))\n"
)


def texts(count: int = ROWS, kinds: int = 997) -> Any:
    """Return a column of 130 bytes a value, with an e-mail address in the last one."""
    line = "a line of plain words that repeats, " * 3
    distinct = pyarrow.array([*(f"{line} {n * 7919}" for n in range(kinds)), MAIL], "large_string")
    numbers = pyarrow.array([*(n % kinds for n in range(count - 1)), kinds], "int32")
    return pyarrow.DictionaryArray.from_arrays(numbers, distinct)


def plain(count: int = ROWS) -> Any:
    return texts(count).cast("large_string")


def lists() -> Any:
    offsets = pyarrow.array(range(0, ROWS + 1, 4), "int32")
    return pyarrow.ListArray.from_arrays(offsets, texts().cast("string"))


def write_arrow(columns: dict[str, Any], path: Path, compression: str | None) -> None:
    table = pyarrow.table(columns)
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.ipc.new_file(path, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=ROWS)


def write_parquet(path: Path) -> None:
    parquet.write_table(
        pyarrow.table({"a": plain()}),
        path,
        compression="zstd",
        row_group_size=ROWS,
    )


WRITERS: dict[str, Callable[[Path], None]] = {
    "one.arrow": lambda path: write_arrow({"a": plain()}, path, "lz4"),
    "three.arrow": lambda path: write_arrow(dict.fromkeys("abc", plain(ROWS // 3)), path, "zstd"),
    "lists.arrow": lambda path: write_arrow({"a": lists()}, path, "zstd"),
    "categories.arrow": lambda path: write_arrow({"a": texts(600_000, 550_000)}, path, None),
    "a.parquet": write_parquet,
    "a.orc": lambda path: orc.write_table(
        pyarrow.table({"a": plain()}), path, compression="zstd", stripe_size=1 << 30
    ),
}


@pytest.mark.parametrize("name", list(WRITERS))
def test_memory_does_not_grow_with_a_table(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    options = "--types", "EMAIL", "--format", "json", "--jobs", "1"
    command = [sys.executable, "-c", SCAN, str(path), *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    *report, peak = ran.stdout.splitlines()
    found = json.loads("\n".join(report))
    assert len(found["findings"]) == (3 if name.startswith("three") else 1)
    assert not found["skipped"]
    assert int(peak) < MOST * (1024 if sys.platform == "darwin" else 1)
