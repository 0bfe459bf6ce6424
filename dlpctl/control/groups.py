"""Policy groups: named sets of policies, which licenses cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from dlpctl.control.access import Access, Role
from dlpctl.control.core import Core, find, find_organization, new_id
from dlpctl.control.database import Connection, Row
from dlpctl.control.events import record
from dlpctl.control.resources.fields import fail
from dlpctl.control.resources.groups import Group, GroupChange, GroupRequest
from dlpctl.control.writer import Batch
from dlpctl.errors import ConflictError

_FIND = """
    SELECT * FROM policy_groups WHERE org_id = :org_id AND (group_id = :given OR name = :given)
    ORDER BY group_id = :given DESC"""
_find = partial(find, _FIND, "policy group")


class Groups:
    def __init__(self, core: Core) -> None:
        self._core = core

    def list(self, access: Access, org: str) -> tuple[Group, ...]:
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            rows = connection.execute(
                "SELECT * FROM policy_groups WHERE org_id = ? ORDER BY is_default DESC, name",
                (org_id,),
            ).fetchall()
            return tuple(_group(connection, row) for row in rows)

    def get(self, access: Access, org: str, group: str) -> Group:
        with self._core.store.reading() as connection:
            return _group(connection, _find(connection, access, org, group))

    def create(self, access: Access, org: str, body: Mapping[str, Any]) -> Group:
        access.require(Role.EDITOR)
        given = GroupRequest.read(body)

        def job(batch: Batch) -> Group:
            org_id = find_organization(batch.connection, access, org)["org_id"]
            _refuse_taken(batch, org_id, given.name)
            group_id = insert_group(
                batch, org_id, given.name, given.description, now=self._core.now()
            )
            _set_policies(batch, org_id, group_id, given.policy_ids)
            record(batch, self._core, access, "group.created", group_id, org_id)
            return _group(batch.connection, _find(batch.connection, access, org_id, group_id))

        return self._core.store.run(job)

    def update(self, access: Access, org: str, group: str, body: Mapping[str, Any]) -> Group:
        access.require(Role.EDITOR)
        given = GroupChange.read(body)

        def job(batch: Batch) -> Group:
            row = _find(batch.connection, access, org, group)
            if given.name not in (None, row["name"]):
                _refuse_taken(batch, row["org_id"], given.name)
            batch.update(
                "policy_groups",
                "group_id",
                row["group_id"],
                name=given.name or row["name"],
                description=row["description"] if given.description is None else given.description,
                updated_at=self._core.now(),
            )
            if given.policy_ids is not None:
                batch.execute("DELETE FROM group_policies WHERE group_id = ?", (row["group_id"],))
                _set_policies(batch, row["org_id"], row["group_id"], given.policy_ids)
            record(batch, self._core, access, "group.updated", row["group_id"], row["org_id"])
            return _group(
                batch.connection, _find(batch.connection, access, row["org_id"], row["group_id"])
            )

        return self._core.store.run(job)

    def delete(self, access: Access, org: str, group: str) -> None:
        """Delete a group but not its policies; the default group cannot be deleted."""
        access.require(Role.EDITOR)

        def job(batch: Batch) -> None:
            row = _find(batch.connection, access, org, group)
            if row["is_default"]:
                raise ConflictError("the default policy group cannot be deleted")
            batch.execute("DELETE FROM policy_groups WHERE group_id = ?", (row["group_id"],))
            record(batch, self._core, access, "group.deleted", row["group_id"], row["org_id"])

        self._core.store.run(job)


def insert_group(
    batch: Batch, org_id: str, name: str, description: str, *, now: str, is_default: bool = False
) -> str:
    group_id = new_id("grp")
    batch.insert(
        "policy_groups",
        group_id=group_id,
        org_id=org_id,
        name=name,
        description=description,
        is_default=is_default,
        created_at=now,
        updated_at=now,
    )
    return group_id


def group_ids(batch: Batch, org_id: str, groups: Iterable[str], field: str) -> list[str]:
    """Return the ids of groups given by name or id; the default group if none is given."""
    named = list(groups)
    if not named:
        rows = batch.execute(
            "SELECT group_id FROM policy_groups WHERE org_id = ? AND is_default = 1", (org_id,)
        ).fetchall()
        return [row["group_id"] for row in rows]
    found = []
    for group in named:
        row = (
            batch.execute(_FIND, {"org_id": org_id, "given": group}).fetchone()
            if group.isprintable()
            else None
        )
        if row is None:
            fail(field, f"the organization has no policy group {group!r}")
        found.append(row["group_id"])
    return found


def _refuse_taken(batch: Batch, org_id: str, name: str | None) -> None:
    taken = batch.execute(
        "SELECT 1 FROM policy_groups WHERE org_id = ? AND name = ?", (org_id, name)
    )
    if taken.fetchone():
        raise ConflictError(f"name: there is already a policy group {name!r}")


def _set_policies(batch: Batch, org_id: str, group_id: str, policies: Iterable[str]) -> None:
    for policy_id in policies:
        added = policy_id.isprintable() and batch.execute(
            "INSERT INTO group_policies SELECT ?, policy_id FROM policies WHERE org_id = ? AND"
            " policy_id = ?",
            (group_id, org_id, policy_id),
        )
        if not added or not added.rowcount:
            fail("policy_ids", f"the organization has no policy {policy_id!r}")


def _group(connection: Connection, row: Row) -> Group:
    policies = connection.execute(
        "SELECT policy_id FROM group_policies JOIN policies USING (policy_id) WHERE group_id = ?"
        " ORDER BY created_at, policies.rowid",
        (row["group_id"],),
    )
    values = {name: row[name] for name in Group.fields if name != "policy_ids"}
    values["is_default"] = bool(row["is_default"])
    return Group(**values, policy_ids=tuple(policy["policy_id"] for policy in policies))
