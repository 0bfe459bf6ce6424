"""Failures around a call: damaged vaults, a missing database, unwritable logs, and restarts in the
middle of a conversation.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.gateway.conversations import Conversations
from tests.gateway.standin import Reply, Running, Sent, events, make_gateway, running

MAIL = "maria.lopez@acme-corp.com"
MESSAGES = "/anthropic/v1/messages"
RESPONSES = "/openai/v1/responses"
ASKED = {"messages": [{"role": "user", "content": f"I am {MAIL}"}]}


@pytest.fixture
def kept(library: Detector, gateway: Running, tmp_path: Path) -> Iterator[tuple[Running, Path]]:
    """A gateway that stored the values of an answer in a folder and was restarted."""
    folder = tmp_path / "values"
    gateway.provider.reply = lambda _: Reply(b'{"id": "resp_1"}')
    for number in range(2):
        conversations = Conversations(3_600, folder)
        made = make_gateway(library, gateway.provider.url, tmp_path, conversations=conversations)
        with running(made, gateway.provider, tmp_path) as started:
            if number == 1:
                gateway.provider.sent.clear()
                yield started, folder
            else:
                assert started.ask(RESPONSES, {"input": f"I am {MAIL}"})[0] == 200


def refer(started: Running) -> tuple[int, dict[str, str], bytes]:
    return started.ask(RESPONSES, {"input": "Who?", "previous_response_id": "resp_1"})


@pytest.mark.parametrize("damage", [b"", b"junk", b"\x00" * 200])
def test_a_request_that_needs_a_damaged_vault_is_refused(
    kept: tuple[Running, Path], damage: bytes
) -> None:
    started, folder = kept
    vault = next(folder.glob("*.vault"))
    vault.write_bytes(damage)
    status, _, answer = refer(started)
    assert status == 503
    assert "cannot be read" in json.loads(answer)["error"]["message"]
    assert str(folder) not in answer.decode()
    assert not started.provider.sent
    assert started.ask(MESSAGES, ASKED)[0] == 200  # other requests work


def test_without_its_vault_a_token_stays(kept: tuple[Running, Path]) -> None:
    started, folder = kept
    shutil.rmtree(folder)
    started.provider.reply = lambda _: Reply(b'{"id": "resp_2", "text": "<EMAIL_123456>"}')
    status, _, answer = refer(started)
    assert status == 200
    assert json.loads(answer)["text"] == "<EMAIL_123456>"


def test_an_answer_arrives_even_if_its_values_cannot_be_kept(
    library: Detector, gateway: Running, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "values"
    folder.write_text("a file where a folder belongs")
    conversations = Conversations(3_600, folder)
    made = make_gateway(library, gateway.provider.url, tmp_path, conversations=conversations)

    def whole(sent: Sent) -> Reply:
        return Reply(json.dumps({"id": "resp_1", "text": sent.json["input"]}).encode())

    def stream(sent: Sent) -> Reply:
        response = {"type": "response.created", "response": {"id": "resp_1"}}
        done = {"type": "response.output_text.done", "text": sent.json["input"]}
        return Reply(events(response, done), content_type="text/event-stream")

    with running(made, gateway.provider, tmp_path) as started:
        for reply in (whole, stream):
            gateway.provider.reply = reply
            status, _, answer = started.ask(RESPONSES, {"input": f"I am {MAIL}"})
            assert status == 200
            assert MAIL.encode() in answer
    told = capfd.readouterr().err
    assert told.count("cannot be kept") == 2
    assert MAIL not in told


def test_an_answer_arrives_even_if_it_cannot_be_logged(
    library: Detector, gateway: Running, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "calls.jsonl").mkdir()
    made = make_gateway(library, gateway.provider.url, tmp_path)
    with running(made, gateway.provider, tmp_path) as started:
        assert started.ask(MESSAGES, ASKED)[0] == 200
    assert "cannot be written" in capfd.readouterr().err


def test_a_conversation_continues_after_a_restart(
    library: Detector, gateway: Running, tmp_path: Path
) -> None:
    """A retry sends the same tokens, and those that the model repeats are restored."""
    turns: list[Any] = list(ASKED["messages"])

    def reply(sent: Sent) -> Reply:
        token = sent.json["messages"][0]["content"].split()[-1]
        delta = {"type": "text_delta", "text": f"To {token}"}
        return Reply(
            events({"type": "content_block_delta", "index": 0, "delta": delta}),
            content_type="text/event-stream",
        )

    gateway.provider.reply = reply
    for _ in range(2):
        made = make_gateway(library, gateway.provider.url, tmp_path)
        with running(made, gateway.provider, tmp_path) as started:
            answer = started.ask(MESSAGES, {"messages": turns})[2]
        assert f"To {MAIL}".encode() in answer
        turns += [{"role": "assistant", "content": f"To {MAIL}"}, {"role": "user", "content": "Go"}]
    first, second = (each.json["messages"][0] for each in gateway.provider.sent)
    assert first == second


def test_forged_and_nested_tokens_stay_as_they_are(gateway: Running) -> None:
    def reply(sent: Sent) -> Reply:
        token = sent.json["messages"][0]["content"].split()[-1]
        name = token[1:-1]
        text = f"<<{name}> <{name}1> <EMAIL_1> <{name[:-1]}> <EMAIL_<{name}>>"
        return Reply(json.dumps({"content": [{"type": "text", "text": text}]}).encode())

    gateway.provider.reply = reply
    answer = json.loads(gateway.ask(MESSAGES, ASKED)[2])["content"][0]["text"]
    token = gateway.provider.sent[0].json["messages"][0]["content"].split()[-1]
    name = token[1:-1]
    assert answer == f"<{MAIL} <{name}1> <EMAIL_1> <{name[:-1]}> <EMAIL_{MAIL}>"


def test_waiting_requests_of_one_caller_do_not_delay_others(
    gateway: Running, slow_inspection: Callable[[str, threading.Event], None]
) -> None:
    released = threading.Event()
    slow_inspection("long story", released)
    told = {"messages": [{"role": "user", "content": "a long story"}]}
    with ThreadPoolExecutor(8) as clients:
        asked = [
            clients.submit(gateway.ask, MESSAGES, told, {"x-api-key": "fake-one"}) for _ in range(8)
        ]
        try:
            assert gateway.ask(MESSAGES, ASKED, {"x-api-key": "fake-two"})[0] == 200
            assert not any(each.done() for each in asked)
        finally:
            released.set()
        assert [each.result()[0] for each in asked] == [200] * 8
