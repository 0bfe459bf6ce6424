"""The state of earlier scans: contents that have not changed since are not read again.

The state keeps findings without values or lines, so that an unchanged content still counts with all
of its findings. A content is known if its version, its path in results, the search and the version
of the library are the same.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from dlpctl.errors import InputError
from dlpctl.scan.kept import Layout, OtherFormatError, open_kept
from dlpctl.scan.results import FAILURES, Result, Skip, Tally, Why
from dlpctl.scan.source import File, address_shown, is_address

_LAYOUT = Layout(
    application=0x646C7063,
    version=1,
    tables="""
CREATE TABLE searches (id INTEGER PRIMARY KEY, digest TEXT UNIQUE, library TEXT);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY, search INTEGER, name BLOB, shown BLOB, version TEXT,
    files INTEGER, bytes INTEGER, accepted INTEGER, has_records INTEGER
);
CREATE UNIQUE INDEX content_names ON contents (search, name);
CREATE TABLE records (content INTEGER, record TEXT);
CREATE INDEX record_contents ON records (content);
""",
)
_KEPT_EVERY = 2.0
"""The seconds after which results are written: a killed scan loses no more."""
UNFINISHED = FAILURES | {Why.GONE}
"""Reasons for which a content is read again by the next scan."""


class Known(NamedTuple):
    """A content that has not changed since it was scanned."""

    id: int
    tally: Tally
    has_records: bool


class _Open(NamedTuple):
    """A content that may have more parts."""

    id: int
    file: File
    tally: Tally
    is_complete: bool
    has_records: bool


class State:
    """The known contents of one search, in a file that one scan uses at a time."""

    def __init__(self, file: Path, search: Iterable[object], library: str) -> None:
        """Raise `InputError` for a file that is damaged or not a state, and leave it unchanged."""
        self._file = file
        self._own = {_absolute(f"{file}{end}") for end in ("", "-journal")}
        digest = sha256(json.dumps([library, *search], default=repr).encode()).hexdigest()
        with self._readable():
            self._database = _opened(file)
            try:
                self._search, self._is_new_library = self._search_of(digest, library)
            except BaseException:
                self._database.close()
                raise
        self._library = library
        self._listed: set[int] = set()
        self._open: _Open | None = None
        self._kept = time.monotonic()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as problem:
            if "locked" in str(problem):
                raise InputError(f"--state {self._file}: another scan is using it") from None
            raise InputError(f"--state {self._file}: {problem}") from None
        except sqlite3.DatabaseError:
            raise InputError(
                f"--state {self._file}: not the state of a scan, or damaged; name another file,"
                " or delete it to read everything again"
            ) from None

    def _search_of(self, digest: str, library: str) -> tuple[int, bool]:
        run = self._database.execute
        is_new = run("SELECT max(library = ?) FROM searches", (library,)).fetchone() == (0,)
        run("INSERT OR IGNORE INTO searches (digest, library) VALUES (?, ?)", (digest, library))
        (number,) = run("SELECT id FROM searches WHERE digest = ?", (digest,)).fetchone()
        return number, is_new

    def is_own(self, key: str) -> bool:
        return key in self._own

    def known(self, key: str, file: File) -> Known | None:
        """Return a known content by its key; None if the content has to be read."""
        if not file.version:
            return None
        with self._readable():
            row = self._database.execute(
                "SELECT id, version, shown, files, bytes, accepted, has_records"
                " FROM contents WHERE search = ? AND name = ?",
                (self._search, os.fsencode(key)),
            ).fetchone()
        if row is None:
            return None
        self._listed.add(row[0])
        if row[1] != file.version or row[2] != os.fsencode(file.shown):
            return None
        return Known(row[0], Tally(*row[3:6]), bool(row[6]))

    def records(self, known: Known) -> Iterator[Result | Skip]:
        with self._readable():
            rows = self._database.execute(
                "SELECT record FROM records WHERE content = ? ORDER BY rowid", (known.id,)
            ).fetchall()
        for (row,) in rows:
            fields = json.loads(row)
            if len(fields) == len(Skip._fields):
                yield Skip(fields[0], Why(fields[1]), fields[2])
            else:
                yield Result(*fields)

    def add(
        self,
        files: Sequence[tuple[str, File]],
        tallies: Sequence[Sequence[int]],
        found: Iterable[Result | Skip],
        *,
        is_continued: bool = False,
    ) -> None:
        """Store contents with their keys or, with `is_continued`, more of the last content."""
        records: dict[str, list[Result | Skip]] = {}
        for record in found:
            records.setdefault(record.path, []).append(record)
        with self._readable():
            for (key, file), tally in zip(files, tallies, strict=True):
                if not is_continued:
                    self._finish()
                    self._start(os.fsencode(key), file)
                self._extend(records.get(file.shown, ()), Tally(*tally))
            if time.monotonic() - self._kept > _KEPT_EVERY:
                self._keep()

    def _start(self, name: bytes, file: File) -> None:
        run = self._database.execute
        row = run(
            "SELECT id FROM contents WHERE search = ? AND name = ?", (self._search, name)
        ).fetchone()
        if row is not None:
            run("UPDATE contents SET version = NULL WHERE id = ?", row)
            run("DELETE FROM records WHERE content = ?", row)
        else:
            made = run("INSERT INTO contents (search, name) VALUES (?, ?)", (self._search, name))
            row = (made.lastrowid,)
        self._listed.add(row[0])
        self._open = _Open(row[0], file, Tally(), is_complete=True, has_records=False)

    def _extend(self, found: Sequence[Result | Skip], tally: Tally) -> None:
        opened = self._open
        assert opened is not None
        rows = [
            json.dumps(each._replace(excerpt="", mark=0) if isinstance(each, Result) else each)
            for each in found
        ]
        self._database.executemany(
            "INSERT INTO records VALUES (?, ?)", ((opened.id, row) for row in rows)
        )
        self._open = opened._replace(
            tally=Tally(*map(sum, zip(opened.tally, tally, strict=True))),
            is_complete=opened.is_complete
            and not any(isinstance(each, Skip) and each.why in UNFINISHED for each in found),
            has_records=opened.has_records or bool(rows),
        )

    def _finish(self) -> None:
        """Make the last content known, unless a part of it could not be read."""
        opened, self._open = self._open, None
        if opened is not None and opened.is_complete and opened.file.version:
            shown = os.fsencode(opened.file.shown)
            self._database.execute(
                "UPDATE contents SET version = ?, shown = ?, files = ?, bytes = ?, accepted = ?,"
                " has_records = ? WHERE id = ?",
                (opened.file.version, shown, *opened.tally, opened.has_records, opened.id),
            )

    def _keep(self) -> None:
        self._database.commit()
        self._kept = time.monotonic()

    def finish(self, roots: Sequence[str]) -> str:
        """Remove contents of these roots that a complete scan no longer lists, and those of other
        libraries.

        Return a sentence if the contents were read by another version before.
        """
        with self._readable():
            self._finish()
            gone = [(each,) for each in self._below(roots) if each not in self._listed]
            run = self._database.executemany
            run("DELETE FROM records WHERE content = ?", gone)
            run("DELETE FROM contents WHERE id = ?", gone)
            old = [
                (number,)
                for number, library in self._database.execute("SELECT id, library FROM searches")
                if library != self._library
            ]
            run(
                "DELETE FROM records WHERE content IN (SELECT id FROM contents WHERE search = ?)",
                old,
            )
            run("DELETE FROM contents WHERE search = ?", old)
            run("DELETE FROM searches WHERE id = ?", old)
            self._keep()
        if not self._is_new_library:
            return ""
        return "The state is of another version of dlpctl: everything was read again."

    def _below(self, roots: Sequence[str]) -> Iterator[int]:
        for root in roots:
            name = os.fsencode(address_shown(root) if is_address(root) else _absolute(root))
            name = name.rstrip(b"/")
            yield from (
                number
                for (number,) in self._database.execute(
                    "SELECT id FROM contents"
                    " WHERE search = ? AND (name = ? OR (name > ? AND name < ?))",
                    (self._search, name, name + b"/", name + b"0"),
                ).fetchall()
            )

    def close(self) -> None:
        """Write what was scanned, even if the scan was stopped."""
        with suppress(sqlite3.Error):
            self._open = None
            self._database.commit()
        self._database.close()


def _opened(file: Path) -> sqlite3.Connection:
    try:
        return open_kept(file, _LAYOUT)
    except OtherFormatError:
        raise InputError(
            f"--state {file}: written by another version of dlpctl; name another file,"
            " or delete it to read everything again"
        ) from None
    except OSError as problem:
        raise InputError(f"--state {file}: {problem.strerror}") from None


def _absolute(name: str) -> str:
    return os.path.abspath(name)  # noqa: PTH100  # links stay as they are
