"""Open a file in which scans store results: a SQLite database that one scan uses at a time."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import NamedTuple


class OtherFormatError(Exception):
    """The file was written by another version of dlpctl."""


class Layout(NamedTuple):
    """A file format: the application id of SQLite, and the version of the tables."""

    application: int
    version: int
    tables: str


def open_kept(file: Path, layout: Layout) -> sqlite3.Connection:
    """Open a file, or create it, for exclusive use.

    Raise `OSError`, `OtherFormatError`, or `sqlite3.DatabaseError` for another kind of file, which
    stays unchanged.
    """
    is_new = not file.exists() or not file.stat().st_size
    if is_new:
        os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
    database = sqlite3.connect(file, timeout=0.2)
    try:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN IMMEDIATE")
        if is_new:
            for statement in layout.tables.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {layout.application}")
            database.execute(f"PRAGMA user_version = {layout.version}")
        elif database.execute("PRAGMA application_id").fetchone() != (layout.application,):
            raise sqlite3.DatabaseError
        elif database.execute("PRAGMA user_version").fetchone() != (layout.version,):
            raise OtherFormatError
        elif database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError
        database.commit()
    except BaseException:
        database.close()
        raise
    return database
