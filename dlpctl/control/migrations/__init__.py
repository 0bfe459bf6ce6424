"""The steps that make the tables of the control plane: a numbered SQL file each, oldest first.

A step that was released never changes; a change is a further step. A database counts the steps that
it has taken. The files are in the SQL of SQLite, and translated for PostgreSQL; a step that cannot
be translated has a second file for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

_NAMES = (
    "organizations",
    "licenses",
    "tokens",
    "checks",
    "analytics",
    "search",
    "files",
    "bounded_sums",
    "policy_owners",
    "substrings",
    "evidence",
    "breakdowns",
    "policy_phrases",
)


class Step(NamedTuple):
    number: int
    name: str

    def sql(self) -> str:
        return self._file().read_text("utf-8")

    def postgresql(self) -> str | None:
        """Return the step as PostgreSQL takes it, where that is not the translation of `sql`."""
        own = self._file("postgresql")
        return own.read_text("utf-8") if own.is_file() else None

    def _file(self, *dialect: str) -> Traversable:
        return files(__name__) / ".".join((f"{self.number:02}_{self.name}", *dialect, "sql"))


STEPS = tuple(Step(number, name) for number, name in enumerate(_NAMES, 1))


def statements(sql: str) -> Iterator[str]:
    """Yield the statements one by one: all at once, SQLite would end the transaction."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
