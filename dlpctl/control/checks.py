"""Preflight checks, authorized by a policy's key. A check is stored before it is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.database import Connection, Row
from dlpctl.control.directory import CoveredPolicy, Directory, license_for
from dlpctl.control.engine import Engine
from dlpctl.control.events import note_use
from dlpctl.control.files import MaskedFile, MaskedFiles
from dlpctl.control.inspection import Inspector, StoredPolicy, check_file, gateway_report
from dlpctl.control.ledger import Entry, Ledger, checks_of_month
from dlpctl.control.resources.preflight import DESTINATION, CheckedDetection, CheckResult
from dlpctl.control.seals import check_rows
from dlpctl.errors import (
    ForbiddenError,
    NotFoundError,
    QuotaError,
    TooLargeError,
    UnauthorizedError,
)
from dlpctl.policy.model import Policy
from dlpctl.types import Decision, Destination, Detection
from dlpctl.values import derive_key

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.control.writer import Batch, Ticket
    from dlpctl.preflight import Checker, Report

_FIND = """
    SELECT checks.*, phrases.*, masked_files.expires_at AS file_expires FROM checks
    JOIN phrases USING (phrase_id) LEFT JOIN masked_files USING (preflight_id)
    WHERE preflight_id = :preflight_id AND org_id = :org_id
    AND :policy_id IN (policy_id, asked_by)"""


class Limits(NamedTuple):
    """The limits of one check."""

    text_bytes: int = 1 << 20
    file_bytes: int = 50 << 20
    reading: FileLimits | None = None
    """The limits for reading a file."""


class Submitted(NamedTuple):
    """A check that is decided, and recorded once its ticket is awaited. It must not be answered
    before.
    """

    result: CheckResult
    ticket: Ticket[None]

    def recorded(self) -> CheckResult:
        self.ticket.result()
        return self.result


class OpenPolicy(NamedTuple):
    """A policy that a key opens, for a caller that inspects content itself."""

    policy_id: str
    version: str
    org_id: str
    day: str
    """The day of the check: an exception ends with its day."""
    key: bytes
    """The organization's key."""
    checker: Callable[[], Checker]
    record: Callable[[Decision, Mapping[str, int], int], None]
    """Records a decision with the number of findings by type and the size of the content."""


class Checks:
    def __init__(
        self,
        core: Core,
        engine: Engine,
        directory: Directory,
        files: MaskedFiles,
        limits: Limits,
        inspector: Inspector | None = None,
    ) -> None:
        """Without an `inspector`, this process inspects all content."""
        self._core = core
        self._engine = engine
        self._directory = directory
        self._files = files
        self._limits = limits
        self._inspector = inspector

    def owner(self, api_key: str | None) -> tuple[str, str]:
        """Return the policy and the organization that a key belongs to."""
        return self._core.unless_rotated(lambda: self._owner(api_key))

    def open(self, api_key: str | None, destination: Destination) -> OpenPolicy:
        """Open the policy of a key, if its license has checks left."""
        covered = self._authorize(api_key, None, None)
        day = self._core.clock().astimezone(UTC).date().isoformat()

        def record(decision: Decision, counts: Mapping[str, int], size: int) -> None:
            detected = tuple(Detection(*each, None) for each in sorted(counts.items()))
            report = gateway_report(covered.version, destination, decision, detected)
            self._submit(covered, destination, report, size).recorded()

        return OpenPolicy(
            covered.policy_id,
            covered.version,
            covered.org_id,
            day,
            derive_key(self._engine.key(), f"gateway {covered.org_id}"),
            lambda: self.checker(covered, destination),
            record,
        )

    def check_text(
        self,
        api_key: str | None,
        text: str,
        destination: str,
        *,
        org_id: str | None = None,
        policy_id: str | None = None,
    ) -> CheckResult:
        return self.submit_text(
            api_key, text, destination, org_id=org_id, policy_id=policy_id
        ).recorded()

    def submit_text(
        self,
        api_key: str | None,
        text: str,
        destination: str,
        *,
        org_id: str | None = None,
        policy_id: str | None = None,
    ) -> Submitted:
        """Submit a check whose record waits for its ticket, so that many checks are recorded
        together.
        """
        covered = self._authorize(api_key, org_id, policy_id)
        to = Destination(DESTINATION.read(destination, "destination"))
        size = len(text.encode("utf-8", "surrogatepass"))
        refuse_larger("text", size, self._limits.text_bytes)
        if self._inspector is not None and size > self._inspector.text_bytes:
            report = self._inspector.check_text(self.stored(covered, to), text)
        else:
            report = self.checker(covered, to).check(text)
        return self._submit(covered, to, report, size)

    def check_file(
        self,
        api_key: str | None,
        data: bytes,
        name: str,
        destination: str,
        *,
        org_id: str | None = None,
        policy_id: str | None = None,
    ) -> CheckResult:
        covered = self._authorize(api_key, org_id, policy_id)
        to = Destination(DESTINATION.read(destination, "destination"))
        refuse_larger("file", len(data), self._limits.file_bytes)
        report, masked = self.inspect_file(covered, to, data, name)
        if masked is None:
            return self._submit(covered, to, report, len(data), is_file=True).recorded()
        self._files.put(report.preflight_id, name, masked)
        try:
            return self._submit(
                covered, to, report, len(data), is_file=True, file_expires=self._files.expiry()
            ).recorded()
        except BaseException:
            self._files.drop(report.preflight_id)
            raise

    def get(self, api_key: str | None, preflight_id: str) -> CheckResult:
        row = self._core.unless_rotated(lambda: self._find(api_key, preflight_id))
        expires = row["file_expires"]
        return CheckResult(
            row["preflight_id"],
            row["decision"],
            row["summary"],
            tuple(CheckedDetection(*each) for each in json.loads(row["detected"])),
            None,
            self._files.url(preflight_id, expires)
            if expires and expires > self._core.now()
            else None,
            row["policy_version"],
            row["created_at"],
            bool(row["is_file"]),
        )

    def file(
        self, api_key: str | None, preflight_id: str, expires: str | None, signature: str | None
    ) -> MaskedFile:
        self._core.unless_rotated(lambda: self._find(api_key, preflight_id))
        return self._files.fetch(preflight_id, expires, signature)

    def _owner(self, api_key: str | None) -> tuple[str, str]:
        with self._core.store.reading() as connection:
            policy_id = self._identify(connection, api_key)
            covered = self._directory.covered(connection, policy_id)
        if covered is None:
            raise UnauthorizedError("the policy key in X-Service-API-Key is unknown")
        return policy_id, covered.org_id

    def _identify(self, connection: Connection, api_key: str | None) -> str:
        if not api_key:
            raise UnauthorizedError("send the policy's key in the header X-Service-API-Key")
        policy_id = self._directory.policy_of_key(connection, self._core.ring.lookup(api_key))
        if policy_id is not None:
            return policy_id
        raise UnauthorizedError("the policy key in X-Service-API-Key is unknown")

    def _authorize(
        self, api_key: str | None, org_id: str | None, policy_id: str | None
    ) -> CoveredPolicy:
        now = self._core.clock()
        if policy_id is None and api_key:
            own = self._directory.remembered(
                self._core.store.generation(), self._core.ring.lookup(api_key)
            )
            if (
                own is not None
                and org_id in (None, own.org_id, own.org_slug)
                and _may_go_on(own, now, self._directory.used)
            ):
                return own
        return self._core.unless_rotated(lambda: self._asked(api_key, org_id, policy_id, now))

    def _asked(
        self, api_key: str | None, org_id: str | None, policy_id: str | None, now: datetime
    ) -> CoveredPolicy:
        """Read the policy from the store; raise if the key may not make the check."""
        with self._core.store.reading() as connection:
            own = self._directory.covered(connection, self._identify(connection, api_key))
            if own is None:
                raise UnauthorizedError("the policy key in X-Service-API-Key is unknown")
            if org_id is not None and org_id not in (own.org_id, own.org_slug):
                raise ForbiddenError("org_id: the policy key belongs to another organization")
            if not own.is_active:
                raise ForbiddenError(f"the policy {own.policy_id} is not active")
            chosen = own
            if policy_id not in (None, own.policy_id):
                other = (
                    self._directory.covered(connection, str(policy_id))
                    if str(policy_id).isprintable()
                    else None
                )
                if other is None or other.org_id != own.org_id:
                    raise NotFoundError("policy_id: the key's organization has no such policy")
                chosen = other._replace(asked_by=own.policy_id)
            month = written(now)[:7]
            secrets = self._core.ring.current
            license_for(
                chosen,
                now,
                lambda license_id: checks_of_month(connection, secrets, license_id, month),
            )
        return chosen

    def checker(self, covered: CoveredPolicy, to: Destination) -> Checker:
        """Return the checker of a policy in this process."""
        return self._engine.checker(
            covered.policy_id,
            covered.version,
            to,
            self._core.clock().astimezone(UTC).date(),
            covered.org_id,
            lambda: Policy.from_dict(json.loads(self._body(covered))),
        )

    def inspect_file(
        self, covered: CoveredPolicy, to: Destination, data: bytes, name: str
    ) -> tuple[Report, bytes | None]:
        """Return the report on a file, with the masked copy if the file may be sent."""
        reading = self._limits.reading
        if self._inspector is not None:
            return self._inspector.check_file(self.stored(covered, to), data, name, reading)
        return check_file(self.checker(covered, to), data, name, reading)

    def stored(self, covered: CoveredPolicy, to: Destination) -> StoredPolicy:
        """Return a policy as an inspector needs it."""
        # Custom patterns are compiled by now, so that the inspector only has to load them.
        self.checker(covered, to)
        return StoredPolicy(
            covered.policy_id,
            covered.version,
            self._body(covered),
            to,
            self._core.clock().astimezone(UTC).date().isoformat(),
            self._engine.key(),
        )

    def _body(self, covered: CoveredPolicy) -> str:
        with self._core.store.reading() as connection:
            row = connection.execute(
                "SELECT * FROM policy_versions WHERE policy_id = ? AND version = ?",
                (covered.policy_id, covered.version),
            ).fetchone()
            if row is None:
                raise ForbiddenError(f"the policy {covered.policy_id} was deleted")
            check_rows(connection, self._core.ring.current, "policy_versions", [row])
        body: str = row["body"]
        return body

    def _submit(
        self,
        covered: CoveredPolicy,
        to: Destination,
        report: Report,
        size: int,
        *,
        is_file: bool = False,
        file_expires: str | None = None,
    ) -> Submitted:
        from dlpctl.text_report import interface_detections

        now = self._core.clock()
        detected = interface_detections(report)
        entry = Entry(
            covered.policy_id,
            report.preflight_id,
            now,
            written(now),
            to.value,
            report.decision.value,
            report.summary,
            detected,
            report.policy_version,
            size,
            is_file,
            file_expires,
            covered.asked_by,
        )

        def job(batch: Batch) -> None:
            Ledger.of(batch, self._directory, self._core).record(entry)

        result = CheckResult(
            report.preflight_id,
            entry.decision,
            report.summary,
            tuple(CheckedDetection(*each) for each in detected),
            report.masked_content,
            self._files.url(report.preflight_id, file_expires) if file_expires else None,
            report.policy_version,
            entry.created_at,
            is_file,
        )
        return Submitted(result, self._core.store.submit(job))

    def _find(self, api_key: str | None, preflight_id: str) -> Row:
        """Return a check that this key asked for or this policy decided, if the key may check."""
        with self._core.store.reading() as connection:
            own = self._directory.covered(connection, self._identify(connection, api_key))
            row: Row | None = None
            if own is not None:
                license_for(own, self._core.clock(), lambda _: -1)
                if preflight_id.isprintable():
                    row = connection.execute(
                        _FIND,
                        {
                            "preflight_id": preflight_id,
                            "org_id": own.org_id,
                            "policy_id": own.policy_id,
                        },
                    ).fetchone()
        if own is None or row is None:
            raise NotFoundError("the policy of this key has no such check")
        note_use(self._core, own.policy_id, own.org_id)
        return row


def refuse_larger(field: str, size: int, limit: int) -> None:
    if size > limit:
        raise TooLargeError(f"{field}: {size:,} bytes are too many; the limit is {limit:,}")


def _may_go_on(covered: CoveredPolicy, now: datetime, used: Callable[[str, str], int]) -> bool:
    """Return whether remembered data allow a check. The quota is verified again when the check is
    recorded; the store is read before a check is refused.
    """
    month = written(now)[:7]
    try:
        license_for(covered, now, lambda license_id: used(license_id, month))
    except (ForbiddenError, QuotaError):
        return False
    return True
