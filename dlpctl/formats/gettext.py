"""Compiled catalogs of gettext (`.mo`): messages and their translations."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.archive import BinaryFormat, Names, renamed
from dlpctl.formats.interface import Children, Document, Edits, Limits
from dlpctl.formats.recognition import is_utf8

_MAGIC = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}
_HEADER = 28
_ALIGNED = 3
"""Bytes between messages that start at multiples of four."""
_PARTS = re.compile(rb"([\0\x04])")
"""The signs after the context of a message, and between forms of its plural."""


class _Catalog(NamedTuple):
    order: str
    messages: list[bytes]
    """All messages, and then all translations."""


class Catalog(BinaryFormat):
    name = "mo"
    extensions = (".mo", ".gmo")
    magic = tuple(_MAGIC)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        catalog = _read(data)
        half = len(catalog.messages) // 2
        names = Names()
        for number, raw in enumerate(catalog.messages):
            for index, part in enumerate(_PARTS.split(raw)):
                location = f"{'message' if number < half else 'translation'} {number % half + 1}"
                names.add(f"{number} {index}", part.decode(_codec(part)), location)
        return names.document(self.name, [])

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        catalog = _read(data)
        parts = [_PARTS.split(raw) for raw in catalog.messages]
        for key, text in renamed(document, edits).items():
            number, index = map(int, key.split())
            old = parts[number][index]
            parts[number][index] = text.encode(_codec(old), "replace")
        return _packed(catalog.order, list(map(b"".join, parts)))


def _codec(raw: bytes) -> str:
    return "utf-8" if is_utf8(raw) else "latin-1"


def _read(data: bytes) -> _Catalog:
    order = _MAGIC.get(data[:4], "<")
    try:
        revision, count, originals, translations, hashes, _ = struct.unpack_from(
            f"{order}6I", data, 4
        )
        messages: list[bytes] = []
        for table in (originals, translations):
            if table + 8 * count > len(data):
                raise FormatError("the catalog is cut off")
            for number in range(count):
                size, at = struct.unpack_from(f"{order}2I", data, table + 8 * number)
                messages.append(data[at : at + size])
                if len(messages[-1]) < size:
                    raise FormatError("the catalog is cut off")
    except struct.error as error:
        raise FormatError("the catalog is cut off") from error
    used = _HEADER + 16 * count + 4 * hashes + sum(len(each) + 1 for each in messages)
    if revision or not 0 <= len(data) - used <= _ALIGNED * count:
        raise FormatError("the catalog has parts that are no messages")
    return _Catalog(order, messages)


def _packed(order: str, messages: list[bytes]) -> bytes:
    """Return a catalog without a table of hashes, which readers do not need."""
    half = len(messages) // 2
    pairs = sorted(zip(messages[:half], messages[half:], strict=True))
    at = _HEADER + 16 * half
    texts = [*(original for original, _ in pairs), *(translation for _, translation in pairs)]
    positions: list[bytes] = []
    for text in texts:
        positions.append(struct.pack(f"{order}2I", len(text), at))
        at += len(text) + 1
    header = struct.pack(f"{order}7I", 0x950412DE, 0, half, _HEADER, _HEADER + 8 * half, 0, at)
    return header + b"".join(positions) + b"".join(text + b"\0" for text in texts)


FORMAT = Catalog()
