"""The reports of checks under a license, which contain nothing else."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dlpctl.backend import sending
from dlpctl.backend.address import Address
from dlpctl.backend.connection import Connection
from dlpctl.backend.licensing import LicenseClient
from dlpctl.backend.remote import RemoteBackend
from dlpctl.backend.spool import SILENT_SECONDS, Spool
from dlpctl.control.access import LOCAL
from dlpctl.errors import QuotaError, RequestError, ServerError, UnauthorizedError
from tests.backend.conftest import Result, Service

CONTENT = "Jane Doe, jane.doe@corp.example.net, SSN 536-22-8726, paid with 4111 1111 1111 1111.\n"
POLICY = f"pol_{1:024x}"
FIELDS = {
    "preflight_id",
    "created_at",
    "destination",
    "decision",
    "policy_id",
    "policy_version",
    "bytes",
    "is_file",
    "detected",
}


def _check(number: int) -> dict[str, object]:
    return {
        "preflight_id": f"pf_{number:024x}",
        "created_at": "2026-03-10T11:00:00.000Z",
        "destination": "VENDOR",
        "decision": "ALLOWED",
        "policy_id": POLICY,
        "policy_version": "1.0",
        "bytes": 1,
        "is_file": False,
        "detected": [],
    }


@pytest.fixture
def acme(acme: str, service: Service) -> str:
    """A service with a policy whose id checks can name."""
    with closing(sqlite3.connect(service.control.folder / "control.db")) as database:
        database.execute("INSERT INTO policy_owners VALUES (?, ?)", (POLICY, acme))
        database.commit()
    return acme


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "data" / "license" / "x.spool")


@pytest.fixture
def licensed(
    service: Service,
    license_key: str,
    dlpctl: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Result]:
    """The command line with a license, whose sender is not started."""
    monkeypatch.setenv("DLPCTL_SERVER", service.url)
    monkeypatch.setenv("DLPCTL_LICENSE_KEY", license_key)
    return dlpctl


def test_a_check_stays_until_it_is_reported(
    spool: Spool, service: Service, license_key: str
) -> None:
    for number in range(3):
        assert spool.put(_check(number))
    assert {file.stat().st_mode & 0o777 for file in spool.folder.iterdir()} == {0o600}
    service.stop()
    with closing(RemoteBackend(Connection(Address.parse(service.url)), None)) as server:
        with pytest.raises(ServerError):
            sending.send(spool, server, license_key)
        service.start()
        assert len(Spool(spool.folder).waiting(10)) == 3
        receipt = sending.send(Spool(spool.folder), server, license_key)
        assert receipt is not None
        assert receipt["recorded"] == 3
        assert spool.waiting(10) == {}
        assert sending.send(spool, server, license_key) is None
    assert service.control.audit.search(LOCAL).total == 3


def test_checks_are_sent_in_batches_oldest_first(
    spool: Spool, service: Service, license_key: str
) -> None:
    for number in range(sending.BATCH + 5):
        spool.put(_check(number))
    first = spool.folder / f"{_check(7)['preflight_id']}.json"
    os.utime(first, (1, 1))
    with closing(RemoteBackend(Connection(Address.parse(service.url)), None)) as server:
        sending.send(spool, server, license_key)
    sizes = [len(json.loads(seen.body)["checks"]) for seen in service.seen]
    assert sizes == [sending.BATCH, 5]
    assert json.loads(service.seen[0].body)["checks"][0] == _check(7)


def test_a_lost_answer_does_not_count_a_check_twice(
    spool: Spool, service: Service, license_key: str
) -> None:
    spool.put(_check(1))
    with closing(RemoteBackend(Connection(Address.parse(service.url)), None)) as server:
        server.report_usage(license_key, {"checks": list(spool.waiting(10).values())})
        receipt = sending.send(spool, server, license_key)
    assert receipt is not None
    assert (receipt["recorded"], receipt["known"]) == (0, 1)
    assert service.control.audit.search(LOCAL).total == 1


def test_ownerless_and_damaged_checks_are_dropped(spool: Spool, service: Service) -> None:
    spool.put(_check(1))
    (spool.folder / "pf_0.json").write_bytes(b"")
    assert list(spool.waiting(10).values()) == [_check(1)]
    with (
        closing(RemoteBackend(Connection(Address.parse(service.url)), None)) as server,
        pytest.raises(UnauthorizedError),
    ):
        sending.send(spool, server, "dlp_lk_x")
    assert list(spool.folder.glob("pf_*")) == []


def test_a_refused_check_does_not_delay_others(
    spool: Spool, service: Service, license_key: str
) -> None:
    for number in range(8):
        spool.put(_check(number) | ({"bytes": 2**60} if number in (2, 3) else {}))
    with closing(RemoteBackend(Connection(Address.parse(service.url)), None)) as server:
        receipt = sending.send(spool, server, license_key)
    assert receipt is not None
    assert receipt["checks_this_month"] == 6
    assert [one["bytes"] for one in spool.waiting(10).values()] == [2**60, 2**60]


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    assert not Spool(tmp_path / "x" / "spool").put(_check(1))


def test_one_sender_at_a_time(
    spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_for: Callable[..., None]
) -> None:
    """The interpreter is a program that writes down its arguments."""
    interpreter, started = tmp_path / "python", tmp_path / "started"
    interpreter.write_text(f'#!/bin/sh\necho "$@" >> "{started}"\n')
    interpreter.chmod(0o700)
    started.touch()
    monkeypatch.setattr(sys, "executable", str(interpreter))
    spool.put(_check(1))
    spool.start_sender("http://h")
    spool.start_sender("http://h")
    wait_for(lambda: started.read_text().count("\n") == 1)
    assert started.read_text().split()[:2] == ["-P", "-m"]
    long_ago = time.time() - SILENT_SECONDS
    os.utime(spool.folder / "sender", (long_ago, long_ago))
    spool.start_sender("http://h")
    wait_for(lambda: started.read_text().count("\n") == 2)
    spool.unmark()
    spool.start_sender("http://h")
    wait_for(lambda: started.read_text().count("\n") == 3)


@pytest.fixture
def no_sender(service: Service, license_key: str, tmp_path: Path) -> None:
    """Another sender is at work."""
    data = tmp_path / "home" / "data" / "dlpctl"
    spool = Spool(LicenseClient(service.url, license_key, data).spool)
    spool.put(_check(1))
    spool.remove(spool.waiting(1))
    spool.mark()


@pytest.fixture
def today(clock) -> None:
    """Keep the service's clock in step with that of the command line."""
    from datetime import UTC, datetime

    clock.now = datetime.now(UTC)


@pytest.mark.usefixtures("today", "no_sender")
def test_no_content_is_sent_over_the_wire(licensed, service, acme, license_key, tmp_path) -> None:
    name = "contract-of-smith-536-22-8726.txt"
    Path(name).write_text(CONTENT)
    Path("data.csv").write_text(f"who,note\nJane,{json.dumps(CONTENT.strip())}\n")
    answer = json.loads(licensed("check", name, "-d", "VENDOR", "-f", "json").out)
    assert licensed("check", "data.csv", "-d", "CUSTOMER").status == 10
    assert licensed("check", name, "--decision-only").status == 10
    data = tmp_path / "home" / "data" / "dlpctl"
    sending.main(LicenseClient(service.url, license_key, data).spool, service.url, license_key, 0)

    usage = [seen for seen in service.seen if seen.path == "/v1/license/usage"]
    told = [check for seen in usage for check in json.loads(seen.body)["checks"]]
    assert len(told) == 3
    assert all(set(check) == FIELDS for check in told)
    assert all(set(one) == {"type", "count"} for check in told for one in check["detected"])
    first = next(check for check in told if check["preflight_id"] == answer["preflight_id"])
    assert first["bytes"] == len(CONTENT)
    assert first["detected"] == [
        {"type": one["type"], "count": one["count"]} for one in answer["detected"]
    ]
    wire = " ".join(f"{seen.path} {dict(seen.headers)} {seen.body!r}" for seen in service.seen)
    wire = re.sub(r"[0-9a-f]{16,}", "", wire)  # identifiers, which have any digits by chance
    samples = [one["sample"] for one in answer["detected"] if one["sample"]]
    assert samples
    # A few digits are in a time or a port by chance.
    words = [word for word in CONTENT.split() if word != "SSN" and not word.strip(".").isdigit()]
    for secret in (*words, *samples, "smith", "536-22", "4111 1111", "data.csv", "Masked"):
        assert secret.strip(".,") not in wire, secret
    assert service.control.audit.search(LOCAL).total == 3
    assert service.control.licenses.list(LOCAL, acme)[0].checks_this_month == 3


@pytest.mark.usefixtures("today", "no_sender")
def test_the_policies_of_the_organization_decide(licensed, service, acme) -> None:
    Path("note.txt").write_text(CONTENT)
    assert licensed("check", "note.txt", "-d", "VENDOR").status == 10
    rule = {"name": "All", "dataTypes": ["PII"], "destinations": ["VENDOR"], "action": "BLOCK"}
    service.control.policies.create(LOCAL, acme, {"name": "strict", "rules": [rule]})
    home = Path(os.environ["XDG_DATA_HOME"]) / "dlpctl" / "license"
    for file in home.glob("*.json"):
        file.unlink()
    assert licensed("check", "note.txt", "-d", "VENDOR", "--policy", "strict").status == 20
    assert licensed("check", "note.txt", "-d", "VENDOR", "--policy", "nowhere").status == 2
    assert licensed("mask", "note.txt", "--policy", "strict", "-d", "AI_TOOL").out == CONTENT


@pytest.mark.usefixtures("today", "no_sender")
def test_a_later_check_needs_neither_the_network_nor_cryptography(licensed) -> None:
    """Importing cryptography would take ten times as long as the check may."""
    Path("note.txt").write_text(CONTENT)
    assert licensed("check", "note.txt", "-d", "VENDOR").status == 10
    run = (
        "import sys; from dlpctl.cli.main import run; status = run(['check', 'note.txt', '-d', 'VENDOR']);"
        "slow = {'http.client', 'ssl', 'socket', 'cryptography', 'jwt', 'sqlite3'} & set(sys.modules);"
        "sys.exit(f'imported {slow}' if slow else status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", run], capture_output=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (10, b"")


@pytest.mark.usefixtures("today", "no_sender")
def test_without_the_server_and_a_token_the_default_policy_decides(licensed, service) -> None:
    Path("note.txt").write_text(CONTENT)
    service.stop()
    try:
        result = licensed("check", "note.txt", "-d", "VENDOR")
    finally:
        service.start()
    assert result.status == 10
    assert result.err.count("\n") == 1
    assert "there is no valid license token" in result.err


@pytest.mark.usefixtures("today", "no_sender")
def test_an_invalid_license_is_an_error(licensed, service, acme, monkeypatch) -> None:
    Path("note.txt").write_text(CONTENT)
    service.control.licenses.revoke(
        LOCAL, acme, service.control.licenses.list(LOCAL, acme)[0].license_id
    )
    result = licensed("check", "note.txt")
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    monkeypatch.setenv("DLPCTL_LICENSE_KEY", "dlp_lk_x")
    assert "the license key is unknown" in licensed("check", "note.txt").err


@pytest.mark.usefixtures("today")
def test_the_background_sender_stops_checks_beyond_the_quota(
    licensed, service, license_key, acme, tmp_path, wait_for
) -> None:
    (license_,) = service.control.licenses.list(LOCAL, acme)
    service.control.licenses.extend(LOCAL, acme, license_.license_id, {"max_checks_per_month": 1})
    Path("note.txt").write_text(CONTENT)
    Path("json.py").write_text("raise SystemExit('imported from the working directory')")
    assert licensed("check", "note.txt", "-d", "VENDOR").status == 10
    client = LicenseClient(service.url, license_key, tmp_path / "home" / "data" / "dlpctl")

    def used_up() -> bool:
        try:
            client.grant()
        except QuotaError:
            return True
        return False

    wait_for(used_up)
    assert service.control.audit.search(LOCAL).total == 1
    result = licensed("check", "note.txt", "-d", "VENDOR")
    assert result.status == 1
    assert "monthly quota of 1 checks is used up" in result.err


def test_an_unreadable_report_stays(spool, service, license_key) -> None:
    spool.put(_check(1) | {"decision": "OF TOMORROW"})
    with (
        closing(RemoteBackend(Connection(Address.parse(service.url)), None)) as server,
        pytest.raises(RequestError),
    ):
        sending.send(spool, server, license_key)
    assert len(spool.waiting(10)) == 1
