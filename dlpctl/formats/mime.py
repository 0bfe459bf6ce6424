"""Divide a mail into header fields and parts by byte offsets, so that the rest keeps its bytes."""

from __future__ import annotations

import base64
import binascii
import codecs
import quopri
import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from dlpctl.errors import FormatError
from dlpctl.formats.source import Resolved
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from email.message import Message

    from dlpctl.formats.interface import Limits

_HEADER_END = re.compile(rb"\r?\n(?=\r?\n)|\r\n\r\n|\A(?=\r?\n)")
_FIELD = re.compile(rb"[^\r\n:]{1,200}:[^\n]*(?:\n[ \t][^\n]*)*\n?|[^\n]*\n|[^\n]+\Z")
_CONTENT_FIELD = re.compile(
    rb"^content-[a-z-]+:[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE
)
_LONGEST_CONTENT_FIELD = 1 << 14
_PADDED_BREAK = lazy(rb"=[ \t]+(?=\r?\n)")
_FOLD = lazy(r"\r?\n(?=[ \t])")
_ENCODED_WORD = r"=\?[^?\s]+\?[bBqQ]\?[^?]*\?="
_ENCODED_WORDS = lazy(rf"{_ENCODED_WORD}(?:\s+{_ENCODED_WORD})*")
_SOME_WORDS = lazy(rf"{_ENCODED_WORD}(?:\s+{_ENCODED_WORD}){{0,63}}")
"""Some of the encoded words of a field: Python's own library takes squared time for many."""
_BASE64 = lazy(rb"[A-Za-z0-9+/\s]*+(?:=\s*){0,2}")
_CONTINUED = lazy(rb";\s*(?:file)?name\*\d*\*?=")
_SUFFIXES = {
    "text/plain": ".txt",
    "text/html": ".html",
    "message/rfc822": ".eml",
    "text/calendar": ".ics",
}
_MAX_MULTIPARTS = 30


@dataclass(frozen=True, slots=True)
class Field:
    """A header field as a range of bytes."""

    start: int
    end: int
    continued: str = ""
    """A file name that RFC 2231 splits into several parameters, joined."""
    boundaries: tuple[tuple[int, int], ...] = ()
    """The positions of the boundary that the field defines, in the body."""


@dataclass(frozen=True, slots=True)
class Part:
    """A leaf: a range of bytes, and its encoding."""

    start: int
    end: int
    name: str
    transfer: str
    charset: str
    spare: bool = False

    def decode(self, data: bytes) -> bytes:
        """Return the contents; text as UTF-8."""
        contents = _decoded(data[self.start : self.end], self.transfer)
        text = _text(contents, self.charset)
        return contents if text is None else text.encode()

    def encode(self, data: bytes, contents: bytes) -> bytes:
        """Return new contents in the encoding of the old ones."""
        before = data[self.start : self.end]
        if _text(_decoded(before, self.transfer), self.charset) is not None:
            contents = contents.decode("utf-8", "replace").encode(self.charset, "replace")
        newline = b"\r\n" if b"\r\n" in before else b"\n"
        if self.transfer == "base64":
            lines = base64.encodebytes(contents).rstrip().replace(b"\n", newline)
            return lines + before[len(before.rstrip()) :]
        return (
            binascii.b2a_qp(contents, istext=True)
            if self.transfer == "quoted-printable"
            else contents
        )


def entity(
    data: bytes, start: int, end: int, limits: Limits, level: int = 0
) -> Iterator[Field | Part]:
    """Return the header fields and leaves of the message or part in a range of bytes, in order."""
    from email.parser import BytesHeaderParser

    if level > _MAX_MULTIPARTS:
        raise FormatError(f"the mail nests deeper than {_MAX_MULTIPARTS} parts")
    gap = _HEADER_END.search(data, start, end)
    if gap is None:
        header_end = body = end
    else:
        header_end = body = gap.end()
        for newline in (b"\r\n", b"\n"):
            if gap.group().count(b"\n") < 2 and data.startswith(newline, body):
                body += len(newline)
                break
    if data[start : start + 2] == b"\r\n" or data[start : start + 1] == b"\n":
        header_end, body = start, start + (2 if data[start : start + 2] == b"\r\n" else 1)
    if any(
        found.end() - found.start() > _LONGEST_CONTENT_FIELD
        for found in _CONTENT_FIELD.finditer(data, start, header_end)
    ):
        raise FormatError("a header field of the mail has too many parameters")
    headers = BytesHeaderParser().parsebytes(data[start:header_end])
    marks = _marks(data, headers, body, end)
    for found in _FIELD.finditer(data, start, header_end):
        if found[0].strip():
            continued = headers.get_filename("") if _CONTINUED.search(found[0]) else ""
            names_parts = found[0][:13].lower() == b"content-type:"
            boundaries = tuple(mark.span(1) for mark in marks) if names_parts else ()
            yield Field(*found.span(), continued or "", boundaries)
    if not marks:
        leaf = _leaf(headers, body, end)
        # Mailing lists append lines of text, whatever the encoding of a part.
        rest = _end_of_base64(data, leaf) if leaf.transfer == "base64" else end
        yield leaf if rest == end else replace(leaf, end=rest)
        if data[rest:end].strip():
            yield Part(rest, end, "epilogue.txt", "", "", spare=True)
        return
    if data[body : marks[0].start()].strip():
        yield Part(body, marks[0].start(), "preamble.txt", "", "", spare=True)
    for number, mark in enumerate(marks):
        part_end = marks[number + 1].start() if number + 1 < len(marks) else end
        if mark[2]:
            if data[mark.end() : part_end].strip():
                yield Part(mark.end(), part_end, "epilogue.txt", "", "", spare=True)
        elif mark.end() <= part_end:
            yield from entity(data, mark.end(), part_end, limits, level + 1)


def _end_of_base64(data: bytes, leaf: Part) -> int:
    """Return the end of the base64 of a part, before text that readers may or may not show."""
    found = _BASE64.match(data, leaf.start, leaf.end)
    return found.end() if found is not None else leaf.end


def boundary(field: bytes) -> str:
    """Return the boundary that a "Content-Type" field defines."""
    from email.parser import BytesHeaderParser

    return BytesHeaderParser().parsebytes(field).get_boundary("")


def unfolded(source: str) -> Iterator[Resolved]:
    """Yield the folds and encoded words of a header field."""
    at = 0
    for found in _ENCODED_WORDS.finditer(source):
        yield from _folds(source, at, found.start())
        yield Resolved(found.start(), found.end(), _words(_SOME_WORDS.findall(found[0])))
        at = found.end()
    yield from _folds(source, at, len(source))


def written(text: str, newline: str) -> str:
    """Return a header field with characters beyond ASCII as encoded words."""
    name, _, value = " ".join(text.split("\n")).partition(":")
    output: list[str] = []
    for plain, foreign in re.findall(
        r"([\x00-\x7f]+(?=\s|$)|[\x00-\x7f]*\s)|(\S*[^\x00-\x7f]\S*(?:\s+\S*[^\x00-\x7f]\S*)*)",
        value,
    ):
        if plain:
            output.append(plain)
            continue
        words = []
        for at in range(0, len(foreign), 15):
            packed = base64.b64encode(foreign[at : at + 15].encode("utf-8", "replace")).decode(
                "ascii"
            )
            words.append(f"=?utf-8?b?{packed}?=")
        output.append(f"{newline} ".join(words))
    return f"{name}:{''.join(output)}"


def _marks(data: bytes, headers: Message, start: int, end: int) -> list[re.Match[bytes]]:
    """Return the lines between the parts of a body, if it has several."""
    named = headers.get_boundary() if headers.get_content_maintype() == "multipart" else None
    if not named:
        return []
    delimiter = re.compile(
        rb"(?:\r?\n|(?<=\n)|\A)--("
        + re.escape(named.encode("latin-1", "replace"))
        + rb")(--)?[ \t]*(?:\r?\n|\Z)"
    )
    return list(delimiter.finditer(data, max(start - 1, 0), end))


def _folds(source: str, start: int, end: int) -> Iterator[Resolved]:
    for found in _FOLD.finditer(source, start, end):
        yield Resolved(found.start(), found.end(), "")


def _words(parts: Sequence[str]) -> str:
    """Return what the parts of a field read, without encoded words; a character may be in two."""
    from email.errors import MessageError
    from email.header import decode_header

    try:
        decoded = [each for part in parts for each in decode_header(part)]
    except (MessageError, binascii.Error):
        return "".join(parts)
    texts: list[str] = []
    for (is_bytes, charset), pieces in groupby(
        decoded, lambda each: (isinstance(each[0], bytes), each[1])
    ):
        if is_bytes:
            raw = b"".join([piece for piece, _ in pieces])
            text = _text(raw, charset or "utf-8")
            texts.append(raw.decode("latin-1") if text is None else text)
        else:
            texts += [piece for piece, _ in pieces]
    return "".join(texts)


def _leaf(headers: Message, start: int, end: int) -> Part:
    import mimetypes

    media_type = headers.get_content_type()
    transfer = str(headers.get("Content-Transfer-Encoding", "")).strip().lower()
    charset = (
        headers.get_content_charset("utf-8") if headers.get_content_maintype() == "text" else ""
    )
    suffix = (
        _SUFFIXES.get(media_type) or mimetypes.guess_extension(media_type, strict=False) or ".bin"
    )
    name = (
        headers.get_filename() or f"{'body' if media_type.startswith('text/') else 'part'}{suffix}"
    )
    return Part(start, end, _words([name]).replace("/", "_"), transfer, charset or "")


def _decoded(raw: bytes, transfer: str) -> bytes:
    if transfer == "base64":
        try:
            return base64.b64decode(raw + b"==")
        except binascii.Error as error:
            raise FormatError("a part of the mail is damaged base64") from error
    if transfer == "quoted-printable":
        return quopri.decodestring(_PADDED_BREAK.sub(b"=", raw))
    return raw


def _text(contents: bytes, charset: str) -> str | None:
    """Return the text if the charset is known and can decode it."""
    if not charset:
        return None
    try:
        codecs.lookup(charset)
        return contents.decode(charset)
    except (LookupError, UnicodeError, ValueError):
        return None
