"""The gateway with the keys of a control plane."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dlpctl.config import FileLimits
from dlpctl.control.access import LOCAL
from dlpctl.control.prepared import PreparedDetectors
from dlpctl.control.rates import Rate, RateLimiter
from dlpctl.control.service import ControlPlane
from dlpctl.detect.engine import Detector
from dlpctl.gateway.admission import ControlAdmission, Terms
from dlpctl.gateway.calls import CallLog
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.licensed import KeyAdmission, LicenseAdmission, LocalLicenses
from dlpctl.gateway.protocols import PROTOCOLS
from dlpctl.gateway.relaying import Target
from dlpctl.gateway.server import Gateway, Settings
from dlpctl.gateway.upstream import Upstream
from dlpctl.types import Destination
from tests.gateway.standin import KEY, Reply, Running, running

MAIL = "maria.lopez@acme-corp.com"
MESSAGES = "/anthropic/v1/messages"
BODY = {"messages": [{"role": "user", "content": f"I am {MAIL}"}]}


class Organized(NamedTuple):
    """A gateway whose control plane has an organization with a policy."""

    gateway: Running
    control: ControlPlane
    policy_id: str
    key: str

    def ask(self, key: str | None = None, body: Any = BODY) -> tuple[int, dict[str, str], bytes]:
        return self.gateway.ask(MESSAGES, body, {"x-dlpctl-key": key or self.key})


def terms_of(burst: int = 100) -> Terms:
    rates = RateLimiter(Rate(60, burst))
    return Terms(Destination.AI_TOOL, "token", FileLimits(), rates, refuses_unread=True)


@pytest.fixture
def organized(
    gateway: Running, library: Detector, tmp_path: Path
) -> Iterator[Callable[..., Organized]]:
    with ControlPlane.open(tmp_path / "data", lambda: library) as control:
        control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"})
        policy = control.policies.list(LOCAL, "acme")[0]
        started = []

        def start(burst: int = 100) -> Organized:
            terms = terms_of(burst)
            detectors = PreparedDetectors(lambda: library)
            licenses = LicenseAdmission(LocalLicenses(control), terms, detectors, KEY)
            admission = KeyAdmission(licenses, ControlAdmission(control.checks, terms))
            made = Gateway(
                {name: Target(each, gateway.provider.url) for name, each in PROTOCOLS.items()},
                admission,
                Conversations(60),
                Upstream,
                CallLog(tmp_path / "calls.jsonl"),
                ThreadPoolExecutor(2),
                Settings(frozenset()),
            )
            context = running(made, gateway.provider, tmp_path)
            started.append(context)
            return Organized(context.__enter__(), control, policy.policy_id, policy.api_key)

        yield start
        for each in started:
            each.__exit__(None, None, None)


def test_a_call_is_decided_and_recorded_by_the_policy_of_the_key(
    organized: Callable[..., Organized],
) -> None:
    acme = organized()
    status, headers, _ = acme.ask()
    assert status == 200
    assert headers["x-dlpctl-decision"] == "ALLOWED_WITH_MASKING"
    sent = acme.gateway.provider.sent[0]
    assert MAIL.encode() not in sent.body
    assert acme.key not in str(sent.headers)
    entry = next(iter(acme.control.audit.export(LOCAL, org_id="acme")))
    assert entry.decision == "ALLOWED_WITH_MASKING"
    assert "by the gateway; found 1 email" in entry.summary
    counted = acme.control.analytics.detections(LOCAL, "acme").types
    assert [(each.type, each.count) for each in counted] == [("EMAIL", 1)]
    call = json.loads(acme.gateway.log.read_text().splitlines()[-1])
    assert call["policy"] == acme.policy_id


def test_a_license_names_the_organization_and_its_policy(
    organized: Callable[..., Organized],
) -> None:
    acme = organized()
    license_key = acme.control.licenses.list(LOCAL, "acme")[0].license_key
    for _ in range(2):
        status, headers, _ = acme.ask(license_key)
        assert (status, headers["x-dlpctl-decision"]) == (200, "ALLOWED_WITH_MASKING")
    assert MAIL.encode() not in acme.gateway.provider.sent[0].body
    assert license_key not in str(acme.gateway.provider.sent)
    entries = list(acme.control.audit.export(LOCAL, org_id="acme"))
    assert [each.decision for each in entries] == ["ALLOWED_WITH_MASKING"] * 2
    assert "by a client; found 1 email" in entries[0].summary
    call = json.loads(acme.gateway.log.read_text().splitlines()[-1])
    assert call["policy"] == acme.policy_id
    assert acme.control.licenses.list(LOCAL, "acme")[0].checks_this_month == 2
    by_name = {"x-dlpctl-key": license_key, "x-dlpctl-policy": "default"}
    assert acme.gateway.ask(MESSAGES, BODY, by_name)[0] == 200
    unknown = by_name | {"x-dlpctl-policy": "no-such"}
    assert acme.gateway.ask(MESSAGES, BODY, unknown)[0] == 403
    of_policy = {"x-dlpctl-key": acme.key, "x-dlpctl-policy": "default"}
    assert acme.gateway.ask(MESSAGES, BODY, of_policy)[0] == 400
    assert len(acme.gateway.provider.sent) == 3


def test_a_revoked_license_ends_immediately(organized: Callable[..., Organized]) -> None:
    acme = organized()
    given = acme.control.licenses.list(LOCAL, "acme")[0]
    assert acme.ask(given.license_key)[0] == 200
    acme.control.licenses.revoke(LOCAL, "acme", given.license_id)
    status, _, answer = acme.ask(given.license_key)
    assert (status, json.loads(answer)["error"]["type"]) == (403, "permission_error")
    assert acme.ask(given.license_key[:-1] + "0")[0] == 401
    assert len(acme.gateway.provider.sent) == 1


def test_the_quota_of_a_license_is_kept(
    organized: Callable[..., Organized],
) -> None:
    acme = organized()
    made = acme.control.licenses.create(LOCAL, "acme", {"license_type": "trial"})
    license_key, few = made.license_key, {"max_checks_per_month": 2}
    acme.control.licenses.extend(LOCAL, "acme", made.license_id, few)
    answers = [acme.ask(license_key) for _ in range(4)]
    assert [status for status, _, _ in answers] == [200, 200, 429, 429]
    assert "quota" in json.loads(answers[-1][2])["error"]["message"]
    assert len(acme.gateway.provider.sent) == 2


def test_without_a_key_nothing_is_sent(organized: Callable[..., Organized]) -> None:
    acme = organized()
    status, _, answer = acme.ask("dlp_unknown")
    assert (status, json.loads(answer)["error"]["type"]) == (401, "authentication_error")
    acme.control.policies.delete(LOCAL, "acme", acme.policy_id)
    assert acme.ask()[0] == 401
    assert not acme.gateway.provider.sent


def test_the_rate_is_limited(organized: Callable[..., Organized]) -> None:
    acme = organized(burst=1)
    assert acme.ask()[0] == 200
    status, _, answer = acme.ask()
    assert (status, json.loads(answer)["error"]["type"]) == (429, "rate_limit_error")


def test_a_stream_continues_when_its_policy_is_revoked(organized: Callable[..., Organized]) -> None:
    acme = organized()

    def reply(sent: Any) -> Reply:
        token = sent.json["messages"][0]["content"][5:]

        def body() -> Iterator[bytes]:
            delta = {"type": "text_delta", "text": f"To {token}"}
            event = {"type": "content_block_delta", "index": 0, "delta": delta}
            acme.control.policies.delete(LOCAL, "acme", acme.policy_id)
            yield b"data: " + json.dumps(event).encode() + b"\n\n"

        return Reply(body, content_type="text/event-stream")

    acme.gateway.provider.reply = reply
    assert MAIL.encode() in acme.ask()[2]
    assert acme.ask()[0] == 401


@pytest.mark.parametrize("damage", ["removed", "overwritten"])
def test_nothing_is_sent_without_the_database(
    organized: Callable[..., Organized], tmp_path: Path, damage: str
) -> None:
    acme = organized()
    assert acme.ask()[0] == 200
    acme.gateway.provider.sent.clear()
    acme.control.close()
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file() and path.suffix != ".key":
            if damage == "removed":
                path.unlink()
            else:
                path.write_bytes(b"junk" * 2_000)
    status, _, answer = acme.ask()
    assert status >= 400
    assert json.loads(answer)["type"] == "error"
    assert str(tmp_path) not in answer.decode()
    assert not acme.gateway.provider.sent
