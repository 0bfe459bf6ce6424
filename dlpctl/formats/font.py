"""Fonts: the texts of their makers, in a font whose other tables only draw glyphs."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats import fonttables
from dlpctl.formats.archive import BinaryFormat, decodings, edited
from dlpctl.formats.fonttables import MAGICS
from dlpctl.formats.interface import (
    APART,
    Children,
    Document,
    Edits,
    Limits,
    NotThisFormatError,
    Piece,
    Segment,
    Uninspected,
    View,
)
from dlpctl.formats.pictures.metadata import telling_strings
from dlpctl.regex import lazy

_NAME = b"name"
_READ = frozenset(
    tag.ljust(4)
    for tag in (
        b"cmap head hhea hmtx maxp name OS/2 post cvt fpgm glyf loca prep gasp CFF CFF2 VORG BASE "
        b"GDEF GPOS GSUB JSTF MATH avar cvar fvar gvar HVAR MVAR STAT VVAR COLR CPAL DSIG hdmx "
        b"kern LTSH PCLT VDMX vhea vmtx FFTM GPKG TTFA webf feat morx mort kerx just lcar opbd "
        b"prop trak Zapf bsln Silf Glat Gloc Feat Sill TSI0 TSI1 TSI2 TSI3 TSI5 meta PfEd TeX BDF "
        b"ankr ltag"
    ).split()
)
"""Tables that draw glyphs, and those whose strings show everything in them."""
_VALUE = lazy(
    r"[\w.+-]+@[\w.-]+|(?:[0-9][^0-9A-Za-z]{0,2}){8,}+"
    r"|(?:[A-Z]{4}|[a-z]{2,8}[_-])[A-Za-z0-9_/+-]{12,}+"
)
"""An address, a number or a key. Everything else in a font is its licence, and names of the
typeface and its makers.
"""
_AROUND = 32
"""The number of characters around a value that may label it."""
_RECORD, _LANGUAGE = struct.Struct(">6H"), struct.Struct(">2H")
_MACINTOSH = 1
_MOST_NAMES = 1 << 20
"""Bytes of all texts, which may share them: more than any font has."""
_REST = "strings"


class _Text(NamedTuple):
    """A text of the table of names: where it is in the storage, and how it is encoded."""

    start: int
    size: int
    codec: str


class Font(BinaryFormat):
    name = "font"
    extensions = (".ttf", ".otf", ".woff", ".woff2", ".odttf")
    magic = MAGICS

    def sniff(self, head: bytes, name: str) -> bool:
        if not head.startswith(self.magic):
            return False
        # Other files start with these four bytes, too, but not with a count of tables.
        return head[:4] != MAGICS[0] or 0 < int.from_bytes(head[4:6], "big") < 64

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        try:
            font = fonttables.read(data, limits)
            names = _Names(dict(font.tables).get(_NAME, b""))
            segments = [Segment(text, "names", anchor) for anchor, text in names.texts()]
        except (FormatError, struct.error) as error:
            raise NotThisFormatError("the font is damaged") from error
        if font.metadata:
            segments.append(Segment(font.metadata.decode("utf-8", "replace"), "metadata"))
        others = (contents for tag, contents in font.tables if tag != _NAME)
        for location, contents in (
            ("bytes beside the tables", [font.outside, names.unused()]),
            (_REST, others),
        ):
            text = APART.join(string for each in contents for string in telling_strings(each))
            segments += [Segment(text, location, location)] if text else []
        parts = [part for number, each in enumerate(segments) for part in _shown(number, each.text)]
        views = [View("texts", parts, segments)] if parts else []
        unread = (tag for tag, _ in font.tables if tag not in _READ)
        uninspected = [
            Uninspected(f"table {tag.decode('latin-1')}", "a part of a font that is not read")
            for tag in unread
        ]
        if font.outside.strip(b"\0"):
            uninspected.append(Uninspected("font", "bytes beside its tables"))
        return Document(self.name, segments, views, uninspected)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        changed: dict[_Text, str] = {}
        for segment, text in edited(document, edits):
            if isinstance(segment.anchor, _Text):
                changed[segment.anchor] = text
            elif segment.anchor == _REST:
                raise CannotMaskError("a value is in the glyphs of a font: remove it at its source")
        if not edits:
            return data
        font = fonttables.read(data, Limits(expanded_bytes=1 << 40))
        table = _Names(dict(font.tables).get(_NAME, b"")).written(changed)
        return font.with_table(_NAME, table).written()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        font = fonttables.read(data, limits)
        texts = [*decodings(font.metadata), *decodings(font.outside)]
        for tag, contents in font.tables:
            if tag == _NAME:
                texts += (*decodings(contents), contents.decode("utf-16-be", "replace"))
            else:
                texts += telling_strings(contents)
        return texts


def _shown(number: int, text: str) -> Iterator[Piece | str]:
    """Yield the parts of a text around the values in it."""
    read = 0
    for found in _VALUE.finditer(text):
        start, end = max(found.start() - _AROUND, read), min(found.end() + _AROUND, len(text))
        if start < end:
            yield from (Piece(number, start, end), "\n")
            read = end


class _Names:
    """The table of names: records that refer to texts."""

    def __init__(self, table: bytes) -> None:
        self._table = table
        self._records: list[tuple[int, int, int, int, int, int]] = []
        self._languages: list[tuple[int, int]] = []
        self._version = self._storage = 0
        if not table:
            return
        self._version, count, self._storage = struct.unpack_from(">3H", table)
        at = 6
        for _ in range(count):
            self._records.append(_RECORD.unpack_from(table, at))
            at += _RECORD.size
        if self._version:
            (languages,) = struct.unpack_from(">H", table, at)
            self._languages = [
                _LANGUAGE.unpack_from(table, at + 2 + 4 * index) for index in range(languages)
            ]

    def texts(self) -> Iterator[tuple[_Text, str]]:
        """Return each text once."""
        texts = [
            _Text(start, size, "mac-roman" if platform == _MACINTOSH else "utf-16-be")
            for platform, *_, size, start in self._records
        ]
        texts += (_Text(start, size, "utf-16-be") for size, start in self._languages)
        distinct = dict.fromkeys(texts)
        if sum(text.size for text in distinct) > _MOST_NAMES:
            raise FormatError("the names of the font overlap")
        for text in distinct:
            yield text, self._bytes(text.start, text.size).decode(text.codec, "replace")

    def unused(self) -> bytes:
        """Return the bytes of the storage that no record refers to."""
        storage = bytearray(self._table[self._storage :])
        for size, start in {each[-2:] for each in (*self._records, *self._languages)}:
            storage[start : start + size] = bytes(len(storage[start : start + size]))
        return bytes(storage)

    def written(self, changed: Mapping[_Text, str]) -> bytes:
        """Return the table with other texts."""
        storage = bytearray()
        known: dict[bytes, int] = {}

        def stored(start: int, size: int, codec: str) -> tuple[int, int]:
            text = changed.get(_Text(start, size, codec))
            raw = self._bytes(start, size) if text is None else text.encode(codec, "replace")
            if raw not in known:
                known[raw] = len(storage)
                storage.extend(raw)
            return len(raw), known[raw]

        records = b"".join(
            _RECORD.pack(
                *each[:4],
                *stored(each[5], each[4], "mac-roman" if each[0] == _MACINTOSH else "utf-16-be"),
            )
            for each in self._records
        )
        languages = b"".join(
            _LANGUAGE.pack(*stored(start, size, "utf-16-be")) for size, start in self._languages
        )
        if self._version:
            languages = struct.pack(">H", len(self._languages)) + languages
        at = 6 + len(records) + len(languages)
        header = struct.pack(">3H", self._version, len(self._records), at)
        return header + records + languages + bytes(storage)

    def _bytes(self, start: int, size: int) -> bytes:
        at = self._storage + start
        return self._table[at : at + size]


FORMAT = Font()
