"""ISO 9660 images of discs: files, their names in all trees of the image, and what is between them.

The structures are those of ECMA-119, with the names of Joliet and of Rock Ridge. A masked file
stays where it is, or moves to the end of the image if it grows; a masked name keeps its length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dlpctl.errors import CannotMaskError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, as_file_name, renamed
from dlpctl.formats.containers.iso_trees import Image, ImageText, Span, point
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits, Uninspected

_DESCRIPTORS = 0x8000
_UDF = (b"BEA01", b"NSR02", b"NSR03")
_SLACK = "slack"
_NOT_SHORT = re.compile(r"[^A-Z0-9]")
_TELLING = 5
"""The first characters by which a short name is told to be made of a long one."""
_DIGITS = 7
"""The maximum number of digits that distinguish equal names."""
_ZEROS = re.compile(rb"\0+")
_NO_UDF = "a UDF file system, which is not read: unpack the image and check the files"


class IsoImage(BinaryFormat):
    name = "iso"
    extensions = (".iso",)
    archive = True

    def sniff(self, head: bytes, name: str) -> bool:
        return head.startswith((b"CD001", *_UDF), _DESCRIPTORS + 1)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        image = Image(data, Allowance(limits))
        names = Names()
        for index, text in enumerate(image.texts):
            names.add(str(index), text.text, text.location)
        children = [
            Child(str(index), file.path, b"".join(data[start:end] for start, end in file.parts))
            for index, file in enumerate(image.files)
        ]
        if slack := b"\n".join(data[start:end] for start, end in image.slack()):
            # The words that programs leave there are text once the zeros are gone.
            slack = _ZEROS.sub(b"\n", slack)
            children.append(Child(_SLACK, "bytes outside of files", slack, spare=True))
        document = names.document(self.name, children)
        if any(data.startswith(mark, at + 1) for at in image.descriptors for mark in _UDF):
            document.uninspected.append(Uninspected("UDF", _NO_UDF))
        document.uninspected += (
            Uninspected(path, "compressed by zisofs: unpack it first") for path in image.packed
        )
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        image = Image(data)
        copy = bytearray(data)
        if _SLACK in children:
            for start, end in image.slack():
                copy[start:end] = bytes(end - start)
        taken = _TakenNames()
        wanted = {int(key): text for key, text in renamed(document, edits).items()}
        for number, text in {**_short_names(image.texts, wanted), **wanted}.items():
            _rename(copy, image.texts[number], text, taken)
        changed = [number for number in range(len(image.files)) if str(number) in children]
        if changed and _overlap([part for file in image.files for part in file.parts]):
            raise CannotMaskError("files of the image share data: unpack it and check the files")
        for number in changed:
            _replace(copy, image, number, children[str(number)] or b"")
        image.resize(copy)
        return bytes(copy)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return [*super().read_again(data, limits), data.decode("utf-16-be", "replace")]


def _short_names(texts: Sequence[ImageText], wanted: Mapping[int, str]) -> dict[int, str]:
    """Return what replaces the short names that were made of masked ones."""
    masks = {_shortened(texts[number].text)[:_TELLING]: text for number, text in wanted.items()}
    short: dict[int, str] = {}
    for number, text in enumerate(texts):
        masked = masks.get(_shortened(text.text)[:_TELLING]) if text.is_short else None
        if masked is None:
            continue
        stem, dot, suffix = text.text.rpartition(".")
        size = len(stem) if dot else len(suffix)
        new = _shortened(masked)[:size].ljust(size, "_")
        short[number] = f"{new}.{suffix}" if dot else new
    return short


def _shortened(name: str) -> str:
    """Return a name in the characters of short names."""
    return _NOT_SHORT.sub("_", name.upper())


def _overlap(spans: Sequence[Span]) -> bool:
    return any(first[1] > second[0] for first, second in pairwise(sorted(spans)))


def _replace(copy: bytearray, image: Image, number: int, contents: bytes) -> None:
    """Write the new contents of a file where they fit: in its place, or at the end."""
    file, block = image.files[number], image.block
    for start, end in file.parts:
        copy[start:end] = bytes(end - start)
    rest = contents
    for (start, end), records in zip(file.parts, file.records, strict=True):
        room = end - start + -(end - start) % block
        is_last = records is file.records[-1]
        own, rest = (rest, b"") if is_last else (rest[:room], rest[room:])
        offset = start
        if len(own) > room:
            copy += bytes(-len(copy) % block)
            offset = len(copy)
        copy[offset : offset + len(own)] = own
        for record in records:
            point(copy, record, offset // block, len(own))
    copy += bytes(-len(copy) % block)


def _rename(copy: bytearray, text: ImageText, wanted: str, taken: _TakenNames) -> None:
    """Write a masked name over all copies of a name, as long as it was."""
    plain = as_file_name(wanted).replace("/", "_").encode("ascii", "replace").decode()
    room = sum(end - start for start, end in text.copies[0])
    size = min(len(text.text.encode(text.codec)), room) // text.width
    shown = taken.fitted(text.folder, plain, size)
    written = shown.ljust(room // text.width).encode(text.codec)
    for spans in text.copies:
        at = 0
        for start, end in spans:
            copy[start:end] = written[at : at + end - start]
            at += end - start


class _TakenNames:
    """The names that masking wrote, none of which occurs twice in a folder."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str]] = set()
        self._numbers: dict[tuple[str, str, int, str], int] = {}
        """The last number of names that only differ in characters that a number may replace."""

    def fitted(self, folder: str, name: str, size: int) -> str:
        """Return a name of a length that starts like a name and has its suffix."""
        stem, dot, suffix = name.replace("?", "_").rpartition(".")
        tail = dot + suffix if stem and len(suffix) + 1 < size else ""
        stem = (stem if tail else name)[: size - len(tail)].ljust(size - len(tail), "_")
        shown = stem + tail
        alike = folder, stem[:-_DIGITS], size, tail
        while (folder, shown) in self._taken:
            number = self._numbers[alike] = self._numbers.get(alike, 1) + 1
            digits = str(number)
            if len(digits) > len(stem):
                raise CannotMaskError("the names in the image are too short to be masked")
            shown = stem[: len(stem) - len(digits)] + digits + tail
        self._taken.add((folder, shown))
        return shown


FORMAT = IsoImage()
