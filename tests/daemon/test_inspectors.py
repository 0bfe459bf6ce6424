"""Inspectors that answer anything, nothing or too late: what they looked at is blocked."""

from __future__ import annotations

import json
import sys

import pytest

from dlpctl.control.inspection import StoredPolicy
from dlpctl.errors import BusyError, PolicyError
from dlpctl.types import Decision, Destination
from dlpctl_daemon.inspectors import Inspectors

_POLICY = StoredPolicy("pol_1", "1.2", "{}", Destination.VENDOR, "2026-03-10", b"key")
_FAKE = """
import json, sys, time
def say(head, blobs=()):
    head = json.dumps(head | {"blobs": [len(each) for each in blobs]}).encode()
    sys.stdout.buffer.write(len(head).to_bytes(4, "big") + head + b"".join(blobs))
    sys.stdout.buffer.flush()
say({"ready": True})
sys.stdin.buffer.read(10)
"""
_GOOD = {"decision": "ALLOWED", "summary": "Nothing", "detected": [["EMAIL", 1, None]]}


@pytest.fixture
def inspectors():
    made = []

    def start(code, **named):
        failed = []
        made.append(Inspectors([sys.executable, "-c", code], failed.append, **named))
        return made[-1], failed

    yield start
    for each in made:
        each.close()


def _saying(head, *blobs):
    return f"{_FAKE}say({head!r}, {blobs!r})\ntime.sleep(60)"


def test_an_answer_is_taken(inspectors):
    one, failed = inspectors(_saying(_GOOD, b"text"))
    report = one.check_text(_POLICY, "text")
    assert (report.decision, report.masked_content, report.policy_version) == (
        Decision.ALLOWED,
        "text",
        "1.2",
    )
    assert report.detected[0].type == "EMAIL"
    assert failed == []


@pytest.mark.parametrize(
    "code",
    [
        _saying(_GOOD),
        _saying(_GOOD, b"a", b"b"),
        _saying(_GOOD, b"\xff"),
        _saying(_GOOD | {"decision": "FINE"}, b"text"),
        _saying(_GOOD | {"decision": None}, b"text"),
        _saying(_GOOD | {"summary": 1}, b"text"),
        _saying(_GOOD | {"summary": "x" * 100_000}, b"text"),
        _saying(_GOOD | {"detected": "EMAIL"}, b"text"),
        _saying(_GOOD | {"detected": [["EMAIL", "1", None]]}, b"text"),
        _saying(_GOOD | {"detected": [["EMAIL", -1, None]]}, b"text"),
        _saying({}, b"text"),
        _saying({"error": "MemoryError", "message": ""}),
        _saying({"error": "__builtins__", "message": "x"}),
        _saying({"error": "RateLimitError", "message": "x"}),
        _FAKE + "sys.stdout.buffer.write(b'\\xff' * 100); sys.stdout.flush(); time.sleep(60)",
        _FAKE + "sys.stdout.buffer.write(b'\\0\\0\\0\\2[]'); sys.stdout.flush(); time.sleep(60)",
        _FAKE + "sys.stdout.buffer.write(b'\\0\\0\\0\\2{x'); sys.stdout.flush(); time.sleep(60)",
        _FAKE + "say({}); sys.exit()",
        _FAKE,
    ],
)
def test_what_cannot_be_trusted_blocks(inspectors, code):
    one, failed = inspectors(code)
    report = one.check_text(_POLICY, "text")
    assert (report.decision, report.masked_content, report.detected) == (Decision.BLOCKED, None, ())
    assert report.summary.startswith("Blocked for VENDOR: ")
    assert len(failed) == 1


def test_a_file_is_blocked_likewise(inspectors):
    one, _ = inspectors(_saying(_GOOD))
    report, masked = one.check_file(_POLICY, b"data", "a.txt", None)
    assert (report.decision, masked) == (Decision.BLOCKED, None)


def test_one_that_takes_too_long_is_ended(inspectors):
    one, failed = inspectors(_FAKE + "time.sleep(600)", text_seconds=0.2)
    assert one.check_text(_POLICY, "text").decision is Decision.BLOCKED
    assert "took longer" in failed[0]


def test_an_error_of_a_policy_is_raised_as_it_is(inspectors):
    one, _ = inspectors(_saying({"error": "PolicyError", "message": "rules[0]: no"}))
    with pytest.raises(PolicyError, match="no"):
        one.check_text(_POLICY, "text")


@pytest.mark.parametrize("command", [["/nowhere/inspector"], [sys.executable, "-c", ""]])
def test_without_one_nothing_is_done(command):
    one = Inspectors(command, lambda _: None)
    with pytest.raises(BusyError, match="nothing was done"):
        one.check_text(_POLICY, "text")


def test_secrets_of_the_environment_are_not_passed_on(inspectors, monkeypatch):
    monkeypatch.setenv("DLPCTL_TOKEN", "secret")
    says = (
        _FAKE
        + "import os; say({'decision': 'ALLOWED', 'detected': [], 'summary': json.dumps(dict(os.environ))}, [b''])"
    )
    one, _ = inspectors(says)
    assert "DLPCTL_TOKEN" not in json.loads(one.check_text(_POLICY, "text").summary)
