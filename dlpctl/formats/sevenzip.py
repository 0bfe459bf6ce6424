"""7z archives, if py7zr is installed."""

from __future__ import annotations

import io
import lzma
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import (
    Allowance,
    BinaryFormat,
    Names,
    as_file_name,
    decodings,
    kept,
    member_name,
    renamed,
)
from dlpctl.formats.distinct import DistinctNames
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits

if TYPE_CHECKING:
    from py7zr import SevenZipFile

_BROKEN = (lzma.LZMAError, EOFError, OSError, ValueError, TypeError, IndexError)


class SevenZip(BinaryFormat):
    name = "7z"
    extensions = (".7z",)
    magic = (b"7z\xbc\xaf\x27\x1c",)
    archive = True

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        names = Names()
        children: list[Child] = []
        for index, (name, contents) in enumerate(_members(data, limits, password)):
            names.add(f"name {index}", name, f"name of entry {index + 1}")
            if contents is not None:
                children.append(Child(str(index), name, contents))
        return names.document(self.name, children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        import py7zr

        with _opened(data, None) as archive:
            if archive.needs_password():
                raise CannotMaskError(
                    "an encrypted 7z cannot be written again: unpack it and check the files"
                )
        texts = renamed(document, edits)
        output = io.BytesIO()
        distinct = DistinctNames()
        with py7zr.SevenZipFile(output, "w") as result:
            for index, (name, before) in enumerate(_members(data, Limits(), None)):
                contents = None if before is None else kept(children, str(index), before)
                if contents is not None:
                    result.writestr(
                        contents,
                        member_name(as_file_name(texts.get(f"name {index}", name)), distinct),
                    )
        return output.getvalue()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        texts: list[str] = []
        for name, contents in _members(data, limits, None):
            texts += (name, *decodings(contents or b""))
        return texts


def _opened(data: bytes, password: str | None) -> SevenZipFile:
    import py7zr
    from py7zr.exceptions import ArchiveError

    try:
        return py7zr.SevenZipFile(io.BytesIO(data), "r", password=password)
    except ArchiveError as error:
        raise FormatError(
            "the 7z archive is damaged, or needs --password of check and mask"
        ) from error
    except (*_BROKEN, AssertionError) as error:
        raise FormatError("the 7z archive is damaged") from error


def _members(data: bytes, limits: Limits, password: str | None) -> list[tuple[str, bytes | None]]:
    """Return name and contents of each member; None for a folder."""
    from py7zr.exceptions import ArchiveError
    from py7zr.io import BytesIOFactory

    allowance = Allowance(limits)
    with _opened(data, password) as archive:
        if archive.needs_password() and password is None:
            raise FormatError("the 7z archive is encrypted: check or mask it with --password")
        entries = archive.list()
        for entry in entries:
            allowance.entry(entry.uncompressed)
            allowance.expanded(entry.uncompressed)
            # Members of a solid archive are compressed together: each may come from any part of it.
            allowance.ratio(entry.uncompressed, len(data))
        largest = max((entry.uncompressed for entry in entries), default=0)
        factory = BytesIOFactory(max(largest, 1))
        try:
            archive.extractall(factory=factory)
        except (ArchiveError, *_BROKEN) as error:
            raise FormatError(
                "the 7z archive is damaged, or the password does not open it"
            ) from error
        members: list[tuple[str, bytes | None]] = []
        for entry in entries:
            product = factory.products.get(entry.filename)
            if product is not None:
                product.seek(0)
            members.append((entry.filename, None if product is None else product.read()))
        return members


FORMATS = (SevenZip(),) if find_spec("py7zr") is not None else ()
