"""Run a scan: files or blobs go to the workers in batches and come back as results, in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.config import FileLimits
from dlpctl.errors import FormatError
from dlpctl.formats.recognition import HEAD, ZIP_END
from dlpctl.scan.content import Ending, Examiner, Parts
from dlpctl.scan.executor import Elsewhere, Executor, InOrder
from dlpctl.scan.local import STDIN, LocalFiles
from dlpctl.scan.packing import unpacked
from dlpctl.scan.reader import (
    BLOBS,
    FILES,
    LARGE,
    PART,
    PART_SIZE,
    STREAM,
    BatchReader,
    Outcome,
    Task,
    too_large,
)
from dlpctl.scan.recognized import compression_of, in_parts, in_sections
from dlpctl.scan.results import Result, Skip, Summary, Tally, Why
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File, Source, UnreadError, is_address

if TYPE_CHECKING:
    from dlpctl.scan.git import Blob, Repository
    from dlpctl.scan.sampling import Sample
    from dlpctl.scan.state import Known, State

_BATCH_FILES = 64
_BATCH_BYTES = 1 << 20
_BATCH_BLOBS = 32
_BATCH_UNREAD = 1024
_MOST_JOBS = 16


class _Batch(NamedTuple):
    task: Task | None
    skipped: list[Skip]
    """Files that were skipped before the batch."""
    known: Sequence[Known] = ()
    """Files before the batch that have not changed since an earlier scan."""


class Scan:
    """One scan. Iterate over `files` or `blobs` once; after that, the summary is complete."""

    def __init__(
        self,
        examiner: Examiner,
        selection: Selection,
        *,
        archives: bool = True,
        jobs: int = 0,
        accepts: Callable[[Result], bool] | None = None,
        limits: FileLimits | None = None,
        on_step: Callable[[Summary], object] | None = None,
        state: State | None = None,
        sample: Sample | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """`accepts` returns whether a finding is accepted, e.g. by a baseline; `on_step` is called
        regularly.

        Workers on this machine read the files, or those of `elsewhere`. With a state, known files
        are not read again; with a sample, only drawn files are read.
        """
        self.summary = Summary()
        self._examiner = examiner
        self.selection = selection
        self._archives = archives
        self._jobs = jobs or usual_jobs()
        self._accepts = accepts
        self._limits = limits or FileLimits()
        self._on_step = on_step
        self._state = state
        self._sample = sample
        self._elsewhere = elsewhere
        self._of_known = 0
        self._seen: set[tuple[str, str]] = set()
        self._repeated = 0

    def files(self, names: Sequence[str]) -> Generator[Result | Skip]:
        """Yield the findings in files, folders and object stores; `-` is stdin."""
        addresses = [name for name in dict.fromkeys(names) if is_address(name)]
        local = [name for name in names if name not in addresses]
        sources: list[Source] = [LocalFiles(local)] if local else []
        if addresses:
            from dlpctl.scan.objects import ObjectStore

            sources += map(ObjectStore, addresses)
        self.summary.nouns = {source.noun for source in sources}
        yield from self._run(self._source_batches(sources), sources=sources)
        if self._sample is not None:
            self.summary.remarks.extend(self._sample.sentences(self.summary.noun))
            self.summary.sample = self._sample.to_dict()
        if self._state is not None:
            self._note_unchanged(self._state, [name for name in names if name != STDIN])

    def _source_batches(self, sources: Sequence[Source]) -> Iterator[_Batch]:
        for number, source in enumerate(sources):
            files = source.files(self.selection)
            if self._elsewhere is not None:
                files = self._elsewhere.without_own(source, files)
            if self._sample is not None:
                files = _sampled(files, self._sample)
            yield from self._file_batches(source, number, files)

    def _file_batches(
        self, source: Source, number: int, files: Iterable[File | Skip]
    ) -> Iterator[_Batch]:
        state = self._state
        batch: list[File] = []
        skipped: list[Skip] = []
        known: list[Known] = []
        size = 0

        def made() -> _Batch:
            return _Batch(Task(FILES, batch, number) if batch else None, skipped, known)

        for file in files:
            if isinstance(file, Skip):
                skipped.append(file)
            elif state is not None and state.is_own(source.key(file)):
                continue
            elif state is not None and (each := state.known(source.key(file), file)):
                if batch and each.has_records:  # findings come in the order of the files
                    yield made()
                    batch, skipped, known, size = [], [], [], 0
                known.append(each)
            elif file.stream or file.size > LARGE:
                yield made()
                yield from self._alone(source, number, file)
                batch, skipped, known, size = [], [], [], 0
            else:
                batch.append(file)
                size += file.size
            is_long = max(len(skipped), len(known)) >= _BATCH_UNREAD
            if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES or is_long:
                yield made()
                batch, skipped, known, size = [], [], [], 0
        if batch or skipped or known:
            yield made()

    def _alone(self, source: Source, number: int, file: File) -> Iterator[_Batch]:
        """Yield a stream, or a large file in parts, without its holes."""
        if file.stream:
            yield _Batch(Task(STREAM, [file], number), [])
            return
        try:
            head = source.read_range(file, 0, HEAD)
            tail = source.read_range(file, max(file.size - ZIP_END, 0), file.size)
            parted = in_parts(head, file.shown, tail)
            if parted is None:
                yield from self._document(source, file, number, head, tail)
                return
            skipped = []
            if parted.not_inspected:
                why = Why.BINARY if parted.binary else Why.UNINSPECTED
                skipped.append(Skip(file.shown, why, parted.not_inspected))
            for first in range(0, file.size, PART_SIZE):
                last = min(first + PART_SIZE, file.size)
                if first and source.next_data(file, first) >= last:
                    continue
                part = (file, first, last, parted.binary)
                yield _Batch(Task(PART, part, number), skipped if not first else [])
        except UnreadError as error:
            yield _Batch(None, [error.skip(file.shown)])

    def _document(
        self, source: Source, file: File, number: int, head: bytes, tail: bytes
    ) -> Iterator[_Batch]:
        """Yield a document in sections, as a stream, or as a whole."""
        found = in_sections(head, file, tail, partial(source.read_range, file))
        if found and found.is_archive and not self._archives:
            yield _Batch(None, [Skip(file.shown, Why.ARCHIVE)])
        elif found:
            try:
                for section in found.sections:
                    part = (file, section.first, section.last, False, section.packed())
                    yield _Batch(Task(PART, part, number), [])
            except FormatError as error:
                yield _Batch(None, [Skip(file.shown, Why.UNREADABLE, error.message)])
        elif compression_of(head, file.shown):
            yield _Batch(Task(STREAM, [file], number), [])
        elif file.size <= self._limits.input_bytes:
            yield _Batch(Task(FILES, [file], number), [])
        else:
            yield _Batch(None, [too_large(file.shown, self._limits)])

    def blobs(
        self, repository: Repository, blobs: Iterable[Blob | Skip]
    ) -> Generator[Result | Skip]:
        """Yield the findings in git; a history yields each once, with the commit that added it."""
        yield from self._run(_blob_batches(blobs, self.selection), repository=repository)
        if self._repeated:
            self.summary.remarks.append(
                f"{self._repeated:,} findings in later contents are repetitions;"
                " each is listed once, with the commit that added it."
            )

    def _executor(self, sources: Sequence[Source], repository: Repository | None) -> Executor:
        make_reader = partial(
            BatchReader,
            self._examiner,
            sources=sources,
            archives=self._archives,
            max_size=self.selection.max_size,
            limits=self._limits,
            contents=repository.contents if repository is not None else None,
        )
        prepare = partial(self._examiner.detector.compile, rivals=True)
        if self._elsewhere is not None:
            return self._elsewhere.executor(make_reader, prepare, sources)
        at_once = any(source.has_threads for source in sources)
        return InOrder(make_reader, self._jobs, prepare, at_once=at_once)

    def _run(
        self,
        batches: Iterator[_Batch],
        *,
        sources: Sequence[Source] = (),
        repository: Repository | None = None,
    ) -> Generator[Result | Skip]:
        self.summary.partial = True
        parts = Parts()
        with self._executor(sources, repository) as workers:
            for batch, plain in workers.run(_first_marked(batches)):
                yield from map(self._skip, batch.skipped)
                yield from self._unchanged(batch.known)
                if batch.task is None:
                    continue
                outcome = Outcome(*plain)
                results = outcome.results
                if not isinstance(plain, Outcome):
                    results = unpacked(results)
                if batch.task.inputs == PART:
                    _file, first, _last, binary, *section = batch.task.items
                    if not first:
                        parts = Parts(binary=binary)
                    if not section:
                        results = parts.located_results(results, Ending(*outcome.ending), first)
                if self._state is not None and batch.task.inputs != BLOBS:
                    results = [*results]
                    self._remember(sources[batch.task.source], batch, outcome, results)
                self._count(Tally(outcome.files, outcome.bytes, outcome.accepted))
                self.summary.possible += outcome.possible
                self.summary.counted += outcome.counted
                yield from self._counted(results)
                for path, why, detail in outcome.skipped:
                    yield self._skip(Skip(path, Why(why), detail))
                if self._on_step is not None:
                    self._on_step(self.summary)
        self.summary.partial = False

    def _count(self, tally: Tally) -> None:
        self.summary.count(tally)
        if self._sample is not None:
            self._sample.read += tally.files

    def _unchanged(self, known: Iterable[Known]) -> Iterator[Result | Skip]:
        """Count contents that are not read again, and yield their findings."""
        for each in known:
            assert self._state is not None
            self._count(each.tally)
            self.summary.unchanged = (self.summary.unchanged or 0) + 1
            for record in self._state.records(each) if each.has_records else ():
                if isinstance(record, Skip):
                    yield self._skip(record)
                else:
                    before = self.summary.findings
                    yield from self._counted((record,))
                    self._of_known += self.summary.findings - before

    def _remember(
        self, source: Source, batch: _Batch, outcome: Outcome, results: Sequence[Result]
    ) -> None:
        task, state = batch.task, self._state
        assert task is not None
        assert state is not None
        is_part = task.inputs == PART
        files = [task.items[0]] if is_part else task.items
        skipped = [Skip(path, Why(why), detail) for path, why, detail in outcome.skipped]
        if is_part:  # the first part has the uninspected parts
            skipped += [skip for skip in batch.skipped if skip.path == files[0].shown]
        is_continued = is_part and task.items[1] > 0
        keyed = [(source.key(file), file) for file in files]
        state.add(keyed, outcome.tallies, [*results, *skipped], is_continued=is_continued)

    def _note_unchanged(self, state: State, roots: Sequence[str]) -> None:
        summary = self.summary
        summary.unchanged = summary.unchanged or 0
        sentences = []
        if not summary.failures:
            sentences.append(state.finish(roots))
        if count := summary.unchanged:
            are = f"{count:,} {summary.noun} is" if count == 1 else f"{count:,} {summary.noun}s are"
            noun = "finding" if self._of_known == 1 else "findings"
            sentences.append(
                f"{are} unchanged since an earlier scan, with {self._of_known:,} {noun}."
            )
        summary.remarks.extend(filter(None, sentences))

    def _counted(self, results: Iterable[Result]) -> Iterator[Result]:
        for result in results:
            if result.commit and self._is_repeated(result):
                self._repeated += 1
            elif self._accepts is not None and self._accepts(result):
                self.summary.accepted += 1
            else:
                self.summary.add(result)
                if self._sample is not None:
                    self._sample.count(result)
                yield result

    def _is_repeated(self, result: Result) -> bool:
        """Return whether an earlier content of the file had the same value in the same line."""
        named = (result.identity, result.value_id)
        known = named in self._seen
        self._seen.add(named)
        return known

    def _skip(self, skip: Skip) -> Skip:
        self.summary.skip(skip)
        return skip


def _first_marked(batches: Iterable[_Batch]) -> Iterator[_Batch]:
    """Mark the first batch of contents, in which possible findings are counted: useful for a user
    who tries a few values, but not for the scan of a tree.
    """
    is_first = True
    for batch in batches:
        if is_first and batch.task is not None and batch.task.items:
            is_first = False
            yield batch._replace(task=batch.task._replace(counts_possible=True))
        else:
            yield batch


def usual_jobs() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return min(_MOST_JOBS, len(affinity(0)) if affinity else os.cpu_count() or 1)


def _sampled(files: Iterable[File | Skip], sample: Sample) -> Iterator[File | Skip]:
    for file in files:
        if isinstance(file, Skip) or file.path == STDIN or sample.draws(file):
            yield file
        else:
            yield Skip(file.shown, Why.SAMPLED)


def _blob_batches(blobs: Iterable[Blob | Skip], selection: Selection) -> Iterator[_Batch]:
    batch: list[Blob] = []
    skipped: list[Skip] = []
    # A content of a history is scanned once, under its first selected path.
    seen: set[bytes] = set()
    passed: set[tuple[bytes, str]] = set()
    for blob in blobs:
        if isinstance(blob, Skip):
            skipped.append(blob)
            continue
        name = bytes.fromhex(blob.id) if blob.commit else b""
        if name in seen:
            continue
        why = selection.why_not_inside(blob.path)
        if why is None:
            batch.append(blob)
            if name:
                seen.add(name)
        elif (name, blob.path) not in passed:
            skipped.append(Skip(blob.path, why))
            if name:
                passed.add((name, blob.path))
        if len(batch) >= _BATCH_BLOBS or len(skipped) >= _BATCH_UNREAD:
            yield _Batch(Task(BLOBS, batch), skipped)
            batch, skipped = [], []
    if batch or skipped:
        yield _Batch(Task(BLOBS, batch), skipped)
