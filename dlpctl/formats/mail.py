"""Mail as EML and MBOX: header fields, with folds and encoded words resolved.

Bodies and attachments are files of their own; `mime` divides a mail into fields and parts.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import edits_by_segment, name_views
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.encoding import on_one_line, spliced
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits, Piece, Segment, View
from dlpctl.formats.mime import Field, Part, boundary, entity, unfolded, written
from dlpctl.formats.recognition import HEAD
from dlpctl.formats.source import Readable
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from email.message import EmailMessage

_START = lazy(rb"(?:From |[A-Za-z][A-Za-z0-9-]*+:)")
"""The first line of a header, or of a mailbox."""
_KNOWN = rb"(?:From|To|Subject|Date|Received|Message-ID|MIME-Version|Return-Path|Delivered-To|Cc):"
_KNOWN_FIELD = lazy(rb"(?im)^" + _KNOWN)
_TEXT_START = rb"(?i)(?=From |[a-z][a-z0-9-]*+:)(?:[^\n]*+\n(?!\r?\n))*?" + _KNOWN
"""A first line of a header, and a known field before the first empty line."""
_HEADER_END = lazy(rb"\r?\n\r?\n")
_FROM_LINE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]*\r?\n")
_BOUNDARY = lazy(rb"(?i)boundary\s*=\s*(?:\"[^\"]*\"|[^;\s]*)")
_SPELLED = lazy(r"=\?|[%\\\r\n*()]")
"""Signs of a header field whose spelling may differ from its meaning."""
_NO_NAME = Segment("", "")
_CUT_NAME = lazy(r";\s*(?:file)?name\*[^;]*")


class Mail:
    def __init__(self, name: str, extensions: tuple[str, ...], rank: int) -> None:
        self.name = name
        self.extensions = extensions
        self.rank = rank

    text_start = _TEXT_START
    is_text_underneath = True

    def sniff(self, head: bytes, name: str) -> bool:
        if name.lower().endswith(self.extensions):
            return _START.match(head) is not None
        return head.startswith(b"From ") == (self.name == "mbox") and _has_header(head)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        segments: list[Segment] = []
        views: list[View] = []
        children: list[Child] = []
        for number, (start, end) in enumerate(self._messages(data), 1):
            prefix = f"message {number}, " if self.name == "mbox" else ""
            parts: list[Piece | str] = []
            for item in _items(data, start, end, limits):
                if isinstance(item, Part):
                    contents = item.decode(data)
                    if contents.strip():
                        children.append(Child(str(item.start), item.name, contents, item.spare))
                else:
                    for segment in _segments(data, item, prefix):
                        parts += (Piece(len(segments), 0, len(segment.text)), "\n")
                        segments.append(segment)
                if len(children) > limits.entries:
                    raise FormatError(f"more than {limits.entries:,} parts: raise limits.entries")
            if parts:
                views.append(View(f"{prefix}header", parts, segments))
        views += name_views([each if _is_name(each) else _NO_NAME for each in segments])
        return Document(self.name, segments, views, [], children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        changes: list[tuple[int, int, bytes]] = []
        texts: dict[Field, dict[str, list[TextEdit]]] = {}
        for segment, wanted in edits_by_segment(edits).items():
            anchor = document.segments[segment].anchor
            if not isinstance(anchor, Field):
                raise CannotMaskError("this is not what was read from the mail: read it again")
            texts.setdefault(anchor, {})[document.segments[segment].text] = wanted
        for anchor, wanted_in in texts.items():
            field = _field(data, anchor, wanted_in)
            if anchor.boundaries and boundary(field) != boundary(data[anchor.start : anchor.end]):
                field, mark = _parted_anew(data, anchor, field)
                changes += [(start, end, mark) for start, end in anchor.boundaries]
            changes.append((anchor.start, anchor.end, field))
        for start, end in self._messages(data) if children else ():
            for item in _items(data, start, end, Limits()):
                if isinstance(item, Part) and str(item.start) in children:
                    contents = children[str(item.start)]
                    changes.append(
                        (
                            item.start,
                            item.end,
                            b"" if contents is None else item.encode(data, contents),
                        )
                    )
        return _applied(data, changes)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        import email
        import email.policy

        texts = [data.decode("latin-1")]
        for start, end in self._messages(data):
            first = data.find(b"\n", start) + 1 if data.startswith(b"From ", start) else start
            message = email.message_from_bytes(data[first:end], policy=email.policy.default)
            for part in message.walk():
                texts += _texts(part)
        return texts

    def _messages(self, data: bytes) -> list[tuple[int, int]]:
        if self.name != "mbox":
            return [(0, len(data))]
        starts = [found.start() for found in _FROM_LINE.finditer(data)] or [0]
        return list(zip(starts, [*starts[1:], len(data)], strict=True))


def _has_header(head: bytes) -> bool:
    """Return whether the first lines are a mail's header, by fields that other text lacks."""
    if not _START.match(head):
        return False
    header = _HEADER_END.split(head[:HEAD], 1)[0]
    fields = {found[0].lower() for found in _KNOWN_FIELD.finditer(header)}
    return (b"mime-version:" in fields and len(fields) > 2) or len(fields) > 4


def _items(data: bytes, start: int, end: int, limits: Limits) -> Iterator[Field | Part]:
    """Yield the fields and leaves of a message; the line that starts it in an MBOX is
    also a field.
    """
    if data.startswith(b"From ", start):
        line_end = data.find(b"\n", start, end) + 1 or end
        yield Field(start, line_end)
        start = line_end
    yield from entity(data, start, end, limits)


def _segments(data: bytes, item: Field, prefix: str) -> Iterator[Segment]:
    source = _source(data, item)
    plain = "=?" not in source and source.find("\n", 0, -1) < 0
    text = source if plain else Readable(source, unfolded(source)).text
    name = "From" if source.startswith("From ") else source.partition(":")[0][:40]
    text = _CUT_NAME.sub("", text) if item.continued else text
    yield Segment(text, f"{prefix}header {name}", item, name)
    if item.continued:
        yield Segment(item.continued, f"{prefix}header {name}", item, name)


def _is_name(segment: Segment) -> bool:
    """Return whether a text of the header may name a file."""
    anchor = segment.anchor
    return "name" in segment.text or (isinstance(anchor, Field) and bool(anchor.continued))


def _source(data: bytes, item: Field) -> str:
    raw = data[item.start : item.end]
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _field(data: bytes, item: Field, wanted: Mapping[str, list[TextEdit]]) -> bytes:
    """Return a header field with edits applied: by offset, or encoded again if it was encoded."""
    source = _source(data, item)
    if item.continued:
        text, name = (each.text for each in _segments(data, item, ""))
        plain = spliced(text, wanted.get(text, ()))
        kept = spliced(name, wanted.get(name, ())).replace('"', "'")
        attribute = "filename" if "filename" in source else "name"
        field = " ".join(plain.split("\n")).rstrip()
        return f'{field}; {attribute}="{kept}"\r\n'.encode("ascii", "replace")
    ((text, edits),) = wanted.items()
    resolved = list(unfolded(source))
    readable = Readable(source, resolved)
    if any(piece.meaning for piece in resolved):
        ending = "\r\n" if source.endswith("\r\n") else "\n" if source.endswith("\n") else ""
        return (written(spliced(text.rstrip("\r\n"), edits), ending or "\n") + ending).encode()
    return spliced(source, readable.source_edits(edits), on_one_line).encode()


def _parted_anew(data: bytes, item: Field, field: bytes) -> tuple[bytes, bytes]:
    """Return a field with a new boundary, and the boundary; the old one held a value."""
    mark = next(
        mark
        for number in itertools.count(item.start)
        if (mark := b"=_masked_%d" % number) not in data
    )
    field = _BOUNDARY.sub(b'boundary="%s"' % mark, field, count=1)
    if boundary(field) != mark.decode():
        raise CannotMaskError(
            "the boundary between the parts of the mail holds a value: mask it at its source"
        )
    return field, mark


def _applied(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    output: list[bytes] = []
    read = 0
    for start, end, contents in sorted(changes):
        if start < read:
            raise CannotMaskError(
                "one header field holds values in two forms: mask the mail at its source"
            )
        output += (data[read:start], contents)
        read = end
    return b"".join((*output, data[read:]))


def _texts(part: EmailMessage) -> Iterator[str]:
    for name, raw in part.raw_items():
        # Parsing takes as long as everything else, and most fields are spelled as they are meant.
        value = part.policy.header_fetch_parse(name, raw) if _SPELLED.search(raw) else raw
        yield f"{name}: {value}"
    if not part.is_multipart():
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes):
            yield payload.decode("utf-8", "replace")
            yield payload.decode("latin-1")


FORMATS = (
    Mail("mbox", (".mbox", ".mbx"), 63),
    Mail("eml", (".eml", ".mht", ".mhtml", ".emlx"), 64),
)
