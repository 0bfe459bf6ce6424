"""The journal of a scan: the outcomes of its units, so that a stopped scan can be resumed.

The journal is in the folder where the scan was started, and holds findings without values or lines.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dlpctl.errors import InputError
from dlpctl.scan.kept import Layout, OtherFormatError, open_kept
from dlpctl.scan.state import UNFINISHED
from dlpctl.scan.units import decoded, encoded, has_nothing

_LAYOUT = Layout(
    application=0x646C706A,
    version=2,
    tables="CREATE TABLE units (key TEXT, outcome TEXT)",
)
_INDEX = "CREATE INDEX IF NOT EXISTS by_key ON units (key)"
"""Made for a scan that resumes another one: it costs more than all else that is written."""
_SUFFIX = ".journal"
_KEPT_EVERY = 1.0
"""The interval in seconds at which outcomes are written: a killed scan loses only the last
interval.
"""
_LEFT_SECONDS = 30 * 24 * 3600
"""The age at which the journal of a scan that nobody resumed is removed."""


class Journal:
    """The outcomes of one scan by the keys of its units, in a file of a folder."""

    def __init__(self, folder: Path, name: str, *, resumes: bool) -> None:
        """Continue the journal of an earlier scan with this name if this scan resumes it."""
        self._file = folder / f"{name}{_SUFFIX}"
        self._own = {f"{self._file}{end}" for end in ("", "-journal")}
        self.resumed = 0
        """The number of units that are not read again."""
        with self._readable():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_old(folder)
            self._database = self._opened(resumes=resumes)
            self._is_empty = (
                not resumes
                or not self._database.execute("SELECT EXISTS (SELECT 1 FROM units)").fetchone()[0]
            )
            if not self._is_empty:
                self._database.execute(_INDEX)
        self._kept = time.monotonic()

    def _opened(self, *, resumes: bool) -> sqlite3.Connection:
        try:
            opened = open_kept(self._file, _LAYOUT)
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, OtherFormatError):
            if resumes:
                raise InputError(
                    f"{self._file}: damaged, or of another version of dlpctl;"
                    " scan without --resume to read everything again"
                ) from None
            self._file.unlink()
            return open_kept(self._file, _LAYOUT)
        if not resumes:
            opened.execute("DELETE FROM units")
            opened.execute("DROP INDEX IF EXISTS by_key")
        return opened

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            if "locked" in str(problem):
                raise InputError(
                    "the same scan is running on a cluster already; wait for its end, or stop it"
                ) from None
            raise InputError(f"{self._file}: {problem}") from None
        except OSError as problem:
            raise InputError(f"{self._file}: {problem.strerror}") from None

    def is_own(self, key: str) -> bool:
        return key in self._own

    def known(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the outcomes of an earlier scan for those keys that have one."""
        if self._is_empty:
            return {}
        marks = ", ".join("?" * len(keys))
        with self._readable():
            found = dict(
                self._database.execute(
                    f"SELECT key, outcome FROM units WHERE key IN ({marks})",  # noqa: S608
                    keys,
                )
            )
        self.resumed += len(found)
        return found

    def add(self, outcomes: Iterable[tuple[str, str]]) -> None:
        """Store the outcomes of units that have a version and were read."""
        rows = [(key, _without_lines(outcome)) for key, outcome in outcomes if key]
        with self._readable():
            self._database.executemany(
                "INSERT INTO units VALUES (?, ?)", (row for row in rows if row[1])
            )
            if time.monotonic() - self._kept > _KEPT_EVERY:
                self._database.commit()
                self._kept = time.monotonic()

    def close(self) -> None:
        """Write the remaining outcomes, if there are any, for a scan that resumes this one."""
        is_empty = False
        with suppress(sqlite3.Error):
            self._database.commit()
            is_empty = self._database.execute("SELECT count(*) FROM units").fetchone() == (0,)
        self._database.close()
        if is_empty:
            self._remove_file()

    def remove(self) -> None:
        """Remove the journal of a complete scan."""
        self._database.close()
        self._remove_file()

    def _remove_file(self) -> None:
        with suppress(OSError):
            self._file.unlink()


def _without_lines(outcome: str) -> str:
    """Return an outcome as it is kept; empty if the unit has to be read again."""
    if has_nothing(outcome):
        return outcome
    found = decoded(outcome)
    if any(skip.why in UNFINISHED for skip in found.skipped):
        return ""
    results = (each._replace(excerpt="", mark=0) for each in found.results)
    return encoded(found._replace(results=results))


def _remove_old(folder: Path) -> None:
    for file in folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _LEFT_SECONDS:
                file.unlink()
