"""The license client: what it trusts, for how long, and what it does without the server."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest

from dlpctl.backend.licensing import FRESH_SECONDS, GRACE_SECONDS, PAUSE_SECONDS, LicenseClient
from dlpctl.control.access import LOCAL
from dlpctl.errors import ForbiddenError, LicenseError, QuotaError, UnauthorizedError
from tests.backend.conftest import Clock, Service

Changes = Callable[[dict[str, Any]], object]


@pytest.fixture
def client(service: Service, license_key: str, tmp_path: Path, clock: Clock) -> LicenseClient:
    return LicenseClient(service.url, license_key, tmp_path / "data", now=clock.seconds)


def _file(client: LicenseClient) -> Path:
    return client.spool.with_suffix(".json")


def _change(client: LicenseClient, change: Changes) -> None:
    kept = json.loads(_file(client).read_bytes())
    change(kept)
    _file(client).write_text(json.dumps(kept))


def _asked(service: Service) -> list[str]:
    asked = [seen.path.rpartition("/")[2] for seen in service.seen]
    service.seen.clear()
    return asked


def test_the_server_is_asked_every_five_minutes(client, service, acme, clock) -> None:
    grant = client.grant()
    assert grant.org_id == acme
    policy_id, policy = grant.policy(None)
    assert (policy_id, policy.name) == (grant.policy("default")[0], "default")
    assert grant.policy("no-such") is None
    assert _asked(service) == ["validate", "public-key"]
    clock.forward(seconds=FRESH_SECONDS - 1)
    assert client.grant() == grant
    assert _asked(service) == []
    service.control.policies.update(LOCAL, acme, policy_id, {"description": "changed"})
    clock.forward(seconds=1)
    assert client.grant().policy(policy_id)[1].description == "changed"
    assert _asked(service) == ["validate"]


def test_the_cached_answer_is_private_and_contains_no_key(client, license_key) -> None:
    client.grant()
    assert _file(client).stat().st_mode & 0o777 == 0o600
    assert _file(client).parent.stat().st_mode & 0o777 == 0o700
    assert license_key not in _file(client).read_text()
    assert [file.name for file in _file(client).parent.iterdir()] == [_file(client).name]


def test_without_the_server_a_token_is_valid_until_it_expires(client, service, clock) -> None:
    grant = client.grant()
    service.stop()
    try:
        clock.forward(hours=23)
        assert client.grant() == grant
        clock.forward(hours=1, seconds=GRACE_SECONDS - 1)
        assert client.grant() == grant
        clock.forward(seconds=1)
        assert client.grant() is None
    finally:
        service.start()
    assert client.grant() is not None


def test_a_server_that_does_not_answer_is_not_asked_each_time(client, service, clock) -> None:
    grant = client.grant()
    clock.forward(seconds=FRESH_SECONDS)
    service.change = lambda _: b"the proxy failed"
    _asked(service)
    for _ in range(3):
        assert client.grant() == grant
    assert _asked(service) == ["validate"]
    clock.forward(seconds=PAUSE_SECONDS)
    assert client.grant() == grant
    assert _asked(service) == ["validate"]


def test_without_any_answer_there_is_no_grant(license_key, tmp_path) -> None:
    assert LicenseClient("http://127.0.0.1:9", license_key, tmp_path).grant() is None


def test_a_license_that_became_invalid(client, service, acme, clock) -> None:
    client.grant()
    service.control.licenses.revoke(
        LOCAL, acme, service.control.licenses.list(LOCAL, acme)[0].license_id
    )
    clock.forward(seconds=FRESH_SECONDS)
    for _ in range(2):
        with pytest.raises(ForbiddenError, match="was revoked"):
            client.grant()
    service.stop()
    try:
        assert client.grant() is None, "what was revoked is not good offline either"
    finally:
        service.start()


def test_an_expired_license(client, clock) -> None:
    client.grant()
    clock.forward(days=31)
    with pytest.raises(ForbiddenError, match="expired"):
        client.grant()


def test_a_token_expires_with_its_license(client, service, acme, clock) -> None:
    (license_,) = service.control.licenses.list(LOCAL, acme)
    service.control.licenses.extend(
        LOCAL, acme, license_.license_id, {"expires_at": "2026-03-10T13:00Z"}
    )
    client.grant()
    service.stop()
    try:
        clock.forward(hours=1, seconds=GRACE_SECONDS)
        assert client.grant() is None
    finally:
        service.start()


def test_an_unknown_key(service, tmp_path) -> None:
    with pytest.raises(UnauthorizedError):
        LicenseClient(service.url, "dlp_lk_x", tmp_path).grant()


def test_inactive_policies(client, service, acme, clock) -> None:
    (policy,) = service.control.policies.list(LOCAL, acme)
    service.control.policies.update(LOCAL, acme, policy.policy_id, {"is_active": False})
    grant = client.grant()
    with pytest.raises(ForbiddenError, match="not active"):
        grant.policy("default")
    with pytest.raises(ForbiddenError, match="covers no active policy"):
        grant.policy(None)


def test_keys_can_rotate(client, service, clock) -> None:
    client.grant()
    service.control.licenses.rotate_keys(LOCAL)
    clock.forward(seconds=FRESH_SECONDS)
    _asked(service)
    assert client.grant() is not None
    assert _asked(service) == ["validate", "public-key"]
    assert len(json.loads(_file(client).read_bytes())["keys"]) == 2


def _none(kept: dict[str, Any]) -> None:
    token = kept["answer"]["jwt_token"].split(".")
    header = {"alg": "none", "kid": next(iter(kept["keys"]))}
    head = urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")
    kept["answer"]["jwt_token"] = f"{head}.{token[1]}."


def _hs256(kept: dict[str, Any]) -> None:
    import hashlib
    import hmac

    ((key_id, pem),) = kept["keys"].items()
    header = (
        urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": key_id}).encode()).decode().rstrip("=")
    )
    said = f"{header}.{kept['answer']['jwt_token'].split('.')[1]}"
    signature = (
        urlsafe_b64encode(hmac.digest(pem.encode(), said.encode(), hashlib.sha256))
        .decode()
        .rstrip("=")
    )
    kept["answer"]["jwt_token"] = f"{said}.{signature}"


def _own_key(kept: dict[str, Any]) -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa

    claims = jwt.decode(kept["answer"]["jwt_token"], options={"verify_signature": False})
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    kept["answer"]["jwt_token"] = jwt.encode(
        claims, key, "RS256", {"kid": next(iter(kept["keys"]))}
    )


def _longer(kept: dict[str, Any]) -> None:
    head, payload, signature = kept["answer"]["jwt_token"].split(".")
    claims = jwt.decode(kept["answer"]["jwt_token"], options={"verify_signature": False})
    payload = urlsafe_b64encode(json.dumps(claims | {"exp": 2**40}).encode()).decode().rstrip("=")
    kept["answer"]["jwt_token"] = f"{head}.{payload}.{signature}"


def _laxer(kept: dict[str, Any]) -> None:
    for rule in kept["answer"]["policy_config"]["policies"][0]["rules"]:
        rule["action"] = "ALLOW"


@pytest.mark.parametrize(
    "change",
    [
        _none,
        _hs256,
        _own_key,
        _longer,
        _laxer,
        lambda kept: kept.update(keys={}),
        lambda kept: kept.update(keys=None),
        lambda kept: kept.update(answer=None),
        lambda kept: kept["answer"].update(jwt_token=None),
        lambda kept: kept["answer"].pop("policy_config"),
    ],
)
def test_a_tampered_file_is_not_accepted(client, service, change: Changes) -> None:
    grant = client.grant()
    _change(client, change)
    _asked(service)
    assert client.grant() == grant, "the server is asked again"
    assert "validate" in _asked(service)
    _change(client, change)
    service.stop()
    try:
        assert client.grant() is None
    finally:
        service.start()


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00", '{"answer": []}'])
def test_a_damaged_file_counts_as_missing(client, text: str) -> None:
    client.grant()
    _file(client).write_text(text)
    assert client.grant() is not None


def test_a_file_that_others_may_change_is_not_trusted(client, service) -> None:
    client.grant()
    _file(client).chmod(0o606)
    _asked(service)
    client.grant()
    assert "validate" in _asked(service)
    assert _file(client).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("forge", [_none, _hs256, _own_key, _laxer])
def test_an_answer_that_the_servers_key_has_not_signed(client, service, clock, forge) -> None:
    client.grant()
    keys = json.loads(_file(client).read_bytes())["keys"]

    def forged(data: bytes) -> bytes:
        answer = json.loads(data)
        if "jwt_token" in answer:
            forge({"answer": answer, "keys": keys})
        return json.dumps(answer).encode()

    service.change = forged
    clock.forward(seconds=FRESH_SECONDS)
    with pytest.raises(LicenseError):
        client.grant()


@pytest.mark.parametrize(
    ("seconds", "good"), [(-290, True), (-310, False), (30, True), (-7_200, False)]
)
def test_clocks_that_differ(
    service, license_key, tmp_path, clock, seconds: int, good: bool
) -> None:
    client = LicenseClient(
        service.url, license_key, tmp_path / "data", now=lambda: clock.seconds() + seconds
    )
    if good:
        assert client.grant() is not None
    else:
        with pytest.raises(LicenseError, match="set this machine's clock"):
            client.grant()


def test_a_clock_that_goes_back_does_not_keep_a_token_fresh(client, service, clock) -> None:
    client.grant()
    clock.forward(seconds=-100)
    _asked(service)
    client.grant()
    assert "validate" in _asked(service)


def test_a_clock_that_goes_back_does_not_revive_a_token(client, service, clock) -> None:
    client.grant()
    service.stop()
    try:
        clock.forward(hours=25)
        assert client.grant() is None
        clock.forward(hours=-24)
        assert client.grant() is None
    finally:
        service.start()
    assert client.grant() is not None


def test_a_used_up_quota(client, service, clock) -> None:
    from dlpctl.control.clock import next_month

    client.grant()
    client.spent(next_month(clock.now), 1_000)
    with pytest.raises(
        QuotaError, match=r"1,000 checks is used up; it starts again on 2026-04-01T00:00:00.000Z"
    ):
        client.grant()
    clock.forward(seconds=FRESH_SECONDS)
    assert client.grant() is not None, "the server may have been told otherwise meanwhile"
    client.spent(next_month(clock.now), 1_000)
    clock.forward(seconds=-60)
    assert client.grant() is not None, "a clock that was set back must not keep the refusal"


def test_an_unwritable_folder_only_costs_time(service, license_key, tmp_path, clock) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    client = LicenseClient(service.url, license_key, tmp_path / "data", now=clock.seconds)
    assert client.grant() == client.grant() is not None
