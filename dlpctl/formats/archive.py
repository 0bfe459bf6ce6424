"""Tools for binary formats: limits on expansion, names as segments, and edits by segment.

Nothing in this module depends on a particular format; a new format uses it without changing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from dlpctl.errors import FormatError
from dlpctl.formats.distinct import DistinctNames
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.encoding import spliced
from dlpctl.formats.interface import Child, Children, Document, Edit, Limits, Piece, Segment, View
from dlpctl.regex import lazy

_CHUNK = 1 << 20
_AROUND_VALUES = lazy(
    r"""[_/\\"]|(?<=[A-Za-z])-(?=[\d+(])|(?<=\d)-(?=[A-Za-z])"""
    r"""|\.(?=[A-Za-z0-9]{1,8}(?:["/\\;\s]|\Z))"""
)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class BinaryFormat:
    """A format recognized by its first bytes; the second reader reads its bytes as text."""

    name = ""
    extensions: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()

    def sniff(self, head: bytes, name: str) -> bool:
        return head.startswith(self.magic)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return decodings(data)


def decodings(data: bytes) -> list[str]:
    """Return bytes as the texts that they may encode, for a search."""
    return [data.decode("utf-8", "replace"), data.decode("latin-1")]


class Allowance:
    """Counts what an archive expands to: sizes in headers are only claims."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._expanded = 0
        self._entries = 0

    def entry(self, claimed: int = 0) -> None:
        """Count one more member, with the size that its header claims."""
        self._entries += 1
        if self._entries > self._limits.entries:
            raise FormatError(f"more than {self._limits.entries:,} entries: raise limits.entries")
        if self._expanded + claimed > self._limits.expanded_bytes:
            raise self._too_much()

    def read(self, stream: _Readable, packed: int) -> bytes:
        """Read a member that takes `packed` bytes in the archive."""
        chunks: list[bytes] = []
        size = 0
        while chunk := stream.read(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            self.expanded(len(chunk))
            self.ratio(size, packed)
        return b"".join(chunks)

    def expanded(self, size: int) -> None:
        self._expanded += size
        if self._expanded > self._limits.expanded_bytes:
            raise self._too_much()

    def ratio(self, size: int, packed: int) -> None:
        limits = self._limits
        if size > limits.entry_ratio_from and size > limits.entry_ratio * max(packed, 1):
            raise FormatError(
                f"an entry expands to more than {limits.entry_ratio} times its size: raise "
                "limits.entry_ratio"
            )

    def _too_much(self) -> FormatError:
        megabytes = self._limits.expanded_bytes >> 20
        return FormatError(f"it expands to more than {megabytes} MB: raise limits.expanded_bytes")


class Names:
    """The names, comments and owners of an archive as segments; a key identifies each."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def add(self, key: str, text: str, location: str) -> None:
        if text:
            self.segments.append(Segment(text, location, key))

    def document(self, name: str, children: Iterable[Child]) -> Document:
        parts: list[Piece | str] = []
        for index, segment in enumerate(self.segments):
            parts += (Piece(index, 0, len(segment.text)), "\n")
        views = [View("names", parts, self.segments), *name_views(self.segments)] if parts else []
        return Document(name, self.segments, views, [], list(children))


def name_views(segments: Sequence[Segment]) -> Iterator[View]:
    """Return names with spaces instead of underscores, slashes and suffixes around a value."""
    parts: list[Piece | str] = []
    for index, segment in enumerate(segments):
        read = 0
        for found in _AROUND_VALUES.finditer(segment.text):
            parts += (Piece(index, read, found.start()), " ")
            read = found.end()
        if read:
            parts += (Piece(index, read, len(segment.text)), "\n")
    if parts:
        yield View("words of names", parts, segments)


def edits_by_segment(edits: Iterable[Edit]) -> dict[int, list[TextEdit]]:
    """Return the edits of each segment, in order."""
    found: dict[int, list[TextEdit]] = {}
    for segment, start, end, replacement in sorted(edits):
        found.setdefault(segment, []).append(TextEdit(start, end, replacement))
    return found


def edited(document: Document, edits: Iterable[Edit]) -> Iterator[tuple[Segment, str]]:
    """Return each segment that edits change, with its new text."""
    for number, changes in edits_by_segment(edits).items():
        segment = document.segments[number]
        yield segment, spliced(segment.text, changes)


def renamed(document: Document, edits: Sequence[Edit]) -> dict[str, str]:
    """Return the texts of the segments that edits change, by key."""
    return {str(segment.anchor): text for segment, text in edited(document, edits)}


def member_name(name: str, names: DistinctNames) -> str:
    """Return a name that no other member has, with its extension: two masked names are often the
    same.
    """
    stem, dot, suffix = name.rpartition(".")
    before, after = (stem, f".{suffix}") if dot and stem else (name, "")
    return names.add(name, lambda number: f"{before}-{number}{after}")


def as_file_name(name: str) -> str:
    """Return a name without slashes: a replacement within a path must not create folders."""
    return name.replace("\n", " ").replace("\0", "")


def kept(children: Children, key: str, data: bytes) -> bytes | None:
    """Return the new contents of a member, or its old ones; None if the member is removed."""
    return children.get(key, data) if key in children else data
