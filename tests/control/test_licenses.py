from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime

import jwt
import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.resources.licenses import UNLIMITED
from dlpctl.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    QuotaError,
    RequestError,
    UnauthorizedError,
)


def _claims(control, token):
    key_id = jwt.get_unverified_header(token)["kid"]
    pem = control.licenses.public_key(key_id).public_key
    return jwt.decode(
        token, pem, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
    )


def test_validation_answers_the_object_of_the_interface(control, acme):
    (license_,) = control.licenses.list(LOCAL, acme)
    (policy,) = control.policies.list(LOCAL, acme)
    answer = control.licenses.validate(license_.license_key).to_dict()
    assert list(answer) == [
        "valid",
        "expires",
        "org_id",
        "policy_version",
        "policy_config",
        "policy_groups",
        "default_policy_group",
        "jwt_token",
    ]
    assert answer["policy_groups"] == ["default"]
    assert answer["policy_config"]["default_policy_id"] == policy.policy_id
    assert answer["policy_config"]["policies"][0]["rules"] == policy.to_dict()["rules"]
    assert "api_key" not in json.dumps(answer["policy_config"])
    claims = _claims(control, answer["jwt_token"])
    assert (claims["org_id"], claims["license_id"], claims["type"]) == (
        acme,
        license_.license_id,
        "trial",
    )
    assert {"iss", "sub", "iat", "exp", "jti", "policy_version", "policy_hash"} <= set(claims)
    assert datetime.fromtimestamp(claims["exp"], UTC) == datetime(2026, 3, 11, 12, tzinfo=UTC)


def test_old_tokens_verify_after_the_keys_are_rotated(control, acme):
    (license_,) = control.licenses.list(LOCAL, acme)
    before = control.licenses.validate(license_.license_key).jwt_token
    old = control.licenses.public_key()
    new = control.licenses.rotate_keys(LOCAL)
    assert new.key_id != old.key_id
    assert control.licenses.public_key() == new
    assert control.licenses.public_key(old.key_id) == old
    after = control.licenses.validate(license_.license_key).jwt_token
    assert jwt.get_unverified_header(after)["kid"] == new.key_id
    assert _claims(control, before)["jti"] != _claims(control, after)["jti"]
    with pytest.raises(NotFoundError):
        control.licenses.public_key("key_none")


def test_forged_tokens_do_not_verify(control, acme):
    (license_,) = control.licenses.list(LOCAL, acme)
    token = control.licenses.validate(license_.license_key).jwt_token
    pem = control.licenses.public_key().public_key
    body = token.split(".")[1]
    for algorithm in ("none", "HS256"):
        head = (
            urlsafe_b64encode(json.dumps({"alg": algorithm, "typ": "JWT"}).encode())
            .decode()
            .rstrip("=")
        )
        with pytest.raises(jwt.InvalidTokenError):
            jwt.decode(
                f"{head}.{body}.{'' if algorithm == 'none' else 'AAAA'}", pem, algorithms=["RS256"]
            )


@pytest.mark.parametrize(
    "key", [None, "", "dlp_lk_x", "dlp_lk_" + "0" * 49, "x" * 10_000, "dlp_lk_\ud800"]
)
def test_an_unknown_key_is_unauthorized(control, acme, key):
    with pytest.raises(UnauthorizedError):
        control.licenses.validate(key)


def test_revoking_stops_the_very_next_check(control, acme, key):
    control.checks.check_text(key, "x", "VENDOR")
    (license_,) = control.licenses.list(LOCAL, acme)
    control.licenses.revoke(LOCAL, acme, license_.license_id)
    with pytest.raises(ForbiddenError, match="not active"):
        control.checks.check_text(key, "x", "VENDOR")
    with pytest.raises(ForbiddenError, match="revoked"):
        control.licenses.validate(license_.license_key)
    (policy,) = control.policies.list(LOCAL, acme)
    assert not policy.is_active
    assert control.licenses.list(LOCAL, acme)[0].status == "revoked"
    control.policies.update(LOCAL, acme, policy.policy_id, {"is_active": True})
    with pytest.raises(ForbiddenError, match="revoked"):
        control.checks.check_text(key, "x", "VENDOR")
    with pytest.raises(ConflictError):
        control.licenses.extend(LOCAL, acme, license_.license_id, {"license_type": "standard"})


def test_an_expired_license_stops_checks_until_it_is_extended(control, acme, key, clock):
    (license_,) = control.licenses.list(LOCAL, acme)
    clock.forward(days=30)
    with pytest.raises(ForbiddenError, match="expired"):
        control.checks.check_text(key, "x", "VENDOR")
    with pytest.raises(ForbiddenError, match="expired"):
        control.licenses.validate(license_.license_key)
    with pytest.raises(RequestError, match="expires_at"):
        control.licenses.extend(LOCAL, acme, license_.license_id, {"expires_at": "2020-01-01"})
    control.licenses.extend(LOCAL, acme, license_.license_id, {"expires_at": "2027-01-01"})
    control.checks.check_text(key, "x", "VENDOR")


def test_the_quota_ends_and_begins_anew_with_the_month(control, acme, key, clock):
    (license_,) = control.licenses.list(LOCAL, acme)
    control.licenses.extend(LOCAL, acme, license_.license_id, {"max_checks_per_month": 2})
    for _ in range(2):
        control.checks.check_text(key, "x", "VENDOR")
    with pytest.raises(QuotaError) as caught:
        control.checks.check_text(key, "x", "VENDOR")
    assert "2026-04-01T00:00:00.000Z" in caught.value.message
    assert (caught.value.limit, caught.value.retry_after) == (2, 21 * 86_400 + 12 * 3600)
    clock.forward(days=22)
    control.checks.check_text(key, "x", "VENDOR")
    assert control.licenses.list(LOCAL, acme)[0].checks_this_month == 1


def test_a_better_license_is_used_before_the_trial(control, acme, key):
    made = control.licenses.create(LOCAL, acme, {"license_type": "enterprise"})
    assert made.max_checks_per_month == UNLIMITED
    control.checks.check_text(key, "x", "VENDOR")
    assert [one.checks_this_month for one in control.licenses.list(LOCAL, acme)] == [0, 1]
    with pytest.raises(RequestError, match="license_type"):
        control.licenses.create(LOCAL, acme, {"license_type": "gold"})


def test_a_policy_outside_of_every_licensed_group_is_refused(control, acme):
    control.groups.create(LOCAL, acme, {"name": "unlicensed"})
    policy = control.policies.create(
        LOCAL, acme, {"name": "P", "rules": [], "groups": ["unlicensed"]}
    )
    with pytest.raises(ForbiddenError, match="no policy group"):
        control.checks.check_text(policy.api_key, "x", "VENDOR")
