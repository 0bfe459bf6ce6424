"""ZIP: members, their names and comments, and what lies between members."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance, Names, as_file_name, kept, renamed, unique
from dlpctl.formats.interface import Child, Document, Edit, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_DATA_DESCRIPTOR = 24
_ENCRYPTED = 0x1
# ZIP64 sizes, which are written anew, and copies of the name and the comment, which would keep what
# was masked.
_DROPPED_EXTRAS = {0x0001, 0x7075, 0x6375}
_WRITABLE = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}


class Zip:
    name = "zip"
    extensions = (
        ".zip",
        ".jar",
        ".war",
        ".ear",
        ".apk",
        ".aar",
        ".whl",
        ".epub",
        ".kmz",
        ".xpi",
        ".nupkg",
        ".crx",
    )
    rank = 60
    archive = True

    def sniff(self, head: bytes, name: str) -> bool:
        del name
        return head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"))

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        names = Names()
        children: list[Child] = []
        allowance = Allowance(limits)
        with _opened(data) as archive:
            names.add("comment", archive.comment.decode("utf-8", "replace"), "archive comment")
            infos = archive.infolist()
            for index, info in enumerate(infos):
                allowance.entry(info.file_size)
                names.add(f"name {index}", info.filename, f"name of entry {index + 1}")
                names.add(
                    f"comment {index}",
                    info.comment.decode("utf-8", "replace"),
                    f"comment of entry {index + 1}",
                )
                if not info.is_dir() or info.file_size:
                    children.append(
                        Child(
                            str(index), info.filename, _contents(archive, info, allowance, password)
                        )
                    )
            for start, end in _gaps(data, infos, archive.start_dir):
                if data[start:end].strip(b"\0"):
                    place = f"bytes {start}-{end} between entries"
                    children.append(Child(f"gap {start}", place, data[start:end], spare=True))
        return names.document(self.name, children)

    def mask(
        self,
        data: bytes,
        document: Document,
        edits: Sequence[Edit],
        children: Mapping[str, bytes | None],
    ) -> bytes:
        texts = renamed(document, edits)
        output = io.BytesIO()
        taken: set[str] = set()
        with _opened(data) as archive, zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as result:
            comment = texts.get("comment")
            result.comment = archive.comment if comment is None else comment.encode()
            for index, info in enumerate(archive.infolist()):
                if info.flag_bits & _ENCRYPTED:
                    raise CannotMaskError(
                        "an encrypted ZIP cannot be written again: unpack it and check the files"
                    )
                contents = kept(children, str(index), archive.read(info))
                if contents is None:
                    continue
                name = as_file_name(texts.get(f"name {index}", info.filename))
                member = zipfile.ZipInfo(unique(name, taken), info.date_time)
                member.external_attr, member.create_system = info.external_attr, info.create_system
                member.compress_type = (
                    info.compress_type if info.compress_type in _WRITABLE else zipfile.ZIP_DEFLATED
                )
                member.extra = _extra(info.extra)
                member.comment = (
                    texts[f"comment {index}"].encode()
                    if f"comment {index}" in texts
                    else info.comment
                )
                result.writestr(member, contents)
        return output.getvalue()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        """Every member by the local headers alone, as a reader does that repairs damaged archives."""
        texts = [data.decode("latin-1")]
        allowance = Allowance(limits)
        at = data.find(b"PK\x03\x04")
        while at >= 0:
            texts += _local(data, at, allowance)
            at = data.find(b"PK\x03\x04", at + 4)
        return texts


def _opened(data: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (
        zipfile.BadZipFile,
        struct.error,
        ValueError,
        OSError,
        NotImplementedError,
        EOFError,
    ) as error:
        raise FormatError("the ZIP archive is damaged") from error


def _contents(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, allowance: Allowance, password: str | None
) -> bytes:
    if info.flag_bits & _ENCRYPTED and password is None:
        raise FormatError("the ZIP archive is encrypted: give --password")
    try:
        with archive.open(info, pwd=None if password is None else password.encode()) as stream:
            return allowance.read(stream, info.compress_size)
    except NotImplementedError as error:
        raise FormatError("an entry of the ZIP archive is packed by an unknown method") from error
    except RuntimeError as error:
        raise FormatError("the password does not open the ZIP archive") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error) as error:
        raise FormatError("an entry of the ZIP archive is damaged") from error


def _gaps(
    data: bytes, infos: Sequence[zipfile.ZipInfo], directory: int
) -> Iterator[tuple[int, int]]:
    """Bytes that belong to no entry. Entries that share bytes are how a small archive expands
    without end.
    """
    at = 0
    for info in sorted(infos, key=lambda one: one.header_offset):
        start = info.header_offset
        if start < at:
            raise FormatError(
                "entries of the ZIP archive overlap: it is made to expand without end"
            )
        if start > at + _DATA_DESCRIPTOR or data[at : at + 4] not in {b"PK\x07\x08", b""}:
            yield at, start
        header = data[start : start + _LOCAL_HEADER.size]
        if len(header) < _LOCAL_HEADER.size:
            raise FormatError("the ZIP archive is damaged")
        fields = _LOCAL_HEADER.unpack(header)
        at = start + _LOCAL_HEADER.size + fields[9] + fields[10] + info.compress_size
    if directory > at + _DATA_DESCRIPTOR:
        yield at, directory


def _extra(extra: bytes) -> bytes:
    output = b""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind not in _DROPPED_EXTRAS:
            output += extra[: 4 + size]
        extra = extra[4 + size :]
    return output


def _local(data: bytes, at: int, allowance: Allowance) -> Iterator[str]:
    header = data[at : at + _LOCAL_HEADER.size]
    if len(header) < _LOCAL_HEADER.size:
        return
    fields = _LOCAL_HEADER.unpack(header)
    start = at + _LOCAL_HEADER.size + fields[9] + fields[10]
    yield data[at + _LOCAL_HEADER.size : start].decode("utf-8", "replace")
    if fields[3] == zipfile.ZIP_DEFLATED:
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
