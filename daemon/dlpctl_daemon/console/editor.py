"""Policies: their list, and an editor with lint, versions, comparison and replay."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from flask import Response, render_template, request

from dlpctl.control.resources.organizations import Organization
from dlpctl.control.resources.policies import StoredPolicy
from dlpctl.control.resources.shapes import plain
from dlpctl.errors import DlpctlError, NotFoundError, PolicyError, RequestError
from dlpctl.policy.compare import changed_rules
from dlpctl.policy.files import as_yaml, builtin_names, read_table
from dlpctl.policy.loading import read_policy
from dlpctl.policy.model import Policy
from dlpctl.types import Decision
from dlpctl_daemon.bodies import read_json
from dlpctl_daemon.console.pages import Answer, Pages, Visit, address, see_other
from dlpctl_daemon.endpoints import json_response

_LIST = "/console/policies"
_ONE = f"{_LIST}/<policy_id>"
_POLICY_BYTES = 256 << 10
_DRAFT = "draft"
_CLEARED: dict[str, object] = {"minScore": None, "defaultAction": None, "customPatterns": None}
"""Keys that a change must contain, since missing keys leave the stored values as they are."""


class DiffLine(NamedTuple):
    """A line of a comparison: `added`, `removed` or `same`."""

    css_class: str
    text: str


def show_list(visit: Visit) -> Answer:
    organization = visit.organization()
    if organization is None:
        return visit.page("no_organization", "Policies")
    policies = visit.ask("list_policies", organization.slug)
    return visit.page(
        "policies",
        "Policies",
        organization=organization,
        policies=policies,
        templates=builtin_names(),
    )


def show_new(visit: Visit) -> Answer:
    organization = visit.organization()
    if organization is None:
        return visit.page("no_organization", "Policies")
    name = request.args.get("from", "default")
    draft = as_yaml(Policy.builtin(name).to_dict())
    return _editor(visit, organization, None, draft)


def show_one(visit: Visit, policy_id: str) -> Answer:
    organization, policy = _find(visit, policy_id)
    return _editor(visit, organization, policy, as_yaml(policy.policy.to_dict()))


def show_versions(visit: Visit, policy_id: str) -> Answer:
    """Show all versions, and compare two of them."""
    organization, policy = _find(visit, policy_id)
    versions = visit.ask("list_versions", organization.slug, policy_id)
    texts = {each.version: each.policy for each in versions}
    after = request.args.get("after", policy.version)
    earlier = [each.version for each in versions if each.version != after]
    before = request.args.get("before", earlier[0] if earlier else after)
    if before not in texts or after not in texts:
        raise RequestError("the policy has no such version")
    return visit.page(
        "versions",
        f"Versions of {policy.name}",
        organization=organization,
        policy=policy,
        versions=versions,
        before=before,
        after=after,
        rules=changed_rules(texts[before], texts[after]),
        lines=list(_compared(texts[before], texts[after])),
    )


def save(visit: Visit, policy_id: str) -> Answer:
    """Store the draft as a new version, or as a new policy."""
    organization = visit.organization()
    text = request.form.get("draft", "")
    if organization is None:
        return see_other(_LIST)
    is_new = policy_id == "new"
    policy = None if is_new else visit.ask("get_policy", organization.slug, policy_id)
    try:
        content = _parsed(visit, text).to_dict()
        if is_new:
            stored = visit.ask("create_policy", organization.slug, content)
        else:
            body = _CLEARED | content
            stored = visit.ask("update_policy", organization.slug, policy_id, body)
    except DlpctlError as error:
        if error.http_status >= 500:
            raise
        visit.announce_refusal(error)
        return _editor(visit, organization, policy, text)
    visit.announce(f"{stored.name} was saved as version {stored.version}.")
    return see_other(address(f"{_LIST}/{stored.policy_id}"))


def lint(visit: Visit) -> Answer:
    """Return the problems of a draft, and the lines they are on."""
    try:
        draft = _parsed(visit, _draft())
        found = plain(visit.ask("lint_policy", {"policy": draft.to_dict()}))
    except PolicyError as error:
        problems = error.problems or [error.message]
        found = [{"level": "error", "path": "", "message": each} for each in problems]
    return json_response(found, 200)


def compare(visit: Visit, policy_id: str) -> Answer:
    """Compare a draft with the stored policy."""
    _, policy = _find(visit, policy_id)
    draft = _parsed(visit, _draft())
    lines = [each._asdict() for each in _compared(policy.policy, draft)]
    return json_response({"rules": changed_rules(policy.policy, draft), "lines": lines}, 200)


def replay(visit: Visit, policy_id: str) -> Answer:
    """Apply a draft to the policy's recent checks."""
    organization, _ = _find(visit, policy_id)
    given = read_json(request.environ)
    draft = _parsed(visit, str(given.get("draft", "")))
    body = {"policy": draft.to_dict(), "checks": given.get("checks", 1_000)}
    found = visit.ask("replay_policy", organization.slug, policy_id, body)
    page = render_template("console/replay.html", replay=found, decisions=list(Decision))
    return Response(page, content_type="text/html; charset=utf-8")


def _editor(
    visit: Visit, organization: Organization, policy: StoredPolicy | None, draft: str
) -> Answer:
    return visit.page(
        "policy",
        policy.name if policy else "New policy",
        organization=organization,
        policy=policy,
        draft=draft,
        is_key_shown="key" in request.args and visit.edits,
    )


def _find(visit: Visit, policy_id: str) -> tuple[Organization, StoredPolicy]:
    """Return a policy and its organization: the chosen one, or the one that has the policy."""
    chosen = visit.organization()
    everywhere = visit.ask("list_organizations")
    for organization in sorted(everywhere, key=lambda each: each != chosen):
        for policy in visit.ask("list_policies", organization.slug):
            if policy.policy_id == policy_id:
                return organization, policy
    raise NotFoundError("there is no such policy")


def _draft() -> str:
    return str(read_json(request.environ).get("draft", ""))


def _parsed(visit: Visit, text: str) -> Policy:
    """Return the policy of a draft; raise `PolicyError` with the lines of its mistakes."""
    _refuse_aliases(text)
    file = read_table(text, _DRAFT, ".yaml")
    return Policy(*read_policy(file.data, file.source, visit.control.policies.catalogue, None))


def _refuse_aliases(text: str) -> None:
    """Refuse YAML whose aliases would expand a few lines to gigabytes."""
    import yaml

    try:
        for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise PolicyError(
                    f"{_DRAFT}:{line}: aliases are not allowed here; write the value again"
                )
    except yaml.YAMLError:
        return  # the parser of the draft reports the error


def _compared(before: Policy, after: Policy) -> Iterator[DiffLine]:
    classes = {"+": "added", "-": "removed", " ": "same"}
    old, new = (as_yaml(policy.to_dict()).splitlines() for policy in (before, after))
    for line in difflib.ndiff(old, new):
        if line[0] in classes:
            yield DiffLine(classes[line[0]], line[2:])


def add_pages(pages: Pages) -> None:
    pages.get(_LIST, show_list)
    pages.get(f"{_LIST}/new", show_new)
    pages.get(_ONE, show_one)
    pages.get(f"{_ONE}/versions", show_versions)
    pages.post(_ONE, save, _POLICY_BYTES)
    pages.post("/console/lint", lint, _POLICY_BYTES)
    pages.post(f"{_ONE}/compare", compare, _POLICY_BYTES)
    pages.post(f"{_ONE}/replay", replay, _POLICY_BYTES)
