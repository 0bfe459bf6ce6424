"""Files within a text: pictures, documents and archives in base64, hexadecimal or uuencode.

A range is read as a file if the text declares a file, as with `data:image/png;base64,`, or if the
decoded data start like a file. Other encoded data are left to detection, which decodes them.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from dlpctl.formats.encoding import decode
from dlpctl.regex import lazy
from dlpctl.texts.deflated import LEAST, ZLIB, Inflater, starts_of_runs

_STARTS = {
    b"\x1f\x8b\x08": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
    b"%PDF-": "pdf",
    b"\x89PNG\r\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF8": "gif",
    b"SQLite": "sqlite",
    b"bplist": "plist",
    b"VCLMTF": "svm",
    b"\xd0\xcf\x11\xe0": "bin",
}
"""The first bytes of supported files, and the suffixes of their names."""
_IN_HEXADECIMAL = {"gz", "zip", "pdf", "png", "jpg"}
_LINE_END = r"(?:(?:\\r)?\\n|\r?\n[ \t]*+)"
_BASE64 = lazy(
    rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{24,}}+(?:{_LINE_END}[A-Za-z0-9+/]{{48,}}+)*+"
    rf"(?:{_LINE_END}[A-Za-z0-9+/]{{2,76}}+(?![\w.,;:!?]))?={{0,2}}(?:{_LINE_END}={{1,2}})?"
)
_DECLARED = lazy(r"data:([\w.+-]+/[\w.+-]+)?[^,\"'\s]{0,80};base64,|\"(image/[\w.+-]+)\"\s*:\s*\"")
_BREAK = rf"(?:{_LINE_END}|\\\r?\n| )"
"""A line end that a style sheet escapes, or that a writer of XML turned into a space."""
_DECLARED_RUN = lazy(
    rf"[A-Za-z0-9+/]*+(?:(?:{_BREAK}[A-Za-z0-9+/]{{48,}}+)++"
    rf"(?:{_BREAK}[A-Za-z0-9+/]{{2,76}}+(?![\w.,;:!?]))?"
    rf"|{_LINE_END}[A-Za-z0-9+/]{{2,76}}+(?![\w.,;:!?]))?={{0,2}}"
)
_FONTS = ("font/", "application/font", "application/x-font", "application/vnd.ms-fontobject")
"""Media types of files without anything that a person wrote."""
_HEXADECIMAL = lazy(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}){24,}+")
_NO_BASE64 = lazy(r"\\[rn]|[^A-Za-z0-9+/=]")
_UUENCODED = lazy(
    r"^begin [0-7]{3,4} ([^\r\n]*)\r?\n((?:[ -`]{1,90}\r?\n)+?)[ `]?\r?\n?end\b", re.MULTILINE
)
_DIAGRAM = lazy(r"<diagram\b[^<>]*>([A-Za-z0-9+/=]{16,}+)</diagram>")
_PATCH = lazy(
    r"^(literal|delta) [0-9]{1,12}\r?\n((?:[A-Za-z][!#-&(-+\--.0-~]{5,65}\r?\n)+)", re.MULTILINE
)
"""A binary file in a patch of git."""
_PATCH_LINE = 52
_PATCH_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ZLIB_HEADS = ("eJ", "eN", "eA", "eF")
"""The first base64 characters of zlib's headers."""
_MASHUP = lazy(r"AAAAA[A-Za-z0-9+/]{7}SwME")
"""A version of zero, a length, and the start of a ZIP archive: queries of Excel and Power BI."""
_UU_LINE = 45
_PIECE = 1 << 20
"""The characters of a text that are searched for runs at the same time."""
_LARGEST = 64 << 20
"""The maximum size in bytes of all deflated data of a text, for each way to find it."""


class EmbeddedFile(NamedTuple):
    """A range of a text that encodes a file."""

    start: int
    end: int
    name: str
    data: bytes
    write: Callable[[bytes], str]
    """Encodes new contents in the same way."""


def embedded_files(source: str) -> list[EmbeddedFile]:
    """Return the files within a text, in order and without overlaps."""
    finders = (
        *(_declared, _mashups, _by_start, _deflated),
        *(_uuencoded, _patches, _diagrams, _without_header),
    )
    found = [each for find in finders for each in find(source)]
    # A declared run may be longer than the part of it that starts like a file.
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[EmbeddedFile] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _declared(source: str) -> Iterator[EmbeddedFile]:
    if "base64," not in source and '"image/' not in source:
        return
    from mimetypes import guess_extension

    for found in _DECLARED.finditer(source):
        media_type = found[1] or found[2] or "text/plain"
        run = _DECLARED_RUN.match(source, found.end())
        if run and run[0] and not media_type.startswith(_FONTS):
            name = f"embedded{guess_extension(media_type) or '.bin'}"
            yield EmbeddedFile(*run.span(), name, _from_base64(run[0]), _to_base64)


def _by_start(source: str) -> Iterator[EmbeddedFile]:
    for start, suffix in _STARTS.items():
        # A base64 character encodes six bits, whatever follows.
        in_base64 = _to_base64(start)[: len(start) * 8 // 6]
        hexadecimal = (start.hex(), start.hex().upper()) if suffix in _IN_HEXADECIMAL else ()
        encodings = [
            (in_base64, _BASE64, _from_base64, _to_base64),
            *((text, _HEXADECIMAL, bytes.fromhex, _to_hexadecimal) for text in hexadecimal),
        ]
        for text, run, unpack, write in encodings:
            at = source.find(text)
            while at >= 0:
                found = run.match(source, at)
                data = unpack(found[0]) if found else b""
                if found and data.startswith(start):
                    yield EmbeddedFile(*found.span(), f"embedded.{suffix}", data, write)
                at = source.find(text, found.end() if found else at + 1)


def _mashups(source: str) -> Iterator[EmbeddedFile]:
    for found in _MASHUP.finditer(source) if "SwME" in source else ():
        if run := _BASE64.match(source, found.start()):
            yield EmbeddedFile(*run.span(), "embedded.mashup", _from_base64(run[0]), _to_base64)


def _deflated(source: str) -> Iterator[EmbeddedFile]:
    """Yield zlib streams, whose first two bytes are too short to identify them."""
    inflated = Inflater(_LARGEST)
    for head in _ZLIB_HEADS:
        at = source.find(head)
        while at >= 0:
            found = _BASE64.match(source, at)
            data = _from_base64(found[0]) if found else b""
            if found and inflated(data, ZLIB):
                yield EmbeddedFile(*found.span(), "embedded.zz", data, _to_base64)
            at = source.find(head, found.end() if found else at + 1)


def _from_base64(run: str) -> bytes:
    plain = _NO_BASE64.sub("", run).rstrip("=")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    return binascii.a2b_base64(plain + "=" * (-len(plain) % 4))


def _to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _to_hexadecimal(data: bytes) -> str:
    return data.hex()


def _uuencoded(source: str) -> Iterator[EmbeddedFile]:
    for found in _UUENCODED.finditer(source) if "\nend" in source else ():
        try:
            data = b"".join(map(binascii.a2b_uu, found[2].splitlines()))
        except binascii.Error:
            continue
        yield EmbeddedFile(*found.span(2), found[1], data, _to_uuencode)


def _to_uuencode(data: bytes) -> str:
    lines = (data[at : at + _UU_LINE] for at in range(0, len(data), _UU_LINE))
    return "".join(binascii.b2a_uu(line, backtick=True).decode() for line in lines)


def _patches(source: str) -> Iterator[EmbeddedFile]:
    """Yield the binary files in patches of git: deflated, in base85, each line after its length."""
    inflated = Inflater(_LARGEST)
    for found in _PATCH.finditer(source) if "GIT binary patch" in source else ():
        try:
            packed = b"".join(
                base64.b85decode(line[1:])[: _PATCH_LENGTHS.index(line[0]) + 1]
                for line in found[2].split()
            )
        except ValueError:
            continue
        data = inflated(packed, ZLIB)
        # What a delta changes is only a part of a file.
        name = "embedded" if found[1] == "literal" else "delta.bin"
        yield EmbeddedFile(*found.span(), name, data, _to_patch)


def _to_patch(data: bytes) -> str:
    packed = zlib.compress(data)
    lines = [packed[at : at + _PATCH_LINE] for at in range(0, len(packed), _PATCH_LINE)]
    written = (
        f"{_PATCH_LENGTHS[len(line) - 1]}{base64.b85encode(line, pad=True).decode()}\n"
        for line in lines
    )
    return f"literal {len(data)}\n{''.join(written)}"


def _diagrams(source: str) -> Iterator[EmbeddedFile]:
    """Yield diagrams of draw.io: XML in percent escapes, deflated without a header."""
    inflated = Inflater(_LARGEST)
    for found in _DIAGRAM.finditer(source) if "<diagram" in source else ():
        if unpacked := inflated(_from_base64(found[1])):
            text = unquote(unpacked.decode("utf-8", "replace"))
            yield EmbeddedFile(*found.span(1), "diagram.xml", text.encode(), _to_diagram)


def _to_diagram(data: bytes) -> str:
    return _to_deflated(quote(data.decode()).encode())


def _without_header(source: str) -> Iterator[EmbeddedFile]:
    """Texts deflated without a header, such as requests of SAML."""
    inflated = Inflater(_LARGEST)
    for found in _long_runs(source):
        unpacked = inflated(_from_base64(found[0]))
        if unpacked and decode(unpacked) is not None:
            yield EmbeddedFile(*found.span(), "embedded.txt", unpacked, _to_deflated)


def _long_runs(source: str) -> Iterator[re.Match[str]]:
    """Yield the runs of base64, found by their shape, which is much faster than by their regex."""
    for at in range(0, len(source), _PIECE):
        first = max(at - 1, 0)  # tells whether the run that a piece starts with starts there
        piece = source[first : at + _PIECE + LEAST - 1].encode("ascii", "replace")
        for start in map(first.__add__, starts_of_runs(piece)):
            if start >= at and (found := _BASE64.match(source, start)):
                yield found


def _to_deflated(data: bytes) -> str:
    packer = zlib.compressobj(wbits=-15)
    return _to_base64(packer.compress(data) + packer.flush())


def embedded_name(data: bytes) -> str:
    """Return a name for bytes that start like a supported file; empty for others."""
    suffix = next((_STARTS[start] for start in _STARTS if data.startswith(start)), "")
    return f"embedded.{suffix}" if suffix else ""
