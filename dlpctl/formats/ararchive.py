"""`ar` archives: static libraries and packages of Debian."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.archive import (
    Allowance,
    BinaryFormat,
    Names,
    as_file_name,
    kept,
    member_name,
    renamed,
)
from dlpctl.formats.distinct import DistinctNames
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits

_MAGIC = b"!<arch>\n"
_HEADER, _END = 60, b"`\n"
_SYMBOLS = (b"/", b"/SYM64/", b"__.SYMDEF")
_LONG_NAMES = b"//"
_BSD = re.compile(rb"#1/(\d{1,6})$")
_GNU = re.compile(rb"/(\d{1,9})$")
_NUMBERS = re.compile(rb"[0-9A-Fa-f ]{32}")
_SHORT = 15


class _Member(NamedTuple):
    name: bytes
    times: bytes
    """Time, owners and mode, in the form of the header."""
    data: bytes


class Ar(BinaryFormat):
    name = "ar"
    extensions = (".a", ".deb", ".udeb", ".ar")
    magic = (_MAGIC,)
    text_start = rb"!<arch>\n"
    archive = True

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        names = Names()
        children: list[Child] = []
        allowance = Allowance(limits)
        for index, member in enumerate(_members(data)):
            allowance.entry(len(member.data))
            name = member.name.decode("utf-8", "replace")
            names.add(f"name {index}", name, f"name of entry {index + 1}")
            children.append(Child(str(index), name, member.data))
        return names.document(self.name, children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        texts = renamed(document, edits)
        long_names, body = bytearray(), bytearray()
        distinct = DistinctNames()
        for index, member in enumerate(_members(data)):
            contents = kept(children, str(index), member.data)
            if contents is None:
                continue
            wanted = texts.get(f"name {index}")
            name = member.name
            if wanted is not None:
                name = member_name(as_file_name(wanted).replace("/", "_"), distinct).encode()
            field = name
            if member.name in _SYMBOLS:
                contents = b""  # the index of members, which programs build again
            elif len(name) > _SHORT or b" " in name:
                field = b"/%d" % len(long_names)
                long_names += name + b"/\n"
            body += _written(field, member.times, contents)
        table = _written(_LONG_NAMES, b" " * 32, bytes(long_names)) if long_names else b""
        return _MAGIC + table + bytes(body)


def _written(name: bytes, times: bytes, contents: bytes) -> bytes:
    header = name.ljust(16) + times + str(len(contents)).encode().ljust(10) + _END
    return header + contents + (b"\n" if len(contents) % 2 else b"")


def _members(data: bytes) -> Iterator[_Member]:
    at, long_names = len(_MAGIC), b""
    while at < len(data):
        header = data[at : at + _HEADER]
        size = header[48:58].strip()
        if header[58:] != _END or not size.isdigit() or not _NUMBERS.fullmatch(header[16:48]):
            raise FormatError("the ar archive is damaged")
        at += _HEADER
        contents = data[at : at + int(size)]
        if len(contents) < int(size):
            raise FormatError("the ar archive is cut off")
        at += int(size)
        if int(size) % 2:
            if data[at : at + 1].strip(b"\n\0"):
                raise FormatError("the ar archive is damaged")
            at += 1
        name = header[:16].rstrip()
        if name == _LONG_NAMES:
            long_names = contents
            continue
        if found := _BSD.match(name):
            length = int(found[1])
            name, contents = contents[:length].rstrip(b"\0"), contents[length:]
        elif found := _GNU.match(name):
            name = long_names[int(found[1]) :].partition(b"\n")[0].removesuffix(b"/")
        elif name not in _SYMBOLS:
            name = name.removesuffix(b"/")
        yield _Member(name, header[16:48], contents)


FORMAT = Ar()
