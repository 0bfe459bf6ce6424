from __future__ import annotations

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.errors import ConflictError, DlpctlError, NotFoundError, RequestError, UnauthorizedError
from dlpctl.policy.model import Policy

RULE = {"name": "No mail", "dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}
BODY = {"name": "Strict", "description": "d", "tags": ["a"], "rules": [RULE]}


def test_a_policy_has_the_fields_of_the_interface(control, acme):
    answer = control.policies.create(LOCAL, acme, BODY).to_dict()
    assert list(answer) == [
        "policy_id",
        "org_id",
        "name",
        "description",
        "version",
        "tags",
        "is_active",
        "api_key",
        "rules",
        "created_at",
        "updated_at",
    ]
    assert answer["version"] == "1.0"
    assert answer["rules"] == [{"id": "no-mail", "enabled": True} | RULE]


def test_a_name_is_enough_and_the_default_policy_gives_the_rules(control, acme):
    (default,) = control.policies.list(LOCAL, acme)
    badge = {
        "id": "badge",
        "type": "BADGE",
        "category": "CUSTOM",
        "label": "B",
        "regex": "AC-[0-9]+",
        "score": 1,
    }
    rule = {
        "name": "No badges",
        "dataTypes": ["BADGE"],
        "destinations": ["VENDOR"],
        "action": "BLOCK",
    }
    control.policies.update(
        LOCAL,
        acme,
        default.policy_id,
        {"rules": [rule], "customPatterns": [badge], "minScore": 0.7},
    )
    for body in ({"name": "Plain"}, {"name": "Null", "rules": None, "tags": ["a"]}):
        made = control.policies.create(LOCAL, acme, body)
        expected = control.policies.get(LOCAL, acme, default.policy_id).policy
        assert made.policy.rules == expected.rules
        assert made.policy.custom_patterns == expected.custom_patterns
        assert (made.policy.min_score, made.policy.version) == (0.7, "1.0")
        assert control.checks.check_text(made.api_key, "AC-1", "VENDOR").decision == "BLOCKED"
    control.policies.delete(LOCAL, acme, default.policy_id)
    for one in control.policies.list(LOCAL, acme):
        control.policies.delete(LOCAL, acme, one.policy_id)
    made = control.policies.create(LOCAL, acme, {"name": "Alone"})
    assert made.policy.rules == Policy.builtin().rules


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"rules": [RULE | {"action": "DROP"}]}, "rules[0].action"),
        ({"rules": [RULE | {"dataTypes": ["EMIAL"]}]}, "rules[0].dataTypes[0]"),
        ({"rules": "all"}, "rules"),
        ({"name": ""}, "name"),
        ({"customPatterns": [{"id": "x", "type": "X", "regex": "("}]}, "customPatterns"),
    ],
)
def test_mistakes_in_a_policy_are_reported_with_their_path(control, acme, change, place):
    with pytest.raises(DlpctlError) as caught:
        control.policies.create(LOCAL, acme, BODY | change)
    assert caught.value.http_status == 422
    assert place in caught.value.message


def test_a_change_makes_a_version_and_the_old_one_stays(control, acme):
    policy_id = control.policies.create(LOCAL, acme, BODY).policy_id
    same = control.policies.update(LOCAL, acme, policy_id, BODY)
    off = control.policies.update(LOCAL, acme, policy_id, {"is_active": False})
    changed = control.policies.update(
        LOCAL, acme, policy_id, {"rules": [RULE | {"action": "MASK"}]}
    )
    assert [same.policy.version, off.policy.version, changed.policy.version] == [
        "1.0",
        "1.0",
        "1.1",
    ]
    assert not changed.is_active
    leap = control.policies.update(LOCAL, acme, policy_id, {"name": "New", "version": "3.0"})
    assert leap.policy.version == "3.0"
    versions = control.policies.versions(LOCAL, acme, policy_id)
    assert [one.version for one in versions] == ["3.0", "1.1", "1.0"]
    assert versions[2].policy.rules[0].action == "BLOCK"


def test_an_answer_can_be_sent_back(control, acme):
    made = control.policies.create(LOCAL, acme, BODY)
    again = control.policies.update(LOCAL, acme, made.policy_id, made.to_dict())
    assert again == made


def test_a_new_key_replaces_the_old_one_at_once(control, acme, key):
    (policy,) = control.policies.list(LOCAL, acme)
    fresh = control.policies.regenerate_key(LOCAL, acme, policy.policy_id)
    assert list(fresh.to_dict()) == ["api_key", "policy_id"]
    assert control.policies.get(LOCAL, acme, policy.policy_id).api_key == fresh.api_key != key
    with pytest.raises(UnauthorizedError):
        control.checks.check_text(key, "x", "VENDOR")
    control.checks.check_text(fresh.api_key, "x", "VENDOR")


def test_groups_hold_policies(control, acme):
    policy_id = control.policies.create(LOCAL, acme, BODY).policy_id
    group = control.groups.create(LOCAL, acme, {"name": "legal", "policy_ids": [policy_id]})
    assert group.policy_ids == (policy_id,)
    with pytest.raises(ConflictError):
        control.groups.create(LOCAL, acme, {"name": "legal"})
    with pytest.raises(RequestError, match="policy_ids"):
        control.groups.update(LOCAL, acme, "legal", {"policy_ids": ["pol_none"]})
    renamed = control.groups.update(LOCAL, acme, "legal", {"name": "law"})
    assert (renamed.name, renamed.policy_ids) == ("law", (policy_id,))
    control.policies.update(LOCAL, acme, policy_id, {"groups": ["default"]})
    assert control.groups.get(LOCAL, acme, "law").policy_ids == ()
    control.groups.delete(LOCAL, acme, "law")
    with pytest.raises(ConflictError):
        control.groups.delete(LOCAL, acme, "default")


def test_a_policy_of_another_organization_is_not_found(control, acme):
    other = control.organizations.create(LOCAL, {"name": "Other"}).org_id
    (policy,) = control.policies.list(LOCAL, acme)
    for call in (control.policies.get, control.policies.delete, control.policies.versions):
        with pytest.raises(NotFoundError):
            call(LOCAL, other, policy.policy_id)
    control.policies.delete(LOCAL, acme, policy.policy_id)
    assert control.policies.list(LOCAL, acme) == ()
