"""Create and change organizations of a control plane as a file describes.

Anything that the file does not name is left alone. Policies and groups are identified by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.cli.control_plane import complete_policy
from dlpctl.errors import NotFoundError, PolicyError
from dlpctl.mappings import KnownTable
from dlpctl.policy.files import builtin_names, read_table_file
from dlpctl.policy.model import Policy

if TYPE_CHECKING:
    from dlpctl.backend.interface import Backend

Organization = Mapping[str, Any]
_KEYS = ("slug", "name", "settings", "group", "policy")
_GROUP_KEYS = ("name", "description")
_OWN = ("source", "groups", "is_active")
"""Keys that policies have in such a file but not in policy files."""


def read(file: Path) -> list[Organization]:
    """Read organizations from a TOML, YAML or JSON file; raise `PolicyError` with all mistakes."""
    content = read_table_file(file)
    source = content.source
    organizations = KnownTable(content.data, source, "", ("organization",)).items("organization")
    for path, item in organizations:
        table = KnownTable(item, source, path, _KEYS)
        table.text("slug")
        table.tables("group", _GROUP_KEYS)
        for key in ("group", "policy"):
            inner = [item for _, item in table.items(key)]
            names = [each.get("name") if isinstance(each, Mapping) else None for each in inner]
            if None in names or len(set(names)) != len(names):
                table.fail(key, "each needs a name of its own")
    source.problems.raise_any()
    return [item for _, item in organizations if isinstance(item, Mapping)]


def apply(
    backend: Backend,
    organizations: list[Organization],
    folder: Path,
    load: Callable[[str], Policy],
    *,
    dry_run: bool,
) -> Iterator[str]:
    """Make the changes one by one, and yield a line for each: `+` for new, `~` for changed."""
    for wanted in organizations:
        slug = wanted["slug"]
        try:
            found: Organization | None = backend.get_organization(slug)
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
    backend: Backend, slug: str, wanted: Organization, *, exists: bool, dry_run: bool
) -> Iterator[str]:
    existing = {group["name"]: group for group in backend.list_groups(slug)} if exists else {}
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
    wanted: Organization,
    folder: Path,
    load: Callable[[str], Policy],
    *,
    exists: bool,
    dry_run: bool,
) -> Iterator[str]:
    existing = {policy["name"]: policy for policy in backend.list_policies(slug)} if exists else {}
    groups = backend.list_groups(slug) if exists else []
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


def _content(table: Organization, folder: Path, load: Callable[[str], Policy]) -> Policy:
    """Return the policy: the table itself, or the file or built-in policy named by `source`."""
    source = table.get("source")
    if source is None:
        return Policy.from_dict({key: value for key, value in table.items() if key not in _OWN})
    if further := [key for key in table if key not in (*_OWN, "name")]:
        raise PolicyError(f"{further[0]}: is not allowed with 'source'; write it in that file")
    policy = load(source if source in builtin_names() else str(folder / str(source)))
    return policy._replace(name=table["name"])


def _differing(wanted: Organization, found: Organization) -> list[str]:
    """Return the keys of `wanted` whose values differ in `found`; inner tables are compared only by
    the keys that `wanted` has.
    """
    changes = []
    for key, value in wanted.items():
        if isinstance(value, Mapping):
            inner = found.get(key) or {}
            changes += [f"{key}.{name}" for name in value if inner.get(name) != value[name]]
        elif found.get(key) != value:
            changes.append(key)
    return changes
