"""Databases are scanned by schema, table and column: read-only, and without their values."""

from __future__ import annotations

import getpass
import json
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.scan.databases import DatabaseScan
from dlpctl.scan.results import Result, Skip, Summary, Why
from dlpctl.scan.selection import Selection

pytest.importorskip("sqlalchemy")

MAIL = "jane.doe@northwind.org"
OTHER = "omar.khan@northwind.org"
Scan = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def scan(dlpctl: Callable[..., Any]) -> Scan:
    def call(*arguments: str) -> tuple[int, dict[str, Any], str]:
        ran = dlpctl("scan", *arguments, "--format", "json")
        shown = ran.out + ran.err
        assert MAIL not in shown
        assert OTHER not in shown
        start = ran.out.find("{")
        return ran.status, json.loads(ran.out[start:]) if start >= 0 else {}, shown

    return call


def places(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the table, the column with its counts, and the type of each finding."""
    return [
        (one["file"].rpartition("/")[2], one["place"], one["type"]) for one in report["findings"]
    ]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as connection:
        connection.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, mail TEXT, note, photo BLOB)"
        )
        connection.execute("CREATE TABLE log (line TEXT)")
        connection.execute("CREATE TABLE grades (a TEXT, b INT, v TEXT, PRIMARY KEY (a, b))")
        connection.executemany(
            "INSERT INTO people (mail, note) VALUES (?, ?)",
            [(MAIL, 1), (OTHER, f"ask {MAIL}"), (None, b"plain bytes")],
        )
        connection.execute("INSERT INTO people (photo) VALUES (?)", (b"\xff\xd8\xff",))
        connection.execute("INSERT INTO log VALUES (?)", (f"sent to {MAIL}",))
        connection.execute("INSERT INTO log VALUES (CAST(? AS TEXT))", (MAIL.encode() + b" \xff",))
        connection.executemany(
            "INSERT INTO grades VALUES (?, ?, ?)",
            [
                (f"k{number % 7}", number, MAIL if number == 24_999 else "x")
                for number in range(25_000)
            ],
        )
    connection.close()
    return file


def test_sqlite(scan: Scan, shop: Path) -> None:
    before = shop.read_bytes()
    status, report, _ = scan(f"sqlite:///{shop}", "--verbose")
    assert status == 20
    assert sorted(places(report)) == [
        ("grades", "v: 1 of 25,000 values", "EMAIL"),
        ("log", "line: 2 of 2 values", "EMAIL"),
        ("people", "mail: 2 of 4 values", "EMAIL"),
        ("people", "note: 1 of 4 values", "EMAIL"),
    ]
    assert all(one["sample"] is None for one in report["findings"])
    assert [one["detail"] for one in report["skipped"]] == ["column photo: 1 value: binary data"]
    assert report["summary"]["files"] == 3
    assert shop.read_bytes() == before
    assert [file.name for file in shop.parent.glob("shop*")] == ["shop.db"]


@pytest.mark.parametrize("key", ["NULL", "CAST(X'ff' AS TEXT)"])
def test_rows_after_keys_that_nothing_follows_are_read(
    scan: Scan, tmp_path: Path, key: str
) -> None:
    """SQLite has null keys and invalid text; after a page that ends in one, there is more."""
    file = tmp_path / "keys.db"
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(
            "CREATE TABLE people (id TEXT, part TEXT, mail TEXT, PRIMARY KEY (id, part))"
        )
        connection.executemany(
            f"INSERT INTO people VALUES ({key}, ?, 'none')",
            [(f"{number:05}",) for number in range(12_000)],
        )
        connection.execute(f"INSERT INTO people VALUES ({key}, 'z', ?)", (MAIL,))
    connection.close()
    _, report, _ = scan(f"sqlite:///{file}", "--types", "EMAIL")
    assert places(report) == [("people", "mail: 1 of 12,001 values", "EMAIL")]


def test_tables_are_included_excluded_and_accepted(scan: Scan, shop: Path) -> None:
    _, report, _ = scan(f"sqlite:///{shop}", "--include", "people", "--types", "EMAIL")
    assert {table for table, _, _ in places(report)} == {"people"}
    _, report, _ = scan(f"sqlite:///{shop}", "--exclude", "people", "--exclude", "grades")
    assert {table for table, _, _ in places(report)} == {"log"}


def test_files_and_databases_are_scanned_together(scan: Scan, shop: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text(MAIL)
    status, report, _ = scan(str(note), f"sqlite:///{shop}")
    assert status == 20
    assert report["summary"]["files"] == 4


def test_files_other_than_databases_are_an_error(scan: Scan, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    status, _, shown = scan(f"sqlite:///{missing}")
    assert (status, missing.exists()) == (1, False)
    assert "there is no such database file" in shown
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no database" * 1000)
    status, _, shown = scan(f"sqlite:///{damaged}")
    assert status == 1
    assert "file is not a database" in shown


def test_a_database_that_cannot_be_reached_leaves_others_to_be_scanned(
    scan: Scan, shop: Path
) -> None:
    status, report, shown = scan(
        "postgresql://jane:hunter2secret@127.0.0.1:1/shop", f"sqlite:///{shop}"
    )
    assert status == 1
    assert "hunter2secret" not in shown
    (missed,) = (one for one in report["skipped"] if one["why"] == "unreadable")
    assert missed["file"] == "postgresql://127.0.0.1:1/shop"
    assert missed["detail"].startswith("cannot connect: ")
    assert report["findings"]


def test_duckdb(scan: Scan, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("duckdb_engine")
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA sales")
        connection.execute("CREATE TABLE sales.people (mail VARCHAR, tags VARCHAR[], born DATE)")
        connection.execute(f"INSERT INTO sales.people VALUES ('{MAIL}', ['{OTHER}'], '1980-02-03')")
    status, report, _ = scan(f"duckdb:///{file}")
    assert status == 20
    assert sorted(
        place.partition(":")[0] for _, place, kind in places(report) if kind == "EMAIL"
    ) == ["mail", "tags"]
    assert report["findings"][0]["file"].endswith("sales.people")


def test_progress_counts_tables(shop: Path) -> None:
    summary = Summary()
    steps: list[tuple[str, int, int]] = []
    detector = Detector().for_types(["EMAIL"])
    one = DatabaseScan(
        detector,
        0.5,
        AllowList(),
        Selection(),
        summary,
        on_step=lambda now: steps.append((now.noun, now.files, now.bytes)),
    )
    assert list(one.scan([f"sqlite:///{shop}"]))
    assert len(steps) > 8  # a step for each page, of which the columns of one table have three
    assert steps == sorted(steps)
    assert steps[-1][:2] == ("table", 3)


def test_views_of_sqlite_are_listed(scan: Scan, shop: Path) -> None:
    connection = sqlite3.connect(shop)
    with connection:
        connection.execute("CREATE VIEW mails AS SELECT mail FROM people")
    connection.close()
    status, report, _ = scan(f"sqlite:///{shop}", "--types", "EMAIL", "--verbose")
    assert status == 20
    assert "mails" not in {table for table, _, _ in places(report)}
    listed = [one for one in report["skipped"] if one["file"].endswith("/mails")]
    assert [(one["why"], one["detail"]) for one in listed] == [
        ("view", "it repeats what its tables hold")
    ]


@pytest.fixture(scope="module")
def mysql() -> Iterator[str]:
    """The address of a MariaDB of one's own, which listens on a socket in a folder."""
    pytest.importorskip("pymysql")
    programs = [shutil.which(name) for name in ("mariadb-install-db", "mariadbd")]
    if not all(programs):
        pytest.skip("mariadb-server is not installed")
    # The path of a socket is short.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        data = f"--datadir={folder}/data"
        own = f"--user={getpass.getuser()}"
        install = [str(programs[0]), "--no-defaults", data, own, "--skip-test-db"]
        subprocess.run(
            [*install, "--auth-root-authentication-method=normal"], capture_output=True, check=True
        )
        serve = [str(programs[1]), "--no-defaults", data, own, "--skip-networking"]
        place = [f"--socket={folder}/s", f"--pid-file={folder}/pid"]
        server = subprocess.Popen([*serve, *place], stderr=subprocess.PIPE)
        assert server.stderr is not None
        try:
            assert any(b"ready for connections" in line for line in server.stderr)
            yield f"mysql://root@/shop?unix_socket={folder}/s"
        finally:
            server.terminate()
            server.communicate()


def test_mysql(scan: Scan, mysql: str) -> None:
    import pymysql

    place = mysql.rpartition("=")[2]
    with pymysql.connect(unix_socket=place, user="root", autocommit=True) as connection:
        cursor = connection.cursor()
        for statement in (
            "CREATE DATABASE shop CHARACTER SET utf8mb4",
            "USE shop",
            "CREATE TABLE shop.people (id int PRIMARY KEY, mail varchar(80), data json, photo blob)",
            "ALTER TABLE shop.people ADD born date, ADD kind enum('a','b')",
            "CREATE TABLE shop.log (line text)",
            "CREATE TABLE shop.hidden (mail text)",
            "CREATE VIEW shop.mails AS SELECT mail FROM shop.people",
            "INSERT INTO people SELECT seq, 'none', '{}', NULL, NULL, 'a' FROM seq_1_to_25000",
            "CREATE USER reader@localhost IDENTIFIED BY ''",
            "GRANT SELECT ON shop.people TO reader@localhost",
            "GRANT SELECT ON shop.log TO reader@localhost",
        ):
            cursor.execute(statement)
        values = (99999, MAIL, json.dumps({"to": OTHER}), b"\xff\xd8", "1980-02-03", "b")
        cursor.execute("INSERT INTO shop.people VALUES (%s, %s, %s, %s, %s, %s)", values)
        cursor.execute("INSERT INTO shop.log VALUES (%s), (%s)", (f"to {MAIL}", MAIL))
        cursor.execute("INSERT INTO shop.hidden VALUES (%s)", (MAIL,))
    status, report, _ = scan(mysql, "--types", "EMAIL", "--verbose")
    assert status == 20
    assert sorted(places(report)) == [
        ("shop.hidden", "mail: 1 of 1 values", "EMAIL"),
        ("shop.log", "line: 2 of 2 values", "EMAIL"),
        ("shop.people", "data: 1 of 25,001 values", "EMAIL"),
        ("shop.people", "mail: 1 of 25,001 values", "EMAIL"),
    ]
    assert [(one["file"].rpartition("/")[2], one["why"]) for one in report["skipped"]] == [
        ("shop.mails", "view"),
        ("shop.people", "in part unreadable"),
    ]
    everything = scan(mysql.replace("/shop?", "/?"), "--types", "EMAIL")[1]
    assert {table for table, _, _ in places(everything)} >= {"shop.people", "shop.hidden"}
    status, report, _ = scan(mysql.replace("root", "reader"), "--types", "EMAIL")
    assert status == 20
    assert {table for table, _, _ in places(report)} == {"shop.people", "shop.log"}
    status, _, shown = scan(mysql.replace("root", "nobody:hunter2secret"))
    assert status == 1
    assert "cannot connect" in shown
    assert "hunter2secret" not in shown


def beside(address: str, name: str) -> str:
    """Return the address of another database of the same server."""
    return re.sub(r"/\w+\?", f"/{name}?", address)


def test_postgresql(scan: Scan, postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute(
            "CREATE SCHEMA crm; CREATE TABLE crm.people (id bigint PRIMARY KEY, mail text, data jsonb,"
            " mails text[], photo bytea, born date);"
            "CREATE TABLE public.log (at uuid, line varchar, n numeric, PRIMARY KEY (at, n));"
            "CREATE TABLE hidden (mail text); CREATE ROLE reader LOGIN;"
            "GRANT USAGE ON SCHEMA crm TO reader; GRANT SELECT ON crm.people, log TO reader"
        )
        connection.execute(
            "INSERT INTO crm.people SELECT n + 9000000000, 'none', '{}', '{}', NULL, NULL"
            " FROM generate_series(1, 25000) AS n"
        )
        connection.execute(
            "INSERT INTO crm.people VALUES (%s, %s, %s, %s, %s, %s)",
            (99999999999, MAIL, json.dumps({"to": OTHER}), [MAIL], b"\xff\xfe", "1980-02-03"),
        )
        connection.execute(
            "INSERT INTO log SELECT gen_random_uuid(), %s, n FROM generate_series(1, 20001) AS n",
            (f"sent to {MAIL}",),
        )
        connection.execute("INSERT INTO hidden VALUES (%s)", (MAIL,))
        connection.execute(
            "CREATE VIEW crm.mails AS SELECT mail FROM crm.people;"
            "CREATE MATERIALIZED VIEW crm.kept AS SELECT mail FROM hidden;"
            "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER away FOREIGN DATA WRAPPER far;"
            "CREATE FOREIGN TABLE crm.far (mail text) SERVER away;"
            "GRANT SELECT ON crm.kept TO reader"
        )
    status, report, _ = scan(postgres, "--types", "EMAIL", "--verbose")
    assert status == 20
    found = sorted(places(report))
    skipped = {one["file"].rpartition("/")[2]: one for one in report["skipped"]}
    assert skipped["crm.mails"]["why"] == "view"
    assert skipped["crm.far"]["why"] == "foreign table"
    assert skipped["crm.far"]["detail"] == "scan the server that holds it"
    assert found == [
        ("crm.kept", "mail: 1 of 1 values", "EMAIL"),
        ("crm.people", "data: 1 of 25,001 values", "EMAIL"),
        ("crm.people", "mail: 1 of 25,001 values", "EMAIL"),
        ("crm.people", "mails: 1 of 25,001 values", "EMAIL"),
        ("public.hidden", "mail: 1 of 1 values", "EMAIL"),
        ("public.log", "line: 20,001 of 20,001 values", "EMAIL"),
    ]
    reader = postgres.replace("postgres:@", "reader@")
    status, report, _ = scan(reader, "--types", "EMAIL")
    assert status == 1
    assert [(one["file"].rpartition("/")[2], one["detail"]) for one in report["skipped"]] == [
        ("public.hidden", "permission denied for table hidden")
    ]
    assert {table for table, _, _ in places(report)} == {*("crm.kept", "crm.people", "public.log")}
    status, _, shown = scan(beside(postgres, "nowhere"))
    assert status == 1
    assert "cannot connect" in shown


@pytest.mark.parametrize("returns", [True, False])
def test_a_server_that_vanishes_in_mid_scan(
    postgres: str, library: Detector, returns: bool
) -> None:
    """Findings up to then are reported, and tables that were not read are listed."""
    import psycopg

    name = f"vanishing_{returns}".lower()
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute(f"CREATE DATABASE {name}")
    address = beside(postgres, name)
    with psycopg.connect(address) as connection:
        for table in ("a", "b"):
            connection.execute(f"CREATE TABLE {table} (mail text, note text)")
            connection.execute(f"INSERT INTO {table} VALUES (%s, %s)", (MAIL, OTHER))
    lost: list[str] = []

    def end_sessions(_summary: object) -> None:
        if lost:
            return
        lost.append(name)
        with psycopg.connect(postgres, autocommit=True) as other:
            if not returns:
                other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
            )

    one = DatabaseScan(library, 0.5, AllowList(), Selection(), Summary(), on_step=end_sessions)
    results = list(one.scan([address]))
    found = [each for each in results if isinstance(each, Result)]
    missed = [each for each in results if isinstance(each, Skip)]
    assert MAIL not in str(missed) + str(found)
    tables = ["a", "b", "b"] if returns else ["a"]
    assert [each.path.rpartition(".")[2] for each in found] == tables
    tables = ["a"] if returns else ["a", "b"]
    assert [(each.path.rpartition(".")[2], each.why) for each in missed] == [
        (table, Why.UNREADABLE) for table in tables
    ]
    assert missed[0].detail == "terminating connection due to administrator command"


def test_a_session_in_place_of_a_lost_one_only_reads(postgres: str, library: Detector) -> None:
    """The table that is read next would write: its policy calls a function that does."""
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute(
            "CREATE SCHEMA trap; CREATE ROLE visitor LOGIN; CREATE TABLE trap.a (mail text, note text);"
            "CREATE TABLE trap.b (mail text); CREATE TABLE trap.written (at timestamp);"
            "CREATE FUNCTION trap.write() RETURNS boolean SECURITY DEFINER LANGUAGE plpgsql"
            " AS 'BEGIN INSERT INTO trap.written VALUES (now()); RETURN true; END';"
            "ALTER TABLE trap.b ENABLE ROW LEVEL SECURITY;"
            "CREATE POLICY writing ON trap.b USING (trap.write());"
            "INSERT INTO trap.a VALUES ('none'); INSERT INTO trap.b VALUES ('none');"
            "GRANT USAGE ON SCHEMA trap TO visitor; GRANT SELECT ON trap.a, trap.b TO visitor"
        )
    ended: list[int] = []

    def end_session(_summary: object) -> None:
        if not ended:
            with psycopg.connect(postgres) as other:
                ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s"
                ended.append(other.execute(ends, ("visitor",)).rowcount)

    selection = Selection(include=["trap/a", "trap/b"])
    one = DatabaseScan(library, 0.5, AllowList(), selection, Summary(), on_step=end_session)
    missed = list(one.scan([postgres.replace("postgres:@", "visitor@")]))
    assert ended == [1]
    assert [each.detail for each in missed if each.why is Why.UNREADABLE] == [
        "terminating connection due to administrator command",
        "cannot execute INSERT in a read-only transaction",
    ]
    with psycopg.connect(postgres) as connection:
        assert connection.execute("SELECT * FROM trap.written").fetchall() == []


def test_rows_of_partitions_and_inherited_tables_count_once(scan: Scan, postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute(
            "CREATE SCHEMA sales; CREATE SCHEMA archive;"
            "CREATE TABLE sales.orders (at int, mail text, PRIMARY KEY (at)) PARTITION BY RANGE (at);"
            "CREATE TABLE archive.old PARTITION OF sales.orders FOR VALUES FROM (0) TO (100)"
            " PARTITION BY RANGE (at);"
            "CREATE TABLE archive.oldest PARTITION OF archive.old FOR VALUES FROM (0) TO (50);"
            "CREATE TABLE sales.new PARTITION OF sales.orders FOR VALUES FROM (100) TO (200);"
            "CREATE TABLE sales.people (mail text);"
            "CREATE TABLE sales.staff (note text) INHERITS (sales.people)"
        )
        connection.execute("INSERT INTO sales.orders VALUES (1, %s), (101, %s)", (MAIL, OTHER))
        connection.execute("INSERT INTO sales.people VALUES (%s)", (MAIL,))
        connection.execute("INSERT INTO sales.staff VALUES (%s, %s)", (OTHER, MAIL))
    options = ("--types", "EMAIL", "--include", "sales/*", "--include", "archive/*", "--verbose")
    _, report, _ = scan(postgres, *options)
    assert sorted(places(report)) == [
        ("sales.orders", "mail: 2 of 2 values", "EMAIL"),
        ("sales.people", "mail: 1 of 1 values", "EMAIL"),
        ("sales.staff", "mail: 1 of 1 values", "EMAIL"),
        ("sales.staff", "note: 1 of 1 values", "EMAIL"),
    ]
    listed = {one["file"].rpartition("/")[2]: one["why"] for one in report["skipped"]}
    of_parts = {name: why for name, why in listed.items() if why == "partition"}
    assert sorted(of_parts) == ["archive.old", "archive.oldest", "sales.new"]
    # A partition is read by itself where its table is left out.
    _, report, _ = scan(postgres, "--types", "EMAIL", "--include", "archive/oldest")
    assert places(report) == [("archive.oldest", "mail: 1 of 1 values", "EMAIL")]
