"""OpenDocument, and the files of OpenOffice.org 1 that it descends from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.interface import Limits, NotThisFormatError
from dlpctl.formats.office.flow import Dialect, Flow
from dlpctl.formats.office.foreign import without_files
from dlpctl.formats.office.reading import Reading, Spot
from dlpctl.formats.office.writing import source_edits
from dlpctl.formats.office.xmltext import ATTRIBUTE, TOKEN, decoded, local, unescaped
from dlpctl.formats.office.zipped import (
    NAME_HOLDS_VALUE,
    READ_BEFORE,
    Wanted,
    ZippedDocument,
    without_overlap,
)
from dlpctl.regex import lazy

_MIMETYPE = b"application/vnd."
_MAIN_PARTS = {"content.xml", "styles.xml"}
_MANIFEST = "META-INF/manifest.xml"
_SIGNATURES = lazy(r"META-INF/.*signatures.*\.xml")
_CELLS = {"table-cell", "covered-table-cell"}
_TYPED = {
    "value",
    "date-value",
    "time-value",
    "boolean-value",
    "string-value",
    "currency",
    "formula",
}
_ENTRY = lazy(r"<(?:\w+:)?file-entry\b[^>]*?(?:/>|>\s*</(?:\w+:)?file-entry\s*>)")

_PICTURE = lazy(
    r"<(?:\w+:)?image\b[^<>]*\bhref=\"(?:\./)?([^\"<>]*)\"[^<>]*"
    r"(?:/>|(?<!/)>\s*(?:<(?:\w+:)?p\b[^<>]*/>\s*)?</(?:\w+:)?image\s*>)"
)


class _Plan:
    """The types of the parts of one file."""

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self._parts = parts

    def is_xml(self, name: str) -> bool:
        return name.lower().endswith((".xml", ".rdf", ".xhp"))

    def dropped(self) -> set[str]:
        """Return thumbnails, and signatures, which are invalid in a masked copy."""
        return {
            part
            for part in self._parts
            if part.startswith("Thumbnails/") or _SIGNATURES.fullmatch(part)
        }


class OpenDocument(ZippedDocument[_Plan]):
    """One type of document of the family."""

    metadata = r"(?:.*/)?meta\.xml"
    redrawn = ("ObjectReplacements/", "layout-cache")

    def __init__(self, name: str, media_type: str, old: str, extensions: tuple[str, ...]) -> None:
        super().__init__(name, extensions)
        types = f"oasis.opendocument.{media_type}", f"sun.xml.{old}"
        self._mimetypes = [_MIMETYPE + each.encode() for each in types]

    def sniff(self, head: bytes, name: str) -> bool:
        if not head.startswith(b"PK\x03\x04"):
            return False
        # The type need not be the first entry, and may be compressed.
        return any(each in head[:256] for each in self._mimetypes) or (
            _MANIFEST.encode() in head and name.lower().endswith(self.extensions)
        )

    def plan(self, parts: Mapping[str, bytes]) -> _Plan:
        # A template of styles has no content.
        if not _MAIN_PARTS & parts.keys():
            raise NotThisFormatError("the file is a ZIP archive, but no OpenDocument file")
        if b"encryption-data" in parts.get(_MANIFEST, b""):
            raise FormatError("the file is encrypted: save it without a password")
        return _Plan(parts)

    def is_unread(self, part: str) -> bool:
        return part == "mimetype"

    def is_foreign(self, part: str) -> bool:
        return _dialect_of(part) is Dialect.FOREIGN

    def readings(
        self, parts: Mapping[str, bytes], plan: _Plan, limits: Limits
    ) -> Iterator[tuple[Reading, Spot]]:
        dropped = plan.dropped()
        for part in sorted(parts, key=lambda name: (name != "content.xml", name)):
            if plan.is_xml(part) and part not in dropped:
                for reading in _readings(part, parts[part], limits):
                    yield reading, Spot(part, reading.layer, part, reading.paragraphs, reading.unit)

    def changed(self, wanted: Wanted[_Plan]) -> dict[str, bytes | None]:
        parts, gone = wanted.parts, wanted.plan.dropped() | wanted.gone
        changed: dict[str, bytes | None] = dict.fromkeys(gone)
        redrawn = {part for part in gone if part.startswith(self.redrawn)}
        drawing = (part for part in parts if redrawn and PurePosixPath(part).name in _MAIN_PARTS)
        for part in dict.fromkeys((*(part for part, _ in wanted.edits), *drawing)):
            if part == _MANIFEST:
                raise CannotMaskError(NAME_HOLDS_VALUE)
            source = decoded(parts[part], part, doctype=True)
            found: list[TextEdit] = []
            for reading in _readings(part, parts[part], READ_BEFORE):
                leaves = reading.changed(wanted.edits.get((part, reading.layer), ()))
                found += source_edits(source.text, reading.layer, leaves)
            changed[part] = source.encoded(
                sorted(
                    without_overlap(
                        [
                            *found,
                            *_as_texts(source.text, found),
                            *_without_pictures(source.text, redrawn),
                        ]
                    )
                )
            )
        if _MANIFEST in parts:
            manifest = decoded(parts[_MANIFEST], _MANIFEST, doctype=True)
            entries = [
                TextEdit(*entry.span(), "")
                for entry in _ENTRY.finditer(manifest.text)
                if any(f'full-path="{name}"' in entry[0] for name in gone)
            ]
            if entries:
                changed[_MANIFEST] = manifest.encoded(entries)
        return changed


def _readings(part: str, data: bytes, limits: Limits) -> Iterator[Reading]:
    dialect = _dialect_of(part)
    source = decoded(data, part, doctype=True).text
    text = without_files(source) if dialect is Dialect.FOREIGN else source
    return Flow(text, dialect, limits, part).readings()


def _dialect_of(part: str) -> Dialect:
    name = PurePosixPath(part).name
    if name in _MAIN_PARTS:
        return Dialect.OPEN_DOCUMENT
    if name in {"settings.xml", "manifest.xml"}:
        return Dialect.STYLES
    return Dialect.PROPERTIES if name == "meta.xml" else Dialect.FOREIGN


def _without_pictures(source: str, gone: set[str]) -> Iterator[TextEdit]:
    """Remove references to pictures of objects that a copy lacks."""
    for found in _PICTURE.finditer(source) if gone else ():
        if unescaped(found[1]) in gone:
            yield TextEdit(*found.span(), "")


def _as_texts(source: str, edits: Sequence[TextEdit]) -> Iterator[TextEdit]:
    """Turn changed cells into texts: their tags repeat a number, a date or a formula."""
    starts = sorted(edit.start for edit in edits)
    opening: list[re.Match[str]] = []
    for found in TOKEN.finditer(source):
        if found["name"] not in _CELLS:
            continue
        if not found["close"]:
            opening.append(found)
            if not found["empty"]:
                continue
        cell = opening.pop()
        at = bisect_right(starts, cell.start())
        if at < len(starts) and starts[at] < found.end() and "value-type" in cell["attributes"]:
            yield TextEdit(
                cell.start("attributes"), cell.end("attributes"), _text_tag(cell["attributes"])
            )


def _text_tag(tag: str) -> str:
    def replaced(found: re.Match[str]) -> str:
        name = local(found["name"])
        if name in _TYPED:
            return ""
        return f' {found["name"]}="string"' if name == "value-type" else found[0]

    return ATTRIBUTE.sub(replaced, tag)


FORMATS = (
    OpenDocument("odt", "text", "writer", (".odt", ".ott", ".sxw", ".stw")),
    OpenDocument("ods", "spreadsheet", "calc", (".ods", ".ots", ".sxc", ".stc")),
    OpenDocument("odp", "presentation", "impress", (".odp", ".otp", ".sxi", ".sti")),
    OpenDocument("odg", "graphics", "draw", (".odg", ".otg", ".sxd", ".std")),
)
