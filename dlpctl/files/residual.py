"""Search a long copy for residual values, block by block.

Most values cannot remain, since the copy lacks one of their pieces. Only the others are indexed and
searched for. Forked processes share the objects of this module; what reads the copy needs none of
the values, so that no process has to hold the copy and the original in full.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from mmap import mmap
from struct import Struct
from typing import TYPE_CHECKING, AnyStr, NamedTuple, Protocol

from dlpctl.formats.files import is_in_process
from dlpctl.formats.residues import (
    WORD,
    StrictMatcher,
    all_as_searched,
    digits_of_number,
    needed_words,
    number_starts,
)
from dlpctl.formats.verify import searched_text
from dlpctl.regex import lazy
from dlpctl.system.forked import in_order
from dlpctl.texts.encoded import forms
from dlpctl.texts.literals import GRAM
from dlpctl.texts.texthashes import NewTexts, TextHashes
from dlpctl.texts.words import TOKEN, distinct_words, folded
from dlpctl.values import FEWEST_DIGITS_SEARCHED, SHORTEST_SEARCHED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dlpctl.files.sections import Sections
    from dlpctl.formats.files import Files, Node

_CLEAN = b"clean"
"""The result of a part without values."""
_WIDE = b"wide"
"""The result of reading a copy with zeros, which may hold text in UTF-16."""
_SIZE = 4
"""The number of bytes in a gram: texts have few different ones."""
_FIRST = Struct("=I")
_MARKS = 15_485_863
"""A prime, so that all bytes of a gram count, and far from powers of two, so that no two bytes
weigh the same.
"""
_SHIFTS = 0, 20, 40
"""The bits of a hash from which on it makes the number of a mark."""
_NUL = b"\0"
_SPACE = lazy(r"\s")
_NUMBER = lazy(rb"[0-9]{%d,}" % GRAM)
_DIGESTED = 1 << 20
Reading = Callable[[], Iterable[str]]
"""Reads a file again."""
Apart = Callable[[Callable[[], bytes]], bytes]
"""Returns the result of work that may be done in another process."""


class Pieces:
    """Marks for the pieces of a copy; a value that remains in it has no other ones.

    Pieces are words, the first digits of numbers in texts, long numbers in bytes, and all bytes in
    lower case that follow each other. A copy may have millions, so that several share a mark; each
    has three, except bytes. Forked processes share the marks too.
    """

    def __init__(self) -> None:
        self._marks = mmap(-1, _MARKS)

    def add_text(self, text: str) -> None:
        words = distinct_words(text, WORD)
        if "_" in text:
            words |= distinct_words(text, TOKEN)
        self._add({*words, *number_starts(text)})

    def add_bytes(self, data: bytes) -> None:
        written: set[bytes] = set()
        for form in forms(data, GRAM):
            lowered = form.data.lower()
            if form.data is not data:  # a line that decoding has not changed is marked already
                written = written or {*data.lower().split(b"\n")}
                lowered = b"\n".join({*lowered.split(b"\n")} - written)
            self._add(set(map(bytes.decode, _NUMBER.findall(lowered))))
            for shift in range(_SIZE):
                self._mark(set(_numbered(lowered[shift:])))

    def _add(self, pieces: Iterable[str]) -> None:
        hashes = list(map(hash, pieces))
        for bits in _SHIFTS:
            self._mark(map(bits.__rrshift__, hashes))

    def _mark(self, numbers: Iterable[int]) -> None:
        marks = self._marks
        for number in numbers:
            marks[number % _MARKS] = 1

    def _has(self, piece: str) -> bool:
        number, marks = hash(piece), self._marks
        for bits in _SHIFTS:  # a loop, since most pieces lack the first mark
            if not marks[(number >> bits) % _MARKS]:
                return False
        return True

    def may_show(self, value: str) -> bool:
        """Return whether a text may contain a value, which is in the form of searches."""
        if number := digits_of_number(value):
            return self._has(number[:FEWEST_DIGITS_SEARCHED])
        words = needed_words(value)
        return words is None or all(map(self._has, words))

    def may_hold(self, value: str, encodings: Iterable[str]) -> bool:
        """Return whether bytes may contain a value in one of the encodings."""
        marks = self._marks
        for encoding in encodings:
            # A number is not searched for within longer ones.
            is_number = encoding == "utf-8" and value.isascii() and value.isdigit()
            if is_number and not self._has(value):
                continue
            data = value.encode(encoding, "replace").lower()
            if b"\n" in data:  # of a character in UTF-16: lines are marked one by one
                return True
            # Most values start with bytes that the copy does not have.
            if len(data) >= _SIZE and not marks[_FIRST.unpack_from(data)[0] % _MARKS]:
                continue
            if all(map(marks.__getitem__, map(_MARKS.__rmod__, _numbered(data)))):
                return True
        return False


def _numbered(data: bytes) -> memoryview:
    """Return the grams of bytes as numbers."""
    return memoryview(data)[: len(data) // _SIZE * _SIZE].cast("I")


class SearchedValues(Protocol):
    """Values that a copy must not have, in chunks, which may share some."""

    @property
    def chunk_count(self) -> int: ...

    @property
    def longest(self) -> int: ...

    def chunk(self, number: int) -> tuple[set[str], set[str]]:
        """Return values, and those that match only as they are written, or in capitals."""


class CopyReading(NamedTuple):
    """A copy that has been read."""

    sections: Sections
    again: Sequence[Reading]
    """The second readings."""
    once: bool = False
    """True if the texts are read only once, and may be freed then."""

    @property
    def is_wide(self) -> bool:
        return any(_NUL in node.data for node in self.sections.node.walk())

    def results(
        self,
        result_of: Callable[[str | bytes], bytes],
        longest: int,
        size: int,
        processes: int,
    ) -> Iterator[bytes]:
        """Yield the results for the parts of all readings and of the bytes, which overlap by the
        longest value.
        """
        for text in self._texts(size):
            cuts = _text_cuts(text, size)
            yield from _results(result_of, text, cuts, 4 * longest, processes)
            del text  # before the next one is read
        for node in self.sections.node.walk():
            data = node.data
            yield from _results(result_of, data, _byte_cuts(data, size), 8 * longest, processes)

    def _texts(self, size: int) -> Iterator[str]:
        """Yield the distinct texts of both readings, of which long ones take much memory; short
        ones are joined, since each text costs a task.
        """
        known: set[bytes] = set()
        short: list[str] = []
        for text in self._read():
            if len(text) < size:
                short.append(text)
                continue
            digest = _digest(text)
            if digest not in known:
                known.add(digest)
                yield text
            del text
        yield "\n".join(short)

    def _read(self) -> Iterator[str]:
        yield from (
            searched_text(section.node.document, section.view) for section in self.sections.all
        )
        if self.once:
            self.sections.forget_texts()
        for read in self.again:
            yield from read()


class ResidualSearch:
    """Searches a copy for values: both readings of its text, and its bytes."""

    def __init__(
        self, values: SearchedValues, read: Callable[[], CopyReading | None], size: int
    ) -> None:
        """`read` reads the copy; None if it is not as expected."""
        self._values, self._read, self._size = values, read, size
        self._pieces = Pieces()
        self._new_values, self._new_words = NewTexts(), NewTexts()

    def run(self, processes: int, apart: Apart) -> int | None:
        """Return the number of distinct values; None if one of them remains.

        `apart` does what needs the copy but not the values.
        """
        longest = self._values.longest
        marked = apart(partial(self._mark, longest, processes))
        if not marked:
            return None
        is_wide = marked == _WIDE
        count, matcher = self._candidates(is_wide, processes)
        if not (matcher.values or matcher.words):
            return count
        matcher.prepare(is_wide=is_wide)
        found = apart(partial(self._searched, matcher, longest, processes))
        return count if found == _CLEAN else None

    def _mark(self, longest: int, processes: int) -> bytes:
        """Mark the pieces of the copy; return nothing if it cannot be read."""
        copy = self._read()
        if copy is None:
            return b""

        def mark(part: str | bytes) -> bytes:
            if isinstance(part, bytes):
                self._pieces.add_bytes(part)
            else:
                self._pieces.add_text(part)
            return b""

        for _ in copy.results(mark, longest, self._size, processes):
            pass
        return _WIDE if copy.is_wide else _CLEAN

    def _candidates(self, is_wide: bool, processes: int) -> tuple[int, StrictMatcher]:
        """Return the number of distinct values, and a matcher of those that may remain."""
        encodings = ("utf-8", "utf-16-le", "utf-16-be") if is_wide else ("utf-8",)
        judged = in_order(
            self._values.chunk_count, b"%d".__mod__, partial(self._judged, encodings), processes
        )
        values, words = set[str](), set[str]()
        forms, spelled = TextHashes(), TextHashes()
        for result in judged:
            plain, _, hashes = result.partition(b"\n")
            count, *remaining = json.loads(plain)
            values.update(remaining[0])
            words.update(remaining[1])
            numbers = memoryview(hashes).cast("q")
            forms.add(numbers[:count])
            spelled.add(numbers[count:])
        return len(forms) + len(spelled), StrictMatcher(values, words)

    def _judged(self, encodings: Sequence[str], task: bytes) -> bytes:
        """Return the values and words of a chunk that may remain, and the hashes of all of them, as
        they are searched for.
        """
        values, words = self._values.chunk(int(task))
        values, words = self._new_values.among(values), self._new_words.among(words)
        searched = all_as_searched(values)
        forms = {hash(form) for form, _ in searched}
        plain = [
            len(forms),
            [
                each
                for each, (form, spaced) in zip(values, searched, strict=True)
                if self._may_remain(encodings, form, spaced)
            ],
            [each for each in words if self._may_remain(encodings, folded(each), each)],
        ]
        hashes = array("q", [*forms, *map(hash, words)])
        return json.dumps(plain).encode() + b"\n" + hashes.tobytes()

    def _may_remain(self, encodings: Sequence[str], form: str, spaced: str) -> bool:
        """Return whether a value may remain, which is searched for in this form, or in bytes as it
        is written.
        """
        if len(form) < SHORTEST_SEARCHED:
            return False
        pieces = self._pieces
        return pieces.may_show(form) or (len(spaced) >= GRAM and pieces.may_hold(spaced, encodings))

    def _searched(self, matcher: StrictMatcher, longest: int, processes: int) -> bytes:
        """Return `_CLEAN` if the copy has none of the values."""
        copy = self._read()
        if copy is None:
            return b""

        def search(part: str | bytes) -> bytes:
            holds = matcher.in_bytes(part) if isinstance(part, bytes) else matcher.in_text(part)
            return b"" if holds else _CLEAN

        results = copy.results(search, longest, self._size, processes)
        return _CLEAN if all(each == _CLEAN for each in results) else b""


def second_reading(files: Files, node: Node) -> Reading:
    """Return the second reading of a file, which a forked process may do if it needs no worker."""
    read = partial(files.read_again, node.document.format, node.data)
    if is_in_process(node.document.format):
        return read
    texts = list(read())
    return lambda: texts


def _results(
    result_of: Callable[[AnyStr], bytes],
    text: AnyStr,
    cuts: Sequence[int],
    overlap: int,
    processes: int,
) -> Iterator[bytes]:
    """Yield the results for the parts of a text between cuts."""

    def part(task: bytes) -> bytes:
        number = int(task)
        return result_of(text[cuts[number] : cuts[number + 1] + overlap])

    return in_order(len(cuts) - 1, b"%d".__mod__, part, processes)


def _digest(text: str) -> bytes:
    digest = sha256()
    for at in range(0, len(text), _DIGESTED):
        digest.update(text[at : at + _DIGESTED].encode("utf-8", "surrogatepass"))
    return digest.digest()


def _text_cuts(text: str, size: int) -> list[int]:
    cuts = [0]
    while found := _SPACE.search(text, cuts[-1] + size):
        cuts.append(found.end())
    return cuts if cuts[-1] == len(text) else [*cuts, len(text)]


def _byte_cuts(data: bytes, size: int) -> list[int]:
    cuts = [0]
    while (cut := data.find(b"\n", cuts[-1] + size) + 1) > 0:
        cuts.append(cut)
    return cuts if cuts[-1] == len(data) else [*cuts, len(data)]
