"""Admin tokens. A token is shown when it is created; the store keeps only its HMAC."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dlpctl.control.access import LOCAL, Access, Role
from dlpctl.control.core import OVERLAP, Core, find_organization, new_id
from dlpctl.control.database import Row
from dlpctl.control.events import Event, append, note_use, record
from dlpctl.control.keys import KeyKind, mint, well_formed
from dlpctl.control.resources.fields import fail
from dlpctl.control.resources.tokens import Token, TokenRequest
from dlpctl.control.seals import check_rows
from dlpctl.control.writer import Batch
from dlpctl.errors import ForbiddenError, NotFoundError, StoreError, UnauthorizedError, os_errors
from dlpctl.system.newfiles import write_whole

_BY_ID = "SELECT * FROM tokens WHERE token_id = ?"
_BY_LOOKUP = "SELECT * FROM tokens WHERE lookup = ?"


class Tokens:
    def __init__(self, core: Core, first_file: Path) -> None:
        self._core = core
        self._first_file = first_file

    def authenticate(self, token: str | None) -> Access:
        if not token:
            raise UnauthorizedError("send an admin token as 'Authorization: Bearer <TOKEN>'")
        return self._access(self._core.unless_rotated(lambda: self._known(token)))

    def access_of(self, token_id: str) -> Access:
        """Return the current rights of a token that has signed in; raise `UnauthorizedError` if it
        was revoked or has expired since.
        """
        return self._access(self._core.unless_rotated(lambda: self._stored(token_id)))

    def record_session(self, access: Access, action: str) -> None:
        """Record that the holder of a token signed in or out."""
        core = self._core
        event = Event(core.now(), access.token_id, action, access.org_id or "", access.token_id)
        core.store.run(lambda batch: append(batch.connection, core, event))

    def _access(self, row: Row) -> Access:
        if row["expires_at"] and row["expires_at"] <= self._core.now():
            raise UnauthorizedError(f"the admin token expired on {row['expires_at']}")
        note_use(self._core, row["token_id"], row["org_id"] or "")
        return Access(Role(row["role"]), row["org_id"], row["token_id"])

    def _stored(self, token_id: str) -> Row:
        with self._core.store.reading() as connection:
            row: Row | None = connection.execute(_BY_ID, (token_id,)).fetchone()
            if row is None:
                raise UnauthorizedError("the admin token was revoked")
            check_rows(connection, self._core.ring.current, "tokens", [row])
        return row

    def _known(self, token: str) -> Row:
        core = self._core
        with core.store.reading() as connection:
            known = [core.ring.current, *core.ring.retired_since(core.clock() - OVERLAP)]
            lookups = (
                [keys.lookup(token) for keys in known] if well_formed(KeyKind.ADMIN, token) else []
            )
            found = (connection.execute(_BY_LOOKUP, (lookup,)).fetchone() for lookup in lookups)
            row: Row | None = next((row for row in found if row is not None), None)
            if row is None:
                raise UnauthorizedError("the admin token is unknown")
            check_rows(connection, core.ring.current, "tokens", [row])
        if row["lookup"] != lookups[0]:
            self._renew_lookup(row["token_id"], lookups[0], row["org_id"])
        return row

    def _renew_lookup(self, token_id: str, lookup: bytes, org_id: str | None) -> None:
        """Store the token's hash by the current key file, now that the token is available."""

        def job(batch: Batch) -> None:
            batch.execute("UPDATE tokens SET lookup = ? WHERE token_id = ?", (lookup, token_id))
            record(batch, self._core, LOCAL, "token.renewed", token_id, org_id)

        self._core.store.run(job)

    def list(self, access: Access) -> tuple[Token, ...]:
        access.require(Role.ADMIN)
        with self._core.store.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM tokens WHERE ? IS NULL OR org_id = ? ORDER BY created_at, rowid",
                (access.org_id, access.org_id),
            ).fetchall()
        return tuple(_token(row) for row in rows)

    def create(self, access: Access, body: Mapping[str, Any]) -> Token:
        """Create a token; an administrator of one organization creates tokens for that
        organization.
        """
        access.require(Role.ADMIN)
        given = TokenRequest.read(body)
        if given.org_id is None and access.org_id is not None:
            raise ForbiddenError(
                "org_id: this token makes tokens for its own organization only; name it"
            )
        if given.expires_at and given.expires_at <= self._core.now():
            fail("expires_at", "must be in the future")
        return self._make(access, given.role, given.org_id, given.name, given.expires_at)

    def revoke(self, access: Access, token_id: str) -> None:
        access.require(Role.ADMIN)

        def job(batch: Batch) -> None:
            found = token_id.isprintable() and batch.execute(
                "DELETE FROM tokens WHERE token_id = ? AND (? IS NULL OR org_id = ?) RETURNING"
                " org_id",
                (token_id, access.org_id, access.org_id),
            )
            rows = found.fetchall() if found else []
            if not rows:
                raise NotFoundError("there is no such token")
            record(batch, self._core, access, "token.revoked", token_id, rows[0]["org_id"])

        self._core.store.run(job)

    def first(self) -> Path:
        """Return the file with the first token, for the command line of this user; create it if the
        file or its token is missing.
        """
        file = self._first_file
        try:
            self.authenticate(file.read_text("ascii").strip())
        except (OSError, UnicodeDecodeError, UnauthorizedError):
            made = self._make(Access(Role.ADMIN), Role.ADMIN, None, "first", None)
            with os_errors(StoreError, f"{file}: cannot be written"):
                write_whole(file, f"{made.token}\n".encode())
        return file

    def _make(
        self, access: Access, role: str, org: str | None, name: str, expires: str | None
    ) -> Token:
        key, token_id, now = mint(KeyKind.ADMIN), new_id("tok"), self._core.now()

        def job(batch: Batch) -> Token:
            org_id = (
                find_organization(batch.connection, access, org)["org_id"]
                if org is not None
                else None
            )
            batch.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)",
                (token_id, name, role, org_id, self._core.ring.lookup(key), now, expires),
            )
            record(batch, self._core, access, "token.created", token_id, org_id, role=role)
            return Token(token_id, name, role, org_id, now, expires, key)

        return self._core.store.run(job)


def _token(row: Row) -> Token:
    return Token(**{name: row[name] for name in Token.fields if name != "token"})
