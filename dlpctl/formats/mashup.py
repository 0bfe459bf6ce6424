"""Queries of Excel and Power BI: a package of formulas, permissions and metadata [MS-QDEFF]."""

from __future__ import annotations

import struct
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats import ziparchive
from dlpctl.formats.archive import BinaryFormat, kept
from dlpctl.formats.binary import strings_in
from dlpctl.formats.interface import (
    Child,
    Children,
    Document,
    Edits,
    Limits,
    Piece,
    Segment,
    View,
)

_SIZE = struct.Struct("<I")
_VERSION = bytes(4)
_BINDINGS = "permission bindings"
_PERMISSIONS, _METADATA, _CONTENT = "permissions.xml", "metadata.xml", "content"


class _Queries(NamedTuple):
    package: bytes
    """A ZIP archive."""
    permissions: bytes
    metadata: bytes
    content: bytes
    bindings: bytes
    """A hash of the permissions, encrypted; programs ask again if it is empty."""


class Mashup(BinaryFormat):
    name = "mashup"
    extensions = (".mashup",)

    def sniff(self, head: bytes, name: str) -> bool:
        return head.startswith(_VERSION) and head.startswith(b"PK\3\4", 8)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        queries = _queries(data)
        document = ziparchive.FORMAT.extract(queries.package, limits)
        document.format = self.name
        document.children += (
            Child(name, name, contents) for name, contents in _parts(queries) if contents
        )
        if text := "\n".join(strings_in(queries.bindings)):
            document.segments.append(Segment(text, _BINDINGS, _BINDINGS))
            full = Piece(len(document.segments) - 1, 0, len(text))
            document.views.append(View(_BINDINGS, [full], document.segments))
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        queries = _queries(data)
        of_bindings = {
            number
            for number, segment in enumerate(document.segments)
            if segment.anchor == _BINDINGS
        }
        others = [edit for edit in edits if edit.segment not in of_bindings]
        package = ziparchive.FORMAT.mask(queries.package, document, others, children)
        permissions, metadata, content = (
            kept(children, name, contents) or b"" for name, contents in _parts(queries)
        )
        bindings = b"" if len(others) < len(edits) else queries.bindings
        return _VERSION + b"".join(
            map(_sized, (package, permissions, _metadata(metadata, content), bindings))
        )

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        texts = ziparchive.FORMAT.read_again(data, limits)
        return [*texts, data.decode("utf-16-le", "replace")]


def _parts(queries: _Queries) -> tuple[tuple[str, bytes], ...]:
    return (
        (_PERMISSIONS, queries.permissions),
        (_METADATA, queries.metadata),
        (_CONTENT, queries.content),
    )


def _queries(data: bytes) -> _Queries:
    at = len(_VERSION)
    package, at = _read(data, at)
    permissions, at = _read(data, at)
    described, at = _read(data, at)
    bindings, at = _read(data, at)
    metadata, within = _read(described, len(_VERSION)) if described else (b"", 0)
    content, within = _read(described, within) if described else (b"", 0)
    if at != len(data) or within != len(described):
        raise FormatError("the queries are followed by data of unknown meaning")
    return _Queries(package, permissions, metadata, content, bindings)


def _read(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the block whose size is at a position, and the position after it."""
    if at + _SIZE.size > len(data):
        raise FormatError("the queries are cut off")
    start = at + _SIZE.size
    end = start + _SIZE.unpack_from(data, at)[0]
    if end > len(data):
        raise FormatError("the queries are cut off")
    return data[start:end], end


def _sized(block: bytes) -> bytes:
    return _SIZE.pack(len(block)) + block


def _metadata(metadata: bytes, content: bytes) -> bytes:
    return _VERSION + _sized(metadata) + _sized(content)


FORMAT = Mashup()
