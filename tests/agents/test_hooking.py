"""Events that cannot be inspected."""

from __future__ import annotations

import json

import pytest

from dlpctl.agents.client import LARGEST
from dlpctl.agents.guard import Guard
from dlpctl.agents.hooking import answer
from dlpctl.errors import ConfigError

PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s",
    "transcript_path": "",
    "cwd": "/",
    "prompt": "Hello",
}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe\xfa{",
        b'{"prompt": "\xff"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"x" * (LARGEST + 1),
    ],
    ids=range(10),
)
def test_invalid_events(data: bytes, guard: Guard) -> None:
    reply = answer(data, lambda: guard)
    assert (reply.status, reply.out) == (2, "")
    assert reply.error.startswith("dlpctl: refused: ")
    allowed = answer(data, lambda: guard, allow=True)
    assert (allowed.status, allowed.out) == (0, "")


def test_settings_that_cannot_be_read() -> None:
    def fail() -> Guard:
        raise ConfigError("config.toml: is not TOML")

    reply = answer(json.dumps(PROMPT).encode(), fail)
    told = json.loads(reply.out)
    assert told["decision"] == "block"
    assert "config.toml" in told["reason"]
    assert answer(json.dumps(PROMPT).encode(), fail, allow=True).status == 0


def test_an_internal_error_reveals_no_value() -> None:
    def fail() -> Guard:
        raise ZeroDivisionError("jane.doe@example.com")

    reply = answer(json.dumps(PROMPT).encode(), fail)
    assert json.loads(reply.out)["decision"] == "block"
    assert "jane" not in reply.out


def test_a_large_event_is_answered(guard: Guard) -> None:
    text = "Nothing to see here. " * 100_000
    assert answer(json.dumps(PROMPT | {"prompt": text}).encode(), lambda: guard).out == ""


def test_deep_results_are_refused(guard: Guard) -> None:
    deep: object = "x"
    for _ in range(400):
        deep = [deep]
    event = PROMPT | {
        "hook_event_name": "PostToolUse",
        "tool_name": "x",
        "tool_input": {},
        "tool_response": deep,
    }
    reply = answer(json.dumps(event).encode(), lambda: guard)
    assert "nests deeper" in reply.out
