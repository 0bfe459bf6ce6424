"""Positions in a text as arrays: a long text has millions of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


def positions(size: int, numbers: Iterable[int] = ()) -> array[int]:
    """Return positions in a text of this size, in four bytes each if these suffice."""
    return array("I" if size < 1 << 32 else "Q", numbers)
