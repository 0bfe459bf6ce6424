"""What all older Office files have: properties, macros, embedded objects, and bytes of no text."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.compound import inner
from dlpctl.formats.compound.container import MAGIC, Compound
from dlpctl.formats.compound.properties import STREAMS, read_properties
from dlpctl.formats.compound.texts import ByteTexts, readable_runs, write
from dlpctl.formats.encoding import Edit
from dlpctl.formats.interface import (
    Child,
    Children,
    Document,
    Edits,
    Limits,
    NotThisFormatError,
    Segment,
    Uninspected,
)
from dlpctl.formats.metadata import is_without_metadata
from dlpctl.formats.office.reading import Collector, Reading, Spot, ViewPlan, edits_by_layer

PROPERTIES, OTHER, UNREAD, UNUSED, NAMES = "properties", "other data", "unread", "unused", "names"
_PLAIN_STREAMS = {"\1CompObj", "\1Ole", "\3ObjInfo", "\1CompObj\0"}
"""Streams with names of programs, which are searched as other data."""
_MACROS = ("_VBA_PROJECT_CUR/", "Macros/", "_VBA_PROJECT/", "VBA/")
_EMBEDDED = ("MBD", "ObjectPool/", "LNK")
_NAME_HOLDS_VALUE = "the name of a part of the file holds a value: rename it at its source"
_UNREAD_HOLDS_VALUE = "a part of the file that is not read holds a value: save the file again"
READ_BEFORE = Limits(entries=1 << 20)


@dataclass(slots=True)
class Part:
    """The contents of a stream that were read, and those that were not."""

    readings: list[tuple[Reading, Spot]] = field(default_factory=list)
    known: list[tuple[int, int]] = field(default_factory=list)
    """The ranges of the stream that the readings show, or that hold no text."""
    uninspected: list[Uninspected] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)


class CompoundFormat(ABC):
    """A format of files in which a stream is the document."""

    name = ""
    extensions: tuple[str, ...] = ()
    main: tuple[str, ...] = ()
    """The names that the stream of the document may have."""
    metadata = PROPERTIES

    def sniff(self, head: bytes, name: str) -> bool:
        if not head.startswith(MAGIC):
            return False
        try:
            return self._is_of_format(Compound(head, READ_BEFORE))
        except (FormatError, struct.error):
            return any(each.encode("utf-16-le") + b"\0\0" in head for each in self.main) or (
                name.lower().endswith(self.extensions)
            )

    def _is_of_format(self, compound: Compound) -> bool:
        return any(each in compound.streams for each in self.main)

    @abstractmethod
    def parts(self, compound: Compound, limits: Limits) -> Iterator[tuple[str, Part]]:
        """Yield the streams that this format reads, and their contents."""

    @abstractmethod
    def change(
        self, path: str, copy: bytearray, segments: list[Segment], edits: Mapping[str, list[Edit]]
    ) -> None:
        """Apply the edits of a stream, by layer."""

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        try:
            return self._extract(data, limits)
        except (struct.error, IndexError):
            raise FormatError("the file is damaged") from None

    def _extract(self, data: bytes, limits: Limits) -> Document:
        compound = Compound(data, limits)
        if not self._is_of_format(compound):
            raise NotThisFormatError("the file is of another format")
        collector = Collector()
        document = Document(self.name, collector.segments, collector.views)
        read: dict[str, Part] = dict(self.parts(compound, limits))
        for path in compound.streams:
            contents = compound.read(path)
            part = read.get(path) or _other_part(path, contents)
            part.children += inner.packages(path, contents, part)
            for reading, spot in part.readings:
                collector.add(reading, spot)
            document.uninspected += part.uninspected
            document.children += part.children
            layer = OTHER if path in read or not part.uninspected else UNREAD
            collector.add(*_rest(path, layer, contents, part.known))
        unused = b"\0\0".join(data[start:end] for start, end in compound.unowned())
        collector.add(*_rest("", UNUSED, unused))
        collector.add(*_names(compound))
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        compound = Compound(data, READ_BEFORE)
        by_stream: dict[str, dict[str, list[Edit]]] = {}
        for (part, layer), found in edits_by_layer(document.segments, edits).items():
            if layer in (NAMES, UNREAD):
                raise CannotMaskError(_NAME_HOLDS_VALUE if layer == NAMES else _UNREAD_HOLDS_VALUE)
            if layer != UNUSED:  # which no copy has
                by_stream.setdefault(_path(part), {})[f"{part}\0{layer}"] = list(found)
        cleaning = is_without_metadata(self.metadata, document, edits)
        changed: dict[str, bytes] = {}
        for path in {*by_stream, *STREAMS, *map(inner.stream_of, children)}:
            if path not in compound.streams:
                continue
            copy = bytearray(compound.read(path))
            if path in STREAMS:
                _clean_properties(copy, cleaning=cleaning)
            if path in by_stream:
                self._change(path, copy, document.segments, by_stream[path])
            inner.replace(path, copy, children)
            changed[path] = bytes(copy)
        return compound.rewritten(changed)

    def _change(
        self,
        path: str,
        copy: bytearray,
        segments: list[Segment],
        edits: dict[str, list[Edit]],
    ) -> None:
        for segment in segments:
            spot = segment.anchor
            assert isinstance(spot, Spot)
            key = f"{spot.part}\0{spot.layer}"
            if key in edits and spot.ways is not None:
                write(copy, spot, segment.text, edits.pop(key))
        if edits:
            self.change(path, copy, segments, edits)

    def read_again(self, data: bytes, limits: Limits) -> Iterable[str]:
        compound = Compound(data, limits)
        for path in compound.streams:
            contents = compound.read(path)
            yield contents.decode("latin-1")
            yield contents.decode("utf-16-le", "replace")
            yield contents[1:].decode("utf-16-le", "replace")


def _path(part: str) -> str:
    """Return the stream of a part, which may be a sheet of it."""
    return part.partition("!")[0]


def _other_part(path: str, data: bytes) -> Part:
    """Return a stream that is not the document."""
    part = Part()
    if path in STREAMS:
        found = read_properties(data)
        texts = ByteTexts(data)
        for run in found.runs:
            texts.add([run])
        part.readings.append((texts.reading(PROPERTIES), texts.spot(path, PROPERTIES, PROPERTIES)))
        part.known = [*texts.spans(), *found.pictures]
        if found.is_damaged:
            part.uninspected.append(Uninspected(PROPERTIES, "damaged properties"))
        for start, end in found.pictures:
            child = inner.thumbnail(path, data, start, end)
            if child is None:
                reason = "a picture of the first page in an unknown format"
                part.uninspected.append(Uninspected(PROPERTIES, reason))
            else:
                part.children.append(child)
    elif path.startswith(_MACROS):
        part.uninspected.append(Uninspected("macros", "macros"))
    elif path.startswith(_EMBEDDED):
        part.uninspected.append(Uninspected("embedded object", "an embedded object"))
    elif path not in _PLAIN_STREAMS and data.strip(b"\0"):
        part.uninspected.append(Uninspected("content", "a part of unknown content"))
    return part


def _rest(
    path: str, layer: str, data: bytes, known: Iterable[tuple[int, int]] = ()
) -> tuple[Reading, Spot]:
    """Return the readable texts of a stream that nothing else shows."""
    texts = ByteTexts(data)
    for run in readable_runs(data, known):
        texts.add([run])
    return texts.reading(layer), texts.spot(path, layer, layer)


def _names(compound: Compound) -> tuple[Reading, Spot]:
    text = "\n".join(compound.names())
    reading = Reading(NAMES, text, plans=[ViewPlan(NAMES, [(0, len(text))])])
    return reading, Spot("", NAMES, NAMES, array("q"))


def _clean_properties(copy: bytearray, *, cleaning: bool) -> None:
    """Remove the picture of the first page, and on request all times."""
    found = read_properties(bytes(copy))
    for start, end in found.pictures:
        copy[start:end] = bytes(end - start)
    for at in found.times if cleaning else ():
        copy[at : at + 8] = bytes(8)
