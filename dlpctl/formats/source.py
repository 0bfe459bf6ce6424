"""The base of formats that are text: escapes are resolved, and edits mapped back.

Such a file is one segment: its text with escapes resolved (`Readable`), with all punctuation. That
takes little memory however many values the file contains, and detectors see a key before its value.
An edit is mapped back to the offsets of the source and then adapted to the tokens that it touches,
so that the result is well-formed.
"""

from __future__ import annotations

import heapq
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.controls import with_spaces
from dlpctl.formats.embedded import embedded_files
from dlpctl.formats.encoding import Decoded, Edit, binary_at, decode, splice, spliced
from dlpctl.formats.interface import (
    Child,
    Children,
    Document,
    Edits,
    Limits,
    NotThisFormatError,
    Piece,
    Segment,
    Uninspected,
    View,
    too_deep,
)
from dlpctl.formats.locators import Escapes, Lines
from dlpctl.regex import lazy

_LETTERS = lazy(r"[^\W_]")
_SIGNS = "\"'`,;:|()[]{}<> \t\r\n"


class Resolved(NamedTuple):
    """A range of the source, such as an escape, and its meaning."""

    start: int
    end: int
    meaning: str


class Token(NamedTuple):
    """A range of the source that edits may change, and its syntax."""

    start: int
    end: int
    syntax: str


class Parts(NamedTuple):
    """Parts of a source that can be masked separately."""

    cuts: list[int]
    """The boundaries between parts, with both ends of the source."""
    fit: Callable[[str, Sequence[Edit]], Iterable[Edit]]
    """Returns edits of complete tokens for the edits of a part."""


class Readable:
    """A source with its escapes resolved, and the mapping back to the offsets of the source."""

    __slots__ = (
        "_ends",
        "_lengths",
        "_lines",
        "_source",
        "_source_ends",
        "_source_starts",
        "_starts",
        "codec",
        "mark",
        "text",
    )

    def __init__(
        self, source: str, resolved: Iterable[Resolved] = (), decoded: Decoded | None = None
    ) -> None:
        """`decoded` is the file that the source is all of."""
        self.codec = None if decoded is None else decoded.codec
        """The encoding in which parts of the file can be written; None if that is unknown."""
        self.mark = 0 if decoded is None else decoded.runs[0].byte
        """The number of bytes of the byte order mark."""
        self._source = source
        self._lines: array[int] | None = None
        self._starts = array("q")
        self._lengths = array("q")
        self._source_starts = array("q")
        self._source_ends = array("q")
        parts: list[str] = []
        length = read = 0
        for start, end, meaning in resolved:
            parts += (source[read:start], meaning)
            length += start - read
            self._starts.append(length)
            self._lengths.append(len(meaning))
            self._source_starts.append(start)
            self._source_ends.append(end)
            length += len(meaning)
            read = end
        parts.append(source[read:])
        self.text = with_spaces("".join(parts))

    @property
    def is_utf8(self) -> bool:
        """True if the file is the text in UTF-8, without escapes."""
        return self.codec == "utf-8" and self.is_verbatim

    @property
    def is_verbatim(self) -> bool:
        """True if the source has no escapes."""
        return not self._starts

    def source_start(self, offset: int) -> int:
        """Return the position in the source where the character at `offset` starts."""
        # Most texts have no escapes, and a table calls this a hundred thousand times.
        return self._escapes.source_start(offset) if self._starts else offset

    @property
    def _escapes(self) -> Escapes:
        return Escapes(self._starts, self._lengths, self._source_starts, self._source_ends)

    def source_end(self, offset: int) -> int:
        """Return the position in the source where the character before `offset` ends."""
        index = bisect_right(self._starts, offset - 1) - 1
        if index < 0:
            return offset
        within = offset - self._starts[index]
        if within <= self._lengths[index]:
            return self._source_ends[index]
        return self._source_ends[index] + within - self._lengths[index]

    def source_edits(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return edits of the readable text as edits of the source."""
        return [
            Edit(self.source_start(start), self.source_end(end), replacement)
            for start, end, replacement in edits
        ]

    def offset_of(self, position: int) -> int:
        """Return the offset in the readable text of a position in the source."""
        index = bisect_right(self._source_starts, position) - 1
        if index < 0:
            return position
        after = self._starts[index] + self._lengths[index]
        return max(self._starts[index], after + position - self._source_ends[index])

    def locator(self) -> Lines:
        """Return the positions of line ends and escapes, without the text."""
        ends = array("q", (found.start() for found in re.finditer("\n", self._source)))
        return Lines(self._escapes, ends)

    def place_at(self, offset: int) -> str:
        return f"line {self._line(self.source_start(offset)) + 1}"

    def column_of(self, offset: int, value: str) -> int:
        """Return the column of a value, from 1; 0 if the source spells the value differently."""
        start = self.source_start(offset)
        if not self._source.startswith(value, start):
            return 0
        line = self._line(start)
        return start - self.line_ends[line - 1] if line else start + 1

    def _line(self, position: int) -> int:
        """Return the number of lines that end before a position of the source."""
        return bisect_right(self.line_ends, position - 1)

    @property
    def line_ends(self) -> array[int]:
        """Return the positions at which lines end, computed at the first use."""
        if self._lines is None:
            self._lines = array("q", (found.start() for found in re.finditer("\n", self._source)))
        return self._lines


class TextFormat:
    """A format that is text; subclasses override methods to define its syntax."""

    name = "text"
    extensions: tuple[str, ...] = ()
    rank = 70
    in_process = True
    shows_all = True
    is_text = True

    def sniff(self, head: bytes, name: str) -> bool:
        return name.lower().endswith(self.extensions)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        decoded = self.decoded(data)
        source = decoded.text
        self.check(source, limits)
        files = embedded_files(source)
        blanks = (blanked(each.start, each.end) for each in files)
        readable = Readable(source, outermost(blanks, self.resolve(source)), decoded)
        segments = [Segment(readable.text, "", readable)]
        full = View("text", [Piece(0, 0, len(readable.text))], segments)
        document = Document(self.name, segments, [full, *self.views(source, readable, segments)])
        document.children = [Child(str(each.start), each.name, each.data) for each in files]
        at = binary_at(data, decoded)
        if at is not None:
            document.uninspected.append(
                Uninspected(f"from byte {at:,} on", "binary data after text")
            )
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        decoded = self.decoded(data)
        readable = document.segments[0].anchor
        if not isinstance(readable, Readable):
            raise CannotMaskError("this is not what was read from the file: read it again")
        raw = readable.source_edits(Edit(*each[1:]) for each in sorted(edits) if not each.segment)
        fitted = list(self.fit(decoded.text, _disjoint(raw)))
        masked = splice(data, decoded, fitted)
        self.check_masked(decoded, masked)
        return self._with_files(masked, document, children) if children else masked

    def _with_files(self, masked: bytes, document: Document, children: Children) -> bytes:
        """Return a copy with the files within it replaced; they keep their order."""
        decoded = self.decoded(masked)
        files = embedded_files(decoded.text)
        if len(files) != len(document.children):
            raise CannotMaskError("a file within the text cannot be told apart in a masked copy")
        replaced = [
            Edit(file.start, file.end, file.write(children[child.key] or b""))
            for child, file in zip(document.children, files, strict=True)
            if child.key in children
        ]
        return splice(masked, decoded, replaced)

    def read_again(self, data: bytes, limits: Limits) -> Iterable[str]:
        """Yield the bytes in other encodings, in case the first reading chose a wrong one."""
        yield data.decode("utf-8", "ignore")
        if not data.isascii():
            yield data.decode("latin-1")
        if b"\0" in data:
            yield data.decode("utf-16-le", "ignore")

    def decoded(self, data: bytes) -> Decoded:
        decoded = decode(data)
        if decoded is None:
            raise NotThisFormatError("the file is not text in any known encoding")
        return decoded

    def check(self, source: str, limits: Limits) -> None:
        """Refuse a source that is not of this format or exceeds its limits."""

    def resolve(self, source: str) -> Iterable[Resolved]:
        """Yield the escapes of the source, in order."""
        return ()

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        """Return views in addition to the plain text."""
        return ()

    def tokens(self, source: str) -> Iterable[Token] | None:
        """Return the tokens that edits may change, in order; None if edits may change anything."""
        return None

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        """Return a token with edits applied; their positions are relative to its start."""
        return spliced(token, edits)

    def check_masked(self, before: Decoded, masked: bytes) -> None:
        """Raise `CannotMaskError` if the result is not well-formed although the source was."""

    def parts(self, source: str, size: int) -> Parts | None:
        """Return parts that can be masked separately; None if edits depend on their
        surroundings.
        """
        return None

    def fit(self, source: str, edits: Sequence[Edit]) -> Iterator[Edit]:
        """Yield edits of complete tokens for edits at any offset."""
        tokens = self.tokens(source)
        return iter(edits) if tokens is None else self.fitted(source, tokens, edits)

    def fitted(self, source: str, tokens: Iterable[Token], edits: Sequence[Edit]) -> Iterator[Edit]:
        """Yield edits of complete tokens for edits at any offset within them."""
        for token, portions in _portions(source, tokens, edits):
            written = self.write(token.syntax, source[token.start : token.end], portions)
            yield Edit(token.start, token.end, written)


def line_cuts(source: str, size: int) -> list[int]:
    """Return positions after line ends that divide a source into parts of about
    `size` characters.
    """
    cuts = [0]
    while (cut := source.find("\n", cuts[-1] + size) + 1) > 0:
        cuts.append(cut)
    return cuts if cuts[-1] == len(source) else [*cuts, len(source)]


def nesting(brackets: Iterable[str], limits: Limits, what: str) -> None:
    """Refuse brackets that nest deeper than the limit."""
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in "{[(" else -1
        if depth > limits.nesting:
            raise too_deep(f"the {what}", limits)


def blanked(start: int, end: int) -> Resolved:
    """Return a range that reads as spaces, so that the text around it keeps its offsets."""
    return Resolved(start, end, " " * (end - start))


def outermost(*resolved: Iterable[Resolved]) -> Iterator[Resolved]:
    """Yield ranges in order, without those that start within others."""
    end = 0
    for each in heapq.merge(*resolved, key=lambda found: (found.start, -found.end)):
        if each.start >= end:
            end = each.end
            yield each


def _disjoint(edits: Iterable[Edit]) -> list[Edit]:
    """Join edits that touch one escape from both sides."""
    merged: list[Edit] = []
    for edit in edits:
        if merged and edit.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Edit(
                last.start, max(last.end, edit.end), last.replacement + edit.replacement
            )
        else:
            merged.append(edit)
    return merged


def _shape(text: str) -> str:
    return _LETTERS.sub("*", text)


def _changed(start: int, written: str) -> Edit:
    """Return the edit that writes a text as long as what it replaces, without signs at its ends."""
    first = len(written) - len(written.lstrip(_SIGNS))
    last = len(written.rstrip(_SIGNS))
    return Edit(start + first, start + max(first, last), written[first:last])


def _portions(
    source: str, tokens: Iterable[Token], edits: Sequence[Edit]
) -> Iterator[tuple[Token, list[Edit]]]:
    """Yield the edits within each token; the first token touched gets the replacement, or each its
    own part of one that keeps the signs between letters and digits.
    """
    at = 0
    placed = [False] * len(edits)
    for token in tokens:
        while at < len(edits) and edits[at].end <= token.start:
            if not placed[at]:
                raise CannotMaskError(
                    "a value is in the syntax of the file, where nothing can replace it"
                )
            at += 1
        if at == len(edits):
            return
        portions: list[Edit] = []
        index = at
        while index < len(edits) and edits[index].start < token.end:
            start, end, replacement = edits[index]
            low, high = max(start, token.start), min(end, token.end)
            if low < high:
                part = Edit(low, high, "" if placed[index] else replacement)
                own = replacement[low - start : high - start]
                is_part = high - low < end - start == len(replacement)
                if is_part and _shape(source[low:high]) == _shape(own):
                    part = _changed(low, own)
                portions.append(part.moved(-token.start))
                placed[index] = True
            index += 1
        if portions:
            yield token, portions
    if not all(placed[at:]):
        raise CannotMaskError("a value is in the syntax of the file, where nothing can replace it")
