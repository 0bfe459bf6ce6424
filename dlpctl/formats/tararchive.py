"""TAR: members, names, links, owners and extended headers; nothing is written to a path."""

from __future__ import annotations

import io
import tarfile

from dlpctl.errors import FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, as_file_name, renamed
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits

_BLOCK = 512
_WRITTEN_ANEW = {"path", "linkpath", "size", "uname", "gname", "uid", "gid"}
_SPARSE = "GNU.sparse"
_ERRORS = (tarfile.TarError, EOFError, OSError, ValueError, UnicodeError, IndexError, KeyError)


class Tar(BinaryFormat):
    name = "tar"
    extensions = (".tar", ".ova")
    archive = True

    def sniff(self, head: bytes, name: str) -> bool:
        if head[257:262] == b"ustar":
            return True
        return (
            name.lower().endswith(self.extensions)
            and len(head) >= _BLOCK
            and _checksum_holds(head[:_BLOCK])
        )

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        names = Names()
        children: list[Child] = []
        allowance = Allowance(limits)
        owners: set[str] = set()
        slack = b""
        try:
            with _opened(data) as archive:
                for index, info in enumerate(archive):
                    allowance.entry(info.size if info.isfile() else 0)
                    names.add(f"name {index}", info.name, f"name of entry {index + 1}")
                    names.add(f"link {index}", info.linkname, f"link of entry {index + 1}")
                    for owner in {info.uname, info.gname} - owners:
                        names.add(f"owner {owner}", owner, "owner")
                        owners.add(owner)
                    for key, value in info.pax_headers.items():
                        if key not in _WRITTEN_ANEW:
                            names.add(
                                f"pax {index} {key}",
                                str(value),
                                f"header {key} of entry {index + 1}",
                            )
                    stream = archive.extractfile(info) if info.isfile() else None
                    if stream is not None:
                        contents = allowance.read(
                            stream, len(data) if not info.issparse() else _stored(info)
                        )
                        if len(contents) != info.size:
                            raise FormatError("the TAR archive is cut off")
                        children.append(Child(str(index), info.name, contents))
                    slack += _slack(data, info)
                end = archive.offset
        except _ERRORS as error:
            raise FormatError("the TAR archive is damaged") from error
        if data[end:].strip(b"\0"):
            children.append(Child("end", f"bytes after {end}", data[end:], spare=True))
        if slack:
            children.append(Child("slack", "bytes between entries", slack, spare=True))
        return names.document(self.name, children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        texts = {key: as_file_name(text) for key, text in renamed(document, edits).items()}
        output = io.BytesIO()
        with (
            _opened(data) as archive,
            tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as result,
        ):
            for index, info in enumerate(archive):
                stream = archive.extractfile(info) if info.isfile() else None
                contents = None if stream is None else children.get(str(index), b"")
                if str(index) in children and contents is None:
                    continue
                if stream is not None and str(index) not in children:
                    contents = stream.read()
                member = tarfile.TarInfo(texts.get(f"name {index}", info.name))
                member.mode, member.mtime, member.uid, member.gid = (
                    info.mode,
                    info.mtime,
                    info.uid,
                    info.gid,
                )
                member.type = tarfile.REGTYPE if info.isfile() else info.type
                member.devmajor, member.devminor = info.devmajor, info.devminor
                member.linkname = texts.get(f"link {index}", info.linkname)
                member.uname = texts.get(f"owner {info.uname}", info.uname)
                member.gname = texts.get(f"owner {info.gname}", info.gname)
                member.pax_headers = {
                    key: texts.get(f"pax {index} {key}", str(value))
                    for key, value in info.pax_headers.items()
                    if key not in _WRITTEN_ANEW and not key.startswith(_SPARSE)
                }
                member.size = len(contents or b"")
                result.addfile(member, None if contents is None else io.BytesIO(contents))
        return output.getvalue()


def _opened(data: bytes) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=io.BytesIO(data), mode="r:")
    except _ERRORS as error:
        raise FormatError("the TAR archive is damaged") from error


def _slack(data: bytes, info: tarfile.TarInfo) -> bytes:
    """Return the padding in the last block of a member, which should be zeros."""
    if not info.isfile():
        return b""
    end = info.offset_data + _stored(info) if info.issparse() else info.offset_data + info.size
    return data[end : -(-end // _BLOCK) * _BLOCK].strip(b"\0")


def _stored(info: tarfile.TarInfo) -> int:
    """Return the number of stored bytes of a sparse member; the header only claims the rest."""
    sparse = getattr(info, "sparse", None) or ()
    return sum(size for _, size in sparse)


def _checksum_holds(block: bytes) -> bool:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape").chksum > 0
    except tarfile.HeaderError:
        return False


FORMAT = Tar()
