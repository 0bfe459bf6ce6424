"""Diagnose the control plane: its database, licenses and server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.cli.diagnosis.verdicts import State, Verdict, error, noted, ok
from dlpctl.errors import DlpctlError

if TYPE_CHECKING:
    import sqlite3

    from dlpctl.config import Config
    from dlpctl.control.database import Connection

_SKEW = timedelta(minutes=2)
_SOON = timedelta(days=14)
_TIMEOUT = 5
_SET_CLOCK = "sudo timedatectl set-ntp true"
_RESTORE = "dlpctl db restore BACKUP --yes"


def database(config: Config) -> Iterator[Verdict]:
    """Yield verdicts on the database, its licenses and its newest check."""
    address = config.serve.database_url
    if address is None:
        yield from _file(config.data_folder)
        return
    try:
        yield from _shared(address)
    except DlpctlError as problem:
        yield error("database", problem.message, "dlpctl config show")


def _shared(address: str) -> Iterator[Verdict]:
    from dlpctl.control.postgresql.database import PostgresDatabase

    found = PostgresDatabase.of(address)
    if found.is_new:
        yield noted("database", f"{found.name} holds no control plane yet", "dlpctl init")
        return
    with found.opened() as connection:
        yield ok("database", f"{found.name} answers")
        yield from _stored_licenses(connection)
        yield from _newest_check(connection)


def _file(folder: Path) -> Iterator[Verdict]:
    from dlpctl.control.service import DATABASE, KEY_FILE

    file, key = folder / DATABASE, folder / KEY_FILE
    if not file.exists():
        yield noted("database", "none; only the control plane needs one", "dlpctl init")
        return
    if not key.exists():
        message = f"{key} is missing, and without it {file} cannot be read"
        yield error("database", message, f"cp BACKUP-OF-THE-KEY {key}")
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            if problem := _problem(connection, file):
                yield problem
                return
            yield ok("database", f"{file}, intact, {file.stat().st_size / 1e6:.1f} MB")
            yield from _stored_licenses(connection)
            yield from _newest_check(connection)
    except sqlite3.Error as failure:
        yield error("database", f"{file}: {failure}", _RESTORE)


def _problem(connection: sqlite3.Connection, file: Path) -> Verdict | None:
    from dlpctl.control.migrations import STEPS

    version = connection.execute("PRAGMA user_version").fetchone()[0]
    rows = connection.execute("PRAGMA quick_check(1)").fetchall()
    wrong = [row[0] for row in rows if row[0] != "ok"]
    if wrong:
        named = " ".join(wrong[0].split())
        return error("database", f"{file} is damaged: {named}", _RESTORE)
    if version > len(STEPS):
        message = f"a newer dlpctl has written {file}"
        return error("database", message, "install a newer dlpctl from where you have this one")
    return None


def _stored_licenses(connection: Connection) -> Iterator[Verdict]:
    now = datetime.now(UTC)
    rows = connection.execute(
        "SELECT slug, license_id, expires_at FROM licenses JOIN organizations USING (org_id)"
        " WHERE revoked_at IS NULL AND expires_at < ? ORDER BY expires_at",
        ((now + _SOON).isoformat(),),
    ).fetchall()
    for slug, license_id, expires in rows:
        is_over = expires < now.isoformat()
        message = f"{license_id} of {slug} {'expired' if is_over else 'expires'} on {expires[:10]}"
        until = f"{now.year + 1}-{now.month:02}-01"
        remedy = f"dlpctl license extend {slug} {license_id} --expires {until}"
        yield Verdict("license", State.ERROR if is_over else State.WARNING, message, remedy)


def _newest_check(connection: Connection) -> Iterator[Verdict]:
    (newest,) = connection.execute("SELECT max(created_at) FROM checks").fetchone()
    if newest and newest > (datetime.now(UTC) + _SKEW).isoformat():
        when = newest[:19].replace("T", " ")
        yield error(
            "clock", f"the newest check is of {when}: the clock is or was wrong", _SET_CLOCK
        )


def license_key() -> Iterator[Verdict]:
    """Yield a verdict on the license key in the environment, if there is one."""
    from dlpctl.control.keys import KeyKind, well_formed

    key = os.environ.get("DLPCTL_LICENSE_KEY", "").strip()
    if not key:
        return
    if well_formed(KeyKind.LICENSE, key):
        yield ok("license", "DLPCTL_LICENSE_KEY is well-formed")
    else:
        message = (
            "DLPCTL_LICENSE_KEY is not a license key: those start with dlp_lk_ and end in a check"
        )
        yield error("license", message, "dlpctl license list ORG")


def server(config: Config) -> Iterator[Verdict]:
    """Yield verdicts on the server of the settings and on its clock."""
    url = config.server
    if url is None or url == "local":
        yield ok("server", "none; everything runs in this process")
        return
    from http.client import HTTPConnection, HTTPException, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield noted("server", f"{url} is not asked by this command")
        return
    is_local = parts.hostname in ("127.0.0.1", "localhost")
    remedy = "dlpctl serve" if is_local else f"curl {url.rstrip('/')}/readyz"
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        connection = connect(parts.hostname, parts.port, timeout=_TIMEOUT)
        connection.request("GET", f"{parts.path.rstrip('/')}/readyz")
        answer = connection.getresponse()
        date = answer.getheader("Date")
        connection.close()
    except (OSError, HTTPException, ValueError) as problem:
        yield error("server", f"{url} does not answer: {problem}", remedy)
        return
    if answer.status != 200:
        message = f"{url} answers with status {answer.status}: it is not ready for checks"
        yield error("server", message, remedy)
        return
    yield ok("server", f"{url} answers")
    yield from _clock_of_server(date)


def _clock_of_server(date: str | None) -> Iterator[Verdict]:
    from email.utils import parsedate_to_datetime

    try:
        skew = parsedate_to_datetime(date) - datetime.now(UTC) if date else timedelta()
    except (ValueError, TypeError):
        return
    if abs(skew) > _SKEW:
        message = f"it differs from the server's by {abs(skew).total_seconds():.0f} seconds"
        yield error("clock", message, _SET_CLOCK)
