"""Facts that a text has shown so far and that matter to the text that follows."""

from __future__ import annotations

from typing import NamedTuple


class Header(NamedTuple):
    """The labels of a table, as keys, and what is between its cells."""

    delimiter: str
    keys: tuple[str, ...]


class Known:
    """The memory of the taggers between the parts of a text."""

    __slots__ = ("has_mattered", "header", "names")

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Parts of names, each of which is a name wherever it is."""
        self.header: Header | None = None
        """The header of a table whose rows go on."""
        self.has_mattered: bool = False
        """True once a text was tagged, to which all of this matters."""
