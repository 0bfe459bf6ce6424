"""The steps that create the tables of the control plane: one numbered SQL file each, oldest first.

A released step never changes; a change is a new step. A database counts the steps that were
applied. The files use the SQL of SQLite and are translated for PostgreSQL; a step that cannot be
translated has a second file.
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
        """Return the step for PostgreSQL, if it is not the translation of `sql`."""
        own = self._file("postgresql")
        return own.read_text("utf-8") if own.is_file() else None

    def _file(self, *dialect: str) -> Traversable:
        return files(__name__) / ".".join((f"{self.number:02}_{self.name}", *dialect, "sql"))


STEPS = tuple(Step(number, name) for number, name in enumerate(_NAMES, 1))


def statements(sql: str) -> Iterator[str]:
    """Yield the statements one by one: a script of several would end the transaction in SQLite."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
