"""Edits as columns of numbers and replacements: a long file has millions of them, and their
replacements are often the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Self, TypeVar, overload

T = TypeVar("T", bound=tuple[Any, ...])
_MOST_SHARED = 1 << 16
"""The number of replacements among which equal ones are stored once."""


class EditColumns(Sequence[T]):
    """Edits, each with some numbers and, last, its replacement; the objects are created on
    access.
    """

    __slots__ = ("_record", "_shared", "numbers", "replacements")

    def __init__(self, record: Callable[..., T], width: int) -> None:
        """`record` makes an edit of `width` numbers and a replacement."""
        self._record = record
        self.numbers = [array("q") for _ in range(width)]
        """The columns of numbers."""
        self.replacements: list[str] = []
        self._shared: dict[str, str] = {}

    @classmethod
    def of(cls, record: Callable[..., T], numbers: list[array[int]], texts: list[str]) -> Self:
        """Return the edits of these columns."""
        edits = cls(record, 0)
        edits.numbers, edits.replacements = numbers, texts
        return edits

    def append(self, *edit: Any) -> None:
        """Add an edit by its fields."""
        for column, number in zip(self.numbers, edit, strict=False):
            column.append(number)
        shared, text = self._shared, edit[-1]
        if text in shared:
            text = shared[text]
        elif len(shared) < _MOST_SHARED:
            shared[text] = text
        self.replacements.append(text)

    def in_order(self) -> Iterable[T]:
        """Return the edits sorted; this takes memory only if they are not."""
        return self if all(before <= after for before, after in pairwise(self)) else sorted(self)

    def __len__(self) -> int:
        return len(self.replacements)

    def __iter__(self) -> Iterator[T]:
        return map(self._record, *self.numbers, self.replacements)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        numbers = (column[at] for column in self.numbers)
        return self._record(*numbers, self.replacements[at])
