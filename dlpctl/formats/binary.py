"""Files of unknown format: they count as not inspected, and only their strings are searched.

Nothing in such a file can be replaced.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from dlpctl.errors import CannotMaskError
from dlpctl.formats.interface import (
    BINARY,
    Children,
    Document,
    Edits,
    Limits,
    Piece,
    Segment,
    Uninspected,
    View,
)
from dlpctl.regex import lazy
from dlpctl.texts.binaries import strings_of

_STRINGS = {
    "utf-8": lazy(
        rb"(?:[\t\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"
        rb"|[\xf0-\xf4][\x80-\xbf]{3}){6,}"
    ),
    "utf-16-le": lazy(rb"(?:[\t\x20-\x7e]\0){6,}"),
    "utf-16-be": lazy(rb"(?:\0[\t\x20-\x7e]){6,}"),
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_HEIC = "HEIC film (save its pictures as JPEG or PNG)"
# Prefixes of formats that are known but not read.
_KINDS = {
    b"\x7fELF": "program or library (ELF)",
    b"\0asm": "program (WebAssembly)",
    b"\xca\xfe\xba\xbe": "Java class or program (Mach-O)",
    **dict.fromkeys(
        (b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe"),
        "program or library (Mach-O)",
    ),
    **dict.fromkeys((b"\0\1\0\0", b"OTTO", b"ttcf", b"wOFF", b"wOF2", b"true\0"), "font"),
    b"Rar!\x1a\x07": "RAR archive",
    b"7z\xbc\xaf\x27\x1c": "7z archive without the extra that reads it",
    b"\x28\xb5\x2f\xfd": "Zstandard file without the extra that reads it",
    b"PAR1": "Parquet file without the extra that reads it",
    b"MSCF": "cabinet file",
    b"MSWIM\0": "disk image (WIM: save it as ZIP)",
    b"\x78\x9f\x3e\x22": "TNEF attachment",
    _OLE: "older Office format (save it as .docx, .xlsx or .pptx)",
    b"ORC": "ORC file without the extra that reads it",
    b"ARROW1": "Arrow file without the extra that reads it",
    b"FEA1": "older Feather file (save it as Arrow)",
    b"\x89HDF": "HDF5 file",
    b"-----BEGIN PGP MESSAGE": "encrypted message",
    b"Salted__": "encrypted file",
    b"age-encryption.org": "encrypted file",
    b"ID3": "recording",
    b"OggS": "recording",
    b"fLaC": "recording",
    b"RIFF": "recording",
    b"\x1a\x45\xdf\xa3": "recording",
    **dict.fromkeys(
        (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
        "log of an SQLite database (let SQLite write it to the database: PRAGMA wal_checkpoint)",
    ),
    b"8BPS": "Photoshop picture (save it as PNG or PDF)",
    b"\x4c\0\0\0\x01\x14\x02\0": "Windows shortcut",
    b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d": "OneNote section (save it as PDF)",
    b"ElfFile\0": "Windows event log (save it as CSV)",
    b"\xd4\xc3\xb2\xa1": "network capture",
    b"\x0a\x0d\x0d\x0a": "network capture",
    b"$FL2": "SPSS file (save it as CSV)",
    b"<stata_dta>": "Stata file (save it as CSV)",
    b"MATLAB ": "MATLAB file (save it as CSV)",
    b"MThd": "music (MIDI)",
    b"\x04\x22\x4d\x18": "LZ4 file without the extra that reads it",
}
# Magic bytes at other positions.
_MARKS = (
    *((4, b"ftyp" + brand, _HEIC) for brand in (b"hevc", b"hevx", b"msf1")),
    (128, b"DICM", "medical picture (DICOM)"),
    (4, b"ftyp", "recording"),
    (8, b"DUCK", "DuckDB database (export its tables as Parquet)"),
    (4, b"Standard Jet DB", "database (Access)"),
    (4, b"Standard ACE DB", "database (Access)"),
)
_TEXTUAL = {
    rb"P7[ \t\r\n]+(?:#[^\n]*\n\s*)*(?:WIDTH )\d+\s": "picture (Netpbm)",
}
"""Starts of files that are not text, although they may consist of text characters."""
_TEXTUAL_MARKS = [lazy(start) for start in _TEXTUAL]
_PE_HEADER_AT = 0x3C
_PYTHON_MAGIC_END = b"\r\n"
_PACKED = "compressed or encrypted data of unknown format"
_SEARCHED = "only its strings were searched, for secrets"
UNKNOWN = f"binary file of unknown format: {_SEARCHED}"
"""The reason why such a file counts as not inspected."""
MISNAMED = "zeros alone, and not what the name says"
_SAMPLE = 1 << 16
_RANDOM = 7.2


class _Offsets:
    """The anchor of strings that keep their positions."""

    def place_at(self, offset: int) -> str:
        return f"byte {offset:,}"


class Binary:
    name = BINARY
    extensions: tuple[str, ...] = ()
    rank = 100
    in_process = True

    def sniff(self, head: bytes, name: str) -> bool:
        return True

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        segments = [Segment(strings_of(data).decode("ascii"), "strings", _Offsets())]
        views = [View("strings", [Piece(0, 0, len(data))], segments)]
        why = self.why_not_inspected(data)
        return Document(self.name, segments, views, [Uninspected("content", why)] if why else [])

    def why_not_inspected(self, data: bytes) -> str:
        return reason(data)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        if edits or children:
            raise CannotMaskError(
                "a binary file of unknown format cannot be masked: remove the value at its source"
            )
        return data

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return [data.decode("latin-1")]


def strings_in(data: bytes) -> Iterator[str]:
    """Yield the stretches of binary data that are readable text."""
    for encoding, pattern in _STRINGS.items():
        yield from (found[0].decode(encoding, "replace") for found in pattern.finditer(data))


def has_strings(data: bytes) -> bool:
    return any(pattern.search(data) for pattern in _STRINGS.values())


def reason(data: bytes) -> str:
    """Return the reason why a file of unknown format is not inspected; empty for a blank file."""
    if not data.strip(b"\0"):
        return ""
    content = content_type(data)
    return f"{content}: {_SEARCHED}" if content else UNKNOWN


def content_type(data: bytes) -> str:
    """Return what a binary is by its mark or its entropy; empty if neither tells."""
    for at, mark, content in _MARKS:
        if data.startswith(mark, at):
            return content
    if data.startswith(_OLE) and _ENCRYPTED in data:
        return "encrypted Office file (save it without a password)"
    for magic, content in _KINDS.items():
        if data.startswith(magic):
            return content
    if data.startswith(b"MZ"):
        header = int.from_bytes(data[_PE_HEADER_AT : _PE_HEADER_AT + 4], "little")
        return "program or library (PE)" if data.startswith(b"PE\0\0", header) else "program (DOS)"
    if data[2:4] == _PYTHON_MAGIC_END:
        return "compiled Python"
    return _PACKED if _looks_packed(data) else ""


def _looks_packed(data: bytes) -> bool:
    for at in {0, len(data) // 3, len(data) * 2 // 3, max(len(data) - _SAMPLE, 0)}:
        sample = data[at : at + _SAMPLE]
        if len(sample) >= 1024 and _entropy(sample) > _RANDOM + min(0.6, len(sample) / _SAMPLE):
            return True
    return False


def _entropy(sample: bytes) -> float:
    """Return the entropy in bits per byte."""
    size = len(sample)
    return -sum(count / size * math.log2(count / size) for count in Counter(sample).values())


class MarkedBinary(Binary):
    """Pictures whose bytes may all be text characters."""

    name = "marked binary"
    rank = 85
    text_start = rb"P7\s"

    def sniff(self, head: bytes, name: str) -> bool:
        return any(mark.match(head) for mark in _TEXTUAL_MARKS)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        return replace(super().extract(data, limits, password), format=BINARY)

    def why_not_inspected(self, data: bytes) -> str:
        names = zip(_TEXTUAL_MARKS, _TEXTUAL.values(), strict=True)
        return f"{next(name for mark, name in names if mark.match(data))}: {_SEARCHED}"


FORMATS = (Binary(), MarkedBinary())
