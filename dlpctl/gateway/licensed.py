"""Admit requests by license keys, which identify the organization and its policy: one of the
control plane on this machine, or of a server, which receives decisions and never content.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dlpctl.backend.licensing import Grant as License
from dlpctl.backend.licensing import LicenseClient, reported_check
from dlpctl.backend.spool import Spool
from dlpctl.control.clock import next_month
from dlpctl.control.keys import KeyKind, well_formed
from dlpctl.errors import (
    BusyError,
    DlpctlError,
    ForbiddenError,
    QuotaError,
    ServerError,
    StoreError,
    UnauthorizedError,
)
from dlpctl.gateway.admission import Admission, Grant, Policies, Terms
from dlpctl.system.recent import Recent
from dlpctl.values import derive_key

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dlpctl.control.prepared import PreparedDetectors
    from dlpctl.control.service import ControlPlane
    from dlpctl.types import Decision

_KEPT = 256
_KEPT_SECONDS = 5.0
"""The seconds for which the answer to a key is reused."""
_SEND_SECONDS = 2.0
_MOST_NEW = 2
"""The number of unknown keys that are checked at a time: more of them would delay known keys."""


class Licenses(Protocol):
    """The licenses of a control plane. Thread-safe."""

    def get(self, key: str) -> License:
        """Return what a license grants; raise `DlpctlError` if it is not valid."""

    def record(self, key: str, check: dict[str, Any]) -> None:
        """Record a check; raise `DlpctlError` if that fails or the quota is used up."""


class LicenseAdmission:
    """Admits requests with a license key, by its default policy or the one they name."""

    def __init__(
        self,
        licenses: Licenses,
        terms: Terms,
        detectors: PreparedDetectors,
        key: bytes,
        *,
        own_key: str | None = None,
        own_policy: str | None = None,
    ) -> None:
        """Organization keys are derived from `key`; `own_key` is the license of requests without a
        key, and `own_policy` the policy of requests that name none.
        """
        self._licenses = licenses
        self._terms = terms
        self._detectors = detectors
        self._key = key
        self._own_key = own_key
        self._own_policy = own_policy
        self._policies = Policies(terms)

    def admit(self, key: str | None, policy: str | None = None) -> Grant:
        license_key = key or self._own_key or ""
        if not well_formed(KeyKind.LICENSE, license_key):
            raise UnauthorizedError("send the key of a license in the header X-Dlpctl-Key")
        license = self._licenses.get(license_key)  # noqa: A001
        self._terms.rates.take(license.license_id)
        found = license.policy(policy or self._own_policy)
        if found is None:
            raise ForbiddenError("the license covers no policy of this name")
        policy_id, own = found
        day = datetime.now(UTC).date()
        own_key = derive_key(self._key, f"gateway {license.org_id}")

        def record(decision: Decision, counts: Mapping[str, int], size: int) -> None:
            to = self._terms.destination
            check = reported_check((policy_id, own.version), to, decision, counts, size)
            self._licenses.record(license_key, check)

        return self._policies.grant(
            (policy_id, own.version, day.isoformat()),
            lambda to: self._detectors.checker(own, to, license.org_id, own_key, day),
            own_key,
            license.org_id,
            record,
        )


class KeyAdmission:
    """Admits by license or policy keys, which differ in their prefixes."""

    def __init__(self, licenses: Admission, policies: Admission) -> None:
        self._licenses = licenses
        self._policies = policies

    def admit(self, key: str | None, policy: str | None = None) -> Grant:
        is_license = (key or "").startswith(KeyKind.LICENSE)
        return (self._licenses if is_license else self._policies).admit(key, policy)


class _Known(NamedTuple):
    """The answer to a key, and what it is valid for."""

    until: float
    generation: bytes
    answer: License | DlpctlError


class _Answers:
    """The most recent answers to keys."""

    def __init__(self) -> None:
        self._kept: Recent[bytes, _Known] = Recent(_KEPT)

    def get(self, key: str, generation: bytes) -> License | None:
        """Return the known answer to a key; raise it if it was an error."""
        known = self._kept.get(_digest(key))
        if known is None or known.until <= time.monotonic() or known.generation != generation:
            return None
        if isinstance(known.answer, DlpctlError):
            raise known.answer.with_traceback(None)
        return known.answer

    def put(self, key: str, generation: bytes, answer: License | DlpctlError) -> None:
        until = time.monotonic() + _KEPT_SECONDS
        self._kept.put(_digest(key), _Known(until, generation, answer))


class LocalLicenses:
    """The licenses of the control plane in this process: revoking one takes effect immediately."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control
        self._answers = _Answers()

    def get(self, key: str) -> License:
        licenses = self._control.licenses
        generation = licenses.generation()
        known = self._answers.get(key, generation)
        if known is None:
            valid = licenses.validate(key)
            license_id, _ = licenses.owner(key)
            known = License(valid.org_id, license_id, dict(valid.policy_config))
            self._answers.put(key, generation, known)
        return known

    def record(self, key: str, check: dict[str, Any]) -> None:
        receipt = self._control.usage.report(key, {"checks": [check]})
        if receipt.checks_this_month > receipt.max_checks_per_month:
            raise _spent(receipt.max_checks_per_month)


class ServerLicenses:
    """The licenses of a server, which is asked every five minutes and receives checks
    afterwards.
    """

    def __init__(self, url: str, data_folder: Path) -> None:
        self._url = url
        self._folder = data_folder
        self._answers = _Answers()
        self._clients: Recent[bytes, tuple[str, LicenseClient]] = Recent(_KEPT)
        self._new = threading.BoundedSemaphore(_MOST_NEW)
        self._ends = threading.Event()
        self._sender = threading.Thread(target=self._send_on, name="license-usage", daemon=True)
        self._sender.start()

    def close(self) -> None:
        """Send the waiting checks, and stop."""
        self._ends.set()
        self._sender.join()

    def get(self, key: str) -> License:
        known = self._answers.get(key, b"")
        if known is not None:
            return known
        client = self._clients.get(_digest(key))
        if client is not None:
            return self._asked(key, client[1])
        if not self._new.acquire(blocking=False):
            raise BusyError("other licenses are being checked; try again")
        try:
            return self._asked(key, LicenseClient(self._url, key, self._folder))
        finally:
            self._new.release()

    def _asked(self, key: str, client: LicenseClient) -> License:
        try:
            granted = client.grant()
            if granted is None:
                raise ServerError("the license cannot be confirmed: the server does not answer")
        except DlpctlError as problem:
            self._answers.put(key, b"", problem)
            raise
        self._answers.put(key, b"", granted)
        self._clients.put(_digest(key), (key, client))
        return granted

    def record(self, key: str, check: dict[str, Any]) -> None:
        if not Spool(LicenseClient(self._url, key, self._folder).spool).put(check):
            raise StoreError("the call cannot be stored for the server's log; free some disk space")

    def _send_on(self) -> None:
        while not self._ends.wait(_SEND_SECONDS):
            self._send()
        self._send()

    def _send(self) -> None:
        from dlpctl.backend.address import Address
        from dlpctl.backend.connection import Connection
        from dlpctl.backend.remote import RemoteBackend
        from dlpctl.backend.sending import send

        for key, client in self._clients.values():
            try:
                with closing(RemoteBackend(Connection(Address.parse(self._url)), None)) as server:
                    receipt = send(Spool(client.spool), server, key)
            except DlpctlError as problem:  # unsent checks are sent with the next ones
                sys.stderr.write(f"dlpctl: gateway: calls wait to be reported: {problem.message}\n")
                continue
            if receipt and receipt["checks_this_month"] >= receipt["max_checks_per_month"]:
                limit = receipt["max_checks_per_month"]
                client.spent(next_month(datetime.now(UTC)), limit)
                self._answers.put(key, b"", _spent(limit))


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=16).digest()


def _spent(limit: int) -> QuotaError:
    now = datetime.now(UTC)
    return QuotaError(
        f"the monthly quota of {limit:,} checks is used up",
        limit=limit,
        retry_after=max(1, int((next_month(now) - now).total_seconds())),
    )
