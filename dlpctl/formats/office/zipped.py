"""The common base of Office Open XML and OpenDocument: XML parts in a ZIP, read and masked alike.

A subclass defines the meaning of its parts; this module turns them into segments and a copy.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from pathlib import PurePosixPath
from typing import Generic, Protocol, TypeVar

from dlpctl.errors import CannotMaskError
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.interface import (
    SIGNED,
    Child,
    Children,
    Document,
    Edits,
    Limits,
    Segment,
    Uninspected,
)
from dlpctl.formats.metadata import is_without_metadata
from dlpctl.formats.office import second
from dlpctl.formats.office.foreign import files_within, part_of, with_files
from dlpctl.formats.office.package import Package, opened, rewritten
from dlpctl.formats.office.reading import (
    Builder,
    Collector,
    Leaf,
    Reading,
    Spot,
    ViewPlan,
    edits_by_layer,
)
from dlpctl.formats.office.xmltext import XmlSource, decoded

ARCHIVE, NAMES = "archive", "names of parts"
# The limits were checked when the file was first read; masking reads it again.
READ_BEFORE = Limits(expanded_bytes=1 << 40, entries=1 << 20, entry_ratio=1 << 30, nesting=1 << 16)
_ZIP = b"PK\3\4"
_MACROS = "macros"
_PICTURES = {
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".bmp",
    ".tif",
    ".tiff",
    ".emf",
    ".wmf",
    ".svm",
    ".pict",
}
BLANK_PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c0200"
    "00000b4944415478da63f8cf000002010100a11e5c750000000049454e44ae426082"
)
"""A transparent picture of one pixel (PNG)."""
_BLANKS = {
    ".wmf": bytes.fromhex(
        "d7cdc69a00000000000001000100a00500000000b1520100090000030c0000000000030000000000030000000000"
    ),
    ".emf": bytes.fromhex(
        f"0100000058{27 * '00'}{2 * '01000000'}20454d46000001006c0000000200000001"
        f"{15 * '00'}{4 * '01000000'}0e00000014000000000000001000000014000000"
    ),
}
"""Metafiles that draw nothing: Office does not open a PNG in their stead."""
NAME_HOLDS_VALUE = "the name of a part of the file holds a value: rename it at its source"


class PartsPlan(Protocol):
    """The types of the parts of one file."""

    def is_xml(self, name: str, /) -> bool: ...

    def dropped(self) -> set[str]: ...


P = TypeVar("P", bound=PartsPlan)


@dataclass(slots=True)
class Wanted(Generic[P]):
    """The edits that a masked copy needs, and the package that they apply to."""

    parts: Mapping[str, bytes]
    plan: P
    edits: Mapping[tuple[str, str], Sequence[TextEdit]]
    """Edits by part and layer."""
    segments: Sequence[Segment]
    gone: set[str]
    """Parts that the copy lacks."""
    streamed: dict[str, Callable[[], Iterator[TextEdit]]] = field(default_factory=dict)
    """Return further edits of parts' sources, in order, while a part is written: a sheet has
    millions.
    """
    _sources: dict[str, XmlSource] = field(default_factory=dict)

    def source(self, part: str) -> XmlSource:
        """Return the characters of a part, decoded once."""
        if part not in self._sources:
            self._sources[part] = decoded(self.parts[part], part, strict=False)
        return self._sources[part]

    def with_streamed(self, part: str, edits: Iterable[TextEdit]) -> Iterator[TextEdit]:
        """Yield all edits of a part's source, in order."""
        streamed = self.streamed[part]() if part in self.streamed else ()
        return merge(sorted(edits), streamed)


class ZippedDocument(ABC, Generic[P]):
    """A format of documents that are XML parts in a ZIP."""

    rank = 50
    metadata: str
    """A regular expression of the places of segments, and names of parts, that are metadata."""
    redrawn: tuple[str, ...] = ()
    """Prefixes of the names of parts that may be missing, since programs recreate them."""
    macros: tuple[str, ...] = ()
    """Prefixes of the names of parts with macros, which may be missing, too."""

    def __init__(self, name: str, extensions: tuple[str, ...]) -> None:
        self.name = name
        self.extensions = extensions

    @abstractmethod
    def plan(self, parts: Mapping[str, bytes]) -> P:
        """Return the types of the parts; raise `NotThisFormatError` for another kind of file."""

    @abstractmethod
    def readings(
        self, parts: Mapping[str, bytes], plan: P, limits: Limits
    ) -> Iterator[tuple[Reading, Spot]]:
        """Return the layers of every part, each with its anchor."""

    @abstractmethod
    def changed(self, wanted: Wanted[P]) -> dict[str, bytes | None]:
        """Return the changed parts, and None for those that are `gone` or in no masked copy."""

    @abstractmethod
    def is_unread(self, part: str) -> bool:
        """Return whether a part other than XML contains nothing that a person wrote."""

    @abstractmethod
    def is_foreign(self, part: str) -> bool:
        """Return whether an XML part is data of other programs, which may contain files."""

    def names(self, parts: Mapping[str, bytes]) -> str:
        """Return names of parts that may contain a value, one per line."""
        return ""

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        package = opened(data, limits)
        plan = self.plan(package.parts)
        collector = Collector()
        for reading, spot in self.readings(package.parts, plan, limits):
            collector.add(reading, spot, reading.plans[0].context if reading.plans else "")
        for layer, text in ((ARCHIVE, package.remarks), (NAMES, self.names(package.parts))):
            collector.add(_plain(layer, text), Spot(layer, layer, layer, array("q")))
        document = Document(self.name, collector.segments, collector.views, [], list(package.gaps))
        self._add_children(document, package, plan)
        return document

    def _add_children(self, document: Document, package: Package, plan: P) -> None:
        dropped = plan.dropped()
        if any("signature" in part.lower() for part in dropped):
            document.remarks.append(SIGNED)
        for part, contents in package.parts.items():
            if part in dropped or self.is_unread(part):
                continue
            if plan.is_xml(part):
                if self.is_foreign(part):
                    document.children += files_within(part, contents)
                continue
            # Only an embedded document cannot be replaced by an empty part.
            spare = not contents.startswith(_ZIP)
            document.children.append(Child(part, PurePosixPath(part).name, contents, spare))
            if part.startswith(self.macros):
                document.uninspected.append(Uninspected(part, _MACROS))

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        parts = opened(data, READ_BEFORE).parts
        by_layer = edits_by_layer(document.segments, edits)
        if by_layer.pop((NAMES, NAMES), None):
            raise CannotMaskError(NAME_HOLDS_VALUE)
        drop_remarks = bool(by_layer.pop((ARCHIVE, ARCHIVE), None))
        gone = {
            part
            for part, contents in children.items()
            if contents is None and part in parts and part.startswith(self.redrawn + self.macros)
        }
        if is_without_metadata(self.metadata, document, edits):
            properties = {part for part in parts if re.fullmatch(self.metadata, part)}
            by_layer = {key: each for key, each in by_layer.items() if key[0] not in properties}
            gone |= properties
        wanted = Wanted(parts, self.plan(parts), by_layer, document.segments, gone)
        changed = self.changed(wanted)
        for part, contents in children.items():
            if part in parts and part not in gone:
                changed[part] = _empty(part) if contents is None else contents
        for part in set(filter(None, map(part_of, children))):
            current = changed.get(part, parts[part])
            if current is not None:
                changed[part] = with_files(part, current, children)
        return rewritten(data, changed, remarks=not drop_remarks)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return second.texts(data, limits)


def _empty(part: str) -> bytes:
    """Return the replacement of a removed part: a blank picture, or nothing."""
    suffix = PurePosixPath(part).suffix.lower()
    return _BLANKS.get(suffix, BLANK_PICTURE if suffix in _PICTURES else b"")


def _plain(layer: str, text: str) -> Reading:
    """Return a text that is in no part, as a layer."""
    builder = Builder(layer)
    builder.leaf(Leaf(0, len(text), text, layer))
    builder.reading.plans.append(ViewPlan(layer, [(0, len(text))]))
    return builder.done()


def without_overlap(edits: Sequence[TextEdit]) -> list[TextEdit]:
    """Return edits without those inside others: a removed element needs no attribute edits."""
    kept: list[TextEdit] = []
    for edit in sorted(edits, key=lambda each: (each.start, -each.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept
