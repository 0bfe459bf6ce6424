"""Seals: a keyed MAC over each row that a decision depends on, verified before the row is used.

`SEALED` lists these rows. Triggers on the writing connection record in the table `touched` every
row that a transaction touches, by whatever statement (see `Database.watch`), and `seal_touched`
seals them at the end of the transaction; the event that records the change lists the rows with
their seals. The signed head includes the sum of all seals, so that an old row with its old seal, or
the loss of both, is detected.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dlpctl.control.database import Connection, Row
from dlpctl.control.keys import Secrets
from dlpctl.errors import StoreError, TamperedError

_json = json.JSONEncoder(separators=(",", ":")).encode
_MODULUS = 1 << 256
_BLOBS = {"key_lookup", "key_sealed", "lookup", "private_sealed", "sealed"}
_SEAL = "INSERT INTO seals VALUES (?, ?, ?) ON CONFLICT (tbl, key) DO UPDATE SET mac = excluded.mac"
Mention = tuple[str, str, str | None]
"""A table, the key of a row, and its seal in hexadecimal; None for a removed row."""


class SealedTable(NamedTuple):
    keys: tuple[str, ...]
    values: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.keys, *self.values)


SEALED: Mapping[str, SealedTable] = {
    "organizations": SealedTable(
        ("org_id",), ("name", "slug", "settings", "created_at", "updated_at")
    ),
    "policies": SealedTable(
        ("policy_id",),
        ("org_id", "body", "is_active", "key_lookup", "key_sealed", "created_at", "updated_at"),
    ),
    "policy_versions": SealedTable(("policy_id", "version"), ("body", "created_at")),
    "policy_groups": SealedTable(
        ("group_id",), ("org_id", "name", "description", "is_default", "created_at", "updated_at")
    ),
    "group_policies": SealedTable(("group_id", "policy_id")),
    "licenses": SealedTable(
        ("license_id",),
        (
            "org_id",
            "license_type",
            "key_lookup",
            "key_sealed",
            "expires_at",
            "revoked_at",
            "max_checks_per_month",
            "created_at",
            "updated_at",
        ),
    ),
    "license_groups": SealedTable(("license_id", "group_id"), ("is_default",)),
    "signing_keys": SealedTable(
        ("key_id",), ("public_key", "private_sealed", "created_at", "retired_at")
    ),
    "tokens": SealedTable(
        ("token_id",), ("name", "role", "org_id", "lookup", "created_at", "expires_at")
    ),
    "retired_keys": SealedTable(("key_id",), ("sealed", "last_seq", "last_event", "retired_at")),
}


def row_mac(secrets: Secrets, table: str, row: Mapping[str, Any] | Row) -> bytes:
    return _mac(secrets, table, [_plain(row[column]) for column in SEALED[table].columns])


def row_key(table: str, row: Mapping[str, Any] | Row) -> str:
    return " ".join(str(row[column]) for column in SEALED[table].keys)


def usage_mac(secrets: Secrets, license_id: str, month: str, checks: int) -> bytes:
    """Return the seal of a counter. Counters change with every check, so they keep their seals in
    their own rows.
    """
    return secrets.mac("usage", f"{license_id} {month} {checks}".encode())


def check_rows(connection: Connection, secrets: Secrets, table: str, rows: Iterable[Row]) -> None:
    """Raise `TamperedError` if another program changed a row."""
    for row in rows:
        key = row_key(table, row)
        seal = stored_seal(connection, table, key)
        if seal is None or not hmac.compare_digest(seal, row_mac(secrets, table, row)):
            raise TamperedError.of(table, key)


def stored_seal(connection: Connection, table: str, key: str) -> bytes | None:
    sql = "SELECT mac FROM seals WHERE tbl = ? AND key = ?"
    row = connection.execute(sql, (table, key)).fetchone()
    return row["mac"] if row else None


def triggers() -> Iterator[tuple[str, str, str]]:
    """Yield table, kind of change, and the statement of the trigger that records a touched row."""
    for table, (keys, values) in SEALED.items():
        for change, side, held in (
            ("INSERT", "new", False),
            ("UPDATE", "old", True),
            ("DELETE", "old", True),
        ):
            key = " || ' ' || ".join(f"{side}.{column}" for column in keys)
            row = ", ".join(
                f"lower(hex({side}.{column}))" if column in _BLOBS else f"{side}.{column}"
                for column in (*keys, *values)
            )
            before = f"json_array({row})" if held else "NULL"
            yield (
                table,
                change,
                " ".join(("INSERT INTO touched VALUES (", f"'{table}', {key}, {before}", ");")),
            )


def seal_touched(
    connection: Connection, secrets: Secrets, root: bytes
) -> tuple[bytes, list[Mention]]:
    """Seal the rows that this transaction has touched; return the new root and the seals.

    Raises if another program had changed a row before: its seal must not be renewed.
    """
    held: dict[tuple[str, str], str | None] = {}
    for row in connection.execute("SELECT * FROM touched ORDER BY rowid"):
        held.setdefault((row["tbl"], row["key"]), row["held"])
    connection.execute("DELETE FROM touched")
    mentions: list[Mention] = []
    for (table, key), before in held.items():
        stored = stored_seal(connection, table, key)
        current = _current(connection, table, key)
        if current is None:
            if stored is not None:
                connection.execute("DELETE FROM seals WHERE tbl = ? AND key = ?", (table, key))
                root = moved_root(root, stored, None)
                mentions.append((table, key, None))
            continue
        if before is not None and stored != _mac(secrets, table, json.loads(before)):
            raise TamperedError.of(table, key)
        made = row_mac(secrets, table, current)
        if made != stored:
            connection.execute(_SEAL, (table, key, made))
            root = moved_root(root, stored, made)
            mentions.append((table, key, made.hex()))
    return root, mentions


def all_rows(connection: Connection, table: str) -> list[Row]:
    return connection.execute(" ".join(("SELECT * FROM", table))).fetchall()


def altered_rows(connection: Connection, secrets: Secrets) -> Iterator[tuple[str, str, str]]:
    """Yield table, key and kind of change of each row that another program has altered."""
    rows = connection.execute("SELECT * FROM seals")
    seals = {(row["tbl"], row["key"]): row["mac"] for row in rows}
    for table in SEALED:
        for row in all_rows(connection, table):
            key = row_key(table, row)
            sealed = seals.pop((table, key), None)
            if sealed is None:
                yield table, key, "added"
            elif not hmac.compare_digest(sealed, row_mac(secrets, table, row)):
                yield table, key, "changed"
    for table, key in seals:
        yield table, key, "removed"
    for row in connection.execute("SELECT * FROM usage"):
        license_id, month, checks, mac = row["license_id"], row["month"], row["checks"], row["mac"]
        if not hmac.compare_digest(usage_mac(secrets, license_id, month, checks), mac):
            yield "usage", f"{license_id} {month}", "changed"


def sum_of_seals(connection: Connection) -> bytes:
    root = bytes(32)
    for row in connection.execute("SELECT mac FROM seals"):
        root = moved_root(root, None, row["mac"])
    return root


def check_all(connection: Connection, secrets: Secrets, root: bytes) -> None:
    """Raise if any row was altered, before all rows are sealed with another key."""
    for table, key, _ in altered_rows(connection, secrets):
        raise TamperedError.of(table, key)
    if sum_of_seals(connection) != root:
        raise StoreError(
            "rows of the database are missing or older than the log; see 'dlpctl audit verify'"
        )


def seal_all(connection: Connection, secrets: Secrets) -> tuple[bytes, list[Mention]]:
    """Seal every row as it is: the database was not sealed before, or its key is replaced."""
    connection.execute("DELETE FROM touched")
    connection.execute("DELETE FROM seals")
    root = bytes(32)
    mentions: list[Mention] = []
    for table in SEALED:
        for row in all_rows(connection, table):
            key, made = row_key(table, row), row_mac(secrets, table, row)
            connection.execute(_SEAL, (table, key, made))
            root = moved_root(root, None, made)
            mentions.append((table, key, made.hex()))
    for row in connection.execute("SELECT * FROM usage").fetchall():
        license_id, month, checks = row["license_id"], row["month"], row["checks"]
        connection.execute(
            "UPDATE usage SET mac = ? WHERE license_id = ? AND month = ?",
            (usage_mac(secrets, license_id, month, checks), license_id, month),
        )
    return root, mentions


def moved_root(root: bytes, before: bytes | None, after: bytes | None) -> bytes:
    """Return the sum of all seals after one of them has changed."""
    total = int.from_bytes(root) - int.from_bytes(before or b"") + int.from_bytes(after or b"")
    return (total % _MODULUS).to_bytes(32)


def _current(connection: Connection, table: str, key: str) -> Row | None:
    keys = SEALED[table].keys
    where = " AND ".join(f"{column} = ?" for column in keys)
    sql = " ".join(("SELECT * FROM", table, "WHERE", where))
    row: Row | None = connection.execute(sql, key.split(" ", len(keys) - 1)).fetchone()
    return row


def _mac(secrets: Secrets, table: str, values: Sequence[Any]) -> bytes:
    return secrets.mac("seal", _json((table, *values)).encode())


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value
