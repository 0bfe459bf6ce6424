"""MessagePack, CBOR and bencode: texts, byte strings and numbers, each preceded by its length.

Containers count items, not bytes, so that a text can be replaced without a change elsewhere.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import BinaryFormat, edited
from dlpctl.formats.embedded import embedded_name
from dlpctl.formats.interface import (
    Child,
    Children,
    Document,
    Edits,
    Limits,
    Piece,
    Segment,
    View,
    too_deep,
)
from dlpctl.formats.recognition import is_utf8

_SHORT = 64
"""The maximum length of byte strings that are searched directly; longer ones, and those of objects,
are read as files.
"""
_LEAST_TEXT = 4
"""A file with an unknown suffix is of this format if over one byte in this many is text."""
_CBOR_LIST, _CBOR_DOUBLE = 4, 0xFB
_LIST, _VALUES = "list", ("text", "bytes", "number")
_BENCODED = re.compile(rb"([dl])|(e)|i(-?\d{1,20})e|(\d{1,10}):")
_KEY = 64
"""The maximum length of a text that may label the next one."""


class Item(NamedTuple):
    """A text, a byte string or a number, with its bytes."""

    start: int
    data: int
    """The position after the length."""
    end: int
    type: str
    shown: str | None = None
    """The text, if the bytes after the length are not the text itself."""


class Cursor:
    """Reads the items of a byte string one after the other."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self.data = data
        self.at = 0
        self._limits = limits

    def take(self, size: int) -> int:
        """Return the number in the next bytes."""
        self.at += size
        if self.at > len(self.data):
            raise FormatError("the file is cut off")
        return int.from_bytes(self.data[self.at - size : self.at])

    def string(self, start: int, size: int, item_type: str) -> Item:
        at = self.at
        self.at += size
        if self.at > len(self.data):
            raise FormatError("the file is cut off")
        return Item(start, at, self.at, item_type)

    def within(self, depth: int) -> None:
        if depth > self._limits.nesting:
            raise too_deep("the file", self._limits)


Walk = Callable[[Cursor], Iterator[Item]]


def _mark(cursor: Cursor, item_type: str) -> Item:
    """Return an item without a text, where a container starts or ends."""
    return Item(cursor.at, cursor.at, cursor.at, item_type)


def _message_pack(cursor: Cursor) -> Iterator[Item]:
    open_items = [1]
    while open_items:
        if not open_items[-1]:
            open_items.pop()
            yield _mark(cursor, "end")
            continue
        open_items[-1] -= 1
        cursor.within(len(open_items))
        start = cursor.at
        lead = cursor.take(1)
        if 0x80 <= lead < 0xA0 or 0xDC <= lead <= 0xDF:
            count = lead & 15 if lead < 0xA0 else cursor.take(2 + 2 * (lead & 1))
            is_map = lead < 0x90 or lead >= 0xDE
            open_items.append(count * (2 if is_map else 1))
            yield _mark(cursor, "map" if is_map else _LIST)
        elif 0xA0 <= lead < 0xC0:
            yield cursor.string(start, lead & 31, "text")
        elif lead in {0xD9, 0xDA, 0xDB}:
            yield cursor.string(start, cursor.take(1 << (lead - 0xD9)), "text")
        elif lead in {0xC4, 0xC5, 0xC6}:
            yield cursor.string(start, cursor.take(1 << (lead - 0xC4)), "bytes")
        elif lead in {0xC7, 0xC8, 0xC9}:
            yield cursor.string(start, cursor.take(1 << (lead - 0xC7)) + 1, "bytes")
        elif 0xD4 <= lead <= 0xD8:
            yield cursor.string(start, (1 << (lead - 0xD4)) + 1, "bytes")
        elif 0xCC <= lead <= 0xD3:
            number = cursor.take(1 << (lead & 3))
            yield Item(start, start + 1, cursor.at, "number", str(number))
        elif lead in {0xCA, 0xCB}:
            bits = cursor.take(4 << (lead & 1))
            if lead == 0xCB:
                yield from _float(start, cursor.at, bits)
        elif lead == 0xC1:
            raise FormatError("the file is not MessagePack")


def _cbor(cursor: Cursor) -> Iterator[Item]:
    open_items: list[float] = [1]
    endless = float("inf")
    while open_items:
        if not open_items[-1]:
            open_items.pop()
            yield _mark(cursor, "end")
            continue
        open_items[-1] -= 1
        cursor.within(len(open_items))
        start = cursor.at
        lead = cursor.take(1)
        major, size = lead >> 5, lead & 31
        if lead == 0xFF:
            if open_items.pop() != endless:
                raise FormatError("the file is not CBOR")
            yield _mark(cursor, "end")
            continue
        if size == 31:
            if major not in {2, 3, 4, 5}:
                raise FormatError("the file is not CBOR")
            open_items.append(endless)
            yield _mark(cursor, _LIST if major == _CBOR_LIST else "map")
            continue
        if size > 27:
            raise FormatError("the file is not CBOR")
        size = cursor.take(1 << (size - 24)) if size > 23 else size
        if major in {2, 3}:
            yield cursor.string(start, size, "bytes" if major == 2 else "text")
        elif major in {4, 5}:
            open_items.append(size * (major - 3))
            yield _mark(cursor, _LIST if major == _CBOR_LIST else "map")
        elif major == 6:
            open_items[-1] += 1
        elif major == 0:
            yield Item(start, start + 1, cursor.at, "number", str(size))
        elif lead == _CBOR_DOUBLE:
            yield from _float(start, cursor.at, size)


def _float(start: int, end: int, bits: int) -> Iterator[Item]:
    """Yield a double that is a number without a fraction, as tables store long numbers."""
    (number,) = struct.unpack(">d", bits.to_bytes(8))
    if number.is_integer():
        yield Item(start, start + 1, end, "number", str(int(number)))


def _bencode(cursor: Cursor) -> Iterator[Item]:
    depth = 0
    while True:
        start = cursor.at
        found = _BENCODED.match(cursor.data, start)
        if found is None:
            raise FormatError("the file is not bencode")
        cursor.at = found.end()
        depth += 1 if found[1] else -1 if found[2] else 0
        cursor.within(depth)
        if found[1] or found[2]:
            yield _mark(cursor, _LIST if found[1] == b"l" else "map" if found[1] else "end")
        if found[3]:
            yield Item(start, start, cursor.at, "number", found[3].decode())
        elif found[4]:
            yield cursor.string(start, int(found[4]), "text")
        elif not depth:
            return


def _packed_text(raw: bytes) -> bytes:
    return (
        b"\xd9" + bytes((len(raw),)) if len(raw) < 256 else b"\xdb" + struct.pack(">L", len(raw))
    ) + raw


def _packed_bytes(raw: bytes) -> bytes:
    return b"\xc6" + struct.pack(">L", len(raw)) + raw


def _bencoded(raw: bytes) -> bytes:
    return b"%d:%b" % (len(raw), raw)


class _Rows:
    """Collects the lists of values, as a table has them."""

    def __init__(self) -> None:
        self._rows: list[list[Piece | str]] = []
        self._is_list = False

    def start(self, *, is_list: bool) -> None:
        self._is_list = is_list
        if self._rows and not self._rows[-1]:
            self._rows.pop()
        if is_list:
            self._rows.append([])

    def add(self, value: Piece | str) -> None:
        if self._is_list:
            self._rows[-1].append(value)

    def parts(self) -> list[Piece | str]:
        """Return the parts of a view of lists that are as long as one beside them."""
        parts: list[Piece | str] = []
        for size, rows in groupby(self._rows, key=len):
            table = list(rows) if size > 1 else []
            if len(table) > 1:
                for row in table:
                    parts += [part for value in row for part in (value, "\t")]
                    parts[-1] = "\n"
                parts.append("\n")
        return parts


class Objects(BinaryFormat):
    """A format of nested items that the first byte of a container starts."""

    rank = 80

    def __init__(
        self,
        name: str,
        extensions: tuple[str, ...],
        starts: bytes,
        walk: Walk,
        write: Mapping[str, Callable[[bytes], bytes]],
    ) -> None:
        self.name = name
        self.extensions = extensions
        self._starts = starts
        self._walk = walk
        self._write = write

    def sniff(self, head: bytes, name: str) -> bool:
        """Return whether the bytes consist of items of this format."""
        if not head or head[0] not in self._starts:
            return False
        if name.lower().endswith(self.extensions):
            return True
        try:
            items = self._items(head, Limits())
        except FormatError:
            return False
        texts = sum(item.end - item.start for item in items if item.type == "text")
        return texts * _LEAST_TEXT > len(head)

    def _items(self, data: bytes, limits: Limits) -> list[Item]:
        cursor = Cursor(data, limits)
        items: list[Item] = []
        while cursor.at < len(data):
            if data[cursor.at] not in self._starts:
                raise FormatError(f"the {self.name} file is damaged")
            items += self._walk(cursor)
        return items

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        segments: list[Segment] = []
        children: list[Child] = []
        parts: list[Piece | str] = []
        rows = _Rows()
        number = 0
        for item in self._items(data, limits):
            if item.type not in _VALUES:
                rows.start(is_list=item.type == _LIST)
                continue
            number += 1
            raw = data[item.data : item.end]
            codec = _codec(raw)
            is_binary = item.type == "bytes" and codec != "utf-8"
            if is_binary and (len(raw) > _SHORT or any(each.sniff(raw, "") for each in FORMATS)):
                children.append(Child(str(item.start), embedded_name(raw), raw))
                rows.add("")
                continue
            text = raw.decode(codec) if item.shown is None else item.shown
            apart = ": " if item.type == "text" and is_label(text) else "\n"
            parts += (piece := Piece(len(segments), 0, len(text)), apart)
            rows.add(piece)
            segments.append(Segment(text, f"item {number}", item))
        views = [View("items", parts, segments)] if parts else []
        if table := rows.parts():
            views.append(View("rows", table, segments, repeats=True))
        return Document(self.name, segments, views, [], children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        changes: dict[int, bytes] = {int(key): new or b"" for key, new in children.items()}
        for segment, text in edited(document, edits):
            if not isinstance(segment.anchor, Item):
                raise CannotMaskError("this is not what was read from the file: read it again")
            codec = _codec(data[segment.anchor.data : segment.anchor.end])
            changes[segment.anchor.start] = text.encode(codec, "replace")
        output: list[bytes] = []
        read = 0
        for item in self._items(data, Limits()):
            if item.type in _VALUES and item.start in changes:
                written_as = "bytes" if item.type == "bytes" else "text"
                output += (data[read : item.start], self._write[written_as](changes[item.start]))
                read = item.end
        return b"".join((*output, data[read:]))


class Bencode(Objects):
    """Texts of bencode may be all of a file of text characters."""

    text_start = rb"[dl](?:\d{1,10}:|i-?\d|[dl])"

    def sniff(self, head: bytes, name: str) -> bool:
        return _BENCODED.match(head, 1) is not None and super().sniff(head, name)


def is_label(text: str) -> bool:
    """Return whether a text may be the key of the next one."""
    return len(text) < _KEY and text.isidentifier()


def _codec(raw: bytes) -> str:
    return "utf-8" if is_utf8(raw) else "latin-1"


def _cbor_string(major: int) -> Callable[[bytes], bytes]:
    return lambda raw: bytes((major << 5 | 26,)) + struct.pack(">L", len(raw)) + raw


FORMATS = (
    Objects(
        "msgpack",
        (".msgpack", ".mpk", ".mp"),
        bytes((*range(0x80, 0xA0), *range(0xDC, 0xE0))),
        _message_pack,
        {"text": _packed_text, "bytes": _packed_bytes},
    ),
    Objects(
        "cbor",
        (".cbor",),
        bytes((*range(0x80, 0xC0), 0xD9)),
        _cbor,
        {"text": _cbor_string(3), "bytes": _cbor_string(2)},
    ),
    Bencode("bencode", (".torrent",), b"dl", _bencode, dict.fromkeys(("text", "bytes"), _bencoded)),
)
