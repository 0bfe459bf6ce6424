"""ZIP archives: entries, their names and comments, and the bytes between entries."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import (
    Allowance,
    BinaryFormat,
    Names,
    as_file_name,
    kept,
    member_name,
    renamed,
)
from dlpctl.formats.containers import zip_files
from dlpctl.formats.containers.zip_sections import zip_sections
from dlpctl.formats.distinct import DistinctNames
from dlpctl.formats.fonttables import obfuscated
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits

_LOCAL_HEADER_SIZE, _METHOD_AT = 30, 8
# ZIP64 sizes, which are written again, and copies of the name and the comment, which would keep
# masked values.
_DROPPED_EXTRAS = {0x0001, 0x7075, 0x6375}
_READ_BEFORE = Limits(entries=1 << 40, expanded_bytes=1 << 60, entry_ratio=1 << 40)
"""No limits for an archive that was read within its limits."""
_WRITABLE = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}


class Zip(BinaryFormat):
    name = "zip"
    extensions = (
        *(".zip", ".jar", ".war", ".ear", ".apk", ".aar", ".whl", ".epub", ".kmz", ".xpi"),
        *(".nupkg", ".crx"),
    )
    magic = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
    rank = 60
    archive = True
    sections = staticmethod(zip_sections)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        names = Names()
        children: list[Child] = []
        allowance = Allowance(limits)
        with zip_files.opened(data) as archive:
            names.add("comment", archive.comment.decode("utf-8", "replace"), "archive comment")
            for index, info in enumerate(archive.infolist()):
                allowance.entry(info.file_size)
                names.add(f"name {index}", info.filename, f"name of entry {index + 1}")
                names.add(
                    f"comment {index}",
                    info.comment.decode("utf-8", "replace"),
                    f"comment of entry {index + 1}",
                )
                names.add(
                    f"extra {index}",
                    zip_files.extra_texts(data, info),
                    f"extra fields of entry {index + 1}",
                )
                if not info.filename.endswith("/") or info.file_size:
                    contents = _contents(archive, info, allowance, password)
                    contents = obfuscated(info.filename, contents)
                    children.append(Child(str(index), info.filename, contents))
            children += zip_files.gaps(data, archive, "entries")
        return names.document(self.name, children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        texts = renamed(document, edits)
        output = io.BytesIO()
        distinct = DistinctNames()
        allowance = Allowance(_READ_BEFORE)
        with (
            zip_files.opened(data) as archive,
            zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as result,
        ):
            comment = texts.get("comment")
            result.comment = archive.comment if comment is None else comment.encode()
            for index, info in enumerate(archive.infolist()):
                if info.flag_bits & zip_files.ENCRYPTED:
                    raise CannotMaskError(
                        "an encrypted ZIP cannot be written again: unpack it and check the files"
                    )
                before = zip_files.contents(archive, info, allowance)
                before = obfuscated(info.filename, before)
                contents = kept(children, str(index), before)
                if contents is None:
                    continue
                contents = obfuscated(info.filename, contents)
                name = as_file_name(texts.get(f"name {index}", info.filename))
                member = zip_files.copy_of(info, member_name(name, distinct))
                if member.compress_type not in _WRITABLE:
                    member.compress_type = zipfile.ZIP_DEFLATED
                member.extra = b"" if f"extra {index}" in texts else _extra(info.extra)
                member.comment = (
                    texts[f"comment {index}"].encode()
                    if f"comment {index}" in texts
                    else info.comment
                )
                result.writestr(member, contents)
        return output.getvalue()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        """Return every member by its local header alone, as repairing readers do."""
        texts = [data.decode("latin-1")]
        allowance = Allowance(limits)
        at = data.find(b"PK\x03\x04")
        while at >= 0:
            texts += _local(data, at, allowance)
            at = data.find(b"PK\x03\x04", at + 4)
        return texts


def _contents(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, password: str | None
) -> bytes:
    if info.flag_bits & zip_files.ENCRYPTED and password is None:
        raise FormatError("the ZIP archive is encrypted: check or mask it with --password")
    try:
        return zip_files.contents(archive, info, allowance, password)
    except NotImplementedError as error:
        raise FormatError("an entry of the ZIP archive is packed by an unknown method") from error
    except RuntimeError as error:
        raise FormatError("the password does not open the ZIP archive") from error
    except zip_files.BROKEN as error:
        raise FormatError("an entry of the ZIP archive is damaged") from error


def _extra(extra: bytes) -> bytes:
    output = b""
    while len(extra) >= 4:
        header_id, size = struct.unpack_from("<HH", extra)
        if header_id not in _DROPPED_EXTRAS:
            output += extra[: 4 + size]
        extra = extra[4 + size :]
    return output


def _local(data: bytes, at: int, allowance: Allowance) -> Iterator[str]:
    header = data[at : at + _LOCAL_HEADER_SIZE]
    if len(header) < _LOCAL_HEADER_SIZE:
        return
    start = at + zip_files.local_size(header)
    yield data[at + _LOCAL_HEADER_SIZE : start].decode("utf-8", "replace")
    if int.from_bytes(header[_METHOD_AT : _METHOD_AT + 2], "little") == zipfile.ZIP_DEFLATED:
        unpacker = zlib.decompressobj(-15)
        pending = data[start:]
        try:
            while pending and not unpacker.eof:
                chunk = unpacker.decompress(pending, 1 << 20)
                allowance.expanded(len(chunk))
                yield chunk.decode("utf-8", "replace")
                pending = unpacker.unconsumed_tail
        except zlib.error:
            return


FORMAT = Zip()
