"""Office Open XML: Word, Excel and PowerPoint files, read and masked part by part."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath

from dlpctl.formats.containers import zip_files
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.interface import Limits, NotThisFormatError
from dlpctl.formats.office.content import is_telling
from dlpctl.formats.office.flow import Dialect, Flow, says_nothing
from dlpctl.formats.office.foreign import without_files
from dlpctl.formats.office.parts import CONTENT_TYPES, FAMILIES, PackagePlan, rels_of
from dlpctl.formats.office.pivots import PivotFields
from dlpctl.formats.office.reading import Reading, Spot
from dlpctl.formats.office.writing import source_edits
from dlpctl.formats.office.xmltext import decoded
from dlpctl.formats.office.zipped import Wanted, ZippedDocument, without_overlap
from dlpctl.regex import lazy

_MAIN_TYPE = re.compile(
    rb"ContentType\s*=\s*[\"']"
    rb"([^\"']*?(wordprocessingml|spreadsheetml|presentationml"
    rb"|ms-word|ms-excel|ms-powerpoint)"
    rb"[^\"']*?\.main(?:\+xml)?)[\"']"
)
_HEAD = 1 << 16
_STYLES = lazy(
    r"(?:word|xl|ppt)/(?:fontTable|styles|stylesWithEffects|numbering|"
    r"webSettings|tableStyles|presProps|viewProps)\.xml"
    r"|(?:word|xl|ppt)/theme/.*|\[Content_Types\]\.xml"
)
_PROPERTIES = lazy(r"docProps/(?:app|core|custom)\d*\.xml")
_OFFICE_FOLDERS = lazy(r"word/|xl/|ppt/|(?:.*/)?_rels/")
_SLIDE = lazy(r"ppt/slides/slide(\d+)\.xml")


class OpenXml(ZippedDocument[PackagePlan]):
    """A format of the family; Word and PowerPoint use this class directly."""

    metadata = r"docProps/.*\.xml"
    macros = ("word/vbaProject", "xl/vbaProject", "ppt/vbaProject")

    def sniff(self, head: bytes, name: str) -> bool:
        if not head.startswith(b"PK\x03\x04") or CONTENT_TYPES.encode() not in head:
            return False
        family = _family(head)
        return family == self.name if family is not None else name.lower().endswith(self.extensions)

    def plan(self, parts: Mapping[str, bytes]) -> PackagePlan:
        if CONTENT_TYPES not in parts:
            raise NotThisFormatError("the file is a ZIP archive, but no Office file")
        plan = PackagePlan(parts)
        if plan.family != self.name:
            raise NotThisFormatError("the file is another kind of Office file")
        return plan

    def extensions_of(self, data: bytes, _name: str) -> list[str]:
        """Return the extensions with which its programs open a file: macros have their own."""
        found = _main_type(data)
        return [
            each
            for each in self.extensions
            if found is None or each.endswith("m") == ("macroenabled" in found[0].lower())
        ]

    def is_unread(self, part: str) -> bool:
        # Embedded fonts contain nothing that a person wrote.
        return part.lower().endswith((".odttf", ".fntdata", ".ttf", ".otf"))

    def is_foreign(self, part: str) -> bool:
        return dialect_of(part) is Dialect.FOREIGN

    def names(self, parts: Mapping[str, bytes]) -> str:
        return "\n".join(
            name for name in (PurePosixPath(part).stem for part in parts) if is_telling(name)
        )

    def readings(
        self, parts: Mapping[str, bytes], plan: PackagePlan, limits: Limits
    ) -> Iterator[tuple[Reading, Spot]]:
        for part in in_reading_order(parts):
            if plan.is_xml(part):
                for reading in part_readings(part, parts[part], limits):
                    label, ways = label_of(part), reading.ways()
                    yield (
                        reading,
                        Spot(
                            part, reading.layer, label, reading.paragraphs, reading.unit, ways=ways
                        ),
                    )

    def changed(self, wanted: Wanted[PackagePlan]) -> dict[str, bytes | None]:
        changes = self.changes(wanted)
        dropped = wanted.plan.dropped() | wanted.gone | self.voided(wanted, changes)
        dropped |= wanted.parts.keys() & set(map(rels_of, dropped))
        for part, references in wanted.plan.without(dropped):
            changes[part] = without_overlap([*changes.get(part, []), *references])
        changed: dict[str, bytes | None] = {
            part: wanted.source(part).encoded(chain((first,), edits))
            for part in changes
            if (first := next(edits := wanted.with_streamed(part, changes[part]), None))
        }
        return changed | dict.fromkeys(dropped)

    def changes(self, wanted: Wanted[PackagePlan]) -> dict[str, list[TextEdit]]:
        """Return the edits of each part's source that result from the edits of its layers."""
        found: dict[str, list[TextEdit]] = {}
        for text, _, spot, _ in wanted.segments:
            if isinstance(spot, Spot) and spot.ways and (spot.part, spot.layer) in wanted.edits:
                changed = spot.ways.changed(text, wanted.edits[spot.part, spot.layer])
                source = wanted.source(spot.part).text
                found.setdefault(spot.part, []).extend(source_edits(source, spot.layer, changed))
        return found

    def voided(self, wanted: Wanted[PackagePlan], changes: Mapping[str, object]) -> set[str]:
        """Return parts that the changes invalidate and that programs recreate."""
        return set()


def part_readings(
    part: str, data: bytes, limits: Limits, fields: Sequence[str] | None = None
) -> Iterator[Reading]:
    """Yield the layers of one XML part; `fields` are those of the pivot cache that it is of."""
    source = decoded(data, part, strict=not part.lower().endswith(".vml"))
    dialect = dialect_of(part)
    if dialect is Dialect.STYLES and says_nothing(source.text):
        return iter(())
    text = without_files(source.text) if dialect is Dialect.FOREIGN else source.text
    pivot = None if fields is None else PivotFields(fields)
    return Flow(text, dialect, limits, part, pivot).readings()


def dialect_of(part: str) -> Dialect:
    if _STYLES.fullmatch(part):
        return Dialect.STYLES
    if _PROPERTIES.fullmatch(part):
        return Dialect.PROPERTIES
    return Dialect.OFFICE if _OFFICE_FOLDERS.match(part) else Dialect.FOREIGN


def in_reading_order(parts: Mapping[str, bytes]) -> list[str]:
    """Return the document before its properties and relationships, slides by number."""

    def order(part: str) -> tuple[bool, bool, bool, int, str]:
        slide = _SLIDE.fullmatch(part)
        apart = part.startswith(("docProps/", "_rels/", "customXml/", "["))
        first = slide is not None or part == "word/document.xml"
        return part.endswith(".rels"), apart, not first, int(slide[1]) if slide else 0, part

    return sorted(parts, key=order)


def label_of(part: str) -> str:
    slide = _SLIDE.fullmatch(part)
    return f"slide {slide[1]}" if slide else part


def _family(data: bytes) -> str | None:
    """Return the format of the content types, empty for another one; None for an
    incomplete file.
    """
    found = _main_type(data)
    return None if found is None else FAMILIES[found[1]] if found[1] else ""


def _main_type(data: bytes) -> tuple[str, str] | None:
    """Return the type of the main part and its family, empty for another type; None for an
    incomplete file.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(CONTENT_TYPES) as stream:
            found = _MAIN_TYPE.search(stream.read(_HEAD))
    except KeyError:
        return "", ""
    except zip_files.BROKEN:
        return None
    return (found[1].decode(), found[2].decode()) if found else ("", "")
