"""Verify the masked copy of a long file.

Two forked processes read the copy: one detects in it, the other one searches it for residual
values. Neither needs the original, so that no process holds both in full.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.files.residual import Apart, CopyReading, ResidualSearch, second_reading
from dlpctl.files.sections import Sections
from dlpctl.formats.files import Files, is_in_process
from dlpctl.system.forked import begun
from dlpctl.texts.texthashes import TextHashes
from dlpctl.types import Action, Category, Finding

if TYPE_CHECKING:
    from dlpctl.files.hidden import HiddenValues
    from dlpctl.preflight import Checker
    from dlpctl.texts.written import Written

_CHUNK = 1 << 12
"""The number of findings that are decided together."""
_UNVERIFIED = b""


class Copy(NamedTuple):
    """A masked copy, and what its original was."""

    files: Files
    name: str
    data: bytes
    formats: Sequence[str]
    """The formats of the original and of the files within it."""
    has_metadata: bool

    def read(self, *, once: bool) -> CopyReading | None:
        """Return the copy as it was read; None if it is not what it should be."""
        try:
            sections = Sections.of(self.files.open(self.data, self.name))
            if sections is None or sections.formats != self.formats:
                return None
            if not self.has_metadata and any(sections.node.metadata()):
                return None
            again = [second_reading(self.files, node) for node in sections.node.walk()]
        except FormatError:
            return None
        return CopyReading(sections, again, once)


class CopyDetection:
    """Detects in a copy, and tells which findings must not remain."""

    def __init__(self, checker: Checker, written: Written) -> None:
        self._checker = checker
        self._written = written

    def run(self, read: Callable[[], CopyReading | None]) -> bytes:
        """Return the values that the policy allows, by type and as hashes; nothing if others than
        replacements remain.
        """
        try:
            copy = read()
            found = None if copy is None else copy.sections.search(self._checker)
        except FormatError:
            return _UNVERIFIED
        if copy is None or found is None:
            return _UNVERIFIED
        allowed = self._allowed(copy.sections.text, chain(found, copy.sections.replaced))
        if allowed is None:
            return _UNVERIFIED
        sorts = [
            (name, category.value, len(values)) for (name, category), values in allowed.items()
        ]
        hashes = (array("q", values).tobytes() for values in allowed.values())
        return b"".join([json.dumps(sorts).encode(), b"\n", *hashes])

    def _allowed(
        self, text: str, found: Iterable[Finding]
    ) -> dict[tuple[str, Category], TextHashes] | None:
        allowed: dict[tuple[str, Category], TextHashes] = {}
        for chunk in _chunks(found):
            for finding, verdict in self._checker.ruling(text, chunk).ruled:
                if self._written.touches(text, finding.start, finding.end):
                    continue
                if verdict.action is not Action.ALLOW:
                    return None
                values = allowed.setdefault((finding.type, finding.category), TextHashes())
                values.add([hash(text[finding.start : finding.end])])
        return allowed


def count_absent(
    checker: Checker,
    hidden: HiddenValues,
    copy: Copy,
    written: Written,
    size: int,
    without_original: Apart,
) -> int | None:
    """Return the number of hidden values, of which the copy has none; None if it may have some.

    `without_original` does a task after freeing the original, if it is called in a child process.
    """
    processes = checker.processes
    # Children cannot share a worker process.
    if all(map(is_in_process, copy.formats)):
        own = copy._replace(files=Files(copy.files.limits, "spawn"))
        read = partial(own.read, once=True)
    else:
        read = partial(_known, copy.read(once=False))

    def apart(task: Callable[[], bytes]) -> bytes:
        with begun(partial(without_original, task), processes) as result:
            return result()

    detect = partial(CopyDetection(checker, written).run, read)
    search = ResidualSearch(hidden, read, size)
    with begun(partial(without_original, detect), processes) as detected:
        count = search.run(processes, apart)
        shown = detected() if count else _UNVERIFIED
    return count if shown != _UNVERIFIED and not _are_hidden(hidden, shown) else None


def _are_hidden(hidden: HiddenValues, shown: bytes) -> bool:
    """Return whether a value that the copy shows is hidden because of another occurrence."""
    plain, _, hashes = shown.partition(b"\n")
    numbers = memoryview(hashes).cast("q")
    first = 0
    for name, category, count in json.loads(plain):
        some = numbers[first : first + count]
        if hidden.holds_any(name, Category(category), some):
            return True
        first += count
    return False


def _known(reading: CopyReading | None) -> CopyReading | None:
    return reading


def _chunks(found: Iterable[Finding]) -> Iterator[list[Finding]]:
    findings = iter(found)
    while chunk := list(islice(findings, _CHUNK)):
        yield chunk
