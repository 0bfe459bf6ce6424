from __future__ import annotations

import pytest

from dlpctl.control.access import LOCAL, Access, Role
from dlpctl.errors import ConflictError, ForbiddenError, NotFoundError, RequestError


def test_creating_one_makes_a_license_a_group_and_an_active_policy(control):
    made = control.organizations.create(
        LOCAL, {"name": "Acme", "slug": "acme", "settings": {"primary_color": "#3366cc"}}
    )
    answer = made.to_dict()
    assert list(answer) == [
        "org_id",
        "name",
        "slug",
        "settings",
        "created_at",
        "updated_at",
        "license_id",
        "license_key",
        "license_type",
        "license_expires_at",
    ]
    assert (answer["license_type"], answer["license_expires_at"]) == (
        "trial",
        "2026-04-09T12:00:00.000Z",
    )
    (license_,) = control.licenses.list(LOCAL, "acme")
    assert (license_.max_checks_per_month, license_.status) == (1_000, "active")
    assert license_.default_policy_group == "default"
    (policy,) = control.policies.list(LOCAL, "acme")
    (group,) = control.groups.list(LOCAL, "acme")
    assert policy.is_active
    assert group.policy_ids == (policy.policy_id,)


@pytest.mark.parametrize("given", ["acme", "org_id"])
def test_found_by_id_and_by_slug(control, acme, given):
    assert control.organizations.get(LOCAL, acme if given == "org_id" else given).org_id == acme


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\ud800"}, "name"),
        ({"name": 5}, "name"),
        ({"name": "A", "slug": "No Slug"}, "slug"),
        ({"name": "A", "slug": "-a"}, "slug"),
        ({"name": "株式会社"}, "slug"),
        ({"name": "A", "settings": []}, "settings"),
        ({"name": "A", "settings": {"primary_color": "blue"}}, "settings.primary_color"),
        ({"name": "A", "settings": {"admin_email": "nobody"}}, "settings.admin_email"),
        ({"name": "A", "settings": {"retention": "ALL"}}, "settings.retention"),
        ({"name": "A", "settings": {f"key {number}": 1 for number in range(101)}}, "settings: "),
        ({"name": "A", "settings": {"key": "x" * 17_000}}, "settings: "),
        ({"name": "A", "nmae": "B"}, "'nmae'"),
        (["name"], "the request"),
    ],
)
def test_errors_start_with_the_field(control, body, field):
    with pytest.raises(RequestError) as caught:
        control.organizations.create(LOCAL, body)
    assert caught.value.message.startswith(field)
    assert control.organizations.list(LOCAL) == ()


def test_a_slug_is_made_from_the_name_and_unique(control, acme):
    assert control.organizations.create(LOCAL, {"name": "Café & Söhne"}).slug == "cafe-sohne"
    with pytest.raises(ConflictError, match="slug"):
        control.organizations.create(LOCAL, {"name": "Acme"})


def test_settings_are_merged_and_null_removes_one(control, acme):
    control.organizations.update(
        LOCAL, acme, {"settings": {"admin_email": "a@b.example", "primary_color": "#000000"}}
    )
    changed = control.organizations.update(
        LOCAL, acme, {"name": "New", "settings": {"primary_color": None}}
    )
    assert (changed.name, changed.settings) == ("New", {"admin_email": "a@b.example"})


def test_deleting_one_removes_all_but_its_audit_log(control, acme, key):
    control.checks.check_text(key, "hello", "VENDOR")
    control.organizations.delete(LOCAL, "acme")
    with pytest.raises(NotFoundError):
        control.organizations.get(LOCAL, acme)
    with pytest.raises(NotFoundError):
        control.policies.list(LOCAL, acme)
    assert control.audit.search(LOCAL, org_id=acme).total == 1
    assert control.audit.verify(LOCAL).intact


def test_an_organizations_own_token_sees_nothing_else(control, acme):
    other = control.organizations.create(LOCAL, {"name": "Other"})
    own = Access(Role.ADMIN, acme)
    assert [org.org_id for org in control.organizations.list(own)] == [acme]
    for look in (control.organizations.get, control.policies.list, control.licenses.list):
        with pytest.raises(NotFoundError):
            look(own, other.org_id)
    with pytest.raises(ForbiddenError):
        control.organizations.create(own, {"name": "Third"})
    with pytest.raises(ForbiddenError):
        control.organizations.delete(own, acme)


def test_an_auditor_reads_all_but_keys(control, acme):
    auditor = Access(Role.AUDITOR)
    (policy,) = control.policies.list(auditor, acme)
    (license_,) = control.licenses.list(auditor, acme)
    assert policy.api_key.startswith("dlp_pk_…")
    assert len(license_.license_key) < 20
    for change in (
        lambda: control.organizations.update(auditor, acme, {"name": "B"}),
        lambda: control.policies.update(auditor, acme, policy.policy_id, {}),
        lambda: control.groups.create(auditor, acme, {"name": "B"}),
        lambda: control.licenses.revoke(auditor, acme, license_.license_id),
        lambda: control.tokens.list(auditor),
    ):
        with pytest.raises(ForbiddenError):
            change()


def test_an_editor_changes_policies_and_no_licenses(control, acme):
    editor = Access(Role.EDITOR, acme)
    assert control.groups.create(editor, acme, {"name": "legal"}).name == "legal"
    with pytest.raises(ForbiddenError):
        control.licenses.create(editor, acme, {"license_type": "standard"})


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (2**53, "settings.x"),
        ({"deep": [1, -(2**60)]}, "settings.x.deep[1]"),
        (float("inf"), "settings.x"),
        (float("nan"), "settings.x"),
        ("\ud800", "settings.x"),
        ({"\udfff": 1}, "settings.x"),
    ],
)
def test_settings_hold_what_every_reader_of_json_can_read(control, acme, value, place):
    with pytest.raises(RequestError) as caught:
        control.organizations.update(LOCAL, acme, {"settings": {"x": value}})
    assert caught.value.message.startswith(f"{place}:")
    kept = {"x": {"y": None, "n": -(2**53) + 1, "t": "ü"}}
    assert control.organizations.update(LOCAL, acme, {"settings": kept}).settings == kept
