"""The values of a long file that must not remain, read from its text when they are needed.

Millions of values would take several times the memory of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING

from dlpctl.files.decided import REJECTED
from dlpctl.masking.leaks import words_among
from dlpctl.texts.texthashes import TextHashes
from dlpctl.types import Action, Category, Finding

if TYPE_CHECKING:
    from dlpctl.detect.packed import PackedFindings
    from dlpctl.policy.decide import Verdict

_CHUNK = 1 << 12
"""The number of findings whose values are read together."""


class HiddenValues:
    """The values of the findings whose verdicts hide them."""

    def __init__(
        self, text: str, found: PackedFindings, verdicts: bytes, listed: Sequence[Verdict]
    ) -> None:
        """`verdicts` are indices in `listed`, or `REJECTED`."""
        self._text = text
        self._found = found
        self._verdicts = verdicts
        hides = [verdict.action is not Action.ALLOW for verdict in listed]
        self.hides = [*hides, *[False] * (REJECTED + 1 - len(hides))]
        """True for each verdict that hides its findings."""
        self._pairs = set(zip(found.sorts, verdicts, strict=True))
        """The sorts of findings with their verdicts."""
        self._hashes: dict[tuple[str, Category], TextHashes] = {}
        for sort, verdict in self._pairs:
            if verdict != REJECTED and not self.hides[verdict]:
                self.hold(*found.listed[sort][:2], "")  # before processes are forked

    def forget(self) -> None:
        """Free the text and the findings, in a process that needs no values."""
        self._text, self._verdicts = "", b""
        self._found.clear()

    @property
    def chunk_count(self) -> int:
        return -(-len(self._found) // _CHUNK)

    @cached_property
    def longest(self) -> int:
        """The length of the longest value."""
        return max((end - start for start, end in self.spans()), default=0)

    def spans(self, low: int = 0, high: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield the spans of the hidden ones of a range of findings."""
        for start, end, _, _ in self._hidden(slice(low, high)):
            yield start, end

    def _hidden(self, some: slice) -> Iterator[tuple[int, int, int, int]]:
        """Yield the span, the sort and the verdict of each hidden finding."""
        found, hides = self._found, self.hides
        low, high, _ = some.indices(len(found))
        for first in range(low, high, _CHUNK):  # since a slice is a copy
            part = slice(first, min(first + _CHUNK, high))
            columns = found.starts[part], found.ends[part], found.sorts[part], self._verdicts[part]
            for columns_of_one in zip(*columns, strict=True):
                if hides[columns_of_one[3]]:
                    yield columns_of_one

    def chunk(self, number: int) -> tuple[set[str], set[str]]:
        """Return the distinct values of a chunk, and those that match only as they are written, or
        in capitals.
        """
        text, listed = self._text, self._found.listed
        of_type: dict[str, set[str]] = {}
        first = number * _CHUNK
        for start, end, sort, _ in self._hidden(slice(first, first + _CHUNK)):
            of_type.setdefault(listed[sort].type, set()).add(text[start:end])
        values, words = set[str](), set[str]()
        for name, texts in of_type.items():
            spelled = words_among(name, texts)
            words |= spelled
            values |= texts - spelled
        return values, words

    def hold(self, type_name: str, category: Category, value: str) -> bool:
        """Return whether a value is hidden as one of this type."""
        key = type_name, category
        if key not in self._hashes:
            self._hashes[key] = TextHashes(self._texts(key))
        return value in self._hashes[key]

    def holds_any(self, type_name: str, category: Category, hashes: Iterable[int]) -> bool:
        """Return whether a value with one of the hashes is hidden as one of this type."""
        self.hold(type_name, category, "")
        return any(map(self._hashes[type_name, category].has, hashes))

    def findings_of(self, texts: Set[str]) -> Iterator[Finding]:
        """Yield the hidden findings whose values are in `texts`, the first one of each value and
        sort.
        """
        found, text = self._found, self._text
        known: set[tuple[int, str]] = set()
        for at, (start, end, sort, verdict) in enumerate(
            zip(found.starts, found.ends, found.sorts, self._verdicts, strict=True)
        ):
            if not self.hides[verdict] or (value := text[start:end]) not in texts:
                continue
            if (sort, value) not in known:
                known.add((sort, value))
                yield found[at]

    def _texts(self, key: tuple[str, Category]) -> Iterator[str]:
        text = self._text
        is_wanted = [sort[:2] == key for sort in self._found.listed]
        for start, end, sort, _ in self._hidden(slice(None)):
            if is_wanted[sort]:
                yield text[start:end]

    def verdicts_by_type(self, types: set[str]) -> dict[str, int]:
        """Return the verdict on the last distinct value of each type that is wanted."""
        text, listed, hides = self._text, self._found.listed, self.hides
        numbers: dict[str, set[int]] = {}
        for sort, verdict in self._pairs:
            if hides[verdict] and listed[sort].type in types:
                numbers.setdefault(listed[sort].type, set()).add(verdict)
        found = {name: min(several) for name, several in numbers.items()}
        differ = {name for name, several in numbers.items() if len(several) > 1}
        known: set[tuple[int, str, Category]] = set()
        for start, end, sort, verdict in self._hidden(slice(None)) if differ else ():
            name, category = listed[sort][:2]
            key = hash(text[start:end]), name, category
            if name in differ and key not in known:
                known.add(key)
                found[name] = verdict
        return found
