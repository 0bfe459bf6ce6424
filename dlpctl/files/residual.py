"""Search a long copy for residual values, block by block.

Most values cannot remain, since the copy lacks one of their pieces. Only the others are indexed and
searched for. Forked processes share the objects of this module.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, AnyStr, NamedTuple, Protocol

from dlpctl.encoded import forms
from dlpctl.forked import in_order
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
from dlpctl.literals import GRAM
from dlpctl.regex import lazy
from dlpctl.texthashes import TextHashes
from dlpctl.values import FEWEST_DIGITS_SEARCHED, SHORTEST_SEARCHED
from dlpctl.words import TOKEN, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dlpctl.files.sections import Sections
    from dlpctl.formats.files import Files, Node

_CLEAN = b"clean"
"""The result of a block without values."""
_SIZE = 4
"""The number of bytes in a gram: texts have few different ones."""
_FIRST = Struct("=I")
_MARKS = 16_777_213
"""A prime, so that all bytes of a gram count."""
_MOST = 1 << 20
"""The number of words and numbers from which on a copy is taken to have all."""
_NUL = b"\0"
_SPACE = lazy(r"\s")
_NUMBER = lazy(rb"[0-9]{%d,}" % GRAM)
_DIGESTED = 1 << 20
Reading = Callable[[], Iterable[str]]
"""Reads a file again."""


class Pieces(NamedTuple):
    """The pieces of a copy; a value that remains in it has no other ones."""

    words: set[str]
    number_starts: set[str]
    """The first digits of the numbers in texts."""
    numbers: set[str]
    """The digits of long numbers in bytes."""
    grams: bytearray
    """Marks for all bytes in lower case that follow each other, by the remainder of their number:
    packed data have too many different ones for a set.
    """

    @classmethod
    def none(cls) -> Pieces:
        return cls(set(), set(), set(), bytearray(_MARKS))

    def add(self, data: bytes) -> None:
        """Add the pieces that `pieces_of_text` or `pieces_of_bytes` found."""
        texts, _, grams = data.partition(b"\n")
        for mine, more in zip(self[:3], json.loads(texts), strict=True):
            mine.update(more)
        marks = self.grams
        for number in memoryview(grams).cast("I"):
            marks[number] = 1

    @property
    def total(self) -> int:
        return sum(len(pieces) for pieces in self[:3])

    def may_show(self, value: str) -> bool:
        """Return whether a text may contain a value, which is in the form of searches."""
        if number := digits_of_number(value):
            return number[:FEWEST_DIGITS_SEARCHED] in self.number_starts
        words = needed_words(value)
        return words is None or self.words.issuperset(words)

    def may_hold(self, value: str, encodings: Iterable[str]) -> bool:
        """Return whether bytes may contain a value in one of the encodings."""
        marks = self.grams
        for encoding in encodings:
            # A number is not searched for within longer ones.
            is_number = encoding == "utf-8" and value.isascii() and value.isdigit()
            if is_number and value not in self.numbers:
                continue
            data = value.encode(encoding, "replace").lower()
            # Most values start with bytes that the copy does not have.
            if len(data) >= _SIZE and not marks[_FIRST.unpack_from(data)[0] % _MARKS]:
                continue
            if all(map(marks.__getitem__, _grams(data))):
                return True
        return False


def pieces_of_text(text: str) -> bytes:
    words = set(WORD.findall(text))
    words.update(*(TOKEN.findall(word) for word in words if "_" in word))
    spelled = folded("\n".join(words)).split("\n")
    return _packed(spelled, number_starts(text), (), ())


def pieces_of_bytes(data: bytes) -> bytes:
    numbers: set[str] = set()
    grams: set[int] = set()
    for form in forms(data, GRAM):
        lowered = form.data.lower()
        numbers.update(map(bytes.decode, _NUMBER.findall(lowered)))
        for shift in range(_SIZE):
            grams.update(_numbered(lowered[shift:]))
    return _packed((), (), numbers, set(map(_MARKS.__rmod__, grams)))


def _packed(
    words: Iterable[str],
    starts: Iterable[str],
    numbers: Iterable[str],
    grams: Iterable[int],
) -> bytes:
    texts = json.dumps([list(words), list(set(starts)), list(numbers)])
    return texts.encode() + b"\n" + array("I", grams).tobytes()


def _grams(data: bytes) -> Iterator[int]:
    """Return the places of the marks for bytes."""
    return map(_MARKS.__rmod__, _numbered(data))


def _numbered(data: bytes) -> memoryview:
    return memoryview(data)[: len(data) // _SIZE * _SIZE].cast("I")


class SearchedValues(Protocol):
    """Values that a copy must not have, in chunks, which may share some."""

    @property
    def chunk_count(self) -> int: ...

    @property
    def longest(self) -> int: ...

    def chunk(self, number: int) -> tuple[set[str], set[str]]:
        """Return values, and those that match only as they are written, or in capitals."""


class ResidualSearch:
    """Searches a copy for values: both readings of its text, and its bytes."""

    def __init__(
        self, values: SearchedValues, sections: Sections, again: Sequence[Reading], size: int
    ) -> None:
        """`again` are the second readings of the copy."""
        self._values, self._sections, self._again = values, sections, again
        self._size = size
        is_wide = any(_NUL in node.data for node in sections.node.walk())
        self._encodings = ("utf-8", "utf-16-le", "utf-16-be") if is_wide else ("utf-8",)

    def run(self, processes: int) -> int | None:
        """Return the number of distinct values; None if one of them remains."""
        pieces = self._pieces(processes)
        judged = in_order(
            self._values.chunk_count, b"%d".__mod__, partial(self._judged, pieces), processes
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
        count = len(forms) + len(spelled)
        matcher = StrictMatcher(values, words)
        if not (matcher.values or matcher.words):
            return count
        matcher.prepare(is_wide=len(self._encodings) > 1)
        del values, words, forms, spelled

        def search(part: str | bytes) -> bytes:
            holds = matcher.in_bytes(part) if isinstance(part, bytes) else matcher.in_text(part)
            return b"" if holds else _CLEAN

        return count if all(each == _CLEAN for each in self._in_parts(search, processes)) else None

    def _judged(self, pieces: Pieces | None, task: bytes) -> bytes:
        """Return the values and words of a chunk that may remain, and the hashes of all of them, as
        they are searched for.
        """
        values, words = self._values.chunk(int(task))
        searched = all_as_searched(values)
        forms = {hash(form) for form, _ in searched}
        plain = [
            len(forms),
            [
                each
                for each, (form, spaced) in zip(values, searched, strict=True)
                if self._may_remain(pieces, form, spaced)
            ],
            [each for each in words if self._may_remain(pieces, folded(each), each)],
        ]
        hashes = array("q", [*forms, *map(hash, words)])
        return json.dumps(plain).encode() + b"\n" + hashes.tobytes()

    def _pieces(self, processes: int) -> Pieces | None:
        """Return the pieces of the copy; None if it has too many different ones."""

        def pieces_of(part: str | bytes) -> bytes:
            return pieces_of_bytes(part) if isinstance(part, bytes) else pieces_of_text(part)

        pieces = Pieces.none()
        for found in self._in_parts(pieces_of, processes):
            pieces.add(found)
            if pieces.total > _MOST:
                return None
        return pieces

    def _in_parts(
        self, result_of: Callable[[str | bytes], bytes], processes: int
    ) -> Iterator[bytes]:
        """Yield the results for the parts of all readings and of the bytes, which overlap by the
        longest value.
        """
        size, longest = self._size, self._values.longest
        for text in self._texts():
            cuts = _text_cuts(text, size)
            yield from _results(result_of, text, cuts, 4 * longest, processes)
            del text  # before the next one is read
        for node in self._sections.node.walk():
            data = node.data
            yield from _results(result_of, data, _byte_cuts(data, size), 8 * longest, processes)

    def _texts(self) -> Iterator[str]:
        """Yield the distinct texts of both readings, of which long ones take much memory; short
        ones are joined, since each text costs a task.
        """
        known: set[bytes] = set()
        short: list[str] = []
        for text in self._read():
            if len(text) < self._size:
                short.append(text)
                continue
            digest = _digest(text)
            if digest not in known:
                known.add(digest)
                yield text
            del text
        yield "\n".join(short)

    def _read(self) -> Iterator[str]:
        for section in self._sections.all:
            yield searched_text(section.node.document, section.view)
        for read in self._again:
            yield from read()

    def _may_remain(self, pieces: Pieces | None, form: str, spaced: str) -> bool:
        """Return whether a value may remain, which is searched for in this form, or in bytes as it
        is written.
        """
        if len(form) < SHORTEST_SEARCHED:
            return False
        return (
            pieces is None
            or pieces.may_show(form)
            or (len(spaced) >= GRAM and pieces.may_hold(spaced, self._encodings))
        )


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
