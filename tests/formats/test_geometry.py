"""Shapes as numbers: STL models, shapefiles, and geometries in a database."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing

import pytest

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Edit, Limits
from dlpctl.formats.wkb import texts_of_geometry

MAIL = "jane.roe@acme.example"
FACET = struct.pack("<12fH", *[1.5] * 12, 0)


def stl(header: str, facets: bytes) -> bytes:
    return header.encode().ljust(80, b"\0") + struct.pack("<I", len(facets) // 50) + facets


def shapefile(records: bytes) -> bytes:
    words = (100 + len(records)) // 2
    return struct.pack(">7i", 9994, 0, 0, 0, 0, 0, words) + struct.pack("<2i64x", 1000, 1) + records


POINTS = b"".join(
    struct.pack(">2i", number, 10) + struct.pack("<i2d", 1, 1.5, 2.5) for number in (1, 2)
)
GEOMETRY = {
    "a.stl": stl("kept text", FACET * 3),
    "a.shp": shapefile(POINTS),
    "a.shx": shapefile(struct.pack(">4i", 50, 10, 64, 10)),
}


@pytest.mark.parametrize("name", GEOMETRY)
def test_shapes_are_inspected_and_bytes_after_them_are_refused(name: str) -> None:
    with Files() as files:
        assert not list(files.open(GEOMETRY[name], name).uninspected())
        with pytest.raises(FormatError, match="bytes follow"):
            files.open(GEOMETRY[name] + b"\0\1", name)


def test_the_header_is_masked_and_a_text_among_the_numbers_is_found() -> None:
    chosen = format_named("stl")
    data = stl(f"by {MAIL}", FACET)
    document = chosen.extract(data, Limits())
    copy = chosen.mask(data, document, [Edit(0, 3, 3 + len(MAIL), "[E-MAIL]")], {})
    assert copy == b"by [E-MAIL]".ljust(80) + data[80:]
    data = stl("", MAIL.encode().ljust(50, b"\0"))
    document = chosen.extract(data, Limits())
    assert document.segments[0].text == MAIL
    with pytest.raises(CannotMaskError):
        chosen.mask(data, document, [Edit(0, 0, len(MAIL), "")], {})


POINT = struct.pack("<BI2d", 1, 1, 13.40495, 52.52437)
LINE = struct.pack(">BII4d", 0, 2, 2, 1.5, 2.5, 3.5, 4.5)
RINGS = struct.pack("<BIII8d", 1, 3, 1, 4, *[7.25] * 8)
SHAPES = {
    "point": POINT,
    "point in space": struct.pack("<BII3d", 1, 0xA0000001, 4326, 13.40495, 52.52437, 34.0),
    "lines": struct.pack("<BII", 1, 5, 2) + LINE * 2,
    "area of GeoPackage": struct.pack("<2sBBi4d", b"GP", 0, 3, 4326, *[7.25] * 4) + RINGS,
    "lines of SpatiaLite": struct.pack("<BBi4dBII", 0, 1, 4326, *[1.5] * 4, 0x7C, 5, 1)
    + struct.pack("<BII4d", 0x69, 2, 2, *[1.5] * 4)
    + b"\xfe",
}


def geodata(shape: bytes) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE tree USING rtree(id, left, right, low, high)")
        database.executemany("INSERT INTO tree VALUES (?, 1, 2, 3, 4)", [(n,) for n in range(60)])
        database.execute("CREATE TABLE places (shape)")
        database.execute("INSERT INTO places VALUES (?)", (shape,))
        database.commit()
        return database.serialize()


@pytest.mark.parametrize("shape", SHAPES)
def test_geometries_of_a_database_are_inspected(shape: str) -> None:
    with Files() as files:
        node = files.open(geodata(SHAPES[shape]), "a.gpkg")
        assert not list(node.uninspected())
        text = "\n".join(view.text for view in node.document.views)
        assert ("POINT (13.40495 52.52437)" in text) is shape.startswith("point")
        assert list(files.open(geodata(SHAPES[shape] + b"\0\1" * 9), "a.gpkg").uninspected())


@pytest.mark.parametrize("shape", SHAPES)
def test_a_part_of_a_geometry_is_none(shape: str) -> None:
    data = SHAPES[shape]
    assert texts_of_geometry(data) is not None
    assert not any(texts_of_geometry(data[:size]) for size in range(len(data)))


def test_a_text_in_a_geometry_is_found_and_nothing_can_replace_it() -> None:
    chosen = format_named("sqlite")
    data = geodata(struct.pack("<BII", 1, 2, 4) + MAIL.encode().ljust(64, b"\0"))
    document = chosen.extract(data, Limits())
    (number,) = (n for n, each in enumerate(document.segments) if each.text == MAIL)
    with pytest.raises(CannotMaskError, match="geometry"):
        chosen.mask(data, document, [Edit(number, 0, 4, "")], {})


@pytest.mark.parametrize("is_in_cells", [True, False])
def test_a_text_in_an_index_is_found_or_not_inspected(*, is_in_cells: bool) -> None:
    with closing(sqlite3.connect(":memory:")) as database, Files() as files:
        database.deserialize(geodata(POINT))
        number, node = database.execute("SELECT * FROM tree_node WHERE nodeno > 1").fetchone()
        start = 4 if is_in_cells else len(node) - len(MAIL)
        hidden = node[:start] + MAIL.encode() + node[start + len(MAIL) :]
        database.execute("UPDATE tree_node SET data = ? WHERE nodeno = ?", (hidden, number))
        database.commit()
        opened = files.open(database.serialize(), "a.gpkg")
        is_found = any(each.text == MAIL for each in opened.document.segments)
        assert (is_found, not any(opened.uninspected())) == (is_in_cells, is_in_cells)
