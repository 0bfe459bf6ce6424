"""Pickles: their texts and numbers, read from the instructions without running any."""

from __future__ import annotations

import io
import pickletools
import re
import struct
from collections.abc import Iterator

from dlpctl.errors import FormatError
from dlpctl.formats.interface import (
    Children,
    Document,
    Edits,
    Limits,
    NotThisFormatError,
    Segment,
    Uninspected,
)
from dlpctl.formats.objects import Cursor, Item, Objects, is_label

_NAMED = re.compile(rb"\x80[\2-\5]|[(\]}cFILNSVdl]")
_CERTAIN = re.compile(rb"\x80[\2-\5][\x95\x8c(\]}cX]|\([dl]p[0-9]")
_NUMBERS = frozenset(("INT", "LONG", "BININT", "LONG1", "LONG4", "FLOAT", "BINFLOAT"))
_BYTES = frozenset(("BINSTRING", "SHORT_BINSTRING"))
"""Instructions with a `str` of Python 2, which `pickletools` decodes."""
_REMEMBER = frozenset(("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"))
_RECALL = frozenset(("GET", "BINGET", "LONG_BINGET"))
_SMALL, _LARGE, _LARGEST = 1e5, 1 << 64, 1 << 128
"""Between the first two, numbers may be identifiers; the last is the limit of a UUID."""
_TIME = 10
"""The length of a time, which is stored as bytes."""
_AS_TEXT = "latin1"
"""Follows bytes in the older protocols."""
_OPAQUE = "bytes of objects: save the data as JSON, CSV or Parquet"


def _instructions(data: bytes, start: int) -> Iterator[tuple[str, object, int, int]]:
    """Yield the instructions of a pickle: name, operand, start and end."""
    stream = io.BytesIO(data)
    stream.seek(start)
    try:
        for code, operand, at in pickletools.genops(stream):
            yield code.name, operand, at or 0, stream.tell()
    except ValueError as error:
        raise NotThisFormatError("the pickle is damaged") from error


def _items(cursor: Cursor) -> Iterator[Item]:
    """Yield the items of a pickle, and the keys that it repeats."""
    recalled: dict[object, str] = {}
    text = ""
    for name, operand, at, end in _instructions(cursor.data, cursor.at):
        cursor.at = end
        if name in _REMEMBER:
            recalled[len(recalled) if operand is None else operand] = text
            continue
        text = ""
        if name in _RECALL:
            if label := recalled.get(operand):
                yield Item(at, at, end, "text", label)
        elif isinstance(operand, bytes | bytearray) or name in _BYTES:
            assert isinstance(operand, bytes | bytearray | str)
            yield Item(at, end - len(operand), end, "bytes")
        elif isinstance(operand, str):
            text = operand.encode(errors="replace").decode()
            yield Item(at, at, end, "text", text)
            text = text if is_label(text) else ""
        elif name in _NUMBERS and isinstance(operand, int | float):
            yield from _number(at, end, operand)


def _number(at: int, end: int, number: float) -> Iterator[Item]:
    """Yield a number that may be an identifier."""
    if isinstance(number, int) and abs(number) > _LARGEST:
        raise FormatError("the pickle holds a number of many bytes: save it as JSON")
    if _SMALL < abs(number) <= _LARGE and number == int(number):
        yield Item(at, at, end, "number", str(int(number)))


class Pickle(Objects):
    rank = 79
    text_start = rb"\([dl]p[0-9]"

    def sniff(self, head: bytes, name: str) -> bool:
        start = _NAMED if name.lower().endswith(self.extensions) else _CERTAIN
        return start.match(head) is not None

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        """Return the texts; in bytes, those of an array abut, so that none would be found."""
        document = super().extract(data, limits, password)
        following = [*document.segments[1:], Segment("", "")]
        if document.children or any(
            len(segment.text) > _TIME and (_is_bytes(segment) or after.text == _AS_TEXT)
            for segment, after in zip(document.segments, following, strict=False)
        ):
            document.uninspected.append(Uninspected("bytes", _OPAQUE))
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        return _without_frames(super().mask(data, document, edits, children))


def _is_bytes(segment: Segment) -> bool:
    return isinstance(segment.anchor, Item) and segment.anchor.type == "bytes"


def _without_frames(data: bytes) -> bytes:
    """Return pickles without the sizes of their parts, which readers do not need."""
    kept: list[bytes] = []
    read = start = 0
    while start < len(data):
        for name, _, at, following in _instructions(data, start):
            start = following
            if name == "FRAME":
                kept.append(data[read:at])
                read = following
    return b"".join((*kept, data[read:]))


def _counted(code: bytes, raw: bytes) -> bytes:
    return code + struct.pack("<L", len(raw)) + raw


FORMAT = Pickle(
    "pickle",
    (".pickle", ".pkl"),
    b"\x80(]}cFILNSVdl",
    _items,
    {"text": lambda raw: _counted(b"X", raw), "bytes": lambda raw: _counted(b"B", raw)},
)
