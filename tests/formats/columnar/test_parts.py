"""The parts of a table show the same texts at the same rows as the table."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import pytest

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.orc")
fastavro = pytest.importorskip("fastavro")

from pyarrow import orc, parquet  # noqa: E402

from dlpctl.errors import FormatError  # noqa: E402
from dlpctl.formats import avro, columns  # noqa: E402
from dlpctl.formats.discovery import format_named  # noqa: E402
from dlpctl.formats.files import Files  # noqa: E402
from dlpctl.formats.interface import CELLS_APART, Document, Limits  # noqa: E402
from dlpctl.formats.isolation import messages  # noqa: E402
from dlpctl.formats.worker import Worker  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from limits import Limiter

ROWS = 3_000


def table() -> Any:
    rows = range(ROWS)
    return pyarrow.table(
        {
            "number": rows,
            "late": [None if n < 2_500 else f"late {n}" for n in rows],
            "nested": [[f"{n} {k}" for k in range(n % 3)] for n in rows],
            "category": pyarrow.array(["abc"[n % 3] for n in rows]),
            "raw": [b"\xff"] * ROWS,
        }
    ).replace_schema_metadata({"owner": "kept"})


def write_arrow(name: str) -> Callable[[Any, Any], None]:
    def write(made: Any, output: Any) -> None:
        options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
        with getattr(pyarrow.ipc, name)(output, made.schema, options=options) as writer:
            writer.write_table(made, max_chunksize=2_000)

    return write


def write_avro(made: Any, output: Any) -> None:
    fields = [
        {"name": "number", "type": "long"},
        {"name": "late", "type": ["null", "string"]},
        {"name": "nested", "type": {"type": "array", "items": "string"}},
        {"name": "raw", "type": "bytes"},
    ]
    schema = {"type": "record", "name": "R", "fields": fields}
    rows = made.drop(["category"]).to_pylist()
    fastavro.writer(output, schema, rows, metadata={"owner": "kept"})


WRITERS: dict[str, Callable[[Any, Any], None]] = {
    "parquet": lambda made, output: parquet.write_table(made, output, row_group_size=1_300),
    "orc": orc.write_table,
    "arrow": write_arrow("new_file"),
    "arrow stream": write_arrow("new_stream"),
    "avro": write_avro,
}


def written(kind: str) -> bytes:
    output = io.BytesIO()
    WRITERS[kind](table(), output)
    return output.getvalue()


def cells_of(documents: list[Document]) -> list[tuple[str, str]]:
    """Return the cells that are not empty, each with its location, and other texts."""
    return sorted(
        (document.place_of(number, at), cell)
        for document in documents
        for number, segment in enumerate(document.segments)
        for at, cell in zip(
            getattr(segment.anchor, "starts", [0]), segment.text.split(CELLS_APART), strict=False
        )
        if cell
    )


@pytest.mark.parametrize("kind", list(WRITERS))
def test_parts_are_the_table(kind: str, monkeypatch: pytest.MonkeyPatch, limit: Limiter) -> None:
    data, chosen = written(kind), cast("Any", format_named(kind))
    whole = chosen.extract(data, Limits())
    for module in (columns, avro):
        limit(f"{module.__name__}.PART", 2_000)
    limit("dlpctl.formats.columnar.reading._SMALL_STRIPES", 0)
    limit("dlpctl.formats.columnar.reading.ROWS", 300)
    for name in ("SECTION_BYTES", "_LARGEST_BATCH"):
        limit(f"dlpctl.formats.columnar.arrow_sections.{name}", 4_000)
    parts = [*chosen.extract_parts(data, Limits())]
    assert len(parts) > 5
    assert cells_of(parts) == cells_of([whole])
    assert ("column 2, row 2502", "late 2501") in cells_of(parts)
    missed = [part for each in parts for part in each.uninspected]
    assert missed == whole.uninspected
    assert max(sum(len(each.text) for each in part.segments) for part in parts) < 30_000


def test_a_table_may_expand_by_a_ratio() -> None:
    data = written("avro")
    with Files(Limits(expanded_bytes=1, entry_ratio=20)) as files:
        assert len([*files.parts(data, "a.avro")]) == 1
    strict = Limits(expanded_bytes=1, entry_ratio=1)
    with Files(strict) as files, pytest.raises(FormatError, match="expands to more"):
        [*files.parts(data, "a.avro")]


def test_parts_come_from_a_process() -> None:
    limits = Limits()
    data = written("avro")
    with Files() as files:
        (node,) = files.parts(data, "a.avro")
        assert cells_of([node.document]) == cells_of([format_named("avro").extract(data, limits)])
        assert [child.name for child in node.children] == ["schema.json"]
        (other,) = files.parts(data, "a.txt")  # its name says something else
        assert [each.format for each in other.documents()] == ["avro", "binary"]
    with Worker(limits) as process:
        with pytest.raises(FormatError, match="unknown"):
            process._call(messages.FollowingPart(limits), messages.Part, 300)
        with pytest.raises(FormatError, match="no parts"):
            [*process.parts("gzip", b"", limits)]
