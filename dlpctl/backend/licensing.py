"""The license client: it asks the server every five minutes, and works without it in between.

The last answer is kept in a file of this user. Its signature was verified on arrival; later, a seal
keyed with the license key proves that the file is unchanged since this client wrote it.
"""

from __future__ import annotations

import hmac
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.backend.signature import key_id_of, verified_claims
from dlpctl.control.clock import written
from dlpctl.errors import (
    ForbiddenError,
    LicenseError,
    QuotaError,
    RateLimitError,
    ServerError,
    StoreError,
    UnauthorizedError,
)
from dlpctl.policy.model import Policy
from dlpctl.system.newfiles import write_whole
from dlpctl.types import Decision, Destination

FRESH_SECONDS = 300
PAUSE_SECONDS = 30
"""The seconds before a silent server is asked again, if there is a token."""
SKEW_SECONDS = 300
"""The seconds by which the server's clock may be ahead of this one."""
GRACE_SECONDS = 60
"""The seconds for which an expired token is accepted, since clocks differ."""
_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 10.0


class Grant(NamedTuple):
    """The policies that a license covers, as signed by the server."""

    org_id: str
    license_id: str
    config: dict[str, Any]
    """The policies of the license's groups."""

    def policy(self, name: str | None) -> tuple[str, Policy] | None:
        """Return a policy of the organization and its id, by id or name; without a name, the
        default policy of the license.
        """
        wanted = name or self.config.get("default_policy_id")
        for each in self.config["policies"]:
            if wanted in (each["policy_id"], each["name"]):
                if not each["is_active"]:
                    raise ForbiddenError(f"the policy {wanted} is not active")
                return each["policy_id"], Policy.from_dict(each, source=f"policy {wanted}")
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
        self._seal_key = sha256(f"license-seal\0{license_key}".encode("utf-8", "replace")).digest()
        folder = data_folder / "license"
        digest = sha256(f"{url}\0{license_key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._file = folder / f"{digest}.json"
        self.spool = folder / f"{digest}.spool"

    def grant(self) -> Grant | None:
        """Return what the license grants; None without a server and without a valid token.

        Raise an error if the server says that the license is invalid.
        """
        kept = self._read()
        now = self._now()
        self._refuse_spent(kept, now)
        grant = self._kept_grant(kept)
        if grant is not None:
            if _is_fresh(kept, now):
                return grant
            if 0 <= now - _number(kept, "tried_at") < PAUSE_SECONDS:
                return grant
        try:
            return self._fetched(kept)
        except (UnauthorizedError, ForbiddenError):
            if kept:  # nothing is stored for keys that were never valid
                self._write({"keys": _keys(kept)})
            raise
        except (ServerError, StoreError, RateLimitError):
            if "answer" in kept:
                self._write(kept | {"tried_at": max(now, _number(kept, "tried_at"))})
            return grant

    def spent(self, until: datetime, limit: int) -> None:
        """Record that the month's checks are used up, until the server's next answer."""
        self._write(self._read() | {"spent_until": until.timestamp(), "limit": limit})

    def _refuse_spent(self, kept: dict[str, Any], now: float) -> None:
        until = _number(kept, "spent_until")
        if now < until and _is_fresh(kept, now):
            retry_at = written(datetime.fromtimestamp(until, UTC))
            limit = int(_number(kept, "limit"))
            raise QuotaError(
                f"the monthly quota of {limit:,} checks is used up; it starts again on {retry_at}",
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
            token = _token(answer)
            key_id = key_id_of(token)
            if key_id not in keys:
                keys[key_id] = str(server.get_public_key(key_id=key_id).get("public_key"))
        finally:
            server.close()
        claims = _verified(answer, token, keys[key_id])
        fresh = {"answer": answer, "claims": claims, "keys": keys, "fetched_at": self._now()}
        grant = self._timely(fresh)
        self._write(fresh)
        return grant

    def _kept_grant(self, kept: dict[str, Any]) -> Grant | None:
        try:
            return self._timely(kept) if "answer" in kept else None
        except LicenseError:  # too old, so ask the server again
            return None

    def _timely(self, known: dict[str, Any]) -> Grant:
        """Return the grant of a verified answer; raise `LicenseError` if it is not valid now."""
        claims, now = known["claims"], self._now()
        # Setting the clock back since the last attempt does not revive a token.
        if _number(claims, "exp") + GRACE_SECONDS <= max(now, _number(known, "tried_at")):
            raise LicenseError("the license token has expired; check this machine's clock")
        if _number(claims, "iat") > now + SKEW_SECONDS:
            raise LicenseError("the license token is from the future; set this machine's clock")
        config = known["answer"]["policy_config"]
        return Grant(str(claims.get("org_id")), str(claims.get("license_id")), config)

    def _read(self) -> dict[str, Any]:
        try:
            with self._file.open("rb") as opened:
                if os.name == "posix" and os.fstat(opened.fileno()).st_mode & 0o077:
                    return {}
                kept = json.load(opened)
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(kept, dict) or not isinstance(seal := kept.pop("seal", None), str):
            return {}
        is_sealed = hmac.compare_digest(seal.encode("utf-8", "replace"), self._seal(kept).encode())
        return kept if is_sealed else {}

    def _write(self, known: dict[str, Any]) -> None:
        """Write the file; if that fails, the server is asked each time."""
        with suppress(OSError):
            sealed = known | {"seal": self._seal(known)}
            write_privately(self._file, json.dumps(sealed).encode())

    def _seal(self, known: dict[str, Any]) -> str:
        return hmac.digest(self._seal_key, _canonical(known), "sha256").hex()


def reported_check(
    policy: tuple[str, str],
    destination: Destination,
    decision: Decision,
    counts: Mapping[str, int],
    size: int,
    *,
    is_file: bool = False,
) -> dict[str, Any]:
    """Return the report of a check for the server; `policy` is its id and version."""
    return {
        "preflight_id": f"pf_{os.urandom(12).hex()}",
        "created_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "destination": destination.value,
        "decision": decision.value,
        "policy_id": policy[0],
        "policy_version": policy[1],
        "bytes": size,
        "is_file": is_file,
        "detected": [{"type": name, "count": count} for name, count in sorted(counts.items())],
    }


def write_privately(file: Path, data: bytes) -> None:
    """Write a file atomically that only this user can read."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(file, data)


def _token(answer: object) -> str:
    token = answer.get("jwt_token") if isinstance(answer, dict) else None
    if not isinstance(token, str):
        raise LicenseError("the server's answer has no license token")
    return token


def _verified(answer: dict[str, Any], token: str, public_key: object) -> dict[str, Any]:
    """Return the claims of an answer; raise `LicenseError` if the key did not sign it.

    The pinned key identifies the issuer of a token; the issuer's name is just a server setting.
    """
    if not isinstance(public_key, str):
        raise LicenseError("the license token was signed by a key that is not trusted")
    claims = verified_claims(token, public_key)
    if claims.get("policy_hash") != sha256(_canonical(answer.get("policy_config"))).hexdigest():
        raise LicenseError("the policies are not those that the license token was signed for")
    return claims


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _keys(known: dict[str, Any]) -> dict[str, Any]:
    """Return the pinned public keys of the server, by id. A known key is never requested again, and
    so never replaced.
    """
    keys = known.get("keys")
    return keys if isinstance(keys, dict) else {}


def _is_fresh(kept: dict[str, Any], now: float) -> bool:
    """Return whether the server's answer is recent; never by a clock that was set back since."""
    return 0 <= now - _number(kept, "fetched_at") < FRESH_SECONDS


def _number(table: dict[str, Any], key: str) -> float:
    value = table.get(key)
    return float(value) if isinstance(value, int | float) else 0.0
