"""The packed file: gazetteer, weights and transitions, mapped into memory and read on demand.

Layout, little-endian: a header (magic, checksum of the rest, counts), then nine arrays, each padded
to four bytes: gazetteer keys (u32, sorted) and flags (u16); feature codes (u32, sorted) and ends
(u32: the end of a feature's weights); weights (u8 place, i8 value; a place is slot * labels +
label); transitions (i16, labels x labels); for each value of their highest bits, the start of the
gazetteer keys and of the feature codes (u32); a bit for each value of the highest bits of feature
codes, set if such a feature exists (u8).
"""

from __future__ import annotations

import mmap
import struct
import sys
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal
from zlib import crc32

from dlpctl.errors import NameDataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAGIC = b"dlpcnam3"
HEADER = struct.Struct("<8sI5I")
_TYPE_CODES: tuple[Literal["B", "H", "I", "h"], ...] = (
    "I",
    "H",
    "I",
    "I",
    "B",
    "h",
    "I",
    "I",
    "B",
)  # of the arrays
LABELS = ("O", "B-P", "I-P", "B-A", "I-A", "LOC", "ORG")
_OWN_LANES = len(LABELS)
SLOTS = ("0", "-1", "+1", "-2", "+2", "<", "<<", ">", ">>")
# bits of a label in an integer that holds the weights of all labels, so that one addition adds them
# all
LANE = 16
_LOW = 20
"""The number of lower bits of a key: the higher bits limit the search to a few of
seventeen steps.
"""
_BUCKETS = 1 << 32 - _LOW
MARK_BIT = 14
MARK_BYTE = MARK_BIT + 3
"""The position of the mark in a feature's code: nine of ten looked-up codes have no feature, and
most of these no mark.
"""
_MARKS = 1 << 32 - MARK_BYTE
SLOT = LANE * len(LABELS)
"""The number of bits of a slot in an integer that contains the weights of all slots."""
FORBIDDEN = -32768  # a transition that never happens
_SIGNED = (*range(128), *range(-128, 0))  # by the byte
SCALE = 24  # a stored weight is the trained one times this, rounded


def pack(
    gazetteer: dict[int, int],
    weights: dict[int, list[tuple[int, int]]],
    transitions: list[list[int]],
) -> bytes:
    """The file's bytes. `weights`: code of a feature -> (place, value) pairs."""
    words = sorted(gazetteer)
    features = sorted(weights)
    ends, pairs, end = [], bytearray(), 0
    for key in features:
        for tag, value in weights[key]:
            pairs += struct.pack("<Bb", tag, value)
            end += 1
        ends.append(end)
    arrays = [
        struct.pack(f"<{len(words)}I", *words),
        struct.pack(f"<{len(words)}H", *(gazetteer[key] for key in words)),
        struct.pack(f"<{len(features)}I", *features),
        struct.pack(f"<{len(ends)}I", *ends),
        bytes(pairs),
        struct.pack(f"<{len(LABELS) ** 2}h", *(value for row in transitions for value in row)),
        _buckets(words),
        _buckets(features),
        _marks(features),
    ]
    body = b"".join(array + b"\0" * (-len(array) % 4) for array in arrays)
    counts = (len(words), len(features), end, len(LABELS), len(SLOTS))
    return HEADER.pack(MAGIC, crc32(body), *counts) + body


def _buckets(keys: list[int]) -> bytes:
    firsts = [bisect_left(keys, bucket << _LOW) for bucket in range(_BUCKETS + 1)]
    return struct.pack(f"<{len(firsts)}I", *firsts)


def _marks(codes: list[int]) -> bytes:
    marks = bytearray(_MARKS)
    for code in codes:
        marks[code >> MARK_BYTE] |= 1 << (code >> MARK_BIT & 7)
    return bytes(marks)


class Model:
    """Read-only and shared by threads; `features` and `flags` only read the map."""

    def __init__(self, data: memoryview) -> None:
        if len(data) < HEADER.size:
            raise ValueError("damaged")
        magic, checksum, words, features, pairs, labels, slots = HEADER.unpack_from(data)
        index = 4 * (_BUCKETS + 1)
        sizes = (
            words * 4,
            words * 2,
            features * 4,
            features * 4,
            pairs * 2,
            labels**2 * 2,
            index,
            index,
            _MARKS,
        )
        if (
            magic != MAGIC
            or labels != len(LABELS)
            or slots != len(SLOTS)
            or sys.byteorder != "little"
        ):
            raise ValueError("not a file of this version")
        if (
            len(data) != HEADER.size + sum(size + -size % 4 for size in sizes)
            or crc32(data[HEADER.size :]) != checksum
        ):
            raise ValueError("damaged")
        parts: list[memoryview[int]] = []
        offset = HEADER.size
        for size, type_code in zip(sizes, _TYPE_CODES, strict=True):
            parts.append(data[offset : offset + size].cast(type_code))
            offset += size + -size % 4
        self._words, self._flags, self._features, self._ends, self._pairs, transitions, *rest = (
            parts
        )
        self._first_words, self._first_features, marks = rest
        self.marks = marks.tobytes()
        self.transitions = [
            list(transitions[row * labels : (row + 1) * labels]) for row in range(labels)
        ]

    @classmethod
    def load(cls, path: Path) -> Model:
        try:
            with path.open("rb") as file:
                return cls(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
        except (OSError, ValueError, struct.error) as error:
            raise NameDataError(
                f"{path}: the data for names and addresses cannot be used ({error}); "
                "reinstall dlpctl"
            ) from error

    def flags(self, keys: Iterable[str]) -> int:
        """Return the gazetteer entry of the first key that it contains, or 0."""
        words, firsts = self._words, self._first_words
        for key in keys:
            code = crc32(key.encode("utf-8", "surrogatepass"))
            bucket = code >> _LOW
            index = bisect_left(words, code, firsts[bucket], firsts[bucket + 1])
            if index < len(words) and words[index] == code:
                return self._flags[index]
        return 0

    def weights(self, code: int) -> bytes:
        """Return the stored weights of a feature: a byte for the place, a byte for the value, and
        so on.
        """
        if not self.marks[code >> MARK_BYTE] >> (code >> MARK_BIT & 7) & 1:
            return b""
        firsts, bucket, features = self._first_features, code >> _LOW, self._features
        last = firsts[bucket + 1]
        index = bisect_left(features, code, firsts[bucket], last)
        if index == last or features[index] != code:
            return b""
        ends = self._ends
        return self._pairs[2 * ends[index - 1] if index else 0 : 2 * ends[index]].tobytes()

    def votes(self, code: int) -> int:
        """Return the weights of a feature for all slots, a lane for each label, as one integer."""
        found, total = self.weights(code), 0
        for lane, value in zip(found[::2], found[1::2], strict=True):
            total += _SIGNED[value] << LANE * lane
        return total

    def vote(self, code: int) -> int:
        """Return the weights of a feature that votes for its own token only."""
        found, total = self.weights(code), 0
        for lane, value in zip(found[::2], found[1::2], strict=True):
            # One code in thousands is that of a feature of another kind, which votes for
            # neighbours, too.
            if lane < _OWN_LANES:
                total += _SIGNED[value] << LANE * lane
        return total
