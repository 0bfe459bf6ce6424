"""Shapes as numbers: STL models and shapefiles."""

from __future__ import annotations

import struct

import pytest

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Edit, Limits

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
