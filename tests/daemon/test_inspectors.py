"""Inspectors with invalid, missing or late answers: their content is blocked."""

from __future__ import annotations

import json
import sys

import pytest

from dlpctl.control.inspection import StoredPolicy
from dlpctl.errors import BusyError, PolicyError
from dlpctl.processes.schema import encode
from dlpctl.types import Decision, Destination, Detection
from dlpctl_daemon.inspectors import Inspectors
from dlpctl_daemon.messages import REPLY, Failed, Inspected, Ready

_POLICY = StoredPolicy("pol_1", "1.2", "{}", Destination.VENDOR, "2026-03-10", b"key")
_FAKE = f"""
import os, struct, sys, time
def frame(message):
    sys.stdout.buffer.write(struct.pack("<Q", len(message)) + message)
    sys.stdout.buffer.flush()
frame({encode(REPLY, Ready())!r})
sys.stdin.buffer.read(10)
"""
_GOOD = Inspected("ALLOWED", "Nothing", [Detection("EMAIL", 1, None)], b"text", False)


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


def _saying(message):
    return f"{_FAKE}frame({encode(REPLY, message)!r})\ntime.sleep(60)"


def _with(**fields):
    return _saying(_GOOD._replace(**fields))


def test_an_answer_is_taken(inspectors):
    one, failed = inspectors(_saying(_GOOD))
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
        _with(masked=None),
        _with(masked=b"\xff"),
        _with(decision="FINE"),
        _with(decision=""),
        _with(decision="BLOCKED"),
        _with(summary="x" * 100_000),
        _with(detected=[Detection("EMAIL", -1, None)]),
        _saying(Ready()),
        _saying(Failed("MemoryError", "")),
        _saying(Failed("__builtins__", "x")),
        _saying(Failed("RateLimitError", "x")),
        _FAKE + "sys.stdout.buffer.write(b'\\xff' * 100); sys.stdout.flush(); time.sleep(60)",
        _FAKE + "frame(b'?'); time.sleep(60)",
        _FAKE + f"frame({encode(REPLY, _GOOD)[:-1]!r}); time.sleep(60)",
        _FAKE + "frame(b''); sys.exit()",
        _FAKE,
    ],
)
def test_invalid_answers_block(inspectors, code):
    one, failed = inspectors(code)
    report = one.check_text(_POLICY, "text")
    assert (report.decision, report.masked_content, report.detected) == (Decision.BLOCKED, None, ())
    assert report.summary.startswith("Blocked for VENDOR: ")
    assert len(failed) == 1


def test_a_file_is_blocked_likewise(inspectors):
    one, _ = inspectors(_with(masked=None))
    report, masked = one.check_file(_POLICY, b"data", "a.txt", None)
    assert (report.decision, masked) == (Decision.BLOCKED, None)


def test_a_slow_inspector_is_killed(inspectors):
    one, failed = inspectors(_FAKE + "time.sleep(600)", text_seconds=0.2)
    assert one.check_text(_POLICY, "text").decision is Decision.BLOCKED
    assert "took longer" in failed[0]


def test_an_error_of_a_policy_is_raised_as_it_is(inspectors):
    one, _ = inspectors(_saying(Failed("PolicyError", "rules[0]: no")))
    with pytest.raises(PolicyError, match="no"):
        one.check_text(_POLICY, "text")


@pytest.mark.parametrize("command", [["/nowhere/inspector"], [sys.executable, "-c", ""]])
def test_without_one_nothing_is_done(command):
    one = Inspectors(command, lambda _: None)
    with pytest.raises(BusyError, match="nothing was done"):
        one.check_text(_POLICY, "text")


def test_secrets_of_the_environment_are_not_passed_on(inspectors, monkeypatch):
    monkeypatch.setenv("DLPCTL_TOKEN", "secret")
    head, tail = encode(REPLY, _GOOD._replace(summary="?")).split(b"?")
    head = head[:-8]
    says = (
        "import json; said = json.dumps(dict(os.environ)).encode()\n"
        f"frame({head!r} + struct.pack('<Q', len(said)) + said + {tail!r})"
    )
    one, _ = inspectors(_FAKE + says)
    assert "DLPCTL_TOKEN" not in json.loads(one.check_text(_POLICY, "text").summary)
