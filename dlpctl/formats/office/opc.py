"""Office Open XML: what Word, Excel and PowerPoint files share. They are read and masked part by
part.
"""

from __future__ import annotations

import io
import re
import zipfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from dlpctl.errors import CannotMaskError
from dlpctl.formats import zipfiles
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.interface import (
    Child,
    Document,
    Edit,
    Limits,
    NotThisFormatError,
    Segment,
    Uninspected,
)
from dlpctl.formats.office import second
from dlpctl.formats.office.content import is_telling
from dlpctl.formats.office.flow import Dialect, Flow, says_nothing
from dlpctl.formats.office.package import opened, rewritten
from dlpctl.formats.office.parts import CONTENT_TYPES, FAMILIES, Plan
from dlpctl.formats.office.reading import Builder, Collector, Leaf, Reading, Spot, edits_by_layer
from dlpctl.formats.office.reading import Plan as ViewPlan
from dlpctl.formats.office.writing import source_edits
from dlpctl.formats.office.xmltext import XmlSource, decoded
from dlpctl.regex import lazy

_ARCHIVE, _NAMES = "archive", "names of parts"
_MAIN_TYPE = re.compile(
    rb"ContentType\s*=\s*[\"'][^\"']*?(wordprocessingml|spreadsheetml|presentationml|ms-word|ms-excel|ms-powerpoint)[^\"']*?\.main(?:\+xml)?[\"']"
)
_HEAD = 1 << 16
# Fonts that a file brings along hold nothing that a person wrote.
_FONTS = (".odttf", ".fntdata", ".ttf", ".otf")
_VECTOR_PICTURES = (".emf", ".wmf", ".emz", ".wmz", ".pict", ".pct")
_STYLES = lazy(
    r"(?:word|xl|ppt)/(?:fontTable|styles|stylesWithEffects|numbering|webSettings|tableStyles|presProps|viewProps)\.xml"
    r"|(?:word|xl|ppt)/theme/.*|\[Content_Types\]\.xml"
)
_PROPERTIES = lazy(r"docProps/(?:app|core|custom)\d*\.xml")
_OFFICE_FOLDERS = lazy(r"word/|xl/|ppt/|(?:.*/)?_rels/")
_SLIDE = lazy(r"ppt/slides/slide(\d+)\.xml")
# A file was within its limits when it was read; to mask it, it is read again.
READ_BEFORE = Limits(expanded_bytes=1 << 40, entries=1 << 20, entry_ratio=1 << 30, nesting=1 << 16)


class OpenXml:
    """A format of the family; Word and PowerPoint need no more than this."""

    rank = 50

    def __init__(self, name: str, extensions: tuple[str, ...]) -> None:
        self.name = name
        self.extensions = extensions

    def sniff(self, head: bytes, name: str) -> bool:
        if not head.startswith(b"PK\x03\x04") or CONTENT_TYPES.encode() not in head:
            return False
        family = _family(head)
        return family == self.name if family is not None else name.lower().endswith(self.extensions)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        del password
        package = opened(data, limits)
        if CONTENT_TYPES not in package.parts:
            raise NotThisFormatError("the file is a ZIP archive, but no Office file")
        plan = Plan(package.parts)
        if plan.family != self.name:
            raise NotThisFormatError("the file is another kind of Office file")
        collector = Collector()
        for reading, spot in self.readings(package.parts, plan, limits):
            collector.add(reading, spot, reading.plans[0].context if reading.plans else "")
        for layer, text in ((_ARCHIVE, package.remarks), (_NAMES, _telling_names(package.parts))):
            collector.add(plain(layer, text), Spot(layer, layer, layer, array("q")))
        document = Document(self.name, collector.segments, collector.views, [], list(package.gaps))
        dropped = plan.dropped()
        for part, contents in package.parts.items():
            if plan.is_xml(part) or part in dropped or part.lower().endswith(_FONTS):
                continue
            document.children.append(
                Child(part, PurePosixPath(part).name, contents, spare=part.startswith("[trash]/"))
            )
            if part.lower().endswith(_VECTOR_PICTURES):
                document.uninspected.append(
                    Uninspected(part, "vector picture: only its strings were searched")
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
        if wanted.pop((_NAMES, _NAMES), None):
            raise CannotMaskError(
                "the name of a part of the file holds a value: rename it at its source"
            )
        drop_remarks = bool(wanted.pop((_ARCHIVE, _ARCHIVE), None))
        plan = Plan(package.parts)
        sources: dict[str, XmlSource] = {}
        changes = self.changes(package.parts, plan, sources, wanted, document.segments)
        dropped = plan.dropped() | self.voided(package.parts, plan, changes)
        for part, gone in plan.without(dropped):
            changes[part] = without_overlap([*changes.get(part, []), *gone])
        changed: dict[str, bytes | None] = {
            part: source_of(package.parts, sources, part).encoded(found)
            for part, found in changes.items()
            if found
        }
        changed |= dict.fromkeys(dropped)
        for part, contents in children.items():
            if part in package.parts:
                changed[part] = b"" if contents is None else contents
        return rewritten(data, changed, remarks=not drop_remarks)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return second.texts(data, limits)

    def readings(
        self, parts: Mapping[str, bytes], plan: Plan, limits: Limits
    ) -> Iterator[tuple[Reading, Spot]]:
        """Return the layers of every part, each with its anchor."""
        for part in in_reading_order(parts):
            if plan.is_xml(part):
                for reading in part_readings(part, parts[part], limits):
                    label, ways = label_of(part), reading.ways()
                    yield (
                        reading,
                        Spot(part, reading.layer, label, reading.places, reading.unit, ways=ways),
                    )

    def changes(
        self,
        parts: Mapping[str, bytes],
        plan: Plan,
        sources: dict[str, XmlSource],
        wanted: Mapping[tuple[str, str], list[TextEdit]],
        segments: Sequence[Segment],
    ) -> dict[str, list[TextEdit]]:
        """The edits of each part's source that the edits of its layers come to."""
        del plan
        found: dict[str, list[TextEdit]] = {}
        for text, _, spot, _ in segments:
            if (
                isinstance(spot, Spot)
                and spot.ways is not None
                and (spot.part, spot.layer) in wanted
            ):
                source = source_of(parts, sources, spot.part)
                changed = spot.ways.changed(text, wanted[spot.part, spot.layer])
                found.setdefault(spot.part, []).extend(
                    source_edits(source.text, spot.layer, changed)
                )
        return found

    def voided(
        self, parts: Mapping[str, bytes], plan: Plan, changes: Mapping[str, object]
    ) -> set[str]:
        """Parts that the changes make wrong and that programs make anew."""
        del parts, plan, changes
        return set()


def part_readings(part: str, data: bytes, limits: Limits) -> Iterator[Reading]:
    """The layers of one XML part."""
    source = decoded(data, part, strict=not part.lower().endswith(".vml"))
    dialect = dialect_of(part)
    if dialect is Dialect.STYLES and says_nothing(source.text):
        return iter(())
    return Flow(source.text, dialect, limits, part).readings()


def dialect_of(part: str) -> Dialect:
    if _STYLES.fullmatch(part):
        return Dialect.STYLES
    if _PROPERTIES.fullmatch(part):
        return Dialect.PROPERTIES
    return Dialect.OFFICE if _OFFICE_FOLDERS.match(part) else Dialect.FOREIGN


def source_of(parts: Mapping[str, bytes], sources: dict[str, XmlSource], part: str) -> XmlSource:
    if part not in sources:
        sources[part] = decoded(parts[part], part, strict=False)
    return sources[part]


def plain(layer: str, text: str) -> Reading:
    """Return a text that is in no part, as a layer."""
    builder = Builder(layer)
    builder.leaf(Leaf(0, len(text), text, layer))
    builder.reading.plans.append(ViewPlan(layer, [(0, len(text))]))
    return builder.done()


def without_overlap(edits: Sequence[TextEdit]) -> list[TextEdit]:
    """Edits without those within others: an element that is removed needs no new attributes."""
    kept: list[TextEdit] = []
    for edit in sorted(edits, key=lambda one: (one.start, -one.end)):
        if kept and edit.start < kept[-1].end:
            continue
        kept.append(edit)
    return kept


def in_reading_order(parts: Mapping[str, bytes]) -> list[str]:
    """The document before its properties and relationships, slides by number."""

    def order(part: str) -> tuple[bool, bool, bool, int, str]:
        slide = _SLIDE.fullmatch(part)
        apart = part.startswith(("docProps/", "_rels/", "customXml/", "["))
        first = slide is not None or part == "word/document.xml"
        return part.endswith(".rels"), apart, not first, int(slide[1]) if slide else 0, part

    return sorted(parts, key=order)


def label_of(part: str) -> str:
    slide = _SLIDE.fullmatch(part)
    return f"slide {slide[1]}" if slide else part


def _telling_names(parts: Mapping[str, bytes]) -> str:
    return "\n".join(
        name for name in (PurePosixPath(part).stem for part in parts) if is_telling(name)
    )


def _family(data: bytes) -> str | None:
    """The format that the content types speak of, empty for another; None where only a part of the
    file is at hand.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(CONTENT_TYPES) as stream:
            found = _MAIN_TYPE.search(stream.read(_HEAD))
    except KeyError:
        return ""
    except zipfiles.BROKEN:
        return None
    return FAMILIES[found[1].decode()] if found else ""
