"""Text that no page draws: strings, text streams and meaningful names of the file's objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.interface import APART
from dlpctl.formats.pdf.drawing import Budget, is_language
from dlpctl.formats.pdf.encodings import facts
from dlpctl.formats.pdf.model import (
    CoveredText,
    Dropped,
    JpegNotes,
    NameText,
    StreamText,
    StringAt,
    XmlStream,
)
from dlpctl.formats.pdf.objects import (
    before_last_filter,
    filters_of,
    is_array,
    is_dictionary,
    is_name,
    is_stream,
    is_string,
    name_text,
    stream_bytes,
)
from dlpctl.formats.pdf.source import ObjectNumber
from dlpctl.formats.pdf.xmltext import XmlText, decode
from dlpctl.formats.pictures.metadata import jpeg_notes, telling_strings

if TYPE_CHECKING:
    import pikepdf

TRAILER: ObjectNumber = (0, 0)
_DATE = re.compile(r"D:[0-9]{4,14}(?:[Z+-](?:[0-9]{2}'?(?:[0-9]{2}'?)?)?)?")
_TELLING_NAME = re.compile(r"@|[0-9](?:[^0-9]{0,2}[0-9]){5}|[A-Z]{4}[A-Z0-9]{12}")
_VALUE = re.compile(
    r"\w@[A-Za-z0-9-]+\.[A-Za-z]|[0-9]{13}|(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}[A-Z0-9]{11}"
)
"""Ids, lists of glyphs and names of collections have none of these by chance."""
_HEX_STRING = re.compile(rb"<[0-9A-Fa-f\s]*>")
_TECHNICAL_KEYS = frozenset(facts("keys")["technical"])
_NO_TEXT_KEYS = frozenset(facts("keys")["without text"])
_BACKWARD_KEYS = ("/Parent", "/P")
"""Keys that lead back to the parent of an object, from which its location would be wrong."""
_PLACES: dict[str, str] = facts("keys")["places"]
_MOST_STREAM = 4 << 20


class TextAt(NamedTuple):
    text: str
    location: str
    anchor: object
    context: str


class _Visit(NamedTuple):
    item: object
    owner: ObjectNumber
    path: tuple[str | int, ...]
    location: str
    context: str
    key: str


class Collector:
    """Visits all objects once: from the pages and the trailer, then those without references."""

    def __init__(self, pdf: pikepdf.Pdf, budget: Budget, drawn: set[object]) -> None:
        self._pdf = pdf
        self._budget = budget
        self._drawn = drawn
        self._seen: set[ObjectNumber] = set()
        self._names: dict[str, str] = {}
        self.files: dict[ObjectNumber, str] = {}
        """Embedded files by object number, with their names."""
        self._deferred: list[_Visit] = []
        self._shapes: set[ObjectNumber] = set()
        """Streams of shapes that several pictures share."""
        self.signed = False
        self.skipped: list[tuple[str, str]] = []
        """Locations and reasons of uninspected parts."""

    def texts(self) -> Iterator[TextAt]:
        pages = [page.obj for page in self._pdf.pages]
        self._seen.update(page.objgen for page in pages)
        for index, page in enumerate(pages):
            yield from self._walk(
                _Visit(page, page.objgen, (), f"page {index + 1}", "", ""), entered=True
            )
        trailer = self._pdf.trailer
        if is_dictionary(keys := trailer.get("/Encrypt")):
            self._seen.add(keys.objgen)
        for key in ("/Info", "/Root"):
            if key in trailer:
                yield from self._walk(
                    _Visit(trailer[key], TRAILER, (key,), _PLACES.get(key, "catalog"), "", key)
                )
        for key in list(trailer.keys()):
            if key not in ("/Info", "/Root", "/Encrypt", "/ID"):
                yield from self._walk(_Visit(trailer[key], TRAILER, (key,), "trailer", "", key))
        while self._deferred:
            yield from self._walk(self._deferred.pop())
        for name, location in list(self._names.items()):
            yield TextAt(name[1:], location, NameText(name), "")
        yield from self._unreferenced()

    def _unreferenced(self) -> Iterator[TextAt]:
        for item in self._pdf.objects:
            if (
                not (is_dictionary(item) or is_stream(item) or is_array(item))
                or item.objgen in self._seen
            ):
                continue
            if name_text(item.get("/Type") if not is_array(item) else None) in ("/ObjStm", "/XRef"):
                continue
            number = item.objgen
            location = f"unused object {number[0]}"
            for found in self._walk(_Visit(item, number, (), location, "", "")):
                yield found._replace(location=location, anchor=Dropped())

    def _walk(self, start: _Visit, *, entered: bool = False) -> Iterator[TextAt]:
        stack = [start]
        while stack:
            visit = stack.pop()
            item = visit.item
            if is_string(item):
                yield from self._string(visit)
                continue
            if is_name(item):
                self._note_name(name_text(item), visit.location)
                continue
            if not (is_dictionary(item) or is_array(item) or is_stream(item)):
                continue
            if item.is_indirect and not entered:
                if item.objgen in self._seen:
                    continue
                self._seen.add(item.objgen)
                visit = visit._replace(owner=item.objgen, path=())
            entered = False
            if is_array(item):
                if len(item) and name_text(item[0]) == "/Indexed":
                    continue
                stack += [
                    visit._replace(item=value, path=(*visit.path, index))
                    for index, value in reversed(list(enumerate(item)))
                ]
                continue
            if is_stream(item):
                yield from self._stream(item, visit)
            stack += reversed(self._members(item, visit))

    def _members(self, item: pikepdf.Object, visit: _Visit) -> list[_Visit]:
        from pikepdf import Object

        object_type = name_text(item.get("/Type"))
        if object_type == "/Annot" or ("/Subtype" in item and "/Rect" in item):
            visit = visit._replace(location=_annotation(visit.location))
        context = visit.context
        names = [str(item[key]) for key in ("/T", "/TU") if is_string(item.get(key))]
        if names:  # only one of them may say what the value is
            context = names[0] if len(names) == 1 else f"{names[0]} ({names[1]})"
        if object_type in ("/Sig", "/DocTimeStamp") or "/ByteRange" in item:
            self.signed = True
        self._note_file(item)
        members = []
        for key, value in item.items():
            is_indirect = isinstance(value, Object) and value.is_indirect
            if key in _TECHNICAL_KEYS and not is_indirect and not _has_value(value):
                continue
            if key == "/Lang" and is_string(value) and is_language(bytes(value)):
                continue
            if key in _BACKWARD_KEYS and is_dictionary(value):
                self._deferred.append(
                    _Visit(value, visit.owner, (*visit.path, key), "unknown", "", key)
                )
                continue
            if key == "/CharProcs" and is_dictionary(value):
                self._seen.update(
                    drawing.objgen for drawing in value.values() if is_stream(drawing)
                )
                continue
            self._note_name(key, visit.location)
            location = (
                _PLACES.get(key, visit.location)
                if visit.location in ("catalog", "unknown")
                else visit.location
            )
            words = key[1:] if visit.key == "/Info" else context
            members.append(_Visit(value, visit.owner, (*visit.path, key), location, words, key))
        return members

    def _note_name(self, name: str, location: str) -> None:
        if len(name) > 6 and _TELLING_NAME.search(name):
            self._names.setdefault(name, location)

    def _note_file(self, item: pikepdf.Object) -> None:
        embedded = item.get("/EF")
        if not is_dictionary(embedded):
            return
        name = next(
            (str(item[key]) for key in ("/UF", "/F") if is_string(item.get(key))), "attachment"
        )
        for value in embedded.values():
            if is_stream(value):
                self.files.setdefault(value.objgen, name)
                self._seen.add(value.objgen)

    def _string(self, visit: _Visit) -> Iterator[TextAt]:
        if not is_string(visit.item):
            return
        text = str(visit.item)
        if visit.key == "/Contents" and len(text) > 256 and not text.isprintable():
            text = readable(bytes(visit.item))
        if visit.key == "/FontFamily" and not _TELLING_NAME.search(text):
            return  # a typeface, which may have a name like a person
        if len(text) < 2 or _DATE.fullmatch(text):
            return
        self._budget.spend(expanded=len(text))
        yield TextAt(text, visit.location, StringAt(visit.owner, visit.path), visit.context)

    def _jpeg_notes(self, item: pikepdf.Object, location: str) -> Iterator[TextAt]:
        """Yield the texts beside the pixels of a JPEG picture."""
        from pikepdf import PdfError

        try:
            texts = jpeg_notes(before_last_filter(item, self._budget.expanded))
        except PdfError:
            self.skipped.append((location, "it cannot be decoded"))
            return
        if texts:
            yield TextAt(texts, location, JpegNotes(item.objgen), "")

    def _stream(self, item: pikepdf.Object, visit: _Visit) -> Iterator[TextAt]:
        object_type, subtype = name_text(item.get("/Type")), name_text(item.get("/Subtype"))
        number = item.objgen
        if subtype == "/Image":
            self._shapes.update(_shapes_of(item))
            if filters_of(item)[-1:] == ["/DCTDecode"]:
                yield from self._jpeg_notes(item, f"{visit.location}, picture metadata")
            return
        if (
            number in self._drawn
            or visit.key in _NO_TEXT_KEYS
            or _is_technical(item, object_type, subtype)
        ):
            if "/N" in item and not object_type:
                yield from self._covered(item, f"{visit.location}, color profile")
            elif visit.key == "/ToUnicode" or object_type == "/CMap":
                yield from self._covered(item, f"{visit.location}, character map")
            return
        data = stream_bytes(item, self._budget.expanded)
        if len(data) > _MOST_STREAM:
            self.skipped.append(
                (
                    f"{visit.location}, object {number[0]}",
                    "a stream of unknown kind is too large to inspect",
                )
            )
            return
        self._budget.spend(expanded=len(data))
        if number in self._shapes:
            yield TextAt(readable(data), visit.location, Dropped(), "")
            return
        if _is_container(data):
            self.files[number] = "content"
            return
        text, codec = decode(data)
        if (
            object_type == "/Metadata"
            or subtype == "/XML"
            or text.lstrip("\ufeff \t\r\n").startswith("<")
        ):
            yield TextAt(XmlText(text).text, visit.location, XmlStream(number), "")
        elif codec == "latin-1":
            yield TextAt(
                re.sub(r"[\x00-\x1f\x7f-\x9f]", "\n", text), visit.location, StreamText(number), ""
            )
        else:
            yield TextAt(text, visit.location, StreamText(number), "")

    def _covered(self, item: pikepdf.Object, location: str) -> Iterator[TextAt]:
        """Yield the strings with a value in a technical stream; others are its maker's."""
        data = stream_bytes(item, self._budget.expanded)
        self._budget.spend(expanded=len(data))
        if "/N" not in item:
            data = _HEX_STRING.sub(b"\n", data)  # codes and their characters
        if text := APART.join(telling_strings(data)):
            yield TextAt(text, location, CoveredText(item.objgen), "")


def _has_value(item: object) -> bool:
    """Return whether a technical string, or one directly in a technical object, has a value."""
    if is_string(item):
        return _VALUE.search(str(item)) is not None
    members = item.values() if is_dictionary(item) else item if is_array(item) else ()
    return any(is_string(each) and _VALUE.search(str(each)) for each in members)


def readable(data: bytes) -> str:
    """Return the readable parts of a binary value, one per line."""
    return "\n".join(match[0].decode("ascii") for match in re.finditer(rb"[\x20-\x7e]{4,}", data))


def _shapes_of(picture: pikepdf.Object) -> Iterator[ObjectNumber]:
    """Yield the streams with shapes of a picture, which a masked picture does not need."""
    parameters = picture.get("/DecodeParms")
    for each in list(parameters) if is_array(parameters) else [parameters]:
        shapes = each.get("/JBIG2Globals") if is_dictionary(each) else None
        if is_stream(shapes):
            yield shapes.objgen


def _annotation(location: str) -> str:
    return (
        location
        if "annotation" in location or not location.startswith("page ")
        else f"{location}, annotation"
    )


def _is_container(data: bytes) -> bool:
    """Return whether a stream is a file of its own, such as the source of a hybrid PDF."""
    from dlpctl.formats.discovery import rank
    from dlpctl.formats.recognition import CATCH_ALL, HEAD, readings

    return not decode(data[:HEAD])[1].startswith("utf") and rank(readings(data, "")[0]) < CATCH_ALL


def _is_technical(item: pikepdf.Object, object_type: str, subtype: str) -> bool:
    """Return whether a stream draws or contains numbers: functions, color profiles, fonts."""
    if object_type in ("/ObjStm", "/XRef", "/CMap", "/Halftone"):
        return True
    if subtype in ("/Form", "/Type1C", "/CIDFontType0C", "/OpenType"):
        return True
    return any(
        key in item
        for key in (
            "/FunctionType",
            "/ShadingType",
            "/PatternType",
            "/Length1",
            "/CMapName",
            "/Alternate",
            "/HalftoneType",
        )
    ) or ("/N" in item and "/Type" not in item)
