from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest

from dlpctl.control.migrations import STEPS, statements
from dlpctl.control.sqlite import SqliteDatabase
from dlpctl.control.store import Store
from dlpctl.errors import StoreError

_OWNED = [step.name for step in STEPS].index("policy_owners")
_ORGANIZATION = "INSERT INTO organizations VALUES ('org_1', 'Acme', 'acme', '{}', '2026', '2026')"
_PHRASE = (
    "INSERT INTO phrases (phrase_id, digest, org_id, org_name, policy_id, policy_name, policy_version,"
    " destination, decision, summary) VALUES (1, x'00', 'org_1', 'Acme', 'pol_1', 'default', '1.0', 'VENDOR', 'BLOCKED',"
    " 'Blocked because of it')"
)


def _schema(file):
    with closing(sqlite3.connect(file)) as database:
        return sorted(
            (name, " ".join((sql or "").split()))
            for name, sql in database.execute("SELECT name, sql FROM sqlite_master")
        )


def _take(database, step):
    for statement in statements(step.sql()):
        database.execute(statement)


@pytest.mark.parametrize("version", range(1, len(STEPS) + 1))
def test_every_earlier_database_comes_up_to_date_with_what_it_holds(tmp_path, version):
    file = tmp_path / "old.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as old:
        for step in STEPS[:version]:
            _take(old, step)
        old.execute(f"PRAGMA user_version = {version}")
        old.execute(_ORGANIZATION)
        if version >= 4:
            old.execute(_PHRASE)
    Store(SqliteDatabase(file)).close()
    Store(SqliteDatabase(tmp_path / "new.db")).close()
    assert _schema(file) == _schema(tmp_path / "new.db")
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA user_version").fetchone()[0] == len(STEPS)
        assert database.execute("SELECT name FROM organizations").fetchall() == [("Acme",)]
        found = database.execute(
            "SELECT rowid FROM phrases_search WHERE phrases_search MATCH 'blocked'"
        )
        assert found.fetchall() == ([(1,)] if version >= 4 else [])
        if 4 <= version <= _OWNED:
            assert database.execute("SELECT * FROM policy_owners").fetchall() == [
                ("pol_1", "org_1")
            ]


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path):
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE seals (in_the_way)")
    before = _schema(file)
    with pytest.raises(StoreError, match="seals"):
        Store(SqliteDatabase(file))
    assert _schema(file) == before


def test_an_upgrade_waits_for_a_process_that_writes(tmp_path):
    file = tmp_path / "held.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.2, other.execute, ["COMMIT"])
        release.start()
        try:
            Store(SqliteDatabase(file)).close()
        finally:
            release.join()


def test_a_newer_database_is_refused(tmp_path):
    Store(SqliteDatabase(tmp_path / "a.db")).close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(StoreError, match="newer"):
        Store(SqliteDatabase(tmp_path / "a.db"))


def test_files_other_than_databases_are_refused(tmp_path):
    (tmp_path / "a.db").write_bytes(b"not a database" * 500)
    with pytest.raises(StoreError, match="db restore"):
        Store(SqliteDatabase(tmp_path / "a.db"))


def test_sums_beyond_the_largest_number_are_bounded(tmp_path):
    before = [step.name for step in STEPS].index("bounded_sums")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as database:
        for step in STEPS[:before]:
            _take(database, step)
        database.execute(_ORGANIZATION)
        database.execute(
            "INSERT INTO daily VALUES ('org_1', '2026-03-10', 1, 2, 3, ?1, ?1, ?1)", (2**63 - 1,)
        )
        database.execute(
            "INSERT INTO daily_types VALUES ('org_1', '2026-03-10', 'EMAIL', ?)", (2**63 - 1,)
        )
        database.execute(f"PRAGMA user_version = {before}")
    Store(SqliteDatabase(tmp_path / "a.db")).close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        assert database.execute("SELECT * FROM daily").fetchone()[4:] == (1, 2, 3, *[2**53 - 1] * 3)
        assert database.execute("SELECT found FROM daily_types").fetchone() == (2**53 - 1,)
