"""The plan of an Office Open XML package: types and relationships of its parts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.encoding import Edit
from dlpctl.formats.office.xmltext import TOKEN, XmlSource, attributes, decoded, local, unescaped
from dlpctl.regex import lazy

CONTENT_TYPES = "[Content_Types].xml"
_XML_ENDINGS = (".xml", ".rels", ".vml")
_XML_STARTS = b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"
_ZIP = b"PK\3\4"
_SIGNATURES = "_xmlsignatures/"
_THUMBNAIL, _SIGNATURE_ORIGIN = "/metadata/thumbnail", "/digital-signature/origin"
MAIN = lazy(
    r"(wordprocessingml|spreadsheetml|presentationml"
    r"|ms-word|ms-excel|ms-powerpoint)\S*\.main\+xml$"
    r"|ms-excel.*\.main$"
)
FAMILIES = {
    "wordprocessingml": "docx", "ms-word": "docx", "spreadsheetml": "xlsx", "ms-excel": "xlsx",
    "presentationml": "pptx",
    "ms-powerpoint": "pptx",
}  # fmt: skip


class Relation(NamedTuple):
    """A relationship, and its range in its part."""

    source: str
    key: str
    """The key by which the source refers to the relationship."""
    type: str
    target: str
    """The name of a part, or an external address."""
    external: bool
    start: int
    end: int


def tags(source: str, name: str) -> Iterator[tuple[dict[str, str], int, int]]:
    """Yield the attributes of each element of a name, and the range of its tag."""
    for found in TOKEN.finditer(source):
        if found["name"] == name and not found["close"]:
            tag = found["attributes"]
            values = {
                local(each): unescaped(tag[start:end]) for each, start, end in attributes(tag)
            }
            yield values, found.start(), found.end()


class PackagePlan:
    """The content types and relationships of a package."""

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        if CONTENT_TYPES not in parts:
            raise FormatError("the file has no list of content types, so it is no Office file")
        self._parts = parts
        source = decoded(parts[CONTENT_TYPES], CONTENT_TYPES).text
        self._by_part = {
            each.get("PartName", "").lstrip("/").lower(): each
            for each, _, _ in tags(source, "Override")
        }
        self._by_ending = {
            each.get("Extension", "").lower(): each for each, _, _ in tags(source, "Default")
        }
        self.relations = [
            relation
            for name in parts
            if name.endswith(".rels")
            for relation in _relations(name, parts[name])
        ]

    @property
    def family(self) -> str:
        """Return the format of the main part; empty if there is none."""
        for name in self._parts:
            found = MAIN.search(self.type_of(name))
            if found:
                if ".binary." in found.string:
                    raise FormatError("the workbook is binary (.xlsb): save it as .xlsx")
                return FAMILIES[found[1] or "ms-excel"]
        return ""

    def type_of(self, name: str) -> str:
        entry = (
            self._by_part.get(name.lower())
            or self._by_ending.get(name.rpartition(".")[2].lower())
            or {}
        )
        return entry.get("ContentType", "")

    def is_xml(self, name: str) -> bool:
        if name.lower().endswith(_XML_ENDINGS):
            # A part that no program reads may be any file.
            contents = self._parts.get(name, b"").lstrip()
            return name.lower() in self._by_part or not contents or contents.startswith(_XML_STARTS)
        # A document within a document has the type of its main part.
        typed = self.type_of(name).lower().endswith(("+xml", "/xml"))
        return typed and not self._parts.get(name, b"").startswith(_ZIP)

    def dropped(self) -> set[str]:
        """Return thumbnails and signatures, which no masked copy has."""
        thumbnails = {each.target for each in self.relations if each.type.endswith(_THUMBNAIL)}
        shown = {each.target for each in self.relations if not each.type.endswith(_THUMBNAIL)}
        signatures = {name for name in self._parts if name.startswith(_SIGNATURES)}
        return (thumbnails - shown) & self._parts.keys() | signatures

    def targets(self, name: str, relation_type: str) -> list[str]:
        """Return the parts that a part refers to by relationships of a type."""
        return [
            each.target
            for each in self.relations
            if each.source == name and each.type.endswith(f"/{relation_type}") and not each.external
        ]

    def without(self, dropped: set[str]) -> Iterator[tuple[str, list[Edit]]]:
        """Yield the edits that remove all references to dropped parts."""
        types = decoded(self._parts[CONTENT_TYPES], CONTENT_TYPES)
        folded = {name.lower() for name in dropped}
        gone = [
            Edit(start, end, "")
            for each, start, end in tags(types.text, "Override")
            if each.get("PartName", "")[1:].lower() in folded
        ]
        if gone:
            yield CONTENT_TYPES, gone
        for part in {each.source for each in self.relations}:
            rels = rels_of(part)
            edits = [
                Edit(each.start, each.end, "")
                for each in self.relations
                if each.source == part and not each.external and each.target in dropped
            ]
            if edits and rels not in dropped:
                yield rels, edits


def rels_of(part: str) -> str:
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _relations(name: str, data: bytes) -> Iterator[Relation]:
    source: XmlSource = decoded(data, name)
    folder, file = posixpath.split(name)
    base = posixpath.dirname(folder)
    owner = posixpath.join(base, file.removesuffix(".rels"))
    for each, start, end in tags(source.text, "Relationship"):
        external = each.get("TargetMode", "") == "External"
        target = each.get("Target", "")
        if not external:
            target = (
                target[1:]
                if target.startswith("/")
                else posixpath.normpath(posixpath.join(base, target))
            )
        yield Relation(
            owner, each.get("Id", ""), each.get("Type", ""), target, external, start, end
        )
