"""OpenDocument: texts, spreadsheets and presentations of LibreOffice and others."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.interface import Child, Document, Edit, Limits, NotThisFormatError
from dlpctl.formats.office import second
from dlpctl.formats.office.flow import Dialect, Flow
from dlpctl.formats.office.opc import READ_BEFORE, plain, without_overlap
from dlpctl.formats.office.package import opened, rewritten
from dlpctl.formats.office.reading import Collector, Reading, Spot, edits_by_layer
from dlpctl.formats.office.writing import source_edits
from dlpctl.formats.office.xmltext import ATTRIBUTE, TOKEN, decoded, local
from dlpctl.regex import lazy

_MIMETYPE = b"mimetypeapplication/vnd.oasis.opendocument."
_MANIFEST = "META-INF/manifest.xml"
_SIGNATURES = lazy(r"META-INF/.*signatures.*\.xml")
# Pictures of charts and formulas, which programs draw anew from what they show.
_REPLACEMENTS = "ObjectReplacements/"
_ARCHIVE = "archive"
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


class OpenDocument:
    """One kind of document of the family."""

    rank = 50

    def __init__(self, name: str, kind: str, extensions: tuple[str, ...]) -> None:
        self.name = name
        self.extensions = extensions
        self._mimetype = _MIMETYPE + kind.encode()

    def sniff(self, head: bytes, name: str) -> bool:
        del name
        return head.startswith(b"PK\x03\x04") and self._mimetype in head[:256]

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        del password
        package = opened(data, limits)
        if "content.xml" not in package.parts:
            raise NotThisFormatError("the file is a ZIP archive, but no OpenDocument file")
        if b"encryption-data" in package.parts.get(_MANIFEST, b""):
            raise FormatError("the file is encrypted: save it without a password")
        collector = Collector()
        document = Document(self.name, collector.segments, collector.views, [], list(package.gaps))
        dropped = _dropped(package.parts)
        for part in sorted(package.parts, key=lambda one: (one != "content.xml", one)):
            if _is_xml(part) and part not in dropped:
                for reading in _readings(part, package.parts[part], limits):
                    collector.add(
                        reading, Spot(part, reading.layer, part, reading.places, reading.unit)
                    )
            elif part != "mimetype" and part not in dropped:
                spare = part.startswith(_REPLACEMENTS)
                document.children.append(
                    Child(part, PurePosixPath(part).name, package.parts[part], spare)
                )
        collector.add(
            plain(_ARCHIVE, package.remarks), Spot(_ARCHIVE, _ARCHIVE, _ARCHIVE, array("q"))
        )
        return document

    def mask(
        self,
        data: bytes,
        document: Document,
        edits: Sequence[Edit],
        children: Mapping[str, bytes | None],
    ) -> bytes:
        package = opened(data, READ_BEFORE)
        wanted = edits_by_layer(document.segments, edits)
        drop_remarks = bool(wanted.pop((_ARCHIVE, _ARCHIVE), None))
        changed: dict[str, bytes | None] = dict.fromkeys(_dropped(package.parts))
        for part in dict.fromkeys(part for part, _ in wanted):
            if part == _MANIFEST:
                raise CannotMaskError(
                    "the name of a part of the file holds a value: rename it at its source"
                )
            source = decoded(package.parts[part], part, doctype=True)
            found: list[TextEdit] = []
            for reading in _readings(part, package.parts[part], READ_BEFORE):
                found += source_edits(
                    source.text,
                    reading.layer,
                    reading.changed(wanted.get((part, reading.layer), ())),
                )
            changed[part] = source.encoded(
                without_overlap([*found, *_as_texts(source.text, found)])
            )
        for part, contents in children.items():
            if part in package.parts:
                changed[part] = (
                    contents if contents is not None or part.startswith(_REPLACEMENTS) else b""
                )
        if _MANIFEST in package.parts:
            manifest = decoded(package.parts[_MANIFEST], _MANIFEST, doctype=True)
            gone = [
                TextEdit(*entry.span(), "")
                for entry in _ENTRY.finditer(manifest.text)
                if any(
                    f'full-path="{name}"' in entry[0] for name in changed if changed[name] is None
                )
            ]
            if gone:
                changed[_MANIFEST] = manifest.encoded(gone)
        return rewritten(data, changed, remarks=not drop_remarks)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return second.texts(data, limits)


def _is_xml(part: str) -> bool:
    return part.lower().endswith((".xml", ".rdf", ".xhp"))


def _dropped(parts: Mapping[str, bytes]) -> set[str]:
    """Pictures of the first page, and signatures, which are void in a masked copy."""
    return {part for part in parts if part.startswith("Thumbnails/") or _SIGNATURES.fullmatch(part)}


def _readings(part: str, data: bytes, limits: Limits) -> Iterator[Reading]:
    name = PurePosixPath(part).name
    if name in {"content.xml", "styles.xml"}:
        dialect = Dialect.OPEN_DOCUMENT
    elif name in {"settings.xml", "manifest.xml"}:
        dialect = Dialect.STYLES
    else:
        dialect = Dialect.PROPERTIES if name == "meta.xml" else Dialect.FOREIGN
    return Flow(decoded(data, part, doctype=True).text, dialect, limits, part).readings()


def _as_texts(source: str, edits: Sequence[TextEdit]) -> Iterator[TextEdit]:
    """Cells in which something changes become texts: their tags repeat what they show as a number,
    a date or a formula.
    """
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
    OpenDocument("odt", "text", (".odt", ".ott")),
    OpenDocument("ods", "spreadsheet", (".ods", ".ots")),
    OpenDocument("odp", "presentation", (".odp", ".otp")),
    OpenDocument("odg", "graphics", (".odg", ".otg")),
)
