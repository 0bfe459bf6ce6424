"""The ZIP under an Office file: parts within limits, and a copy in which only the parts that
changed differ.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance
from dlpctl.formats.interface import Child, Limits

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_DATA_DESCRIPTORS = (0, 12, 16, 20, 24)
_ENCRYPTED = 0x1
_LARGE = 1 << 20
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)
"""What zipfile and what it calls raise for a damaged file, and for encryption and compressions that
they do not know.
"""


@dataclass(slots=True)
class Package:
    """The parts of a file by name, in their order, and what stands beside them."""

    parts: dict[str, bytes] = field(default_factory=dict)
    infos: dict[str, zipfile.ZipInfo] = field(default_factory=dict)
    gaps: list[Child] = field(default_factory=list)
    """Bytes between the entries, which no Office program reads and every masked copy lacks."""
    remarks: str = ""
    """Comments and extra fields of the ZIP itself, one a line."""


def opened(data: bytes, limits: Limits) -> Package:
    """All parts of a file, and what its ZIP holds beside them."""
    package = Package()
    allowance = Allowance(limits)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            folded: set[str] = set()
            for info in infos:
                allowance.entry(info.file_size)
                if info.flag_bits & _ENCRYPTED:
                    raise FormatError("the file is encrypted: save it without a password")
                if info.filename.lower() in folded:
                    raise FormatError(
                        "two parts of the file have one name, so programs would disagree on its content"
                    )
                folded.add(info.filename.lower())
                if info.is_dir() and not info.file_size:
                    continue
                with archive.open(info) as stream:
                    package.parts[info.filename] = allowance.read(stream, info.compress_size)
                package.infos[info.filename] = info
            for start, end in _gaps(data, infos, archive.start_dir):
                if data[start:end].strip(b"\0"):
                    place = f"bytes {start}-{end} between parts"
                    package.gaps.append(Child(f"gap {start}", place, data[start:end], spare=True))
            remarks = [
                archive.comment,
                *(part for info in infos for part in (info.comment, info.extra)),
            ]
    except BROKEN as error:
        raise FormatError("the file is damaged: its ZIP archive cannot be read") from error
    package.remarks = "\n".join(filter(None, map(_printable, remarks)))
    return package


def rewritten(data: bytes, changed: Mapping[str, bytes | None], *, remarks: bool) -> bytes:
    """A copy with parts changed or, where they are None, left out. `remarks` keeps comments and
    extra fields.
    """
    output = io.BytesIO()
    try:
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as result,
        ):
            result.comment = archive.comment if remarks else b""
            for info in archive.infolist():
                contents = (
                    changed.get(info.filename, b"")
                    if info.filename in changed
                    else archive.read(info)
                )
                if contents is None:
                    continue
                copy = zipfile.ZipInfo(info.filename, info.date_time)
                copy.external_attr, copy.create_system = info.external_attr, info.create_system
                stored = info.compress_type == zipfile.ZIP_STORED
                copy.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
                copy.comment = info.comment if remarks else b""
                # Of a large part, two levels less than usual take a third of the time for a
                # twentieth more bytes.
                result.writestr(copy, contents, compresslevel=4 if len(contents) > _LARGE else None)
    except BROKEN as error:
        raise CannotMaskError(
            "the file cannot be written again: its ZIP archive is damaged"
        ) from error
    return output.getvalue()


def _gaps(data: bytes, infos: list[zipfile.ZipInfo], directory: int) -> Iterator[tuple[int, int]]:
    """Bytes that belong to no entry. Entries that share bytes are how a small file expands without
    end.
    """
    at = 0
    for info in sorted(infos, key=lambda one: one.header_offset):
        start = info.header_offset
        if start < at:
            raise FormatError(
                "parts of the file overlap in its ZIP archive: it is made to expand without end"
            )
        if not _is_descriptor(data[at:start], at):
            yield at, start
        fields = _LOCAL_HEADER.unpack_from(data, start)
        at = start + _LOCAL_HEADER.size + fields[9] + fields[10] + info.compress_size
    if not _is_descriptor(data[at:directory], at):
        yield at, directory


def _is_descriptor(between: bytes, at: int) -> bool:
    """Whether bytes behind an entry are just its sizes, which a program that writes a stream puts
    there.
    """
    return not between or (at > 0 and len(between) in _DATA_DESCRIPTORS)


def _printable(raw: bytes) -> str:
    text = "".join(char if char.isprintable() else "\n" for char in raw.decode("utf-8", "replace"))
    return "\n".join(line for line in text.split("\n") if len(line) > 3)
