"""From a file that says what organizations there should be to the changes that make it so.

What stands in the file is created or changed; what does not stand there is left alone. A policy and
a group are known by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.cli.control_plane import complete_policy
from dlpctl.errors import NotFoundError, PolicyError, UsageError, did_you_mean
from dlpctl.policy.files import builtin_names, read_table_file
from dlpctl.policy.model import Policy

if TYPE_CHECKING:
    from dlpctl.backend.interface import Backend

Table = Mapping[str, Any]
_ORGANIZATION = ("slug", "name", "settings", "group", "policy")
_GROUP = ("name", "description")
_OWN = ("source", "groups", "is_active")
"""Keys of a policy here that no policy file has."""


def read(file: Path) -> list[Table]:
    table = read_table_file(file)
    if not isinstance(table, Mapping):
        raise UsageError(f"{file.name}: must be a table")
    _known(file.name, table, ("organization",))
    organizations = _tables(file.name, table, "organization")
    for number, organization in enumerate(organizations):
        place = f"{file.name}: organization[{number}]"
        _known(place, organization, _ORGANIZATION)
        if not isinstance(organization.get("slug"), str):
            raise UsageError(f"{place}.slug: is missing")
        for group in _tables(place, organization, "group"):
            _known(f"{place}.group", group, _GROUP)
        for kind in ("group", "policy"):
            names = [one.get("name") for one in _tables(place, organization, kind)]
            if None in names or len(set(names)) != len(names):
                raise UsageError(f"{place}.{kind}: each needs a name of its own")
    return organizations


def apply(
    backend: Backend,
    organizations: list[Table],
    folder: Path,
    load: Callable[[str], Policy],
    *,
    dry_run: bool,
) -> Iterator[str]:
    """Makes the changes one by one, or only says them: `+` for what is new, `~` for what changes."""
    for wanted in organizations:
        slug = wanted["slug"]
        try:
            found: Table | None = backend.organization(slug)
        except NotFoundError:
            found = None
        body = {key: wanted[key] for key in ("name", "settings") if key in wanted}
        if found is None:
            yield f"+ organization {slug}"
            if not dry_run:
                backend.create_organization({"name": slug} | body | {"slug": slug})
        elif changes := _differing(body, found):
            yield f"~ organization {slug}: {', '.join(changes)}"
            if not dry_run:
                backend.update_organization(slug, body)
        exists = found is not None or not dry_run
        yield from _groups(backend, slug, wanted, exists=exists, dry_run=dry_run)
        yield from _policies(backend, slug, wanted, folder, load, exists=exists, dry_run=dry_run)


def _groups(
    backend: Backend, slug: str, wanted: Table, *, exists: bool, dry_run: bool
) -> Iterator[str]:
    existing = {group["name"]: group for group in backend.groups(slug)} if exists else {}
    for group in wanted.get("group", ()):
        name = group["name"]
        if name not in existing:
            yield f"+ group {slug}/{name}"
            if not dry_run:
                backend.create_group(slug, group)
        elif _differing(group, existing[name]):
            yield f"~ group {slug}/{name}: description"
            if not dry_run:
                backend.update_group(slug, name, group)


def _policies(
    backend: Backend,
    slug: str,
    wanted: Table,
    folder: Path,
    load: Callable[[str], Policy],
    *,
    exists: bool,
    dry_run: bool,
) -> Iterator[str]:
    existing = {policy["name"]: policy for policy in backend.policies(slug)} if exists else {}
    groups = backend.groups(slug) if exists else []
    for table in wanted.get("policy", ()):
        name = table["name"]
        try:
            content = complete_policy(_content(table, folder, load))
        except PolicyError as error:
            raise PolicyError(f"{slug}/{name}: {error.message}") from None
        body = content | {key: table[key] for key in ("groups", "is_active") if key in table}
        if name not in existing:
            yield f"+ policy {slug}/{name}"
            if not dry_run:
                backend.create_policy(slug, body)
            continue
        found = existing[name]
        member = sorted(
            group["name"] for group in groups if found["policy_id"] in group["policy_ids"]
        )
        now = complete_policy(Policy.from_dict(found)) | {
            "groups": member,
            "is_active": found["is_active"],
        }
        if "groups" in body:
            body["groups"] = sorted(body["groups"])
        changes = [key for key, value in body.items() if key != "version" and value != now[key]]
        if changes:
            yield f"~ policy {slug}/{name}: {', '.join(changes)}"
            if not dry_run:
                backend.update_policy(slug, found["policy_id"], body)


def _content(table: Table, folder: Path, load: Callable[[str], Policy]) -> Policy:
    """What the policy says: here, or in the file or built-in policy that `source` names."""
    source = table.get("source")
    if source is None:
        return Policy.from_dict({key: value for key, value in table.items() if key not in _OWN})
    if further := [key for key in table if key not in (*_OWN, "name")]:
        raise PolicyError(f"{further[0]}: stands beside 'source'; write it in that file")
    policy = load(source if source in builtin_names() else str(folder / str(source)))
    return policy._replace(name=table["name"])


def _differing(wanted: Table, found: Table) -> list[str]:
    """The keys of `wanted` that `found` has otherwise; of tables within, those keys alone that are
    wanted.
    """
    changes = []
    for key, value in wanted.items():
        if isinstance(value, Mapping):
            inner = found.get(key) or {}
            changes += [f"{key}.{name}" for name in value if inner.get(name) != value[name]]
        elif found.get(key) != value:
            changes.append(key)
    return changes


def _tables(place: str, table: Table, key: str) -> list[Table]:
    items = table.get(key, [])
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise UsageError(f"{place}.{key}: must be a list of tables; write [[{key}]]")
    return items


def _known(place: str, table: Table, known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{place}: {key!r} is not a key here{did_you_mean(str(key), known)}")
