"""Properties, macros, embedded objects and other bytes, which all older Office files may have."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Mapping

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.compound import inner
from dlpctl.formats.compound.container import Compound
from dlpctl.formats.compound.part import Part
from dlpctl.formats.compound.properties import STREAMS, read_properties
from dlpctl.formats.compound.texts import ByteTexts, readable_runs, write
from dlpctl.formats.compound.writing import MAGIC
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
from dlpctl.formats.office.zipped import NAME_HOLDS_VALUE

PROPERTIES, OTHER, UNUSED, NAMES = "properties", "other data", "unused", "names"
_PLAIN_STREAMS = {"\1CompObj", "\1Ole", "\3ObjInfo"}
"""Streams with names of programs, which are searched as other data."""
_SPARE = {
    "macros": ("_VBA_PROJECT_CUR", "Macros", "_VBA_PROJECT", "VBA"),
    "embedded objects": ("MBD", "ObjectPool", "LNK"),
    "other parts": ("",),
}
"""Parts that a copy may lack, by the starts of their names."""
_CUT_OFF = "Texts keep their size: a replacement that is longer is cut off."
READ_BEFORE = Limits(entries=1 << 20)


class CompoundFormat(ABC):
    """A format of files in which a stream is the document."""

    name = ""
    extensions: tuple[str, ...] = ()
    main: tuple[str, ...] = ()
    """The names that the stream of the document may have."""
    metadata = PROPERTIES
    remarks: tuple[str, ...] = (_CUT_OFF,)

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
    def reads(self, path: str) -> bool:
        """Return whether this format reads a stream."""

    @abstractmethod
    def parts(self, compound: Compound, limits: Limits) -> Iterator[tuple[str, Part]]:
        """Yield the streams that this format reads, and their contents."""

    @abstractmethod
    def change(
        self, path: str, copy: bytearray, segments: list[Segment], edits: Mapping[str, list[Edit]]
    ) -> None:
        """Apply the edits of a stream, by layer."""

    def _spare_part_of(self, path: str) -> str:
        """Return the part that a stream belongs to, if a copy may lack it."""
        if self.reads(path) or path in STREAMS or path in _PLAIN_STREAMS:
            return ""
        return next(key for key, starts in _SPARE.items() if path.startswith(starts))

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
        document = Document(self.name, collector.segments, collector.views, remarks=[*self.remarks])
        read: dict[str, Part] = dict(self.parts(compound, limits))
        spare: dict[str, list[bytes]] = {}
        for path in compound.streams:
            contents = compound.read(path)
            if key := self._spare_part_of(path):
                if contents.strip(b"\0"):
                    spare.setdefault(key, []).append(contents)
                continue
            part = read.get(path) or _other_part(path, contents)
            if not part.is_file:
                part.children += inner.packages(path, contents, part)
                part.readings.append(_rest(path, OTHER, contents, part.known))
            for reading, spot in part.readings:
                collector.add(reading, spot)
            document.uninspected += part.uninspected
            document.children += part.children
        document.children += _spare_children(spare)
        document.uninspected += [Uninspected(key, key) for key in spare]
        unused = b"\0\0".join(data[start:end] for start, end in compound.unowned())
        collector.add(*_rest("", UNUSED, unused))
        collector.add(*_names(compound))
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        compound = Compound(data, READ_BEFORE)
        by_stream: dict[str, dict[str, list[Edit]]] = {}
        for (part, layer), found in edits_by_layer(document.segments, edits).items():
            if layer == NAMES:
                raise CannotMaskError(NAME_HOLDS_VALUE)
            if layer != UNUSED:  # which no copy has
                by_stream.setdefault(_path(part), {})[f"{part}\0{layer}"] = list(found)
        cleaning = is_without_metadata(self.metadata, document, edits)
        changed: dict[str, bytes] = {}
        gone = {key for key, contents in children.items() if contents is None}
        removed = {inner.stream_of(key) for key in gone if inner.is_stream(key)}
        removed |= {path for path in compound.streams if self._spare_part_of(path) in gone}
        for path in {*by_stream, *STREAMS, *map(inner.stream_of, children)} - removed:
            if path not in compound.streams:
                continue
            copy = bytearray(compound.read(path))
            if path in by_stream:
                self._change(path, copy, document.segments, by_stream[path])
            if path in STREAMS:
                _clean_properties(copy, cleaning=cleaning)
            else:
                inner.replace(path, copy, children)
            changed[path] = bytes(copy)
        changed = self.completed(compound, changed, removed)
        return compound.rewritten(changed, removed)

    def completed(
        self, compound: Compound, changed: dict[str, bytes], removed: set[str]
    ) -> dict[str, bytes]:
        """Return the changed streams, and what the file says about their sizes."""
        return changed

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


def _spare_children(spare: Mapping[str, list[bytes]]) -> Iterator[Child]:
    for key, found in spare.items():
        # No format claims data that start with a zero.
        yield Child(key, key, b"\0".join((b"", *found)), spare=True)


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
            part.children += inner.as_file(path, PROPERTIES, b"\0" + data, spare=True).children
        for start, end in found.pictures:
            if not data[start:end].strip(b"\0"):
                continue
            child = inner.thumbnail(path, data, start, end)
            if child is None:
                reason = "a picture of the first page in an unknown format"
                part.uninspected.append(Uninspected(PROPERTIES, reason))
            else:
                part.children.append(child)
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
    """Remove the picture of the first page, and on request all times and texts."""
    found = read_properties(bytes(copy))
    for start, end in found.pictures:
        copy[start:end] = bytes(end - start)
    if cleaning:
        for at in found.times:
            copy[at : at + 8] = bytes(8)
        for at, size, _ in found.runs:
            copy[at : at + size] = bytes(size)
