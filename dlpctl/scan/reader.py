"""What a worker does with a batch: read files or blobs, look into them, and say what was found and what was not looked at."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from dlpctl.errors import DlpctlError, FormatError, fault
from dlpctl.scan.content import HEAD, NO_ENDING, Ending, Examiner, Found, Parts
from dlpctl.scan.kinds import is_archive, is_document, is_structured
from dlpctl.scan.results import Result, Skip, Why

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.scan.documents import Documents
    from dlpctl.scan.git import Contents

FILES, BLOBS, PART, STREAM = "files", "blobs", "part", "stream"
STDIN = "-"
LARGE = 16 << 20
"""From this size on a file is read in parts."""
PART_SIZE = 8 << 20
_OPEN = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)  # what stood there as a file may have become a link or a pipe since
    | getattr(os, "O_NONBLOCK", 0)
)
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_UNKNOWN_SIZE = 1 << 16
_SLACK = 1 << 20
"""A file that grows by more while it is read is given up."""


class Outcome(NamedTuple):
    """What came of a batch; plain enough for JSON."""

    files: int
    bytes: int
    accepted: int
    results: list[Result]
    skipped: list[Skip]
    ending: Ending = NO_ENDING
    """Of a part of a file."""


class Reader:
    """Works off batches, in one worker."""

    def __init__(
        self,
        examiner: Examiner,
        *,
        archives: bool = True,
        max_size: int | None = None,
        limits: FileLimits | None = None,
        contents: Callable[[], Contents] | None = None,
    ) -> None:
        self._examiner = examiner
        self._archives = archives
        self._max_size = max_size
        self._limits = limits
        self._documents: Documents | None = None
        self._make_contents = contents
        self._contents: Contents | None = None

    def close(self) -> None:
        for opened in (self._documents, self._contents):
            if opened is not None:
                opened.close()

    def __call__(self, batch: Any) -> Outcome:
        kind, items = batch
        if kind == PART:
            return self._part(*items)
        self._files = self._bytes = self._accepted = 0
        self._results: list[Result] = []
        self._skipped: list[Skip] = []
        if kind == FILES:
            for path, shown in items:
                self._file(path, shown)
        elif kind == STREAM:
            try:
                self._stream(*items)
            except OSError as problem:
                self._skipped.append(Skip(items[1], Why.UNREADABLE, problem.strerror or ""))
        else:
            self._blobs(items)
        return Outcome(self._files, self._bytes, self._accepted, self._results, self._skipped)

    def _file(self, path: str, shown: str) -> None:
        try:
            data = _read(path)
        except FileNotFoundError:
            self._skipped.append(Skip(shown, Why.GONE))
        except OSError as problem:
            self._skipped.append(Skip(shown, Why.UNREADABLE, problem.strerror or ""))
        else:
            if data is None:
                self._skipped.append(Skip(shown, Why.SPECIAL))
            else:
                self._results += self._content(shown, data)

    def _blobs(self, items: Sequence[Any]) -> None:
        if self._contents is None:
            assert self._make_contents is not None
            self._contents = self._make_contents()
        contents = self._contents.read([item[0] for item in items])
        for (_, shown, commit, date, lines), (size, stream) in zip(items, contents, strict=True):
            if stream is None:
                self._skipped.append(Skip(shown, Why.UNREADABLE, "git cannot read it; see 'git fsck'"))
                continue
            if self._max_size is not None and size > self._max_size:
                read = _limited(stream, size)
                while read(PART_SIZE):
                    pass
                self._skipped.append(Skip(shown, Why.TOO_LARGE))
                continue
            results = (
                self._large(shown, _limited(stream, size))
                if size > LARGE
                else self._content(shown, stream.read(size))
            )
            if lines is not None:
                results = [one for one in results if _touches(one, lines)]
            self._results += (
                [one._replace(commit=commit, date=date) for one in results] if commit else results
            )

    def _stream(self, path: str, shown: str) -> None:
        """A pipe, or whatever else has no end that is known before."""
        with open(
            0 if path == STDIN else path, "rb", buffering=_UNKNOWN_SIZE, closefd=path != STDIN
        ) as stream:
            head = stream.read(LARGE + 1)
            if len(head) <= LARGE:
                self._results += self._content(shown, head)
                return
            self._results += self._large(shown, _after(head, stream))

    def _large(self, shown: str, read: Callable[[int], bytes]) -> list[Result]:
        """What is found in a content that is read in parts; nothing in it is unpacked."""
        margin = self._examiner.margin
        data = read(PART_SIZE + margin)
        more = len(data) == PART_SIZE + margin
        binary = data.find(b"\0", 0, HEAD) >= 0
        parts = Parts(binary=binary)
        results: list[Result] = []
        first = 0
        while first < len(data):
            own = PART_SIZE if more else len(data) - first
            found, ending = self._examiner.part(shown, data, first, own, binary=binary)
            results += parts.place(found.results, ending)
            self._accepted += found.accepted
            self._bytes += own
            before = max(0, first + own - margin)
            following = read(PART_SIZE) if more else b""
            more = len(following) == PART_SIZE
            data = data[before:] + following
            first += own - before
        self._files += 1
        return results

    def _content(self, shown: str, data: bytes) -> list[Result]:
        """What is found in one content, whatever it is."""
        try:
            found = self._found(shown, data)
        except DlpctlError:
            raise
        except Exception as problem:
            # A mistake of this program must not keep the other files from being looked at, and is not passed over.
            self._skipped.append(Skip(shown, Why.UNREADABLE, f"dlpctl failed at it: {fault(problem)}"))
            return []
        if found is None:
            return []
        self._files += 1
        self._bytes += len(data)
        self._accepted += found.accepted
        return found.results

    def _found(self, shown: str, data: bytes) -> Found | None:
        if is_document(data, shown):
            return self._document(shown, data)
        if is_structured(shown):
            return self._structured(shown, data)
        return self._plain(shown, data)

    def _plain(self, shown: str, data: bytes) -> Found:
        if data.find(b"\0", 0, HEAD) >= 0:
            return self._binary(shown, data)
        if data.isascii() or _is_utf8(data):
            return self._examiner.text(shown, data)
        return self._legacy(shown, data)

    def _structured(self, shown: str, data: bytes) -> Found:
        """Text by its format; as text alone where it is not what its name says."""
        try:
            found, unseen = self._read(shown, data)
        except FormatError:
            return self._plain(shown, data)
        self._skipped += [Skip(shown, Why.UNINSPECTED, reason) for reason in unseen]
        return found

    def _read(self, shown: str, data: bytes) -> tuple[Found, list[str]]:
        if self._documents is None:
            from dlpctl.scan.documents import Documents

            self._documents = Documents(self._examiner, self._limits)
        return self._documents.read(shown, PurePosixPath(shown).name, data)

    def _legacy(self, shown: str, data: bytes) -> Found:
        """Text in an older encoding, or with a few damaged bytes."""
        from dlpctl.formats.encoding import decode

        decoded = decode(data)
        if decoded is None:
            return self._examiner.binary(shown, data)
        return self._examiner.decoded(shown, decoded.text)

    def _binary(self, shown: str, data: bytes) -> Found:
        if data.startswith(_WIDE) or _looks_wide(data):
            return self._legacy(shown, data)
        return self._examiner.binary(shown, data)

    def _document(self, shown: str, data: bytes) -> Found | None:
        if not self._archives and is_archive(data, shown):
            self._skipped.append(Skip(shown, Why.ARCHIVE))
            return None
        try:
            found, unseen = self._read(shown, data)
        except FormatError as error:
            self._skipped.append(Skip(shown, Why.UNREADABLE, error.message))
            return None
        self._skipped += [Skip(shown, Why.UNINSPECTED, reason) for reason in unseen]
        return found

    def _part(self, path: str, shown: str, first: int, last: int, binary: bool) -> Outcome:
        """A range of a file that is too large to be read whole; what begins in it counts."""
        margin = self._examiner.margin
        begin = max(0, first - margin)
        try:
            data = _read_range(path, begin, last + margin)
        except OSError as problem:
            return Outcome(0, 0, 0, [], [Skip(shown, Why.UNREADABLE, problem.strerror or "")])
        found, ending = self._examiner.part(shown, data, first - begin, last - first, binary=binary)
        return Outcome(
            0, max(0, min(len(data) + begin, last) - first), found.accepted, found.results, [], ending
        )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _limited(stream: IO[bytes], size: int) -> Callable[[int], bytes]:
    """Reads so many bytes and no more."""
    left = size

    def read(wanted: int) -> bytes:
        nonlocal left
        data = stream.read(min(wanted, left))
        left -= len(data)
        return data

    return read


def _after(head: bytes, stream: IO[bytes]) -> Callable[[int], bytes]:
    """Reads what was read already, and on from there."""

    def read(wanted: int) -> bytes:
        nonlocal head
        data, head = head[:wanted], head[wanted:]
        return data + stream.read(wanted - len(data))

    return read


def _looks_wide(data: bytes) -> bool:
    """Whether every second byte is zero, as in UTF-16 of a western language."""
    head = data[:HEAD]
    zeros = max(head[::2].count(0), head[1::2].count(0))
    return zeros * 4 > len(head)


def _touches(result: Result, lines: Sequence[Sequence[int]]) -> bool:
    return any(first <= result.end_line and result.line <= last for first, last in lines)


def _read(path: str) -> bytes | None:
    """The content of a file; None if it is none any more."""
    descriptor = os.open(path, _OPEN)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        size = status.st_size
        data = os.read(descriptor, size + 1 if size else _UNKNOWN_SIZE)
        if len(data) == size:
            return data
        parts = [data]
        while data and sum(map(len, parts)) <= size + _SLACK:
            data = os.read(descriptor, _UNKNOWN_SIZE)
            parts.append(data)
    finally:
        os.close(descriptor)
    if data:
        raise OSError(0, "it grows while it is read")
    return b"".join(parts)


def _read_range(path: str, first: int, last: int) -> bytes:
    with os.fdopen(os.open(path, _OPEN), "rb", buffering=0) as file:
        file.seek(first)
        parts: list[bytes] = []
        left = last - first
        while left and (data := file.read(left)):
            parts.append(data)
            left -= len(data)
    return b"".join(parts)
