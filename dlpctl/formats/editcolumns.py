"""Edits as columns of numbers and replacements: a long file has millions of them, and their
replacements are often the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import le
from typing import Any, Self, TypeVar, overload

T = TypeVar("T", bound=tuple[Any, ...])
_MANY = 1 << 12
"""The number of edits that are added together."""
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

    @classmethod
    def holding(cls, record: Callable[..., T], width: int, edits: Iterable[T]) -> Self:
        """Return the same edits as columns."""
        columns = cls(record, width)
        columns.add(edits)
        return columns

    def add(self, edits: Iterable[tuple[Any, ...]]) -> None:
        """Add edits as tuples of their fields."""
        remaining = iter(edits)
        while some := list(islice(remaining, _MANY)):
            *numbers, replacements = zip(*some, strict=True)
            self.extend(numbers, replacements)

    def extend(self, numbers: Iterable[Iterable[int]], replacements: Sequence[str]) -> None:
        """Add edits by the columns of their numbers and their replacements."""
        for column, more in zip(self.numbers, numbers, strict=True):
            column.extend(more)
        shared = self._shared
        if len(shared) < _MOST_SHARED:
            new = {*replacements}.difference(shared)
            shared.update(zip(new, new, strict=True))
        self.replacements.extend(map(shared.get, replacements, replacements))

    def in_order(self) -> Self:
        """Return the edits sorted; this takes memory only if they are not."""
        before, after = (zip(*self.numbers, self.replacements, strict=True) for _ in range(2))
        if all(map(le, before, islice(after, 1, None))):
            return self
        return self.holding(self._record, len(self.numbers), sorted(self))

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
