"""Files of no known format: their strings are searched, and nothing in them can be replaced."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from dlpctl.errors import CannotMaskError
from dlpctl.formats.interface import Document, Edit, Limits, Piece, Segment, Uninspected, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_STRINGS = {
    "utf-8": re.compile(
        rb"(?:[\t\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){6,}"
    ),
    "utf-16-le": re.compile(rb"(?:[\t\x20-\x7e]\0){6,}"),
    "utf-16-be": re.compile(rb"(?:\0[\t\x20-\x7e]){6,}"),
}
# Formats whose text their strings do not show.
_OPAQUE = {
    b"Rar!\x1a\x07": "RAR archive",
    b"7z\xbc\xaf\x27\x1c": "7z archive without the extra that reads it",
    b"\x28\xb5\x2f\xfd": "Zstandard file without the extra that reads it",
    b"PAR1": "Parquet file without the extra that reads it",
    b"MSCF": "cabinet file",
    b"\x78\x9f\x3e\x22": "TNEF attachment",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "older Office or Outlook format (save it as .docx, .xlsx, .pptx or .eml)",
    b"ORC": "ORC file",
    b"Obj\x01": "Avro file",
    b"\x89HDF": "HDF5 file",
    b"-----BEGIN PGP MESSAGE": "encrypted message",
    b"Salted__": "encrypted file",
    b"age-encryption.org": "encrypted file",
    b"ID3": "recording",
    b"OggS": "recording",
    b"fLaC": "recording",
    b"RIFF": "recording",
    b"\x1a\x45\xdf\xa3": "recording",
    b"\x04\x22\x4d\x18": "LZ4 file",
}
_SAMPLE = 1 << 16
_RANDOM = 7.2


class _Offsets:
    """Where the strings of a file begin."""

    __slots__ = ("_bytes", "_starts")

    def __init__(self, starts: array[int], at: array[int]) -> None:
        self._starts = starts
        self._bytes = at

    def place_at(self, offset: int) -> str:
        return f"byte {self._bytes[max(bisect_right(self._starts, offset) - 1, 0)]:,}"


class Binary:
    name = "binary"
    extensions: tuple[str, ...] = ()
    rank = 100
    in_process = True

    def sniff(self, head: bytes, name: str) -> bool:
        del head, name
        return True

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        del limits, password
        segments: list[Segment] = []
        views: list[View] = []
        for encoding, pattern in _STRINGS.items():
            texts: list[str] = []
            starts, at = array("q"), array("q")
            length = 0
            for found in pattern.finditer(data):
                text = found[0].decode(encoding, "replace")
                starts.append(length)
                at.append(found.start())
                texts.append(text)
                length += len(text) + 1
            if texts:
                segments.append(Segment("\n".join(texts), "strings", _Offsets(starts, at)))
                whole = Piece(len(segments) - 1, 0, len(segments[-1].text))
                views.append(View(f"strings in {encoding}", [whole], segments))
        return Document(self.name, segments, views, list(_unseen(data)))

    def mask(
        self, data: bytes, document: Document, edits: Sequence[Edit], children: Mapping[str, bytes | None]
    ) -> bytes:
        del document
        if edits or children:
            raise CannotMaskError(
                "a binary file of unknown format cannot be masked: remove the value at its source"
            )
        return data

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        del limits
        return [data.decode("latin-1")]


def _unseen(data: bytes) -> Iterable[Uninspected]:
    for magic, kind in _OPAQUE.items():
        if data.startswith(magic):
            yield Uninspected("content", f"{kind}: only its strings were searched")
            return
    if data[4:8] == b"ftyp":
        yield Uninspected("content", "recording: only its strings were searched")
        return
    for at in {0, len(data) // 3, len(data) * 2 // 3, max(len(data) - _SAMPLE, 0)}:
        sample = data[at : at + _SAMPLE]
        if len(sample) >= 1024 and _entropy(sample) > _RANDOM + min(0.6, len(sample) / _SAMPLE):
            yield Uninspected(
                "content", "compressed or encrypted data of unknown format: only its strings were searched"
            )
            return


def _entropy(sample: bytes) -> float:
    """Bits a byte."""
    size = len(sample)
    return -sum(count / size * math.log2(count / size) for count in Counter(sample).values())


FORMAT = Binary()
