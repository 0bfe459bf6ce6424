from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.errors import (
    ForbiddenError,
    NotFoundError,
    RequestError,
    TooLargeError,
    UnauthorizedError,
)

EMAIL = "write to jane.doe@corp.example.net"


def _query(url):
    return dict(parse_qsl(urlsplit(url).query))


@pytest.mark.of_a_file
def test_a_text_check_answers_and_is_kept_without_its_content(control, acme, key, tmp_path):
    answer = control.checks.check_text(key, EMAIL, "VENDOR").to_dict()
    assert answer["decision"] == "ALLOWED_WITH_MASKING"
    assert "jane.doe" not in answer["masked_content"]
    kept = control.checks.get(key, answer["preflight_id"]).to_dict()
    assert kept == answer | {"masked_content": None}
    control.maintenance.backup(tmp_path / "copy.db")
    assert b"jane.doe" not in (tmp_path / "copy.db").read_bytes()


def test_only_counts_are_kept_if_the_organization_says_so(control, acme, key):
    control.organizations.update(LOCAL, acme, {"settings": {"retention": "NONE"}})
    answer = control.checks.check_text(key, EMAIL, "VENDOR")
    assert answer.detected[0].sample
    assert control.checks.get(key, answer.preflight_id).detected[0].sample is None


@pytest.mark.parametrize(
    "bad", [None, "", "nothing", "dlp_pk_" + "a" * 49, "dlp_pk_\ud800", "é" * 56]
)
def test_an_unknown_key_is_unauthorized(control, acme, bad):
    with pytest.raises(UnauthorizedError):
        control.checks.check_text(bad, "x", "VENDOR")


def test_the_key_chooses_the_policy_and_policy_id_another_of_its_organization(control, acme, key):
    rule = {"name": "r", "dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}
    strict = control.policies.create(LOCAL, acme, {"name": "strict", "rules": [rule]})
    other = control.organizations.create(LOCAL, {"name": "Other"}).org_id
    (foreign,) = control.policies.list(LOCAL, other)
    check = control.checks.check_text
    assert check(key, EMAIL, "VENDOR", org_id=acme).decision == "ALLOWED_WITH_MASKING"
    assert (
        check(key, EMAIL, "VENDOR", org_id="acme", policy_id=strict.policy_id).decision == "BLOCKED"
    )
    with pytest.raises(ForbiddenError, match="org_id"):
        check(key, EMAIL, "VENDOR", org_id=other)
    for unknown in (foreign.policy_id, "pol_none", "\ud800"):
        with pytest.raises(NotFoundError, match="policy_id"):
            check(key, EMAIL, "VENDOR", policy_id=unknown)
    control.policies.update(LOCAL, acme, strict.policy_id, {"is_active": False})
    with pytest.raises(ForbiddenError, match="not active"):
        check(key, EMAIL, "VENDOR", policy_id=strict.policy_id)
    with pytest.raises(ForbiddenError, match="not active"):
        check(strict.api_key, EMAIL, "VENDOR")


def test_a_changed_policy_applies_to_the_next_check(control, acme, key):
    (policy,) = control.policies.list(LOCAL, acme)
    rule = {"name": "r", "dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}
    control.policies.update(LOCAL, acme, policy.policy_id, {"rules": [rule]})
    answer = control.checks.check_text(key, EMAIL, "VENDOR")
    assert (answer.decision, answer.policy_version) == ("BLOCKED", "1.1")


def test_another_organizations_check_is_not_found(control, acme, key):
    made = control.checks.check_text(key, EMAIL, "VENDOR")
    other = control.organizations.create(LOCAL, {"name": "Other"}).org_id
    foreign = control.policies.list(LOCAL, other)[0].api_key
    for given, preflight_id in ((foreign, made.preflight_id), (key, "pf_none"), (key, "\ud800")):
        with pytest.raises(NotFoundError):
            control.checks.get(given, preflight_id)


def test_a_key_reads_what_its_policy_has_checked_and_what_it_asked_for(control, acme, key):
    (policy,) = control.policies.list(LOCAL, acme)
    other = control.policies.create(LOCAL, acme, {"name": "other", "rules": []})
    third = control.policies.create(LOCAL, acme, {"name": "third", "rules": []})
    own = control.checks.check_file(key, EMAIL.encode(), "a.txt", "VENDOR")
    asked = control.checks.check_text(key, EMAIL, "VENDOR", policy_id=other.policy_id)
    for one in (own, asked):
        assert control.checks.get(key, one.preflight_id).preflight_id == one.preflight_id
    assert control.checks.get(other.api_key, asked.preflight_id).decision == "ALLOWED"
    query = _query(own.masked_file_url)
    for stranger, made in ((other, own), (third, own), (third, asked)):
        with pytest.raises(NotFoundError, match="no such check"):
            control.checks.get(stranger.api_key, made.preflight_id)
        with pytest.raises(NotFoundError):
            control.checks.file(stranger.api_key, made.preflight_id, **query)
    assert control.checks.file(key, own.preflight_id, **query).name == "a.txt"
    assert control.audit.verify(LOCAL).problems == ()
    control.policies.update(LOCAL, acme, policy.policy_id, {"is_active": False})
    for call in (
        lambda: control.checks.get(key, own.preflight_id),
        lambda: control.checks.file(key, own.preflight_id, **query),
    ):
        with pytest.raises(ForbiddenError, match="not active"):
            call()


def test_a_revoked_license_ends_reading_and_a_spent_quota_does_not(control, acme, key):
    made = control.checks.check_text(key, EMAIL, "VENDOR")
    (license_,) = control.licenses.list(LOCAL, acme)
    control.licenses.extend(LOCAL, acme, license_.license_id, {"max_checks_per_month": 0})
    assert control.checks.get(key, made.preflight_id).decision == made.decision
    control.licenses.revoke(LOCAL, acme, license_.license_id)
    with pytest.raises(ForbiddenError, match="not active"):
        control.checks.get(key, made.preflight_id)
    (policy,) = control.policies.list(LOCAL, acme)
    control.policies.update(LOCAL, acme, policy.policy_id, {"is_active": True})
    with pytest.raises(ForbiddenError, match="revoked"):
        control.checks.get(key, made.preflight_id)


def test_destination_and_size_are_checked(control, acme, key):
    with pytest.raises(RequestError, match="destination"):
        control.checks.check_text(key, "x", "MOON")
    with pytest.raises(TooLargeError, match="text"):
        control.checks.check_text(key, "x" * ((1 << 20) + 1), "VENDOR")
    assert control.audit.search(LOCAL).total == 0


def test_odd_texts_are_checked_and_recorded(control, acme, key):
    for text in ("", "\ud800 lone", "\0", "\x1b[31m", "𝒜" * 1000, EMAIL + "\udcff"):
        made = control.checks.check_text(key, text, "VENDOR")
        assert control.checks.get(key, made.preflight_id).decision == made.decision
    assert control.audit.verify(LOCAL).intact


def test_a_masked_file_is_fetched_by_its_signed_address_until_it_expires(
    control, acme, key, clock, kept_files
):
    made = control.checks.check_file(key, EMAIL.encode(), "a.txt", "VENDOR")
    answer = made.to_dict("https://dlp.example")
    assert "masked_content" not in answer
    assert answer["masked_file_url"].startswith(
        f"https://dlp.example/api/preflight/{made.preflight_id}/file?"
    )
    query = _query(made.masked_file_url)
    fetched = control.checks.file(key, made.preflight_id, **query)
    assert fetched.name == "a.txt"
    assert b"jane.doe" not in fetched.data
    assert control.checks.get(key, made.preflight_id).masked_file_url == made.masked_file_url
    (kept,) = kept_files()
    assert b"write to" not in kept
    for forged in (
        {"signature": "0" * 64},
        {"expires": "9999999999"},
        {"signature": None},
        {"expires": "é"},
    ):
        with pytest.raises(ForbiddenError):
            control.checks.file(key, made.preflight_id, **(query | forged))
    with pytest.raises(UnauthorizedError):
        control.checks.file(None, made.preflight_id, **query)
    clock.forward(minutes=15)
    with pytest.raises(ForbiddenError, match="expired"):
        control.checks.file(key, made.preflight_id, **query)
    assert control.checks.get(key, made.preflight_id).masked_file_url is None
    assert control.maintenance.sweep() == 1
    assert kept_files() == []


def test_a_file_that_cannot_be_read_is_blocked(control, acme, key):
    made = control.checks.check_file(key, b"\x89PNG\r\n\x1a\n\0\0", "../../etc/passwd", "VENDOR")
    assert (made.decision, made.masked_file_url) == ("BLOCKED", None)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_everything_on_the_disk_is_private(control, acme, key):
    control.checks.check_file(key, b"x", "a.txt", "VENDOR")
    control.tokens.first()
    files = [file for file in Path(control.folder).rglob("*") if file.is_file()]
    assert len(files) >= 4
    assert {file.stat().st_mode & 0o077 for file in files} == {0}
