"""A file with the files within it: read once, masked from the inside out.

Use cases call this module: `Files.open` returns a tree of documents to search, and `Files.masked`
takes the edits and returns the copy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Self, TypeVar

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.binary import MISNAMED
from dlpctl.formats.contents import FileBytes
from dlpctl.formats.discovery import format_named, home_of, rank
from dlpctl.formats.interface import (
    BINARY,
    Children,
    Document,
    Edit,
    Edits,
    Format,
    Limits,
    NotThisFormatError,
    Uninspected,
)
from dlpctl.formats.metadata import metadata_of, without_metadata
from dlpctl.formats.recognition import CATCH_ALL, has_known_extension, has_preamble, readings
from dlpctl.formats.spans import ViewEdit, edits_of
from dlpctl.formats.worker import Method, Worker

_INNER_SUFFIXES = {
    ".tgz": ".tar",
    ".tbz2": ".tar",
    ".txz": ".tar",
    ".tzst": ".tar",
    ".tlz": ".tar",
    ".taz": ".tar",
}
_LIKELY = {b"PK\x03\x04": "dlpctl.formats.office", b"%PDF-": "dlpctl.formats.pdf"}
"""The likely module for a file by its start; it is loaded while the formats are asked."""
_SMALL, _MOST_RECENT = 1 << 18, 32
"""The maximum size of a file whose document is cached, and the number of cached documents."""
_T = TypeVar("_T")
ViewEditsOf = Callable[[Document], Iterable[ViewEdit]]
"""The function that finds what must not remain in a document."""


@dataclass(slots=True)
class Node:
    """A file, or a file within one, that has been read."""

    name: str
    trail: str
    """The path to the file for display: `mail.zip > cv.docx`. Names may hold values."""
    where: str
    """The path by numbers, for errors: `file 2 (.zip) > file 1 (.docx)`."""
    content: FileBytes
    document: Document
    children: list[Node] = field(default_factory=list)
    """One node for each of the document's children, in order."""
    password: str | None = field(default=None, repr=False)
    others: list[Document] = field(default_factory=list)
    """The file read in its other possible formats: searched, and searched again after masking."""

    @property
    def data(self) -> bytes:
        return self.content.data

    def walk(self) -> Iterator[Node]:
        """Yield this node and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def documents(self) -> Iterator[Document]:
        yield self.document
        yield from self.others

    def location_of(self, document: Document, segment: int, offset: int) -> str:
        """Return the location of a character, from the outermost file inwards."""
        return " > ".join(part for part in (self.trail, document.place_of(segment, offset)) if part)

    def uninspected(self) -> Iterator[Uninspected]:
        """Yield the parts that were not inspected, in this file and all files within it."""
        spare = {child.key for child in self.document.children if child.spare}
        for part in self.document.uninspected:
            location = " > ".join(filter(None, (self.trail, part.location)))
            yield Uninspected(location, part.reason, 0 if part.location in spare else part.segment)
        named = {part.location for part in self.document.uninspected}
        for child, node in zip(self.document.children, self.children, strict=True):
            if child.key not in named or node.document.format != BINARY:
                for part in node.uninspected():
                    yield part._replace(segment=0) if child.spare else part

    @property
    def can_be_flattened(self) -> bool:
        """True if this file or one within it can be read from pictures of its pages."""
        return any(_flattened(node.document.format) for node in self.walk())

    def metadata(self) -> Iterator[str]:
        """Yield where metadata is, in this file and all within it."""
        for node in self.walk():
            document = node.document
            for number in metadata_of(_metadata(document), document):
                yield " > ".join(filter(None, (node.trail, document.segments[number].location)))


class Files:
    """Reads and masks files; formats with native parsers run in a worker process."""

    def __init__(self, limits: Limits | None = None, method: Method = "adaptive") -> None:
        self.limits = limits or Limits()
        self.worker = Worker(self.limits, method)
        self._deadline = 0.0
        self._removing = False
        self._flattening = False
        self._expanded = 0
        self._entries = 0
        self._recent: dict[tuple[str, str | None, bytes], Document] = {}
        """Documents of small files: many folders and mails contain the same pictures."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.worker.close()

    def open(
        self,
        data: bytes | FileBytes,
        name: str,
        password: str | None = None,
        *,
        until: float | None = None,
        flattening: bool = False,
    ) -> Node:
        """Read a file and all files within it; raise `FormatError` if anything is uncertain.

        With `flattening`, documents are read from pictures of their pages if their format can.
        """
        self.reset(until)
        self._flattening = flattening
        content = FileBytes.of(data)
        del data  # which `content` may free
        for head, home in _LIKELY.items():
            if content.data.startswith(head):
                self.worker.start([home])
        self._check_size(content.data)
        return self._node(content, name, "", "", 0, password)

    def parts(self, data: bytes, name: str) -> Iterator[Node]:
        """Yield a file as `open` returns it, or the parts of one whose format has them."""
        chosen = readings(data, name)[0]
        if not hasattr(chosen, "extract_parts") or _goes_on(chosen, data, name):
            yield self.open(data, name)
            return
        self._check_size(data)
        # Parts take no memory together, so that a large file may expand as entries of archives do.
        most = max(self.limits.expanded_bytes, self.limits.entry_ratio * len(data))
        limits = self.limits._replace(expanded_bytes=most)
        for document in self.worker.parts(chosen.name, data, limits):
            self.reset()
            node = Node(name, "", "", FileBytes(data), document)
            self._add_children(node, 0)
            yield node

    def _check_size(self, data: bytes) -> None:
        if len(data) > self.limits.input_bytes:
            raise FormatError(
                f"larger than {self.limits.input_bytes >> 20} MB: raise limits.input_bytes"
            )

    def masked(
        self,
        node: Node,
        view_edits_of: ViewEditsOf,
        *,
        removing: bool = False,
        cleaning: bool = False,
        until: float | None = None,
    ) -> bytes:
        """Return a masked copy of the file, or the file itself if there is nothing to mask.

        With `removing`, parts that were not inspected are removed if possible; with `cleaning`, all
        metadata is. `until` is the deadline for all rounds of masking together.
        """
        self._deadline = until or time.monotonic() + self.limits.seconds
        self._removing, self._cleaning = removing, cleaning
        return self._masked(node, view_edits_of)

    def read_again(self, format_name: str, data: bytes) -> Iterator[str]:
        """Yield all text of one file, without those within it, by the second reader of its format.

        The texts of a long file are read one after the other if its format does so.
        """
        chosen = format_named(format_name)
        if not is_in_process(chosen.name):
            yield from self.worker.read_again(chosen.name, data, self.limits, self._seconds())
            return
        texts = iter(_direct(lambda: chosen.read_again(data, self.limits)))
        while (text := _direct(lambda: next(texts, None))) is not None:
            yield text
            del text

    def prepare(self, format_name: str) -> None:
        """Prepare for reading a file of a format."""
        if not is_in_process(format_name):
            self.worker.start([home_of(format_name)])

    def reset(self, until: float | None = None) -> None:
        """Start counting contents, and time too unless `until` sets a deadline."""
        self._deadline = until or time.monotonic() + self.limits.seconds
        self._expanded = self._entries = 0

    def _seconds(self) -> float:
        return self._deadline - time.monotonic()

    def _node(
        self,
        content: FileBytes,
        name: str,
        trail: str,
        where: str,
        depth: int,
        password: str | None,
    ) -> Node:
        try:
            document, others = self._documents(content.data, name, password)
            if document.children and depth >= self.limits.depth:
                raise FormatError(
                    f"files lie more than {self.limits.depth} deep in files: raise limits.depth"
                )
        except FormatError as error:
            raise type(error)(f"{where}: {error.message}" if where else error.message) from error
        node = Node(name, trail, where, content, document, [], password, others)
        self._add_children(node, depth)
        return node

    def _add_children(self, node: Node, depth: int) -> None:
        """Read the files within a file."""
        name, trail, where, document = node.name, node.trail, node.where, node.document
        self._entries += len(document.children)
        if self._entries > self.limits.entries:
            raise FormatError(
                f"more than {self.limits.entries:,} files within the file: raise limits.entries"
            )
        for number, child in enumerate(document.children, 1):
            self._expanded += len(child.data)
            inner = child.name or _unpacked_name(name)
            child_trail = f"{trail} > {inner}" if trail else inner
            suffix = PurePosixPath(inner).suffix[:6]
            label = f"file {number} ({suffix})" if "." in inner else f"file {number}"
            child_where = f"{where} > {label}" if where else label
            try:
                content = FileBytes(child.data)
                read = self._node(
                    content, inner, child_trail, child_where, depth + 1, node.password
                )
            except FormatError as error:
                if not child.spare:
                    raise
                unread = [Uninspected("content", error.message)]
                document = Document(BINARY, [], [], unread)
                read = Node(inner, child_trail, child_where, content, document)
            node.children.append(read)

    def _documents(
        self, data: bytes, name: str, password: str | None
    ) -> tuple[Document, list[Document]]:
        limits = self.limits._replace(
            expanded_bytes=self.limits.expanded_bytes - self._expanded,
            seconds=min(self.limits.seconds, max(self._seconds(), 0.0)),
        )
        read: list[Document] = []
        for candidate in readings(data, name):
            flattened = _flattened(candidate.name) if self._flattening else ""
            chosen = format_named(flattened) if flattened else candidate
            try:
                read.append(self._extract(chosen, data, limits, password))
            except NotThisFormatError:
                continue
            if not _goes_on(format_named(read[0].format), data, name):
                break
        if data and read[0].format == BINARY and has_known_extension(name):
            read[0].uninspected = read[0].uninspected or [Uninspected("content", MISNAMED)]
        return read[0], [other for other in read[1:] if not other.children]

    def _extract(
        self, chosen: Format, data: bytes, limits: Limits, password: str | None
    ) -> Document:
        if is_in_process(chosen.name):
            return _direct(lambda: chosen.extract(data, limits, password))
        if len(data) > _SMALL:
            return self.worker.extract(chosen.name, data, limits, password, self._seconds())
        key = chosen.name, password, sha256(data).digest()
        document = self._recent.pop(key, None) or self.worker.extract(
            chosen.name, data, limits, password, self._seconds()
        )
        if not document.children:  # children count towards the limits as files of their own
            self._recent[key] = document
            if len(self._recent) > _MOST_RECENT:
                del self._recent[next(iter(self._recent))]
        return document

    def _masked(self, node: Node, view_edits_of: ViewEditsOf) -> bytes:
        children: dict[str, bytes | None] = {}
        for child, read in zip(node.document.children, node.children, strict=True):
            contents: bytes | None = None
            if not (child.spare and self._removing and any(True for _ in read.uninspected())):
                try:
                    contents = self._masked(read, view_edits_of)
                except CannotMaskError:
                    if not child.spare:
                        raise
            if contents != child.data:
                children[child.key] = contents
        edits = edits_of(node.document, view_edits_of(node.document))
        if self._removing:
            edits = _with_removals(node.document, edits)
        if self._cleaning:
            edits = without_metadata(_metadata(node.document), node.document, edits)
        is_redrawn = getattr(format_named(node.document.format), "is_redrawn", False)
        if not edits and not children and not is_redrawn:
            if any(True for other in node.others for _ in view_edits_of(other)):
                raise CannotMaskError(
                    f"{node.where or 'the file'} holds a value that only another reading shows"
                )
            return node.data
        try:
            return self._mask(node, edits, children)
        except CannotMaskError as error:
            raise CannotMaskError(
                f"{node.where}: {error.message}" if node.where else error.message
            ) from error

    def _mask(self, node: Node, edits: Edits, children: Children) -> bytes:
        chosen = format_named(node.document.format)
        if is_in_process(chosen.name):
            return _direct(lambda: chosen.mask(node.data, node.document, edits, children))
        return self.worker.mask(
            chosen.name, node.data, self.limits, node.password, edits, children, self._seconds()
        )


def _goes_on(chosen: Format, data: bytes, name: str) -> bool:
    """Return whether to read a file in another way too, because of its name or its preamble."""
    if has_preamble(chosen, data):
        return True
    is_other = PurePosixPath(name.lower()).suffix not in chosen.extensions
    return is_other and rank(chosen) < CATCH_ALL and has_known_extension(name)


def _with_removals(document: Document, edits: Edits) -> Edits:
    """Return the edits, with those that remove the parts that were not inspected."""
    edited = {edit.segment for edit in edits}
    removals = [
        Edit(part.segment, 0, len(document.segments[part.segment].text), "")
        for part in document.uninspected
        if part.is_removable and part.segment not in edited
    ]
    return sorted([*edits, *removals]) if removals else edits


def _metadata(document: Document) -> str | None:
    """Return the regex of metadata in a document."""
    regex: str | None = getattr(format_named(document.format), "metadata", None)
    return regex


def _flattened(format_name: str) -> str:
    """Return the format that reads files of this one from pictures of their pages, if any."""
    name: str = getattr(format_named(format_name), "flattened", "")
    return name


def is_in_process(format_name: str) -> bool:
    """Return whether a format needs no worker process."""
    return bool(getattr(format_named(format_name), "in_process", False))


def _direct(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except RecursionError:
        raise FormatError("the file nests too deep to be read") from None
    except MemoryError:
        raise FormatError("the file needs more memory than there is") from None


def _unpacked_name(name: str) -> str:
    path = PurePosixPath(name)
    return path.stem + _INNER_SUFFIXES.get(path.suffix.lower(), "") or "content"
