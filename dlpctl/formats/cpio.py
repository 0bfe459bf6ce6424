"""cpio archives of the portable variants, whose headers are text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, as_file_name, kept, renamed
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits

_END = b"TRAILER!!!"
_NEW, _CHECKED, _OLD = b"070701", b"070702", b"070707"
_NEW_SIZE, _OLD_SIZE = 110, 76
_BLOCK = 512


class _Member(NamedTuple):
    magic: bytes
    header: bytes
    name: bytes
    data: bytes


class Cpio(BinaryFormat):
    name = "cpio"
    extensions = (".cpio",)
    magic = (_NEW, _CHECKED, _OLD)
    text_start = b"07070[127]"
    archive = True

    def sniff(self, head: bytes, name: str) -> bool:
        size = _OLD_SIZE if head.startswith(_OLD) else _NEW_SIZE
        fields = head[len(_NEW) : size]
        return super().sniff(head, name) and _is_hexadecimal(fields) and len(head) >= size

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        names = Names()
        children: list[Child] = []
        allowance = Allowance(limits)
        end = 0
        for index, (member, after) in enumerate(_members(data)):
            allowance.entry(len(member.data))
            end = after
            if member.name == _END:
                break
            name = member.name.decode("utf-8", "replace")
            names.add(f"name {index}", name, f"name of entry {index + 1}")
            if member.data:
                children.append(Child(str(index), name, member.data))
        if data[end:].strip(b"\0"):
            children.append(Child("end", f"bytes after {end}", data[end:], spare=True))
        return names.document(self.name, children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        texts = renamed(document, edits)
        copy = bytearray()
        for index, (member, _) in enumerate(_members(data)):
            contents = kept(children, str(index), member.data)
            if contents is None:
                continue
            wanted = texts.get(f"name {index}")
            name = member.name if wanted is None else as_file_name(wanted).encode()
            copy += _written(member._replace(name=name, data=contents))
        return bytes(copy) + bytes(-len(copy) % _BLOCK)


def _is_hexadecimal(fields: bytes) -> bool:
    return not fields.strip(b"0123456789abcdefABCDEF")


def _members(data: bytes) -> Iterator[tuple[_Member, int]]:
    """Yield the members, each with the position after it, up to the trailer."""
    at, name = 0, b""
    try:
        while name != _END:
            magic = data[at : at + len(_NEW)]
            if magic == _OLD:
                size, name_size = int(data[at + 65 : at + 76], 8), int(data[at + 59 : at + 65], 8)
                start, align = at + _OLD_SIZE, 1
            elif magic in (_NEW, _CHECKED):
                size, name_size = (
                    int(data[at + 54 : at + 62], 16),
                    int(data[at + 94 : at + 102], 16),
                )
                start, align = at + _NEW_SIZE, 4
            else:
                raise FormatError("the cpio archive is damaged or cut off")
            name = data[start : start + name_size - 1]
            body = start + name_size
            body += -body % align
            if body + size > len(data) or name_size < 1:
                raise FormatError("the cpio archive is cut off")
            after = min(body + size + -(body + size) % align, len(data))
            yield _Member(magic, data[at:start], name, data[body : body + size]), after
            at = after
    except ValueError as error:
        raise FormatError("the cpio archive is damaged") from error


def _written(member: _Member) -> bytes:
    magic, header, name, contents = member
    if magic == _OLD:
        header = header[:59] + b"%06o%011o" % (len(name) + 1, len(contents))
        return header + name + b"\0" + contents
    checksum = sum(contents) & 0xFFFFFFFF if magic == _CHECKED else 0
    header = header[:54] + b"%08X" % len(contents) + header[62:94]
    header += b"%08X%08X" % (len(name) + 1, checksum)
    start = header + name + b"\0"
    start += bytes(-len(start) % 4)
    return start + contents + bytes(-len(contents) % 4)


FORMAT = Cpio()
