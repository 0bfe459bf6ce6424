"""Events of Claude Code over HTTP: after any failure, the agent is told to stop."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import TestResponse

from dlpctl.agents.installing import HOOK_PATH
from dlpctl.control.service import ControlPlane
from dlpctl_daemon.app import create_app
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options
from tests.daemon.conftest import Caller

EVENT = {"hook_event_name": "UserPromptSubmit", "prompt": "Hello"}


@pytest.fixture
def ask(caller: Caller, control: ControlPlane) -> Any:
    received: list[bytes] = []

    def answer_event(event: bytes) -> bytes:
        received.append(event)
        return b'{"decision":"block","reason":"no"}'

    app = create_app(control, Options(answer_event=answer_event), Log(caller.log, "json"))

    def call(data: Any = EVENT, *, peer: str = "127.0.0.1", **headers: str) -> Any:
        sent = {"X-Service-API-Key": caller.key} | headers
        answer: TestResponse = app.test_client().post(
            HOOK_PATH, json=data, headers=sent, environ_base={"REMOTE_ADDR": peer}
        )
        assert answer.status_code == 200
        return answer.get_json(), received

    return call


def test_an_event_is_answered(ask: Any) -> None:
    told, received = ask()
    assert told == {"decision": "block", "reason": "no"}
    assert json.loads(received[0]) == EVENT


@pytest.mark.parametrize(
    "problem",
    [
        {"X-Service-API-Key": ""},
        {"X-Service-API-Key": "$DLPCTL_API_KEY"},
        {"peer": "192.0.2.1"},
        {"Content-Type": "text/plain"},
    ],
    ids=lambda problem: next(iter(problem)),
)
def test_unanswered_events_stop_the_agent(problem: dict[str, str], ask: Any) -> None:
    told, received = ask(**problem)
    assert told["continue"] is False
    assert told["stopReason"].startswith("dlpctl: refused: ")
    assert received == []


def test_a_service_without_hooks(caller: Caller) -> None:
    assert caller("POST", HOOK_PATH, {}).status_code == 404
