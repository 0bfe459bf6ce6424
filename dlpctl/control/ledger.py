"""Write checks to the store: rows, links, quotas and sums, in one transaction."""

from __future__ import annotations

import hmac
import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.control import events
from dlpctl.control.database import Connection
from dlpctl.control.directory import CoveredPolicy, Directory, deleted_policy, license_for
from dlpctl.control.seals import usage_mac
from dlpctl.errors import ForbiddenError, TamperedError
from dlpctl.types import LARGEST_NUMBER

if TYPE_CHECKING:
    from dlpctl.control.core import Core
    from dlpctl.control.keys import Secrets
    from dlpctl.control.writer import Batch

_OUTCOMES = {"ALLOWED": 0, "ALLOWED_WITH_MASKING": 1, "BLOCKED": 2}
_json = json.JSONEncoder(separators=(",", ":")).encode
# A sum stops growing at its limit; no check is refused for that.
_ADD_TO_DAY = """
    INSERT INTO daily VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (org_id, day, policy_id, destination) DO UPDATE SET
    allowed = min(daily.allowed + excluded.allowed, ?),
    masked = min(daily.masked + excluded.masked, ?),
    blocked = min(daily.blocked + excluded.blocked, ?),
    bytes = min(daily.bytes + excluded.bytes, ?),
    bytes_protected = min(daily.bytes_protected + excluded.bytes_protected, ?),
    exposures = min(daily.exposures + excluded.exposures, ?)"""
_ADD_TO_TYPES = """
    INSERT INTO daily_types VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (org_id, day, type, destination) DO UPDATE SET
    found = min(daily_types.found + excluded.found, ?)"""


class Entry(NamedTuple):
    """A check to record."""

    policy_id: str
    preflight_id: str
    moment: datetime
    created_at: str
    destination: str
    decision: str
    summary: str
    detected: tuple[tuple[str, int, str | None], ...]
    policy_version: str
    size: int
    """The size of the content in bytes."""
    is_file: bool
    file_expires: str | None = None
    asked_by: str | None = None
    """The policy whose key asked for the check, if it is another one."""


class Sums(NamedTuple):
    """Checks that are reported only as numbers."""

    allowed: int
    masked: int
    blocked: int
    size: int
    """The size of all content in bytes."""
    found: Mapping[str, int]
    """The number of findings by type."""

    @property
    def checks(self) -> int:
        return self.allowed + self.masked + self.blocked


class Ledger:
    """The checks of one transaction, collected first and then written together."""

    def __init__(self, connection: Connection, directory: Directory, core: Core) -> None:
        self._db = connection
        self._directory = directory
        self._core = core
        self._chain = core.chain
        self._ends = self._chain.read(connection)
        self._covered_policies: dict[str, CoveredPolicy | None] = {}
        """Policies cannot change while this transaction runs its jobs."""
        self._rows: dict[str, tuple[Any, ...]] = {}
        """Rows of checks, by check id."""
        self._events: list[tuple[Any, ...]] = []
        self._uses: set[str] = set()
        """Keys whose use on this day is already in the log."""
        self._files: list[tuple[str, str]] = []
        self._used: dict[tuple[str, str], int] = {}
        self._phrases: dict[bytes, int] = {}
        self._phrase_uses: Counter[int] = Counter()
        self._days: dict[tuple[str, str, str, str], list[int]] = {}
        """Sums by organization, day, policy and destination."""
        self._types: Counter[tuple[str, str, str, str]] = Counter()

    @classmethod
    def of(cls, batch: Batch, directory: Directory, core: Core) -> Ledger:
        """Return the ledger that the jobs of a transaction share."""
        return batch.tally(Ledger, lambda connection: cls(connection, directory, core))

    def record(self, entry: Entry) -> None:
        """Record a check; raise, before anything is written, if the policy or license does not
        allow it.
        """
        covered = self._covered(entry.policy_id)
        if covered is None:
            raise ForbiddenError(f"the policy {entry.policy_id} was deleted")
        month = entry.created_at[:7]
        terms = license_for(
            covered, entry.moment, lambda license_id: self.checks(license_id, month)
        )
        self._use(entry.asked_by or entry.policy_id, covered.org_id, entry.created_at)
        self._write(covered, terms.license_id, entry)

    def report(self, license_id: str, org_id: str, entry: Entry) -> bool:
        """Record a check that a client made under a license, even if policy or license ended since;
        return False if the check is already recorded.
        """
        known = "SELECT 1 FROM checks WHERE preflight_id = ?"
        if (
            entry.preflight_id in self._rows
            or self._db.execute(known, (entry.preflight_id,)).fetchone()
        ):
            return False
        covered = self._covered(entry.policy_id)
        if covered is None or covered.org_id != org_id:
            covered = deleted_policy(self._db, entry.policy_id, org_id)
        self._use(license_id, org_id, self._core.now())
        self._write(covered, license_id, entry)
        return True

    def _use(self, subject: str, org_id: str, moment: str) -> None:
        """Log the first use of a key on a day, before the check that the key was used for."""
        if subject in self._uses:
            return
        self._uses.add(subject)
        use = (subject, moment[:10])
        if use in self._core.used:
            return
        number = events.last_use(self._db, *use)
        if number is not None:
            if self._chain.noted.has_committed(number):
                events.remember_use(self._core, use)
        else:
            event = events.Event(moment, subject, events.KEY_USED, org_id, subject)
            row, self._ends = event.linked(self._chain, self._ends)
            self._events.append(row)

    def add_sums(self, license_id: str, org_id: str, day: str, added: Sums) -> None:
        """Count checks that the log does not list; bytes and findings count as protected in
        proportion.
        """
        month = day[:7]
        self._used[license_id, month] = self.checks(license_id, month) + added.checks
        sums = self._days.setdefault((org_id, day, "", ""), [0] * 6)
        acted, findings = added.masked + added.blocked, sum(added.found.values())
        more = (
            *(added.allowed, added.masked, added.blocked, added.size),
            added.size * acted // added.checks,
            findings * acted // added.checks,
        )
        sums[:] = map(add, sums, more)
        for name, count in added.found.items():
            self._types[org_id, day, name, ""] += count
        numbers = {"day": day, "checks": added.checks, "findings": findings}
        event = events.Event(
            self._core.now(), license_id, events.SUMS_REPORTED, org_id, license_id, numbers
        )
        row, self._ends = event.linked(self._chain, self._ends)
        self._events.append(row)

    def _write(self, covered: CoveredPolicy, license_id: str, entry: Entry) -> None:
        month = entry.created_at[:7]
        used = self.checks(license_id, month)
        detected = entry.detected
        if not covered.keeps_samples:
            detected = tuple((name, count, None) for name, count, _ in detected)
        phrase_id = self._phrase(covered, entry)
        seq = self._ends.last_seq + 1
        content = _json(detected)
        link = self._chain.link(
            self._ends.last_link,
            (
                *(seq, entry.preflight_id, license_id, entry.created_at),
                *(entry.size, int(entry.is_file), content, *_texts(covered, entry)),
                *((entry.asked_by,) if entry.asked_by else ()),
            ),
        )
        self._rows[entry.preflight_id] = (
            *(seq, entry.preflight_id, phrase_id, license_id, entry.created_at),
            *(entry.size, entry.is_file, content, link, entry.asked_by),
        )
        if entry.file_expires:
            self._files.append((entry.preflight_id, entry.file_expires))
        self._ends = self._ends._replace(last_seq=seq, last_link=link)
        self._used[license_id, month] = used + 1
        self._phrase_uses[phrase_id] += 1
        self._count(covered, entry)

    def _covered(self, policy_id: str) -> CoveredPolicy | None:
        if policy_id not in self._covered_policies:
            self._covered_policies[policy_id] = self._directory.covered(self._db, policy_id)
        return self._covered_policies[policy_id]

    def checks(self, license_id: str, month: str) -> int:
        if (license_id, month) not in self._used:
            self._used[license_id, month] = checks_of_month(
                self._db, self._core.ring.current, license_id, month, self._directory.sealed
            )
        return self._used[license_id, month]

    def _phrase(self, covered: CoveredPolicy, entry: Entry) -> int:
        texts = _texts(covered, entry)
        digest = blake2b("\0".join(texts).encode(), digest_size=16).digest()
        phrase_id = self._phrases.get(digest)
        if phrase_id is None:
            row = self._db.execute(
                "SELECT phrase_id FROM phrases WHERE digest = ?", (digest,)
            ).fetchone()
            if row is None:
                row = self._db.execute(
                    "INSERT INTO phrases (digest, org_id, org_name, policy_id, policy_name,"
                    " policy_version,"
                    " destination, decision, summary, org_slug) VALUES (?, ?, ?, ?, ?, ?, ?, ?,"
                    " ?, ?)"
                    " RETURNING phrase_id",
                    (digest, *texts, covered.org_slug),
                ).fetchone()
                self._db.execute(
                    "INSERT INTO phrase_counts VALUES (?, ?, 0, 0)",
                    (row["phrase_id"], covered.org_id),
                )
            phrase_id = self._phrases[digest] = row["phrase_id"]
        return phrase_id

    def _count(self, covered: CoveredPolicy, entry: Entry) -> None:
        org_id, day, to = covered.org_id, entry.created_at[:10], entry.destination
        sums = self._days.setdefault((org_id, day, covered.policy_id, to), [0] * 6)
        sums[_OUTCOMES[entry.decision]] += 1
        sums[3] += entry.size
        if entry.decision != "ALLOWED":
            sums[4] += entry.size
            sums[5] += sum(count for _, count, _ in entry.detected)
        for name, count, _ in entry.detected:
            self._types[org_id, day, name, to] += count

    def flush(self) -> None:
        self._directory.count(self._used)
        if self._rows or self._events:
            self._chain.write(self._db, self._ends)
        if self._events:
            events.insert(self._db, self._events)
        if self._rows:
            self._flush_rows()
        if not self._days:
            return
        self._flush_usage()
        self._db.executemany(
            _ADD_TO_DAY,
            (
                (*key, *map(_saturated, sums), *[LARGEST_NUMBER] * 6)
                for key, sums in self._days.items()
            ),
        )
        self._db.executemany(
            _ADD_TO_TYPES,
            ((*key, _saturated(found), LARGEST_NUMBER) for key, found in self._types.items()),
        )

    def _flush_usage(self) -> None:
        secrets = self._core.ring.current
        counted = {key: _saturated(checks) for key, checks in self._used.items() if checks}
        sealed = {
            key: (checks, usage_mac(secrets, *key, checks)) for key, checks in counted.items()
        }
        self._directory.sealed.update(sealed)
        self._db.executemany(
            "INSERT INTO usage (license_id, month, checks, mac) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (license_id, month) DO UPDATE"
            " SET checks = excluded.checks, mac = excluded.mac",
            ((*key, *values) for key, values in sealed.items()),
        )

    def _flush_rows(self) -> None:
        self._db.executemany(
            "INSERT INTO checks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._rows.values()
        )
        if self._files:
            self._db.executemany("INSERT INTO masked_files VALUES (?, ?)", self._files)
        self._db.executemany(
            "UPDATE phrase_counts SET checks = checks + ?, last_seq = ? WHERE phrase_id = ?",
            ((uses, self._ends.last_seq, phrase) for phrase, uses in self._phrase_uses.items()),
        )


def _texts(covered: CoveredPolicy, entry: Entry) -> tuple[str, ...]:
    """Return the texts of a check that the log searches and links."""
    return (
        *(covered.org_id, covered.org_name, covered.policy_id, covered.policy_name),
        *(entry.policy_version, entry.destination, entry.decision, entry.summary),
    )


def _saturated(number: int) -> int:
    return min(number, LARGEST_NUMBER)


def checks_of_month(
    connection: Connection,
    secrets: Secrets,
    license_id: str,
    month: str,
    written: Mapping[tuple[str, str], tuple[int, bytes]] | None = None,
) -> int:
    """Return the number of checks counted for a license in a month; raise `TamperedError` if
    altered.

    Counters that this process has `written` itself are not verified again.
    """
    row = connection.execute(
        "SELECT checks, mac FROM usage WHERE license_id = ? AND month = ?", (license_id, month)
    ).fetchone()
    if row is None:
        return 0
    checks: int = row["checks"]
    if written is not None and written.get((license_id, month)) == (checks, row["mac"]):
        return checks
    if not hmac.compare_digest(row["mac"], usage_mac(secrets, license_id, month, checks)):
        raise TamperedError.of("usage", f"{license_id} {month}")
    return checks
