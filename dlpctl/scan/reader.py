"""Read the contents of a batch in a worker; return the findings, and skips for what was not
scanned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from itertools import chain
from operator import sub
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.config import FileLimits
from dlpctl.errors import DlpctlError, FormatError, fault
from dlpctl.formats.recognition import ends_with_zip, is_utf8
from dlpctl.scan.content import NO_ENDING, Ending, Examiner, Found, Parts
from dlpctl.scan.recognized import compression_of, in_parts, recognized
from dlpctl.scan.results import Result, Skip, Tally, Why
from dlpctl.scan.source import File, Source, UnreadError
from dlpctl.scan.streams import after, limited

if TYPE_CHECKING:
    from dlpctl.formats.compressed import Compressed
    from dlpctl.formats.sections import Section
    from dlpctl.scan.documents import Documents
    from dlpctl.scan.git import Contents

FILES, BLOBS, PART, STREAM = "files", "blobs", "part", "stream"
LARGE = 16 << 20
"""Files of this size or more are read in parts."""
PART_SIZE = 8 << 20
_REPEATED = ("name of ", "metadata", "schema.json")
"""Locations in a table that all of its sections share."""


class Outcome(NamedTuple):
    """The outcome of a batch, as plain data for JSON."""

    files: int
    bytes: int
    accepted: int
    results: Iterable[Result]
    skipped: list[Skip]
    ending: Ending = NO_ENDING
    """The end of a part of a file."""
    possible: int = 0
    """Findings that count only with high sensitivity, in the contents where they were counted."""
    counted: int = 0
    """The number of contents where possible findings were counted."""
    tallies: Sequence[Tally] = ()
    """The counts of each file of the batch, in order."""


class Task(NamedTuple):
    """The input of one batch, as JSON carries it."""

    inputs: str
    items: Sequence[Any]
    source: int = 0
    """The index of the source that reads the files."""
    counts_possible: bool = False


class BatchReader:
    """Reads batches in one worker."""

    def __init__(
        self,
        examiner: Examiner,
        *,
        sources: Sequence[Source] = (),
        archives: bool = True,
        max_size: int | None = None,
        limits: FileLimits | None = None,
        contents: Callable[[], Contents] | None = None,
    ) -> None:
        self._sources = sources
        self._examiner = copy(examiner)  # threads that read share the given examiner
        self._examiner.identifies_values = contents is not None
        self._archives = archives
        self._max_size = max_size
        self._limits = limits or FileLimits()
        self._documents: Documents | None = None
        self._make_contents = contents
        self._contents: Contents | None = None

    def close(self) -> None:
        for opened in (self._documents, self._contents):
            if opened is not None:
                opened.close()

    def __call__(self, batch: Any) -> Outcome:
        task = Task(*batch)
        if task.inputs == PART:
            file, *part = task.items
            return self._part(self._sources[task.source], File(*file), *part)
        self._start()
        self._examiner.counts_possible = task.counts_possible
        files = [File(*item) for item in task.items] if task.inputs != BLOBS else []
        if task.inputs == FILES:
            self._read_files(self._sources[task.source], files)
        elif task.inputs == STREAM:
            for file in files:
                self._stream(self._sources[task.source], file)
                self._tallies.append(Tally(self._files, self._bytes, self._accepted))
        else:
            self._blobs(task.items)
        return self._outcome(Tally(self._files, self._bytes, self._accepted), self._tallies)

    def _start(self) -> None:
        self._files = self._bytes = self._accepted = self._possible = self._counted = 0
        self._results: list[Iterable[Result]] = []
        self._skipped: list[Skip] = []
        self._tallies: list[Tally] = []

    def _outcome(self, total: Tally, tallies: Sequence[Tally]) -> Outcome:
        return Outcome(
            *total,
            chain.from_iterable(self._results),
            self._skipped,
            possible=self._possible,
            counted=self._counted,
            tallies=tallies,
        )

    def _read_files(self, source: Source, files: Sequence[File]) -> None:
        for file, data in zip(files, source.read_all(files), strict=True):
            before = self._files, self._bytes, self._accepted
            if isinstance(data, UnreadError):
                self._skipped.append(data.skip(file.shown))
            else:
                self._results.append(self._content(file.shown, data))
            after = self._files, self._bytes, self._accepted
            self._tallies.append(Tally(*map(sub, after, before)))

    def _blobs(self, items: Sequence[Any]) -> None:
        if self._contents is None:
            assert self._make_contents is not None
            self._contents = self._make_contents()
        contents = self._contents.read([item[0] for item in items])
        for (_, shown, commit, date, lines), (size, stream) in zip(items, contents, strict=True):
            if stream is None:
                self._skipped.append(
                    Skip(shown, Why.UNREADABLE, "git cannot read it; see 'git fsck'")
                )
                continue
            if self._max_size is not None and size > self._max_size:
                read = limited(stream, size)
                while read(PART_SIZE):
                    pass
                self._skipped.append(Skip(shown, Why.TOO_LARGE))
                continue
            results: Iterable[Result] = (
                self._large(shown, limited(stream, size))
                if size > LARGE
                else self._content(shown, stream.read(size))
            )
            if lines is not None:
                results = [result for result in results if _touches(result, lines)]
            self._results.append(
                [each._replace(commit=commit, date=date) for each in results] if commit else results
            )

    def _stream(self, source: Source, file: File) -> None:
        """Read a content from start to end, because its size is unknown or it is compressed."""
        results: list[Result] = []
        self._results.append(results)
        try:
            with source.open(file) as read:
                head = read(LARGE + 1)
                if len(head) <= LARGE:
                    results.extend(self._content(file.shown, head))
                elif packed := compression_of(head, file.shown):
                    results.extend(self._unpacked(file.shown, packed, after(head, read)))
                else:
                    results.extend(self._large(file.shown, after(head, read)))
        except (UnreadError, FormatError) as error:
            self._skipped.append(Skip(file.shown, Why.UNREADABLE, str(error)))

    def _unpacked(
        self, shown: str, packed: Compressed, read: Callable[[int], bytes]
    ) -> Iterator[Result]:
        """Yield the findings in a large compressed content, which is decompressed as it is read."""
        if not self._archives:
            self._skipped.append(Skip(shown, Why.ARCHIVE))
            return
        inside = shown.rpartition(".")[0] if shown.lower().endswith(packed.extensions) else shown
        for result in self._large(shown, packed.unpacking(read), inside):
            inner = result.inner or f"line {result.line}"
            yield result._replace(
                line=1, column=1, end_line=1, end_column=1, start=0, end=0, inner=inner
            )

    def _large(self, shown: str, read: Callable[[int], bytes], name: str = "") -> Iterator[Result]:
        """Yield the findings in a large content, read in parts if it is text or unknown."""
        margin = self._examiner.margin
        data = read(PART_SIZE + margin)
        parted = in_parts(data, name or shown)
        if parted is None:
            yield from self._large_document(shown, data, read)
            return
        if parted.not_inspected:
            why = Why.BINARY if parted.binary else Why.UNINSPECTED
            self._skipped.append(Skip(shown, why, parted.not_inspected))
        more = len(data) == PART_SIZE + margin
        parts = Parts(binary=parted.binary)
        first = 0
        while first < len(data):
            own = PART_SIZE if more else len(data) - first
            found, ending = self._examiner.part(shown, data, first, own, binary=parted.binary)
            yield from parts.located_results(found.results, ending)
            self._accepted += found.accepted
            self._bytes += own
            if not more and not parted.binary and ends_with_zip(data):
                self._skipped.append(Skip(shown, Why.UNINSPECTED, "a ZIP archive at its end"))
            before = max(0, first + own - margin)
            following = read(PART_SIZE) if more else b""
            more = len(following) == PART_SIZE
            data = data[before:] + following
            first += own - before
        self._files += 1

    def _large_document(
        self, shown: str, data: bytes, read: Callable[[int], bytes]
    ) -> Iterable[Result]:
        pieces = [data]
        size = len(data)
        while piece := read(PART_SIZE):
            size += len(piece)
            if size <= self._limits.input_bytes:
                pieces.append(piece)
        if size <= self._limits.input_bytes:
            return self._content(shown, b"".join(pieces))
        self._skipped.append(too_large(shown, self._limits))
        return []

    def _content(self, shown: str, data: bytes) -> Iterable[Result]:
        """Return the findings in one content of any format."""
        try:
            found = self._found(shown, data)
        except DlpctlError:
            raise
        except Exception as problem:
            # Report an internal error, and continue with the other files.
            self._skipped.append(
                Skip(shown, Why.UNREADABLE, f"dlpctl failed at it: {fault(problem)}")
            )
            return []
        if found is None:
            return []
        self._files += 1
        self._bytes += len(data)
        self._accepted += found.accepted
        if found.possible >= 0:
            self._possible += found.possible
            self._counted += 1
        return found.results

    def _found(self, shown: str, data: bytes) -> Found | None:
        try:
            content = recognized(data, shown)
        except FormatError as error:
            self._skipped.append(Skip(shown, Why.UNREADABLE, error.message))
            return None
        if content.is_text:
            return self._text_within_limits(shown, data)
        if content.is_binary:
            return self._binary(shown, data)
        if content.is_archive and not self._archives:
            self._skipped.append(Skip(shown, Why.ARCHIVE))
            return None
        try:
            found, unseen = self._read(shown, data)
        except FormatError as error:
            if content.in_process:  # the content is text all the same
                self._skipped.append(Skip(shown, Why.UNINSPECTED, error.message))
                return self._text(shown, data)
            self._skipped.append(Skip(shown, Why.UNREADABLE, error.message))
            return None
        self._skipped += [Skip(shown, Why.UNINSPECTED, reason) for reason in unseen]
        return found

    def _text_within_limits(self, shown: str, data: bytes) -> Found | None:
        try:
            return self._text(shown, data)
        except FormatError as error:  # a deflated text in it is too large
            self._skipped.append(Skip(shown, Why.UNREADABLE, error.message))
            return None

    def _text(self, shown: str, data: bytes) -> Found:
        # The escapes of ISO 2022 are ASCII; searching for one byte is faster than for two.
        if is_utf8(data) and (b"\x1b" not in data or b"\x1b$" not in data):
            return self._examiner.text(shown, data)
        from dlpctl.formats.encoding import binary_at, decode

        decoded = decode(data)
        if decoded is None:
            return self._binary(shown, data)
        at = binary_at(data, decoded)
        if at is not None:
            self._skipped.append(Skip(shown, Why.UNINSPECTED, f"binary data from byte {at:,} on"))
        return self._examiner.decoded(shown, decoded.text)

    def _binary(self, shown: str, data: bytes) -> Found:
        from dlpctl.formats.binary import reason

        why = reason(data)
        if why:
            self._skipped.append(Skip(shown, Why.BINARY, why))
        return self._examiner.binary(shown, data)

    def _read(self, shown: str, data: bytes) -> tuple[Found, list[str]]:
        if self._documents is None:
            from dlpctl.scan.documents import Documents

            self._documents = Documents(self._examiner, self._limits)
        return self._documents.read(shown, PurePosixPath(shown).name, data)

    def _part(
        self,
        source: Source,
        file: File,
        first: int,
        last: int,
        binary: bool,
        section: Sequence[Any] = (),
    ) -> Outcome:
        """Return the findings that start in a range of a large file."""
        if section:
            from dlpctl.formats.sections import Section

            return self._section(source, file, Section.unpacked(*section))
        margin = self._examiner.margin
        data_start = max(0, first - margin)
        try:
            data = source.read_range(file, data_start, last + margin)
            found, ending = self._examiner.part(
                file.shown, data, first - data_start, last - first, binary=binary
            )
        except (UnreadError, FormatError) as error:  # gone or not, the file was partly read
            skip = Skip(file.shown, Why.UNREADABLE, str(error))
            return Outcome(0, 0, 0, [], [skip], tallies=[Tally()])
        # Only the first part counts the file.
        tally = Tally(not first, max(0, min(len(data) + data_start, last) - first), found.accepted)
        return Outcome(*tally, found.results, [], ending, tallies=[tally])

    def _section(self, source: Source, file: File, section: Section) -> Outcome:
        """Return the findings in a section of a large document."""
        label = section.label
        if max(section.size, section.memory) > self._limits.input_bytes:
            skipped = [too_large(file.shown, self._limits, label or "an entry")]
            return Outcome(0, 0, 0, [], skipped, tallies=[Tally()])
        self._start()
        self._examiner.counts_possible = False
        try:
            data = section.contents(partial(source.read_range, file))
        except (UnreadError, FormatError) as error:
            self._skipped.append(Skip(file.shown, Why.UNREADABLE, str(error)))
            return self._outcome(Tally(), [Tally()])
        found = self._content(file.shown, data)
        if label:
            found = [
                result._replace(inner=f"{label} > {result.inner}")
                for result in found
                if not (section.repeats and result.inner.startswith(_REPEATED))
            ]
            self._skipped = [
                skip._replace(detail=f"{label}: {skip.detail}") for skip in self._skipped
            ]
        self._results.append(found)
        # Only the first section counts the file.
        tally = Tally(self._files and not section.first, section.size, self._accepted)
        return self._outcome(tally, [tally])


def too_large(shown: str, limits: FileLimits, noun: str = "a document") -> Skip:
    most = f"{limits.input_bytes >> 20} MB"
    return Skip(shown, Why.UNREADABLE, f"{noun} of more than {most}: raise limits.input_bytes")


def _touches(result: Result, lines: Sequence[Sequence[int]]) -> bool:
    return any(first <= result.end_line and result.line <= last for first, last in lines)
