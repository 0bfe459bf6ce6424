"""The client of a license: asks the server once in five minutes, believes what its key has signed,
and works on without it.

What is kept of the last answer lies in a file of this user. It is verified each time it is read,
since what stands in it decides.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.backend.signature import Token
from dlpctl.errors import (
    ForbiddenError,
    LicenseError,
    QuotaError,
    RateLimitError,
    ServerError,
    StoreError,
    UnauthorizedError,
)
from dlpctl.newfiles import replacing
from dlpctl.policy.model import Policy

FRESH_SECONDS = 300
PAUSE_SECONDS = 30
"""For which a server that did not answer is not asked again, where a token is at hand."""
SKEW_SECONDS = 300
"""By which the server's clock may be ahead of ours."""
GRACE_SECONDS = 60
"""For which a token is good after its end, for clocks that differ."""
_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 10.0


class Grant(NamedTuple):
    """What a license allows, as the server has signed it."""

    org_id: str
    license_id: str
    config: dict[str, Any]
    """The policies of the license's groups."""

    def policy(self, name: str | None) -> tuple[str, Policy] | None:
        """One of the organization's, by its id or name, with its id; without a name the one that
        the license begins with.
        """
        wanted = name or self.config.get("default_policy_id")
        for one in self.config["policies"]:
            if wanted in (one["policy_id"], one["name"]):
                if not one["is_active"]:
                    raise ForbiddenError(f"the policy {wanted} is not active")
                return one["policy_id"], Policy.from_dict(one, source=f"policy {wanted}")
        if name is None:
            raise ForbiddenError(f"the license {self.license_id} covers no active policy")
        return None


class LicenseClient:
    def __init__(
        self, url: str, license_key: str, data_folder: Path, *, now: Callable[[], float] = time.time
    ) -> None:
        self.url = url
        self._key = license_key
        self._now = now
        folder = data_folder / "license"
        digest = sha256(f"{url}\0{license_key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._file = folder / f"{digest}.json"
        self.spool = folder / f"{digest}.spool"

    def grant(self) -> Grant | None:
        """None where there is neither a server nor a token that is still good. Raises where the
        server says that the license is none.
        """
        kept = self._read()
        now = self._now()
        self._refuse_spent(kept, now)
        grant = self._kept_grant(kept)
        if grant is not None:
            if 0 <= now - _number(kept, "fetched_at") < FRESH_SECONDS:
                return grant
            if 0 <= now - _number(kept, "tried_at") < PAUSE_SECONDS:
                return grant
        try:
            return self._fetched(kept)
        except (UnauthorizedError, ForbiddenError):
            self._write({"keys": _keys(kept)})
            raise
        except (ServerError, StoreError, RateLimitError):
            if "answer" in kept:
                self._write(kept | {"tried_at": max(now, _number(kept, "tried_at"))})
            return grant

    def spent(self, until: datetime, limit: int) -> None:
        """The server has said that the month's checks are used up. The next answer of it takes that
        back.
        """
        self._write(self._read() | {"spent_until": until.timestamp(), "limit": limit})

    def _refuse_spent(self, kept: dict[str, Any], now: float) -> None:
        until = _number(kept, "spent_until")
        if now < until and now - _number(kept, "fetched_at") < FRESH_SECONDS:
            begins = (
                datetime.fromtimestamp(until, UTC)
                .isoformat(timespec="milliseconds")
                .replace("+00:00", "Z")
            )
            limit = int(_number(kept, "limit"))
            raise QuotaError(
                f"the monthly quota of {limit:,} checks is used up; it begins anew on {begins}",
                limit=limit,
                retry_after=int(until - now) + 1,
            )

    def _fetched(self, kept: dict[str, Any]) -> Grant:
        from dlpctl.backend.address import Address
        from dlpctl.backend.connection import Connection
        from dlpctl.backend.remote import RemoteBackend

        connection = Connection(
            Address.parse(self.url), connect_seconds=_CONNECT_SECONDS, seconds=_ANSWER_SECONDS
        )
        server = RemoteBackend(connection, None)
        try:
            answer = server.validate_license(self._key)
            keys = dict(_keys(kept))
            key_id = _token(answer).key_id
            if key_id not in keys:
                keys[key_id] = str(server.get_public_key(key_id=key_id).get("public_key"))
        finally:
            server.close()
        fresh = {"answer": answer, "keys": keys, "fetched_at": self._now()}
        grant = self._verified(fresh)
        self._write(fresh)
        return grant

    def _kept_grant(self, kept: dict[str, Any]) -> Grant | None:
        try:
            return self._verified(kept) if "answer" in kept else None
        except LicenseError:  # too old, or somebody was at the file: the server is asked again
            return None

    def _verified(self, known: dict[str, Any]) -> Grant:
        """Raises `LicenseError` where anything is not as the server's key has signed it for now.

        The key, which is pinned, says who issued a token; the issuer's name is a setting of the
        server.
        """
        answer = known["answer"]
        token = _token(answer)
        pinned = _keys(known).get(token.key_id)
        if not isinstance(pinned, str):
            raise LicenseError("the license token was signed by a key that nobody has vouched for")
        claims = token.claims(pinned)
        now = self._now()
        # A clock that was set back since the server was last tried does not revive a token.
        if _number(claims, "exp") + GRACE_SECONDS <= max(now, _number(known, "tried_at")):
            raise LicenseError("the license token has expired; check this machine's clock")
        if _number(claims, "iat") > now + SKEW_SECONDS:
            raise LicenseError("the license token is from the future; set this machine's clock")
        config = answer.get("policy_config")
        canonical = json.dumps(config, sort_keys=True, separators=(",", ":"))
        if claims.get("policy_hash") != sha256(canonical.encode()).hexdigest():
            raise LicenseError("the policies are not those that the license token was signed for")
        return Grant(str(claims.get("org_id")), str(claims.get("license_id")), config)

    def _read(self) -> dict[str, Any]:
        try:
            with self._file.open("rb") as opened:
                if os.name == "posix" and os.fstat(opened.fileno()).st_mode & 0o077:
                    return {}
                kept = json.load(opened)
        except (OSError, ValueError, RecursionError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _write(self, known: dict[str, Any]) -> None:
        """Where it cannot be kept, the server is asked each time."""
        with suppress(OSError):
            write_privately(self._file, json.dumps(known).encode())


def write_privately(file: Path, data: bytes) -> None:
    """The whole file or none of it, for this user alone."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with replacing(file) as opened:
        opened.write(data)


def _token(answer: object) -> Token:
    token = answer.get("jwt_token") if isinstance(answer, dict) else None
    if not isinstance(token, str):
        raise LicenseError("the license token is missing in what the server answered")
    return Token.parse(token)


def _keys(known: dict[str, Any]) -> dict[str, Any]:
    """The public keys that the server has vouched for, by id. One that is known is never asked for
    again, and so never replaced.
    """
    keys = known.get("keys")
    return keys if isinstance(keys, dict) else {}


def _number(table: dict[str, Any], key: str) -> float:
    value = table.get(key)
    return float(value) if isinstance(value, int | float) else 0.0
