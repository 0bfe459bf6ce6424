"""Lists of organizations, groups, licenses and tokens, with the forms that change them.

A collection is declared as data: the operations that list and change it, and the columns to show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from werkzeug.exceptions import NotFound

from dlpctl.control.access import Role
from dlpctl.control.resources import OPERATIONS
from dlpctl.control.resources.shapes import plain
from dlpctl_daemon.console.forms import Choices, Form, inputs_of
from dlpctl_daemon.console.pages import Answer, Pages, Visit


class Collection(NamedTuple):
    name: str
    """The path below `/console/`."""
    title: str
    noun: str
    about: str
    key: str
    """The field with the id, which is also the path parameter."""
    label: str
    """The field with the name that people use."""
    columns: tuple[str, ...]
    of_organization: bool
    operations: tuple[str, str, str, str]
    """The operations that list, create, change and remove; empty if there is none."""
    removal: str
    """The label of the button that removes a record."""
    role: Role
    """The role that may change it."""
    choices: tuple[tuple[str, str, str, str], ...] = ()
    """Fields that refer to other records: the field, the operation that lists them, id and name."""


COLLECTIONS = (
    Collection(
        "organizations",
        "Organizations",
        "organization",
        "Each organization has its own policies, licenses and audit log. A new one gets a"
        " trial license, a policy group and a policy.",
        "org_id",
        "name",
        ("name", "slug", "org_id", "created_at"),
        False,
        (
            "list_organizations",
            "create_organization",
            "update_organization",
            "delete_organization",
        ),
        "Delete",
        Role.ADMIN,
    ),
    Collection(
        "groups",
        "Policy groups",
        "group",
        "Named sets of policies that licenses cover. New policies join the default group.",
        "group_id",
        "name",
        ("name", "is_default", "policies", "description", "updated_at"),
        True,
        ("list_groups", "create_group", "update_group", "delete_group"),
        "Delete",
        Role.EDITOR,
        (("policy_ids", "list_policies", "policy_id", "name"),),
    ),
    Collection(
        "licenses",
        "Licenses",
        "license",
        "A license allows a number of checks a month, until it expires or is revoked. Revoking one"
        " deactivates the policies of its groups immediately.",
        "license_id",
        "license_id",
        ("license_id", "license_type", "status", "usage", "expires_at", "policy_groups"),
        True,
        ("list_licenses", "create_license", "extend_license", "revoke_license"),
        "Revoke",
        Role.ADMIN,
        (("policy_groups", "list_groups", "name", "name"),),
    ),
    Collection(
        "tokens",
        "Keys",
        "token",
        "Admin tokens give access to the console and the API. An admin may do everything, an editor"
        " changes policies, an auditor reads all but keys. Policy keys are on the policies' pages.",
        "token_id",
        "name",
        ("name", "role", "token_id", "org_id", "created_at", "expires_at"),
        False,
        ("list_tokens", "create_token", "", "revoke_token"),
        "Revoke",
        Role.ADMIN,
        (("org_id", "list_organizations", "slug", "name"),),
    ),
)


class _Room(NamedTuple):
    """The pages of a collection."""

    collection: Collection

    def show_all(self, visit: Visit) -> Answer:
        collection = self.collection
        organization = visit.organization() if collection.of_organization else None
        if collection.of_organization and organization is None:
            return visit.page("no_organization", collection.title)
        path = {} if organization is None else {"org_id": organization.slug}
        listed, create, *_ = collection.operations
        if listed == "list_tokens" and not visit.administers:
            rows = None
        else:
            rows = [plain(each) for each in visit.ask(listed, *path.values())]
        form = None
        if self._may_change(visit) and rows is not None:
            form = self._form(visit, create, path, {}, f"Create {collection.noun}")
        public_key = None
        if collection.name == "tokens":
            public_key = visit.control.licenses.public_key()
        return visit.page(
            "records",
            collection.title,
            collection=collection,
            organization=organization,
            rows=rows,
            new_form=form,
            rotation=Form("rotate_keys", {}, (), "Rotate"),
            public_key=public_key,
        )

    def show_one(self, visit: Visit, record_id: str) -> Answer:
        collection = self.collection
        organization = visit.organization() if collection.of_organization else None
        path = {} if organization is None else {"org_id": organization.slug}
        listed, _, update, remove = collection.operations
        rows = (plain(each) for each in visit.ask(listed, *path.values()))
        names = (collection.key, "slug")
        found = next((row for row in rows if record_id in map(row.get, names)), None)
        if found is None:
            raise NotFound
        path = path | {collection.key: found[collection.key]}
        change = removal = None
        if self._may_change(visit) or (collection.name == "organizations" and visit.edits):
            if update and found.get("status") != "revoked":
                change = self._form(visit, update, path, found, "Save")
            removable = self._may_change(visit) and not found.get("is_default")
            if removable and found.get("status") != "revoked":
                removal = Form(remove, path, (), collection.removal)
        return visit.page(
            "record",
            found[collection.label] or found[collection.key],
            collection=collection,
            organization=organization,
            record=found,
            change=change,
            removal=removal,
        )

    def _may_change(self, visit: Visit) -> bool:
        return visit.administers if self.collection.role is Role.ADMIN else visit.edits

    def _form(
        self,
        visit: Visit,
        operation: str,
        path: Mapping[str, str],
        values: Mapping[str, Any],
        button: str,
    ) -> Form:
        shape = OPERATIONS[operation].body
        if shape is None:
            raise NotFound
        refused, typed = visit.session.refused
        if refused == operation:
            values = {**values, **typed}
            visit.session.refused = ("", {})
        choices = self._choices(visit, path)
        return Form(operation, path, tuple(inputs_of(shape, values, choices)), button)

    def _choices(self, visit: Visit, path: Mapping[str, str]) -> Choices:
        given = [path["org_id"]] if self.collection.of_organization else []
        found: dict[str, Sequence[tuple[str, str]]] = {}
        for field, operation, key, label in self.collection.choices:
            rows = [plain(each) for each in visit.ask(operation, *given)]
            found[field] = [(row[key], row[label]) for row in rows]
        return found


def add_pages(pages: Pages) -> None:
    for collection in COLLECTIONS:
        room = _Room(collection)
        pages.get(f"/console/{collection.name}", room.show_all)
        pages.get(f"/console/{collection.name}/<record_id>", room.show_one)
