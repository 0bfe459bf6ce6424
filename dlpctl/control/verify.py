"""Verify the evidence: every link of the chain, every sealed row, and every sum of the log.

Verification reads one state of a database and writes nothing, so it works on a backup and beside a
running service.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dlpctl.control.clock import ClockHistory
from dlpctl.control.database import Connection, Row
from dlpctl.control.heads import SignedHead
from dlpctl.control.keys import KeyRing
from dlpctl.control.links import Ends, link, read_ends
from dlpctl.control.resources.audit import ChainReport
from dlpctl.control.seals import altered_rows, stored_seal, sum_of_seals
from dlpctl.errors import StoreError

MOST_PROBLEMS = 100
_PAGE = 5_000
_CHECKS = (
    "SELECT seq, preflight_id, license_id, created_at, bytes, is_file, detected, org_id, org_name,"
    " policy_id, policy_name, policy_version, destination, decision, summary, asked_by, link"
    " FROM checks JOIN phrases USING (phrase_id) WHERE seq > ? ORDER BY seq LIMIT ?"
)
_EVENTS = (
    "SELECT number, after_seq, created_at, actor, action, org_id, subject, details, sealed, link"
    " FROM events WHERE number > ? ORDER BY number LIMIT ?"
)
_COUNTED = {
    "usage": (
        "SELECT license_id || ' ' || month AS key, checks AS found FROM usage",
        """
        SELECT key, sum(found) AS found FROM (
            SELECT license_id || ' ' || substr(created_at, 1, 7) AS key, 1 AS found FROM checks
            WHERE license_id IN (SELECT license_id FROM licenses)
            UNION ALL
            SELECT subject || ' ' || substr(json_extract(details, '$.day'), 1, 7),
                CAST(json_extract(details, '$.checks') AS INTEGER) FROM events
            WHERE action = 'sums.reported' AND subject IN (SELECT license_id FROM licenses)
        ) AS counted GROUP BY key""",
    ),
    "daily": (
        """
        SELECT org_id || ' ' || day AS key, sum(allowed + masked + blocked) AS found FROM daily
        GROUP BY 1""",
        """
        SELECT key, sum(found) AS found FROM (
            SELECT org_id || ' ' || substr(created_at, 1, 10) AS key, 1 AS found
            FROM checks JOIN phrases USING (phrase_id)
            WHERE org_id IN (SELECT org_id FROM organizations)
            UNION ALL
            SELECT org_id || ' ' || json_extract(details, '$.day'),
                CAST(json_extract(details, '$.checks') AS INTEGER) FROM events
            WHERE action = 'sums.reported' AND org_id IN (SELECT org_id FROM organizations)
        ) AS counted GROUP BY key""",
    ),
    "daily_types": (
        "SELECT org_id || ' ' || day AS key, sum(found) AS found FROM daily_types GROUP BY 1",
        """
        SELECT key, sum(found) AS found FROM (
            SELECT org_id || ' ' || substr(created_at, 1, 10) AS key,
                CAST(json_extract(value, '$[1]') AS INTEGER) AS found
            FROM checks JOIN phrases USING (phrase_id), json_each(detected)
            WHERE org_id IN (SELECT org_id FROM organizations)
            UNION ALL
            SELECT org_id || ' ' || json_extract(details, '$.day'),
                CAST(json_extract(details, '$.findings') AS INTEGER) FROM events
            WHERE action = 'sums.reported' AND org_id IN (SELECT org_id FROM organizations)
        ) AS counted GROUP BY key HAVING sum(found) > 0""",
    ),
    "phrase_counts": (
        "SELECT phrase_id AS key, checks AS found FROM phrase_counts",
        "SELECT phrase_id AS key, count(*) AS found FROM checks GROUP BY 1",
    ),
}
"""The counts of a table, and the same counts from the log; the table may have more if the log was
pruned.
"""


class Verifier:
    def __init__(
        self, connection: Connection, ring: KeyRing, heads: Mapping[str, SignedHead]
    ) -> None:
        """`heads` must be in the chain; their keys say where each was noted."""
        self._db = connection
        self._ring = ring
        self._heads = dict(heads)
        self._problems: list[str] = []
        self._broken_at: str | None = None
        self._mentions: dict[tuple[str, str], str | None] = {}
        """The seal of each row in the last event that mentions the row."""

    def report(self) -> ChainReport:
        try:
            ends = read_ends(self._db, self._ring.current)
        except StoreError as error:
            self._problem(error.message)
            self._check_rows(None)
            return ChainReport(False, 0, 0, "", None, error.message, tuple(self._problems))
        self._heads = {
            where: head
            for where, head in self._heads.items()
            if self._may_be_found(where, head, ends)
        }
        reached = self._follow(ends)
        for where in self._heads:
            self._problem(f"{where}: the log up to there is another one")
        self._check_rows(ends)
        self._check_sums(ends)
        seen = ClockHistory.load(ends.clock).latest
        head = SignedHead.of(reached, self._ring.current, seen)
        return ChainReport(
            not self._problems,
            reached.last_seq - reached.first_seq,
            reached.last_event - reached.first_event,
            str(head),
            self._broken_at,
            self._problems[0] if self._problems else "",
            tuple(self._problems),
        )

    def _problem(self, what: str, at: str | None = None) -> None:
        if self._broken_at is None and at is not None:
            self._broken_at = at
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(what)
        elif len(self._problems) == MOST_PROBLEMS:
            self._problems.append(f"more than {MOST_PROBLEMS} problems; the rest is left out")

    def _may_be_found(self, where: str, head: SignedHead, ends: Ends) -> bool:
        if not head.is_signed_by(self._ring):
            self._problem(f"{where}: was not signed with the key of this database")
        elif ends.is_older_than(head.seq, head.event):
            checks, events = max(0, head.seq - ends.last_seq), max(0, head.event - ends.last_event)
            self._problem(f"{where}: {checks} checks and {events} events up to it are missing")
        elif (head.seq, head.event) < (ends.first_seq, ends.first_event):
            self._problem(
                f"{where}: is older than what was pruned, so it shows nothing; note a newer one"
            )
        else:
            return True
        return False

    def _follow(self, ends: Ends) -> Ends:
        """Follow the links, continuing after broken ones; return the last position."""
        at = ends._replace(
            last_seq=ends.first_seq, last_link=ends.first_link, last_event=ends.first_event
        )
        self._match_heads(at)
        for row in self._records():
            is_check = "preflight_id" in row.keys()  # noqa: SIM118
            at = self._step_check(at, row) if is_check else self._step_event(at, row)
            self._match_heads(at)
        lost = max(0, ends.last_seq - at.last_seq), max(0, ends.last_event - at.last_event)
        if any(lost):
            self._problem(f"the last {lost[0]} checks and {lost[1]} events are missing")
        elif (at.last_seq, at.last_event, at.last_link) != (
            ends.last_seq,
            ends.last_event,
            ends.last_link,
        ):
            self._problem("the last link is not the one that was signed")
        return at

    def _records(self) -> Iterator[Row]:
        """Yield checks and events in the order of the chain."""
        checks = self._pages(_CHECKS)
        check = next(checks, None)
        for event in self._pages(_EVENTS):
            while check is not None and check["seq"] <= event["after_seq"]:
                yield check
                check = next(checks, None)
            yield event
        if check is not None:
            yield check
            yield from checks

    def _pages(self, sql: str) -> Iterator[Row]:
        """Read page by page: some drivers load all rows of a result at once."""
        last = 0
        while rows := self._db.execute(sql, (last, _PAGE)).fetchall():
            yield from rows
            last = rows[-1][0]

    def _step_check(self, at: Ends, row: Row) -> Ends:
        name, seq = row["preflight_id"], row["seq"]
        content = tuple(row)[:-2] + ((row["asked_by"],) if row["asked_by"] else ())
        if seq != at.last_seq + 1:
            self._problem(f"{name}: {seq - at.last_seq - 1} checks before it are missing", name)
        elif not self._holds(at, seq, at.last_event, content, row["link"]):
            self._problem(f"{name}: it, or the link before it, was changed", name)
        return at._replace(last_seq=seq, last_link=row["link"])

    def _step_event(self, at: Ends, row: Row) -> Ends:
        number = row["number"]
        name = f"event {number}"
        if number != at.last_event + 1:
            self._problem(
                f"{name}: {number - at.last_event - 1} events before it are missing", name
            )
        elif row["after_seq"] > at.last_seq:
            self._problem(
                f"{name}: {row['after_seq'] - at.last_seq} checks before it are missing", name
            )
        elif not self._holds(
            at, row["after_seq"], number, ("event", *tuple(row)[:-1]), row["link"]
        ):
            self._problem(f"{name} ({row['action']}): it, or the link before it, was changed", name)
        else:
            for table, key, seal in json.loads(row["sealed"]):
                self._mentions[table, key] = seal
            if problem := json.loads(row["details"]).get("problem"):
                self._problem(f"{name} ({row['action']}): {problem}")
        seq = max(at.last_seq, row["after_seq"])
        return at._replace(last_seq=seq, last_event=number, last_link=row["link"])

    def _holds(self, at: Ends, seq: int, event: int, content: Sequence[Any], stored: bytes) -> bool:
        made = link(self._ring.linked_with(seq, event), at.last_link, content)
        return hmac.compare_digest(made, stored)

    def _match_heads(self, at: Ends) -> None:
        for where, head in list(self._heads.items()) if self._heads else ():
            if (head.seq, head.event, head.link) == (at.last_seq, at.last_event, at.last_link):
                del self._heads[where]

    def _check_rows(self, ends: Ends | None) -> None:
        if ends is not None and sum_of_seals(self._db) != ends.root:
            self._problem(
                "the seals of the rows are not those that were signed: rows are older, or missing"
            )
        for (table, key), mentioned in self._mentions.items():
            seal = stored_seal(self._db, table, key)
            if (seal and seal.hex()) != mentioned:
                self._problem(f"{key} in {table}: is not as the last event about it says")
        for table, key, change in altered_rows(self._db, self._ring.current):
            self._problem(f"{key} in {table}: was {change} by another program")

    def _check_sums(self, ends: Ends) -> None:
        is_pruned = ends.first_seq > 0
        for table, (kept, counted) in _COUNTED.items():
            found = {row["key"]: row["found"] for row in self._db.execute(kept)}
            for row in self._db.execute(counted):
                has = found.pop(row["key"], 0)
                if has < row["found"] or (has > row["found"] and not is_pruned):
                    self._problem(
                        f"{row['key']} in {table}: counts {has}, but the log has {row['found']}"
                    )
            if not is_pruned:
                for key, has in found.items():
                    if has:
                        self._problem(f"{key} in {table}: counts {has}, but the log has none")
