"""Presentations of PowerPoint 97 to 2003 (`.ppt`): texts are records in records of one stream.

Earlier versions of slides stay in the stream, and are read and masked as well.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.compound import inner
from dlpctl.formats.compound.container import Compound
from dlpctl.formats.compound.document import CompoundFormat
from dlpctl.formats.compound.part import Part
from dlpctl.formats.compound.texts import NARROW, WIDE, ByteTexts, Run
from dlpctl.formats.encoding import Edit
from dlpctl.formats.interface import Limits, Segment
from dlpctl.formats.office.reading import ViewPlan

_MAIN, _USER, _PICTURES = "PowerPoint Document", "Current User", "Pictures"
_CONTAINER = 0xF
_DOCUMENT, _ENCRYPTION, _OBJECT = 0x03E8, 0x2F14, 0x1011
_GROUP, _SHAPE, _ANCHOR = 0xF003, 0xF004, 0xF00F
"""A group of shapes, as tables are, one of the shapes, and its position in the group."""
_ANCHOR_SIZE = 16
_TEXTS = {0x0FA0: WIDE, 0x0FA8: NARROW, 0x0FBA: WIDE}
_LAYER = "slides"


class _Record(NamedTuple):
    type: int
    start: int
    """The position of its contents."""
    size: int


class PowerPoint(CompoundFormat):
    name = "ppt"
    extensions = (".ppt", ".pps", ".pot")
    main = (_MAIN,)

    def reads(self, path: str) -> bool:
        return path in (_MAIN, _USER, _PICTURES)

    def parts(self, compound: Compound, limits: Limits) -> Iterator[tuple[str, Part]]:
        for path in compound.streams:
            if self.reads(path):
                data = compound.read(path)
                part = _slides(data) if path == _MAIN else Part()
                part.children += inner.in_stream(path, data, part)
                yield path, part

    def change(
        self, path: str, copy: bytearray, segments: list[Segment], edits: Mapping[str, list[Edit]]
    ) -> None:
        raise CannotMaskError("this is not what was read from the file: read it again")


def _slides(data: bytes) -> Part:
    part = Part()
    texts = ByteTexts(data)
    types: set[int] = set()
    objects: list[tuple[int, int]] = []
    rows: list[tuple[int, int] | str] = []
    row, is_cell = -1, False
    for record in _records(data):
        types.add(record.type)
        codec = _TEXTS.get(record.type)
        if record.type == _GROUP:
            rows.append("\n")
            row = -1
        elif record.type == _SHAPE:
            is_cell = False
        elif record.type == _ANCHOR and record.size == _ANCHOR_SIZE:
            top = int.from_bytes(data[record.start + 4 : record.start + 8])
            rows.append("\t" if top == row else "\n")
            row, is_cell = top, True
        elif codec is not None and record.size:
            text = texts.add([Run(record.start, record.size, codec)])
            if is_cell:
                rows.append((texts.firsts[-1], texts.firsts[-1] + len(text)))
        elif record.type == _OBJECT and data[record.start : record.start + record.size].strip(
            b"\0"
        ):
            objects.append((record.start, record.start + record.size))
    if _ENCRYPTION in types:
        raise FormatError("the file is encrypted: save it without a password")
    if _DOCUMENT not in types:
        raise FormatError("the presentation is of PowerPoint 95 or older: save it as .pptx")
    if objects:
        part.known += objects
        part.children.append(
            inner.spare_ranges(_MAIN, "embedded objects and macros", data, objects)
        )
    reading = texts.reading(_LAYER)
    if "\t" in rows:
        reading.plans.append(ViewPlan("rows of tables", rows, repeats=True))
    part.readings.append((reading, texts.spot(_MAIN, _LAYER, _LAYER, "text")))
    part.known += texts.spans()
    return part


def _records(data: bytes) -> Iterator[_Record]:
    """Yield all records; those in a container follow its head."""
    at = 0
    while at + 8 <= len(data):
        flags, record_type, size = struct.unpack_from("<HHI", data, at)
        at += 8
        if at + size > len(data):
            raise FormatError("the slides of the file are cut off")
        yield _Record(record_type, at, size)
        # PowerPoint 2007 writes packages into records that are marked as containers.
        if flags & _CONTAINER != _CONTAINER or data.startswith(inner.PACKAGE, at):
            at += size
