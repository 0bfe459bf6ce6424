"""The ZIP container of an Office file: parts within limits, and copies that differ in few parts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field

from dlpctl.errors import FormatError
from dlpctl.formats.archive import Allowance
from dlpctl.formats.containers import zip_files
from dlpctl.formats.interface import Child, Limits

_LARGE = 1 << 20


@dataclass(slots=True)
class Package:
    """The parts of a file by name, in order, and the data outside of parts."""

    parts: dict[str, bytes] = field(default_factory=dict)
    gaps: list[Child] = field(default_factory=list)
    """Bytes between the entries, which no Office program reads and every masked copy lacks."""
    remarks: str = ""
    """Comments and extra fields of the ZIP itself, one per line."""


def opened(data: bytes, limits: Limits) -> Package:
    """Return all parts of a file, and the other data in its ZIP."""
    package = Package()
    allowance = Allowance(limits)
    with zip_files.opened(data) as archive:
        folded: set[str] = set()
        remarks = [zip_files.printable(archive.comment)]
        for info in archive.infolist():
            allowance.entry(info.file_size)
            if info.flag_bits & zip_files.ENCRYPTED:
                raise FormatError("the file is encrypted: save it without a password")
            if info.filename.lower() in folded:
                raise FormatError(
                    "two parts of the file have one name, so programs would disagree on its content"
                )
            folded.add(info.filename.lower())
            remarks += (zip_files.printable(info.comment), zip_files.extra_texts(data, info))
            if not info.filename.endswith("/") or info.file_size:
                package.parts[info.filename] = zip_files.contents(archive, info, allowance)
        package.gaps = list(zip_files.gaps(data, archive, "parts"))
    package.remarks = "\n".join(filter(None, remarks))
    return package


def rewritten(data: bytes, changed: Mapping[str, bytes | None], *, remarks: bool) -> bytes:
    """Return a copy with parts changed or removed (None); `remarks` keeps comments."""
    output = io.BytesIO()
    with (
        zip_files.opened(data) as archive,
        zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as result,
    ):
        result.comment = archive.comment if remarks else b""
        for info in archive.infolist():
            contents = changed[info.filename] if info.filename in changed else archive.read(info)
            if contents is None:
                continue
            copy = zip_files.copy_of(info, info.filename)
            if copy.compress_type != zipfile.ZIP_STORED:
                copy.compress_type = zipfile.ZIP_DEFLATED
            copy.comment = info.comment if remarks else b""
            # For a large part, two compression levels less save two thirds of the time for five
            # percent more bytes.
            result.writestr(copy, contents, compresslevel=4 if len(contents) > _LARGE else None)
    return output.getvalue()
