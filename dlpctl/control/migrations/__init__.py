"""The steps that make the tables of the control plane: a numbered SQL file each, oldest first.

A step that was released never changes; a change is a further step. `PRAGMA user_version` counts the
steps that a database has taken.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlite_utils import Database

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

    def apply(self, database: Database) -> None:
        """Run the statements of the step in the transaction that is open."""
        for statement in _statements(f"{self.number:02}_{self.name}.sql"):
            database.execute(statement)


STEPS = tuple(Step(number, name) for number, name in enumerate(_NAMES, 1))


def _statements(file: str) -> Iterator[str]:
    """Return the statements one by one: all at once, they would end the transaction."""
    statement = ""
    for line in (files(__name__) / file).read_text("utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
