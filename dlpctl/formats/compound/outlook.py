"""Messages, contacts and appointments of Outlook (`.msg`): each property is a stream.

Bodies, headers and attachments are files of their own.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.archive import name_views
from dlpctl.formats.compound import inner, richtext
from dlpctl.formats.compound.container import Compound
from dlpctl.formats.compound.document import CompoundFormat
from dlpctl.formats.compound.part import Part
from dlpctl.formats.compound.texts import WIDE, codec_of_page
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import Document, Limits, Piece, Segment, View
from dlpctl.formats.office.reading import Reading, Spot
from dlpctl.regex import lazy

_FIXED, _NAMED, _MESSAGE = "__properties_version1.0", "__nameid_version1.0/", "_3701000D/"
_PROPERTY = lazy(r"__substg1\.0_([0-9A-F]{4})([0-9A-F]{4})(?:-([0-9A-F]{8}))?")
_LAYER = "texts"
_NARROW_TEXT, _WIDE_TEXT, _SEVERAL, _TAG_SIZE, _ENTRY = 0x001E, 0x001F, 0x1000, 4, 16
_BODY, _RICH_BODY, _HTML, _HEADERS, _DATA = 0x1000, 0x1009, 0x1013, 0x007D, 0x3701
_FILES = {_BODY: "body.txt", _HTML: "body.html", _HEADERS: "headers.eml"}
_FILE_NAMES = (0x3707, 0x3704, 0x3001)
_OTHER_BODIES = tuple(f"__substg1.0_{each}" for each in ("1000001F", "1000001E", "10130102"))
_NO_NAME = Segment("", "")
_SIZE_AT = 8
_PAGES = (0x3FFD0003, 0x3FDE0003)
_LABELS = {
    0x0037: "Subject", 0x0070: "Topic", 0x0E1D: "Subject", 0x0C1A: "From", 0x0C1F: "From",
    0x0042: "From", 0x0065: "From", 0x0E04: "To", 0x0E03: "Cc", 0x0E02: "Bcc", 0x0040: "To",
    0x0076: "To", 0x1035: "Message-ID", 0x3001: "Name", 0x3003: "E-mail", 0x39FE: "E-mail",
    0x3704: "File name", 0x3707: "File name", 0x3A06: "First name", 0x3A11: "Last name",
    0x3A08: "Phone", 0x3A09: "Phone", 0x3A1B: "Phone", 0x3A1C: "Mobile", 0x3A24: "Fax",
    0x3A15: "Address", 0x3A29: "Street", 0x3A27: "City", 0x3A2A: "ZIP code", 0x3A16: "Company",
    0x3A17: "Job title", 0x3A42: "Date of birth",
}  # fmt: skip
_SMALL = 512
"""The maximum size of identifiers and addresses; larger binary data may be packed."""


class _Property(NamedTuple):
    storage: str
    tag: int
    type: int
    number: int
    """The number of a value among several; -1 for the only value, or the sizes of several."""

    @property
    def is_text(self) -> bool:
        is_value = self.number >= 0 or not self.type & _SEVERAL
        return is_value and self.type & ~_SEVERAL in (_NARROW_TEXT, _WIDE_TEXT)

    @property
    def path(self) -> str:
        index = f"-{self.number:08X}" if self.number >= 0 else ""
        return f"{self.storage}__substg1.0_{self.tag:04X}{self.type:04X}{index}"

    @property
    def message(self) -> str:
        """The storage of the message that has the property."""
        before, mark, _ = self.storage.rpartition(_MESSAGE)
        return before + mark


@dataclass(frozen=True, slots=True)
class _TextSpot(Spot):
    """The anchor of a text that is all of its stream."""

    codec: str = WIDE
    storage: str = ""
    is_name: bool = False


class Outlook(CompoundFormat):
    name = "msg"
    extensions = (".msg", ".oft")
    main = (_FIXED,)
    remarks = ()

    def reads(self, path: str) -> bool:
        return path.endswith(_FIXED) or _property(path) is not None

    def parts(self, compound: Compound, limits: Limits) -> Iterator[tuple[str, Part]]:
        codecs = _codecs(compound)
        for path in compound.streams:
            found = _property(path)
            if found is None or path.startswith(_NAMED):
                if self.reads(path):
                    yield path, Part()
            elif found.is_text:
                yield path, _text(path, found, compound.read(path), _codec(found, codecs))
            else:
                yield path, _other(path, found, compound, codecs, limits)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = super().extract(data, limits, password)
        document.views += _views(document.segments)
        return document

    def change(
        self, path: str, copy: bytearray, segments: list[Segment], edits: Mapping[str, list[Edit]]
    ) -> None:
        for segment in segments:
            spot = segment.anchor
            if isinstance(spot, _TextSpot) and spot.part == path:
                before = segment.text.encode(spot.codec, "replace")
                if not copy.startswith(before):
                    raise CannotMaskError("a text of the file is not in its encoding")
                text = spliced(segment.text, edits[f"{path}\0{_LAYER}"])
                copy[: len(before)] = text.encode(spot.codec, "replace")

    def completed(
        self, compound: Compound, changed: dict[str, bytes], removed: set[str]
    ) -> dict[str, bytes]:
        """Write files as properties, and list the new sizes of properties."""
        codecs = _codecs(compound)
        by_storage: dict[str, list[tuple[str, _Property]]] = {}
        for path in [*changed, *removed]:
            found = _property(path)
            if found is None or path.startswith(_NAMED):
                continue
            by_storage.setdefault(found.storage, []).append((path, found))
            if path in removed and found.number >= 0:
                removed.discard(path)
                changed[path] = b""
            elif path in changed and found.tag == _RICH_BODY:
                changed[path] = richtext.write(changed[path])
            elif path in changed and found.is_text and found.tag in _FILES:
                text = changed[path].decode("utf-8", "replace")
                changed[path] = text.encode(_codec(found, codecs), "replace")
        for storage, properties in by_storage.items():
            changed.update(_sizes(compound, storage, properties, changed))
        return changed


def _property(path: str) -> _Property | None:
    storage, slash, name = path.rpartition("/")
    found = _PROPERTY.fullmatch(name)
    if found is None:
        return None
    index = -1 if found[3] is None else int(found[3], 16)
    return _Property(f"{storage}{slash}", int(found[1], 16), int(found[2], 16), index)


def _codecs(compound: Compound) -> dict[str, str]:
    """Return the codec of the texts of each message that are in a code page."""
    codecs: dict[str, str] = {}
    for path in compound.streams:
        if path.endswith(_FIXED):
            values = {
                int.from_bytes(entry[:_TAG_SIZE], "little"): int.from_bytes(
                    entry[_SIZE_AT:12], "little"
                )
                for entry in _entries(compound.read(path), path)
            }
            page = next((values[tag] for tag in _PAGES if values.get(tag)), 1252)
            codecs[path.removesuffix(_FIXED)] = codec_of_page(page)
    return codecs


def _codec(found: _Property, codecs: Mapping[str, str]) -> str:
    if found.type & ~_SEVERAL == _WIDE_TEXT:
        return WIDE
    codec = codecs.get(found.message, "cp1252")
    return codec if codec != WIDE else "utf-8"


def _entries(table: bytes, path: str) -> Iterator[bytes]:
    """Yield the entries of the table of a storage."""
    for at in range(_size_of_head(path), len(table), _ENTRY):
        yield table[at : at + _ENTRY]


def _size_of_head(path: str) -> int:
    storage = path.removesuffix(_FIXED)
    if not storage:
        return 32
    return 24 if storage.endswith(_MESSAGE) else 8


def _text(path: str, found: _Property, data: bytes, codec: str) -> Part:
    text = data.decode(codec, "replace").rstrip("\0")
    if found.tag in _FILES:
        return inner.as_file(path, _FILES[found.tag], text.encode())
    label = _LABELS.get(found.tag, "property")
    is_name = found.tag in _FILE_NAMES
    spot = _TextSpot(path, _LAYER, label, array("q"), "", codec, found.storage, is_name)
    return Part(readings=[(Reading(_LAYER, text), spot)], is_file=True)


def _other(
    path: str, found: _Property, compound: Compound, codecs: Mapping[str, str], limits: Limits
) -> Part:
    """Return a property that is not a text."""
    data = compound.read(path)
    if found.tag == _HTML:
        return inner.as_file(path, _FILES[_HTML], data)
    if found.tag == _RICH_BODY:
        has_other = any(f"{found.storage}{each}" in compound.streams for each in _OTHER_BODIES)
        return inner.as_file(path, "body.rtf", richtext.read(data, limits), spare=has_other)
    if found.tag == _DATA:
        return inner.as_file(path, _file_name(found, compound, codecs), data)
    if len(data) > _SMALL and (found.number >= 0 or not found.type & _SEVERAL):
        return inner.as_file(path, f"property-{found.tag:04x}.bin", data, spare=True)
    return Part()


def _file_name(attached: _Property, compound: Compound, codecs: Mapping[str, str]) -> str:
    for tag in _FILE_NAMES:
        for text_type in (_WIDE_TEXT, _NARROW_TEXT):
            found = attached._replace(tag=tag, type=text_type)
            if found.path in compound.streams:
                name = compound.read(found.path).decode(_codec(found, codecs), "replace")
                return name.rstrip("\0").replace("/", "_")
    return "attachment"


def _views(segments: list[Segment]) -> Iterator[View]:
    """Yield the texts of each storage after their labels, and names of files as words."""
    storages: dict[str, list[Piece | str]] = {}
    names = [_NO_NAME] * len(segments)
    for number, segment in enumerate(segments):
        spot = segment.anchor
        if isinstance(spot, _TextSpot):
            text = Piece(number, 0, len(segment.text))
            storages.setdefault(spot.storage, []).extend((f"{spot.label}: ", text, "\n"))
            if spot.is_name:
                names[number] = segment
    yield from (View("properties", parts, segments) for parts in storages.values())
    yield from name_views(names)


def _sizes(
    compound: Compound,
    storage: str,
    properties: Iterable[tuple[str, _Property]],
    changed: Mapping[str, bytes],
) -> Iterator[tuple[str, bytes]]:
    """Yield the tables of a storage that have the sizes of its properties."""
    path = f"{storage}{_FIXED}"
    if path not in compound.streams:
        return
    table = changed.get(path) or compound.read(path)
    entries = {entry[:_TAG_SIZE]: bytearray(entry) for entry in _entries(table, path)}
    several: dict[str, bytearray] = {}
    for name, found in properties:
        entry = entries.get(struct.pack("<HH", found.type, found.tag), bytearray())
        at = _SIZE_AT
        if name not in changed:
            entry.clear()
            continue
        if found.number >= 0:
            sizes = found._replace(number=-1).path
            if sizes not in compound.streams:
                continue
            entry = several.setdefault(sizes, bytearray(compound.read(sizes)))
            at = found.number * (4 if found.is_text else 8)
        if at + 4 <= len(entry):
            grown = len(changed[name]) - compound.streams[name].size
            (size,) = struct.unpack_from("<I", entry, at)
            struct.pack_into("<I", entry, at, max(size + grown, 0))
    yield path, table[: _size_of_head(path)] + b"".join(entries.values())
    yield from ((name, bytes(sizes)) for name, sizes in several.items())
