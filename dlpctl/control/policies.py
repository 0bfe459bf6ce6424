"""Policies in the store: each has its own key, and every version is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC
from functools import partial
from typing import Any

from dlpctl.control.access import Access, Role
from dlpctl.control.core import Core, find, find_organization, key_columns, new_id
from dlpctl.control.database import Connection, Row
from dlpctl.control.engine import Engine
from dlpctl.control.events import record
from dlpctl.control.groups import group_ids
from dlpctl.control.keys import KeyKind, mint, shortened
from dlpctl.control.replay import RecordedCheck, Replay
from dlpctl.control.resources.fields import MAX_NAME, fail
from dlpctl.control.resources.policies import (
    ChangedCheck,
    PolicyChange,
    PolicyDraft,
    PolicyKey,
    PolicyRequest,
    PolicyVersion,
    Problem,
    ReplayRequest,
    ReplayResult,
    StoredPolicy,
)
from dlpctl.control.writer import Batch
from dlpctl.policy.model import Catalogue, Policy
from dlpctl.types import Decision

_CONTENT = (
    "name",
    "description",
    "version",
    "tags",
    "rules",
    "minScore",
    "defaultAction",
    "customPatterns",
)
_DECIDING = ("rules", "minScore", "defaultAction", "customPatterns")
"""The fields that a new policy without rules inherits from its organization's default policy."""
_DEFAULT = """
    SELECT policies.body FROM policy_groups
    JOIN group_policies USING (group_id) JOIN policies USING (policy_id)
    WHERE policy_groups.org_id = ? AND policy_groups.is_default = 1 AND policies.is_active = 1
    ORDER BY policies.created_at, policies.rowid LIMIT 1"""
_find = partial(
    find, "SELECT * FROM policies WHERE org_id = :org_id AND policy_id = :given", "policy"
)
# The unary plus keeps SQLite from sorting: it walks the log from the newest check. The newest
# checks are selected by indexes alone, so that no other rows are read.
_LAST_CHECKS = """
    SELECT preflight_id, created_at, destination, decision, policy_version, detected
    FROM (
        SELECT seq FROM phrases CROSS JOIN checks USING (phrase_id)
        WHERE policy_id = ? AND seq > ? ORDER BY seq DESC LIMIT ?
    ) AS newest CROSS JOIN checks USING (seq) CROSS JOIN phrases USING (phrase_id)
    ORDER BY seq DESC"""
_MOST_SHOWN = 100
_MOST_WALKED = 200_000
"""The number of log records that are searched for checks of the policy."""


class Policies:
    def __init__(self, core: Core, engine: Engine) -> None:
        self._core = core
        self._engine = engine

    @property
    def catalogue(self) -> Catalogue:
        """Return the types and patterns that a policy may name."""
        return self._engine.catalogue

    def list(self, access: Access, org: str) -> tuple[StoredPolicy, ...]:
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            rows = connection.execute(
                "SELECT * FROM policies WHERE org_id = ? ORDER BY created_at, rowid", (org_id,)
            ).fetchall()
        return tuple(self._answer(access, row) for row in rows)

    def get(self, access: Access, org: str, policy_id: str) -> StoredPolicy:
        with self._core.store.reading() as connection:
            row = _find(connection, access, org, policy_id)
        return self._answer(access, row)

    def create(self, access: Access, org: str, body: Mapping[str, Any]) -> StoredPolicy:
        access.require(Role.EDITOR)
        given = PolicyRequest.read(body)
        is_active, groups = given.is_active is not False, given.groups or ()
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            before = _default_content(connection, org_id) if body.get("rules") is None else {}
        policy = self._policy(before | _merged({}, body), org_id)

        def job(batch: Batch) -> Row:
            find_organization(batch.connection, access, org_id)
            members = group_ids(batch, org_id, groups, "groups")
            policy_id = insert_policy(
                batch, self._core, org_id, policy, members, is_active=is_active
            )
            details = {"version": policy.version}
            record(batch, self._core, access, "policy.created", policy_id, org_id, **details)
            return _find(batch.connection, access, org_id, policy_id)

        return self._answer(access, self._core.store.run(job))

    def update(
        self, access: Access, org: str, policy_id: str, body: Mapping[str, Any]
    ) -> StoredPolicy:
        """Change a policy. A change of its content makes a new version; switching it on or off does
        not. Null removes a key.
        """
        access.require(Role.EDITOR)
        given = PolicyChange.read(body)
        groups = given.groups
        stored = self.get(access, org, policy_id)
        if any(field in body for field in _CONTENT):
            # Compile patterns here, so that nobody waits for them with the write lock or during a
            # check.
            self._policy(_merged(stored.policy.to_dict(), body), stored.org_id)

        def job(batch: Batch) -> Row:
            row = _find(batch.connection, access, org, policy_id)
            before = _stored(row)
            after = Policy.from_dict(_merged(before.to_dict(), body))
            is_active = bool(row["is_active"]) if given.is_active is None else given.is_active
            if after._replace(version="") == before._replace(version=""):
                after = before
            elif _number(after.version) <= _number(before.version):
                major, minor = _number(before.version)
                after = after._replace(version=f"{major}.{minor + 1}")
            if after == before and is_active == bool(row["is_active"]) and groups is None:
                return row
            now = self._core.now()
            text = json.dumps(after.to_dict())
            stored = {"body": text, "is_active": is_active, "updated_at": now}
            batch.update("policies", "policy_id", policy_id, **stored)
            if after != before:
                batch.execute(
                    "INSERT INTO policy_versions VALUES (?, ?, ?, ?)",
                    (policy_id, after.version, text, now),
                )
            if groups is not None:
                _join_groups(batch, policy_id, group_ids(batch, row["org_id"], groups, "groups"))
            details = {"version": after.version, "is_active": is_active}
            record(batch, self._core, access, "policy.updated", policy_id, row["org_id"], **details)
            return _find(batch.connection, access, row["org_id"], policy_id)

        return self._answer(access, self._core.store.run(job))

    def delete(self, access: Access, org: str, policy_id: str) -> None:
        access.require(Role.EDITOR)

        def job(batch: Batch) -> None:
            row = _find(batch.connection, access, org, policy_id)
            batch.execute("DELETE FROM policies WHERE policy_id = ?", (row["policy_id"],))
            record(batch, self._core, access, "policy.deleted", policy_id, row["org_id"])

        self._core.store.run(job)

    def regenerate_key(self, access: Access, org: str, policy_id: str) -> PolicyKey:
        """Replace the key; the old key is invalid from now on."""
        access.require(Role.EDITOR)
        key = mint(KeyKind.POLICY)

        def job(batch: Batch) -> None:
            row = _find(batch.connection, access, org, policy_id)
            columns = key_columns(self._core, key, policy_id)
            batch.update("policies", "policy_id", policy_id, **columns, updated_at=self._core.now())
            record(batch, self._core, access, "policy.key-regenerated", policy_id, row["org_id"])

        self._core.store.run(job)
        return PolicyKey(key, policy_id)

    def versions(self, access: Access, org: str, policy_id: str) -> tuple[PolicyVersion, ...]:
        """Return the versions, newest first."""
        with self._core.store.reading() as connection:
            _find(connection, access, org, policy_id)
            rows = connection.execute(
                "SELECT * FROM policy_versions WHERE policy_id = ? ORDER BY rowid DESC",
                (policy_id,),
            ).fetchall()
        return tuple(
            PolicyVersion(policy_id, row["version"], row["created_at"], _stored(row))
            for row in rows
        )

    def lint(self, access: Access, body: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Return the problems of a draft; raise `PolicyError` if the draft cannot be read."""
        from dlpctl.policy.lint import lint

        del access  # a draft needs no stored data
        given = PolicyDraft.read(body)
        catalogue = self.catalogue
        found = lint(Policy.from_dict(given.policy, known_types=catalogue), catalogue)
        return tuple(Problem(str(each.level), *each[1:]) for each in found)

    def replay(
        self, access: Access, org: str, policy_id: str, body: Mapping[str, Any]
    ) -> ReplayResult:
        """Decide a policy's last checks again, by a draft."""
        given = ReplayRequest.read(body)
        catalogue = self.catalogue
        draft = Policy.from_dict(given.policy, known_types=catalogue)
        with self._core.store.reading() as connection:
            _find(connection, access, org, policy_id)
            oldest = self._core.chain.read(connection).last_seq - _MOST_WALKED
            rows = connection.execute(_LAST_CHECKS, (policy_id, oldest, given.checks)).fetchall()
        versions = {each.version: each.policy for each in self.versions(access, org, policy_id)}
        today = self._core.clock().astimezone(UTC).date()
        replayed = Replay(draft, versions, catalogue, today)([RecordedCheck(*row) for row in rows])
        changed = replayed.changed
        return ReplayResult(
            len(rows),
            len(changed),
            replayed.unexplained,
            replayed.before,
            replayed.after,
            tuple(_changed(*each) for each in changed[:_MOST_SHOWN]),
        )

    def _policy(self, content: Mapping[str, Any], org_id: str) -> Policy:
        policy = self._engine.policy(content, org_id)
        for field, text in (("name", policy.name), *(("tags", tag) for tag in policy.tags)):
            if len(text) > MAX_NAME or not text.isprintable():
                fail(field, f"must have at most {MAX_NAME} characters, all of which can be printed")
        return policy

    def _answer(self, access: Access, row: Row) -> StoredPolicy:
        key = self._core.ring.open(row["key_sealed"], row["policy_id"]).decode()
        policy = _stored(row)
        content: dict[str, Any] = policy.to_dict()
        return StoredPolicy(
            **{name: row[name] for name in ("policy_id", "org_id", "created_at", "updated_at")},
            **content,
            is_active=bool(row["is_active"]),
            api_key=key if access.sees_keys else shortened(key),
            policy=policy,
        )


def _changed(check: RecordedCheck, after: Decision) -> ChangedCheck:
    types = tuple(name for name, *_ in json.loads(check.detected))
    return ChangedCheck(*check[:4], str(after), types)


def insert_policy(
    batch: Batch, core: Core, org_id: str, policy: Policy, groups: Iterable[str], *, is_active: bool
) -> str:
    policy_id, key, now = new_id("pol"), mint(KeyKind.POLICY), core.now()
    text = json.dumps(policy.to_dict())
    batch.insert(
        "policies",
        policy_id=policy_id,
        org_id=org_id,
        body=text,
        is_active=is_active,
        **key_columns(core, key, policy_id),
        created_at=now,
        updated_at=now,
    )
    batch.execute(
        "INSERT INTO policy_versions VALUES (?, ?, ?, ?)", (policy_id, policy.version, text, now)
    )
    _join_groups(batch, policy_id, groups)
    return policy_id


def _join_groups(batch: Batch, policy_id: str, groups: Iterable[str]) -> None:
    batch.execute("DELETE FROM group_policies WHERE policy_id = ?", (policy_id,))
    for group_id in groups:
        batch.execute("INSERT INTO group_policies VALUES (?, ?)", (group_id, policy_id))


def _stored(row: Row) -> Policy:
    """Return a stored policy. Its names were checked when it was saved, and a pattern that was
    removed since must not make it unreadable.
    """
    return Policy.from_dict(json.loads(row["body"]))


def _default_content(connection: Connection, org_id: str) -> dict[str, Any]:
    """Return the deciding fields of the organization's default policy, or of the built-in one."""
    row = connection.execute(_DEFAULT, (org_id,)).fetchone()
    content = json.loads(row["body"]) if row else Policy.builtin().to_dict()
    return {key: content[key] for key in _DECIDING if key in content}


def _merged(before: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**before, **{key: body[key] for key in _CONTENT if key in body}}
    return {key: value for key, value in merged.items() if value is not None}


def _number(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor)
