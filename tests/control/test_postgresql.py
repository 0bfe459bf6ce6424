"""Behavior of PostgreSQL alone: the translation, and mistakes of its users. All other
tests of the control plane run on it with `-m slow`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.migrations import STEPS
from dlpctl.control.seals import SEALED
from dlpctl.control.service import ControlPlane
from dlpctl.control.sqlite import SqliteDatabase
from dlpctl.errors import StoreError, UsageError

pytest.importorskip("psycopg")

from dlpctl.control.postgresql.connection import TURN
from dlpctl.control.postgresql.database import PostgresDatabase
from dlpctl.control.postgresql.dialect import translated, translated_step

EMAIL = "write to jane.doe@corp.example.net"
_OWN_TABLES = {"steps", "masked_contents", "shared_items"}


@pytest.fixture
def open_node(tmp_path, detector, clock):
    """Opens the control plane as a node with this name would, with the keys in one folder."""
    return lambda address: ControlPlane.open(
        tmp_path / "data", lambda: detector, clock=clock, database=address
    )


@pytest.fixture
def asked(postgres_server):
    """Runs statements as the superuser, in the database at an address."""
    import psycopg

    def ask(*statements, address=None):
        with psycopg.connect(address or postgres_server.get_uri(), autocommit=True) as connection:
            return [connection.execute(statement) for statement in statements]

    return ask


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a FROM b WHERE c = ? AND d = ?", "SELECT a FROM b WHERE c = %s AND d = %s"),
        ("WHERE :org IS NULL OR org = :org", "WHERE %(org)s::text IS NULL OR org = %(org)s"),
        ("json_extract(a, '$.b?:c')", "json_extract(a, '$.b?:c')"),
        ("CAST(a AS INTEGER)", "CAST(a AS BIGINT)"),
        ("a CROSS JOIN b ON a.x = b.x", "a JOIN b ON a.x = b.x"),
    ],
)
def test_statements_are_translated(sql, expected):
    assert translated(sql) == expected


def test_tables_without_a_number_get_one_as_in_sqlite():
    made = translated_step("CREATE TABLE a (\n    b TEXT PRIMARY KEY\n) STRICT;\n")
    assert made == (
        'CREATE TABLE a (\n    b TEXT COLLATE "C" PRIMARY KEY,'
        " rowid BIGINT GENERATED ALWAYS AS IDENTITY);\n"
    )
    assert "rowid" not in translated_step("CREATE TABLE a (b INTEGER PRIMARY KEY) STRICT;")
    assert "rowid" not in translated_step("CREATE TABLE a (b TEXT) STRICT, WITHOUT ROWID;")


def test_both_databases_have_the_same_tables(tmp_path, filled_postgres):
    """In the same order of columns too: some statements name none."""
    file = SqliteDatabase(tmp_path / "a.db")
    with closing(file.connect()) as connection:
        file.upgrade(connection)
        names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        expected = {
            name: [row["name"] for row in connection.execute(f"PRAGMA table_info({name})")]
            for (name,) in connection.execute(names).fetchall()
            if not name.startswith(("sqlite_", "phrases_search"))
        }
    with PostgresDatabase.of(filled_postgres).opened() as connection:
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'dlpctl' ORDER BY table_name, ordinal_position"
        ).fetchall()
        changes = connection.execute(
            "SELECT count(*) FROM information_schema.triggers WHERE trigger_name LIKE 'touched_%'"
        ).fetchone()[0]
    found = {}
    for table, column in rows:
        if column != "rowid" and table not in _OWN_TABLES:
            found.setdefault(table, []).append(column)
    assert found == expected
    assert changes == 3 * len(SEALED)


def test_a_check_is_recorded_searched_and_verified(open_node, emptied_postgres):
    with open_node(emptied_postgres) as control, open_node(emptied_postgres) as other:
        control.organizations.create(LOCAL, {"name": "Ärzte", "slug": "acme"})
        key = other.policies.list(LOCAL, "acme")[0].api_key
        made = [each.checks.check_text(key, EMAIL, "VENDOR") for each in (control, other)]
        for search in ("ärz", "email", "MAIL vendor", "a"):
            found = other.audit.search(LOCAL, search=search).items
            assert [each.preflight_id for each in found] == [
                each.preflight_id for each in reversed(made)
            ]
        assert other.audit.search(LOCAL, search="absent").total == 0
        assert control.audit.verify(LOCAL).problems == ()
        assert other.maintenance.check() == ()
        with pytest.raises(UsageError, match="pg_dump"):
            control.maintenance.backup(Path("copy.db"))


def test_a_row_that_another_program_changes_is_named(open_node, emptied_postgres, asked):
    with open_node(emptied_postgres) as control:
        control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"})
        asked("UPDATE dlpctl.licenses SET max_checks_per_month = 9999", address=emptied_postgres)
        (problem,) = control.audit.verify(LOCAL).problems
        assert "in licenses: was changed by another program" in problem


def test_connections_that_are_lost_are_replaced(open_node, emptied_postgres, asked):
    with open_node(emptied_postgres) as control:
        control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"})
        key = control.policies.list(LOCAL, "acme")[0].api_key
        for _ in range(2):
            control.checks.check_text(key, EMAIL, "VENDOR")
            asked(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'dlpctl'"
            )
        control.checks.check_text(key, EMAIL, "VENDOR")
        control.policies.update(
            LOCAL, "acme", control.policies.list(LOCAL, "acme")[0].policy_id, {"name": "renamed"}
        )
        report = control.audit.verify(LOCAL)
        assert (report.problems, report.checked) == ((), 3)


def test_a_transaction_that_loses_its_connection_records_nothing(
    open_node, emptied_postgres, asked
):
    with open_node(emptied_postgres) as control:
        control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"})
        store, ran = control._core.store, []

        def lose(batch):
            ran.append(1)
            batch.execute("INSERT INTO state VALUES ('half', ?)", (b"",))
            if len(ran) == 1:
                (pid,) = batch.execute("SELECT pg_backend_pid()").fetchone()
                asked(f"SELECT pg_terminate_backend({pid})")
            batch.execute("SELECT 1")

        tickets = [store.submit(lose), store.submit(lose)]
        for ticket in tickets:
            with pytest.raises(StoreError, match="terminating connection"):
                ticket.result()
        assert len(ran) == 1
        with store.reading() as connection:
            assert not connection.execute("SELECT 1 FROM state WHERE name = 'half'").fetchone()


def test_an_unsynchronized_database_records_checks_durably(open_node, postgres, asked):
    name = postgres.partition("?")[0].rpartition("/")[2]
    asked(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with open_node(postgres) as control, control._core.store.reading() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone()[0] == "on"


def test_a_writer_that_takes_too_long_is_named(open_node, emptied_postgres):
    with open_node(emptied_postgres) as control:
        with control._core.store.alone() as connection:
            connection.execute("SET lock_timeout = '50ms'")
        with PostgresDatabase.of(emptied_postgres).opened() as other:
            other.script(TURN)
            with pytest.raises(StoreError, match="another node"):
                control.maintenance.ready()
        control.maintenance.ready()


def test_a_newer_schema_is_refused(open_node, emptied_postgres, asked):
    open_node(emptied_postgres).close()
    newer = f"UPDATE dlpctl.steps SET taken = {len(STEPS) + 1}"
    asked(newer, address=emptied_postgres)
    try:
        with pytest.raises(StoreError, match=r"newer dlpctl .*upgrade dlpctl on this node"):
            open_node(emptied_postgres)
    finally:
        asked(f"UPDATE dlpctl.steps SET taken = {len(STEPS)}", address=emptied_postgres)


@pytest.fixture
def with_password(postgres_server, asked, wait_for):
    """A user with a password, which the server asks for."""

    def reload():
        loaded = "SELECT pg_conf_load_time()"
        (before,) = asked(loaded)[0].fetchone()
        asked("SELECT pg_reload_conf()")
        wait_for(lambda: asked(loaded)[0].fetchone()[0] != before)

    import psycopg

    with psycopg.connect(postgres_server.get_uri()) as connection:
        hba = Path(connection.execute("SHOW hba_file").fetchone()[0])
    usual = hba.read_text()
    hba.write_text(f"local all secured scram-sha-256\n{usual}")
    asked("CREATE ROLE secured LOGIN PASSWORD 'hunter2-right'")
    reload()
    yield lambda address, password: address.replace("postgres:@", f"secured:{password}@")
    hba.write_text(usual)
    reload()


def test_an_error_of_the_server_is_one_line_without_the_password(
    open_node, postgres, with_password, asked, tmp_path
):
    def refusal(address):
        with pytest.raises(StoreError) as caught:
            open_node(address)
        message = caught.value.message
        assert "\n" not in message
        assert "hunter2" not in message
        return message

    wrong = refusal(with_password(postgres, "hunter2-wrong"))
    assert "password authentication failed" in wrong
    assert "serve.database" in wrong
    assert "serve.database" in refusal(postgres.replace("/test_", "/nothing_"))
    address = with_password(postgres, "hunter2-right")
    rights = refusal(address)
    assert "permission denied" in rights
    assert "GRANT CREATE ON DATABASE test_" in rights
    assert rights.endswith("TO secured")
    granted = rights.partition("GRANT ")[2]
    asked(f"GRANT {granted}")
    open_node(address).close()
    nowhere = refusal("postgresql://jane:hunter2@127.0.0.1:1/dlp")
    assert nowhere.startswith("postgresql://127.0.0.1:1/dlp: ")
    assert "serve.database" in nowhere


@pytest.mark.parametrize(
    "address",
    ["mysql://jane:hunter2@h/d", "postgresql://jane:hunter%2@h/d", "postgresql://h/d?x=hunter2"],
)
def test_an_address_that_is_none_is_not_repeated(open_node, address):
    with pytest.raises(UsageError, match=r"serve\.database") as caught:
        open_node(address)
    assert "hunter" not in caught.value.message


def test_another_encoding_is_refused(open_node, asked, postgres_server):
    asked("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreError, match="LATIN1; create a database with ENCODING 'UTF8'"):
        open_node(postgres_server.get_uri("latin"))


def test_a_mask_key_that_is_another_one_is_refused(open_node, emptied_postgres):
    with open_node(emptied_postgres) as control:
        control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"})
        key = control.policies.list(LOCAL, "acme")[0].api_key
        control.checks.check_text(key, EMAIL, "VENDOR")
        (control.folder / "mask.key").write_text("00" * 32)
    with (
        open_node(emptied_postgres) as control,
        pytest.raises(StoreError, match=r"mask\.key: is not the key of the other nodes"),
    ):
        control.checks.check_text(key, EMAIL, "VENDOR")


def test_sqlite_needs_nothing_of_postgresql(tmp_path, detector):
    with ControlPlane.open(tmp_path, lambda: detector):
        assert sqlite3.connect(tmp_path / "control.db").execute("SELECT 1 FROM state").fetchone()
