"""Pictures and objects in Rich Text, in hexadecimal or as bytes."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dlpctl.formats.encoding import Edit
from dlpctl.formats.interface import Child, Children
from dlpctl.formats.office.zipped import BLANK_PICTURE
from dlpctl.formats.pictures.bitmap import HEAD_SIZE, with_head

_SUFFIXES = {
    "pngblip": "png",
    "jpegblip": "jpg",
    "emfblip": "emf",
    "wmetafile": "wmf",
    "dibitmap": "bmp",
}
_LINE = 64
_BITMAP_START = b"BM"


@dataclass(slots=True)
class DataGroup:
    """A group of pictures' or objects' data."""

    is_picture: bool
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """The source of the data."""
    pieces: list[bytes] = field(default_factory=list)
    suffix: str = "bin"
    type_at: tuple[int, int] | None = None
    """The control word with the format of a picture."""

    def add_word(self, word: str, start: int, end: int) -> None:
        if self.is_picture and word in _SUFFIXES:
            self.suffix, self.type_at = _SUFFIXES[word], (start, end)

    def add_hexadecimal(self, text: str, start: int, end: int) -> None:
        self.ranges.append((start, end))
        self.pieces.append(re.sub(r"[^0-9a-fA-F]", "", text).encode())

    def add_bytes(self, text: str, start: int, end: int) -> None:
        self.ranges.append((start, end))
        self.pieces.append(text.encode("latin-1").hex().encode())

    def child(self, key: str) -> Child:
        digits = b"".join(self.pieces).decode()
        data = bytes.fromhex(digits[: len(digits) // 2 * 2])
        name = f"{'picture' if self.is_picture else 'object'}{key}.{self.suffix}"
        if self.suffix == "bmp":
            try:
                data = with_head(data)
            except struct.error:
                name = name.replace(".bmp", ".bin")
        return Child(key, name, data, spare=True)

    def edits(self, contents: bytes | None) -> Iterator[Edit]:
        """Yield the edits that replace the data; without contents, a picture becomes blank."""
        if contents is None:
            contents = BLANK_PICTURE if self.is_picture else b""
            if self.type_at is not None:
                yield Edit(*self.type_at, "\\pngblip ")
        if self.suffix == "bmp" and contents.startswith(_BITMAP_START):
            contents = contents[HEAD_SIZE:]
        digits = contents.hex()
        lines = "\n".join(digits[at : at + _LINE] for at in range(0, len(digits), _LINE))
        for number, (start, end) in enumerate(self.ranges):
            yield Edit(start, end, f"\n{lines}\n" if number == 0 else "")


def children_of(groups: Iterable[DataGroup]) -> Iterator[Child]:
    found = (each.child(str(number)) for number, each in enumerate(groups, 1))
    return (child for child in found if child.data)


def edits_of(groups: Sequence[DataGroup], children: Children) -> Iterator[Edit]:
    changed: Mapping[str, bytes | None] = children
    for number, group in enumerate(groups, 1):
        if str(number) in changed:
            yield from group.edits(changed[str(number)])
