"""Facts from the text so far that affect the text that follows."""

from __future__ import annotations

from typing import NamedTuple


class Header(NamedTuple):
    """The labels of a table, as keys, and the delimiter of its cells."""

    delimiter: str
    keys: tuple[str, ...]


class Known:
    """The memory of the taggers between the parts of a text."""

    __slots__ = ("has_mattered", "header", "names")

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Parts of names, each of which is a name wherever it occurs."""
        self.header: Header | None = None
        """The header of a table whose rows continue."""
        self.has_mattered: bool = False
        """True once a text was tagged whose result depends on this memory."""
