"""Sign tokens for licenses with RS256.

Replaced keys are kept until everything that they signed has expired.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.control.access import LOCAL, Access
from dlpctl.control.clock import written
from dlpctl.control.core import Core, new_id
from dlpctl.control.database import Connection, Row
from dlpctl.control.events import record
from dlpctl.control.keys import Secrets
from dlpctl.control.resources.licenses import PublicKey
from dlpctl.control.seals import check_rows
from dlpctl.control.writer import Batch
from dlpctl.errors import NotFoundError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

ALGORITHM = "RS256"
ISSUER = "dlpctl"
TOKEN_LIFETIME = timedelta(hours=24)
"""The time for which a client may work offline."""
_KEY_BITS = 3072
_OVERLAP = TOKEN_LIFETIME + timedelta(hours=1)
"""The time for which the public key of a replaced key is still available: until all tokens that it
signed have expired, with a tolerance for clocks.
"""
_NEWEST = "SELECT * FROM signing_keys WHERE retired_at IS NULL ORDER BY rowid DESC LIMIT 1"


_COVERED = (
    ("license_groups", "SELECT * FROM license_groups WHERE license_id = ?"),
    (
        "policy_groups",
        (
            "SELECT policy_groups.* FROM license_groups JOIN policy_groups USING (group_id) WHERE"
            " license_id = ?"
        ),
    ),
    (
        "group_policies",
        (
            "SELECT group_policies.* FROM license_groups JOIN group_policies USING (group_id) WHERE"
            " license_id = ?"
        ),
    ),
    (
        "policies",
        (
            "SELECT policies.* FROM license_groups JOIN group_policies USING (group_id)"
            " JOIN policies USING (policy_id) WHERE license_id = ?"
        ),
    ),
)


class PolicyConfig(NamedTuple):
    """The policies that a license covers."""

    policies: tuple[Mapping[str, Any], ...]
    groups: Mapping[str, tuple[str, ...]]
    """Policy ids by group name."""
    default_group: str
    default_policy_id: str | None
    """The first active policy of the default group."""
    policy_version: str

    @property
    def group_names(self) -> tuple[str, ...]:
        return tuple(self.groups)

    def to_dict(self) -> dict[str, Any]:
        return {
            "default_policy_id": self.default_policy_id,
            "groups": {name: list(ids) for name, ids in self.groups.items()},
            "policies": [dict(policy) for policy in self.policies],
        }

    def digest(self) -> str:
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def policy_config(connection: Connection, secrets: Secrets, license_id: str) -> PolicyConfig:
    """Read the policies that a license covers; raise `TamperedError` if another program wrote any
    of the data.
    """
    groups: dict[str, tuple[str, ...]] = {}
    policies: dict[str, Mapping[str, Any]] = {}
    default_group, default_policy_id = "", None
    for table, sql in _COVERED:
        check_rows(connection, secrets, table, connection.execute(sql, (license_id,)).fetchall())
    for group in connection.execute(
        "SELECT group_id, name, license_groups.is_default FROM license_groups"
        " JOIN policy_groups USING (group_id) WHERE license_id = ? ORDER BY"
        " license_groups.is_default DESC, name",
        (license_id,),
    ).fetchall():
        rows = connection.execute(
            "SELECT policies.* FROM group_policies JOIN policies USING (policy_id) WHERE group_id"
            " = ?"
            " ORDER BY created_at, policies.rowid",
            (group["group_id"],),
        ).fetchall()
        groups[group["name"]] = tuple(row["policy_id"] for row in rows)
        for row in rows:
            policies[row["policy_id"]] = {
                "policy_id": row["policy_id"],
                "is_active": bool(row["is_active"]),
            } | json.loads(row["body"])
        if group["is_default"]:
            default_group = group["name"]
            default_policy_id = next((row["policy_id"] for row in rows if row["is_active"]), None)
    version = str(policies[default_policy_id]["version"]) if default_policy_id else ""
    return PolicyConfig(tuple(policies.values()), groups, default_group, default_policy_id, version)


class Signer:
    def __init__(self, core: Core, issuer: str = ISSUER) -> None:
        self._core = core
        self._issuer = issuer
        self._loaded: tuple[str, RSAPrivateKey] | None = None

    def token(self, license_row: Row, config: PolicyConfig) -> str:
        import jwt

        now = self._core.clock()
        expires = min(now + TOKEN_LIFETIME, datetime.fromisoformat(license_row["expires_at"]))
        key_id, key = self._private_key()
        claims = {
            "iss": self._issuer,
            "sub": license_row["license_id"],
            "org_id": license_row["org_id"],
            "license_id": license_row["license_id"],
            "type": license_row["license_type"],
            "policy_version": config.policy_version,
            "policy_hash": config.digest(),
            "iat": int(now.timestamp()),
            "exp": int(expires.timestamp()),
            "jti": secrets.token_hex(16),
        }
        return jwt.encode(claims, key, algorithm=ALGORITHM, headers={"kid": key_id})

    def public_key(self, key_id: str | None) -> PublicKey:
        row = self._newest() if key_id is None else self._known(key_id)
        return PublicKey(row["key_id"], row["public_key"], ALGORITHM)

    def _known(self, key_id: str) -> Row:
        """Return a key that may still have signed a valid token."""
        oldest = written(self._core.clock() - _OVERLAP)
        sql = "SELECT * FROM signing_keys WHERE key_id = ?"
        with self._core.store.reading() as connection:
            row: Row | None = None
            if key_id.isprintable():
                row = connection.execute(sql, (key_id,)).fetchone()
            if row is None or (row["retired_at"] and row["retired_at"] <= oldest):
                raise NotFoundError("there is no public key with this key_id")
            check_rows(connection, self._core.ring.current, "signing_keys", [row])
        return row

    def rotate(self, access: Access) -> PublicKey:
        """Sign with a new key. The previous private key is destroyed; its public key stays
        available for a while.
        """
        insert = self._new_key(access)
        return self.public_key(self._core.store.run(insert))

    def _private_key(self) -> tuple[str, RSAPrivateKey]:
        """Return the newest key, read from the store each time, as another process may have rotated
        it.
        """
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        row = self._newest()
        if self._loaded is None or self._loaded[0] != row["key_id"]:
            key = load_der_private_key(
                self._core.ring.open(row["private_sealed"], row["key_id"]), None
            )
            assert isinstance(key, RSAPrivateKey)
            self._loaded = (row["key_id"], key)
        return self._loaded

    def _newest(self) -> Row:
        with self._core.store.reading() as connection:
            row: Row | None = connection.execute(_NEWEST).fetchone()
            if row is not None:
                check_rows(connection, self._core.ring.current, "signing_keys", [row])
        if row is None:
            insert = self._new_key(LOCAL)

            def first(batch: Batch) -> Row:
                if batch.execute(_NEWEST).fetchone() is None:
                    insert(batch)
                made: Row = batch.execute(_NEWEST).fetchone()
                return made

            row = self._core.store.run(first)
        return row

    def _new_key(self, access: Access) -> Callable[[Batch], str]:
        """Return a job that stores a new key. The key is generated now, because that is too slow
        for the write lock.
        """
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        key_id = new_id("key")
        key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
        private = key.private_bytes(
            serialization.Encoding.DER,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

        def insert(batch: Batch) -> str:
            now = self._core.now()
            batch.execute(
                "UPDATE signing_keys SET private_sealed = ?, retired_at = ? WHERE retired_at IS"
                " NULL",
                (b"", now),
            )
            sealed = self._core.ring.seal(private, key_id)
            batch.execute(
                "INSERT INTO signing_keys (key_id, public_key, private_sealed, created_at) VALUES"
                " (?, ?, ?, ?)",
                (key_id, public.decode(), sealed, now),
            )
            record(batch, self._core, access, "license.signing-key-rotated", key_id, None)
            return key_id

        return insert
