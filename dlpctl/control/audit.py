"""The audit log of checks: search, export and verification."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dlpctl.control.access import Access
from dlpctl.control.core import Core
from dlpctl.control.database import Connection, Row
from dlpctl.control.heads import SignedHead
from dlpctl.control.links import Ends
from dlpctl.control.resources.audit import (
    LIMIT,
    MAX_SEARCH,
    OFFSET,
    AuditedCheck,
    AuditEvent,
    AuditHead,
    AuditItem,
    AuditPage,
    ChainReport,
    EventPage,
    FoundType,
)
from dlpctl.control.resources.fields import fail
from dlpctl.control.verify import Verifier
from dlpctl.errors import NotFoundError
from dlpctl.regex import lazy

_WORDS = lazy(r"\w+(?:[-./]\w+)*")
_AN_ORG = lazy(r"org_[0-9a-f]{24}")
_AN_ID = lazy(r"pf_[0-9a-f]{2,24}")
_PAGE = 1_000
_FROM = "FROM checks JOIN phrases USING (phrase_id)"
_COLUMNS = (
    "SELECT preflight_id, created_at, destination, decision, summary, policy_version, policy_name,"
    " org_id, org_name"
)
_ITEM = f"{_COLUMNS} {_FROM}"
_ONE = f"SELECT * {_FROM} WHERE preflight_id = ?"
_BY_ID = (
    "WHERE preflight_id >= :begin AND preflight_id < :end AND (:org_id IS NULL OR org_id = :org_id)"
)
_COUNTED_BY_ID = " ".join(("SELECT count(*)", _FROM, _BY_ID))
_NEWEST = "ORDER BY seq DESC LIMIT :limit OFFSET :offset"
_SUMS = "SELECT coalesce(sum(checks), 0) AS total, coalesce(max(last_seq), 0) AS last_seq FROM"
_FOUND = "WHERE seq IN (SELECT seq FROM checks WHERE"
_SORTED = ") ORDER BY seq DESC"


_SOME_EVENTS = """
    FROM events WHERE (:org_id IS NULL OR org_id = :org_id) AND (:part = '' OR instr(
        lower(action || ' ' || actor || ' ' || subject || ' ' || details), :part) > 0)"""
_EVENTS_COUNTED = " ".join(("SELECT count(*)", _SOME_EVENTS))
_EVENTS = " ".join(("SELECT *", _SOME_EVENTS, "ORDER BY number DESC LIMIT :limit OFFSET :offset"))
_SOMETHING = "something does not match; a token for all organizations shows the problem"


class _Way(NamedTuple):
    """The queries that count and find the checks of a filter: by walking the log from the newest
    check, or by gathering the checks of each matching phrase.
    """

    sums: str
    walked: str
    gathered: str

    @classmethod
    def of(cls, sums: str, phrases: str) -> _Way:
        # The unary plus keeps SQLite from gathering by the index on phrases.
        walked, gathered = (
            " ".join(
                (_ITEM, _FOUND, column, "IN (", phrases, ") AND seq <= :last_seq", _NEWEST, _SORTED)
            )
            for column in ("+phrase_id", "phrase_id")
        )
        return cls(" ".join((_SUMS, sums)), walked, gathered)


_BY_ORG = _Way.of(
    "phrase_counts WHERE org_id = :org_id",
    "SELECT phrase_id FROM phrase_counts WHERE org_id = :org_id",
)
_OF_ORG = "(:org_id IS NULL OR phrase_counts.org_id = :org_id)"
# A trigram index does not contain shorter words: those are searched in the rows that remain.
_HOLDS_SHORT = """
    NOT EXISTS (SELECT 1 FROM json_each(:short) WHERE instr(lower(
        phrases.summary || ' ' || phrases.policy_name || ' ' || phrases.org_name || ' '
        || phrases.org_slug || ' ' || phrases.destination
        || ' ' || phrases.decision), value) = 0)"""
_WITH_WORDS = f"""
    phrases_search CROSS JOIN phrase_counts ON phrase_counts.phrase_id = phrases_search.rowid
    WHERE phrases_search MATCH :words AND {_OF_ORG}"""
_WITH_BOTH = f"""
    phrases_search CROSS JOIN phrases ON phrases.phrase_id = phrases_search.rowid
    JOIN phrase_counts ON phrase_counts.phrase_id = phrases.phrase_id
    WHERE phrases_search MATCH :words AND {_HOLDS_SHORT} AND {_OF_ORG}"""
_WITH_SHORT = f"""
    phrases JOIN phrase_counts ON phrase_counts.phrase_id = phrases.phrase_id
    WHERE {_HOLDS_SHORT} AND {_OF_ORG}"""
_BY_WORDS = _Way.of(_WITH_WORDS, " ".join(("SELECT phrases_search.rowid FROM", _WITH_WORDS)))
_BY_BOTH = _Way.of(_WITH_BOTH, " ".join(("SELECT phrases.phrase_id FROM", _WITH_BOTH)))
_BY_SHORT = _Way.of(_WITH_SHORT, " ".join(("SELECT phrases.phrase_id FROM", _WITH_SHORT)))
_WAYS = {
    (False, False): _BY_ORG,
    (True, False): _BY_WORDS,
    (False, True): _BY_SHORT,
    (True, True): _BY_BOTH,
}
"""Keyed by whether the search has words for the index, and whether it has short words."""


class _Filter(NamedTuple):
    """The phrases or ids that a search asks for."""

    org_id: str | None
    words: str
    """An FTS5 query."""
    short: tuple[str, ...]
    """Words that are too short for the FTS5 index."""
    ids: str
    """The prefix of the ids."""

    @property
    def everything(self) -> bool:
        return self.org_id is None and not self.words and not self.short and not self.ids

    def values(self) -> dict[str, Any]:
        return {
            "org_id": self.org_id,
            "words": self.words,
            "short": json.dumps(self.short),
            "begin": self.ids,
            "end": f"{self.ids}g",
        }


class Audit:
    def __init__(self, core: Core) -> None:
        self._core = core

    def search(
        self,
        access: Access,
        *,
        limit: int = LIMIT.default,
        offset: int = OFFSET.default,
        org_id: str | None = None,
        search: str | None = None,
    ) -> AuditPage:
        limit, offset = LIMIT.read(limit, "limit"), OFFSET.read(offset, "offset")
        with self._core.store.reading() as connection:
            wanted = self._filter(connection, access, org_id, search)
            if wanted is None:
                return AuditPage((), limit, offset, 0)
            total, rows = _page(
                connection, wanted, self._core.chain.read(connection), limit, offset
            )
        return AuditPage(tuple(AuditItem(*row) for row in rows), limit, offset, total)

    def check(self, access: Access, preflight_id: str) -> AuditedCheck:
        with self._core.store.reading() as connection:
            row = preflight_id.isprintable() and connection.execute(_ONE, (preflight_id,))
            found = row.fetchone() if row else None
        if found is None or access.org_id not in (None, found["org_id"]):
            raise NotFoundError("there is no such check")
        values = {name: found[name] for name in AuditedCheck.fields}
        values["is_file"] = bool(found["is_file"])
        values["detected"] = tuple(
            FoundType(name, count) for name, count, _ in json.loads(found["detected"])
        )
        return AuditedCheck(**values)

    def export(
        self, access: Access, *, org_id: str | None = None, search: str | None = None
    ) -> Iterator[AuditItem]:
        """Return all items, newest first. Checks recorded during the export are not included."""
        with self._core.store.reading() as connection:
            wanted = self._filter(connection, access, org_id, search)
            if wanted is not None:
                yield from _all(connection, wanted, self._core.chain.read(connection))

    def verify(self, access: Access, head: str | None = None) -> ChainReport:
        """Verify the log, and that a head noted earlier is part of it.

        A token for a single organization learns only whether the log is intact, not what is wrong
        with it.
        """
        noted = {"the head that was given": SignedHead.parse(head)} if head is not None else {}
        report = verify_here(self._core, noted)
        if access.org_id is None or report.intact:
            return report
        return report.replaced(broken_at=None, reason=_SOMETHING, problems=(_SOMETHING,))

    def head(self, access: Access) -> AuditHead:
        """Return the signed head, which discloses no content."""
        with self._core.store.reading() as connection:
            ends = self._core.chain.read(connection)
        head = self._core.chain.head(ends)
        return AuditHead(str(head), ends.last_seq, ends.last_event, self._core.now())

    def events(
        self,
        access: Access,
        *,
        limit: int = LIMIT.default,
        offset: int = OFFSET.default,
        org_id: str | None = None,
        search: str | None = None,
    ) -> EventPage:
        """Return events, newest first: administrative changes and uses of keys."""
        part = (search or "").strip().lower()
        if len(part) > MAX_SEARCH:
            fail("search", f"is longer than {MAX_SEARCH} characters")
        limit, offset = LIMIT.read(limit, "limit"), OFFSET.read(offset, "offset")
        with self._core.store.reading() as connection:
            wanted = self._filter(connection, access, org_id)
            if wanted is None:
                return EventPage((), limit, offset, 0)
            values = wanted.values() | {"limit": limit, "offset": offset, "part": part}
            total = connection.execute(_EVENTS_COUNTED, values).fetchone()[0]
            rows = connection.execute(_EVENTS, values).fetchall()
        return EventPage(tuple(_event(row) for row in rows), limit, offset, total)

    def _filter(
        self, connection: Connection, access: Access, org: str | None, search: str | None = None
    ) -> _Filter | None:
        gram = self._core.store.database.shortest_word
        return _filter(connection, access, org, search, gram)


def verify_here(core: Core, heads: Mapping[str, SignedHead]) -> ChainReport:
    """Verify the open database against its noted head and the given ones."""
    noted = core.chain.noted.read()
    with core.store.reading() as connection:
        known = {core.chain.noted.file.name: noted} if noted else {}
        return Verifier(connection, core.ring, {**known, **heads}).report()


def _event(row: Row) -> AuditEvent:
    values = {name: row[name] for name in AuditEvent.fields}
    return AuditEvent(**values | {"details": json.loads(row["details"])})


def _filter(
    connection: Connection, access: Access, org: str | None, search: str | None, gram: int
) -> _Filter | None:
    """Return the filter of a search, or None if nothing can match. `gram` is the length of the
    shortest word in the index.
    """
    org_id = None
    if org is not None:
        row = None
        if org.isprintable():
            row = connection.execute(
                "SELECT org_id FROM organizations WHERE org_id = ? OR slug = ?", (org, org)
            ).fetchone()
        # What a deleted organization left in the log is found by the organization's id.
        org_id = row["org_id"] if row else org
        if not _AN_ORG.fullmatch(org_id):
            return None
    if access.org_id is not None:
        if org_id not in (None, access.org_id):
            return None
        org_id = access.org_id
    text = (search or "").strip()
    if len(text) > MAX_SEARCH:
        fail("search", f"is longer than {MAX_SEARCH} characters")
    if _AN_ID.fullmatch(text):
        return _Filter(org_id, "", (), text)
    words = _WORDS.findall(text)
    if text and not words:
        return None
    # A word also matches inside a longer word: "mail" matches "email".
    query = " ".join(f'"{word}"' for word in words if len(word) >= gram)
    return _Filter(org_id, query, tuple(word.lower() for word in words if len(word) < gram), "")


def _page(
    connection: Connection, wanted: _Filter, ends: Ends, limit: int, offset: int
) -> tuple[int, list[Row]]:
    values = wanted.values() | {"limit": limit, "offset": offset}
    if wanted.ids:
        total = connection.execute(_COUNTED_BY_ID, values).fetchone()[0]
        return total, connection.execute(f"{_ITEM} {_BY_ID} {_NEWEST}", values).fetchall()
    every = ends.last_seq - ends.first_seq
    if wanted.everything:
        # Numbers in the log have no gaps, so the offset needs no counting.
        rows = connection.execute(
            f"{_ITEM} WHERE seq <= ? ORDER BY seq DESC LIMIT ?",
            (max(ends.last_seq - offset, 0), limit),
        )
        return every, rows.fetchall()
    way = _WAYS[bool(wanted.words), bool(wanted.short)]
    total, last_seq = connection.execute(way.sums, values).fetchone()
    if offset >= total:
        return total, []
    walks = (offset + limit) * every / total
    sql = way.gathered if total < walks else way.walked
    return total, connection.execute(sql, values | {"last_seq": last_seq}).fetchall()


def _all(connection: Connection, wanted: _Filter, ends: Ends) -> Iterator[AuditItem]:
    """Yield all items page by page, from the database state that the connection sees."""
    offset = 0
    while rows := _page(connection, wanted, ends, _PAGE, offset)[1]:
        yield from (AuditItem(*row) for row in rows)
        offset += len(rows)
