"""Inspected answers: streams are cut before a value, and other answers are masked."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.gateway.answers import AnswerGuard, AnswerPolicy
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker
from dlpctl.types import Destination
from tests.gateway import test_streams
from tests.gateway.standin import DiesError, Reply, Running, events, make_gateway, running

MAIL = "maria.lopez@acme-corp.com"
OTHER = "jane.miller@northwind-mail.com"
LONG = "The order was sent last week and will be paid by the end of the month. "
MESSAGES = "/anthropic/v1/messages"
ENDINGS: dict[str, Callable[[list[Any]], bool]] = {
    "anthropic": lambda seen: (
        seen[-2]["delta"]["stop_reason"] == "refusal" and seen[-1]["type"] == "message_stop"
    ),
    "chat": lambda seen: seen[-1]["choices"][0]["finish_reason"] == "content_filter",
    "responses": lambda seen: (
        seen[-1]["type"] == "response.incomplete"
        and seen[-1]["response"]["incomplete_details"] == {"reason": "content_filter"}
    ),
    "gemini": lambda seen: seen[-1]["candidates"][0]["finishReason"] == "SAFETY",
    "ollama": lambda seen: seen[-1]["done"] is True,
}


@pytest.fixture
def checker(library: Detector) -> Checker:
    policy = Policy.builtin("ai-prompts")
    return Checker(library, policy, Destination.CUSTOMER, operator="redact", key=b"k" * 32)


def guard_of(name: str, checker: Checker, *own: str) -> AnswerGuard:
    shape = test_streams.PROTOCOLS[name][0]
    return AnswerGuard(shape, AnswerPolicy(checker, own), is_lines=name == "ollama")


def seen_in(name: str, stream: bytes) -> list[Any]:
    if name == "ollama":
        return [json.loads(line) for line in stream.splitlines()]
    return test_streams.data_of(stream)


@pytest.mark.parametrize("name", test_streams.PROTOCOLS)
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_a_stream_is_cut_before_a_value(name: str, size: int, checker: Checker) -> None:
    made = test_streams.PROTOCOLS[name][1]
    sent = made(f"{LONG}Write to {OTHER}, {LONG}", "{}", size)
    guard = guard_of(name, checker)
    passed = b"".join(guard.feed(sent[at : at + 50]) for at in range(0, len(sent), 50))
    passed += guard.finish() + guard.ending
    text = "".join(strings(seen_in(name, passed), _TEXTS))
    assert guard.is_cut
    assert OTHER not in text
    assert OTHER.partition("@")[0] not in text
    assert ENDINGS[name](seen_in(name, passed))
    if name in ("anthropic", "responses"):
        assert guard.ending == events(*test_streams.data_of(guard.ending))
    if size == 1:
        assert passed.count(b"\n") > 60
    assert sum(guard.counts.values()) == guard.counts["EMAIL"]


_TEXTS = ("text", "content", "delta", "thinking", "partial_json", "arguments", "response")


def strings(value: Any, keys: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts at keys."""
    if isinstance(value, list):
        for each in value:
            yield from strings(each, keys)
    elif isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, str) and key in keys:
                yield each
            yield from strings(each, keys)


@pytest.mark.parametrize("name", test_streams.PROTOCOLS)
def test_a_stream_without_values_passes_byte_for_byte(name: str, checker: Checker) -> None:
    sent = test_streams.PROTOCOLS[name][1](LONG * 3, json.dumps({"to": "x"}), 5)
    guard = guard_of(name, checker)
    passed = [guard.feed(sent[at : at + 33]) for at in range(0, len(sent), 33)]
    assert b"".join(passed) + guard.finish() == sent
    assert not guard.is_cut
    assert any(b"order" in each or b"he" in each for each in passed[: len(passed) // 2])


def test_values_in_tool_arguments_cut_a_stream(checker: Checker) -> None:
    for name, (_, make, _) in test_streams.PROTOCOLS.items():
        guard = guard_of(name, checker)
        passed = guard.feed(make("Well.", json.dumps({"to": OTHER}), 4)) + guard.finish()
        assert guard.is_cut, name
        assert OTHER.encode() not in passed


def test_surrogates_of_the_client_do_not_cut_a_stream(checker: Checker) -> None:
    guard = guard_of("chat", checker, OTHER)
    sent = test_streams.of_chat(f"Write to {OTHER}.", "{}", 4)
    assert guard.feed(sent) + guard.finish() == sent


@pytest.fixture
def inspecting(
    library: Detector, gateway: Running, checker: Checker, tmp_path: Path
) -> Iterator[Running]:
    made = make_gateway(library, gateway.provider.url, tmp_path, answers=checker)
    with running(made, gateway.provider, tmp_path) as started:
        yield started


def test_only_own_values_are_restored(inspecting: Running, gateway: Running) -> None:
    def reply(sent: Any) -> Reply:
        token = sent.json["messages"][0]["content"].split()[-1]
        deltas = [f"To {token}, {LONG}", "and to ", f"{OTHER} as well. {LONG}"]
        return Reply(
            events(
                *(
                    {
                        "type": "content_block_delta",
                        "index": 0,
                        "delta": {"type": "text_delta", "text": each},
                    }
                    for each in deltas
                ),
                {"type": "content_block_stop", "index": 0},
            ),
            content_type="text/event-stream",
        )

    gateway.provider.reply = reply
    asked = {"messages": [{"role": "user", "content": f"I am {MAIL}"}], "stream": True}
    _, _, answer = inspecting.ask(MESSAGES, asked)
    assert MAIL.encode() in answer
    assert OTHER.encode() not in answer
    assert b'"stop_reason": "refusal"' in answer
    call = json.loads(inspecting.log.read_text().splitlines()[-1])
    assert (call["decision"], call["counts"]) == ("BLOCKED", {"EMAIL": 1})


def test_other_answers_are_masked_or_withheld(inspecting: Running, gateway: Running) -> None:
    asked = {"messages": [{"role": "user", "content": "Who?"}]}

    def answering(text: str) -> None:
        made = {"id": "msg_1", "content": [{"type": "text", "text": text}]}
        gateway.provider.reply = lambda _: Reply(json.dumps(made).encode())

    answering(f"It is {OTHER}.")
    status, _, answer = inspecting.ask(MESSAGES, asked)
    assert status == 200
    assert OTHER.encode() not in answer
    assert json.loads(answer)["id"] == "msg_1"
    secret = "".join(random.Random(5).choices(string.ascii_letters + string.digits, k=24))
    answering(f"STRIPE_KEY=sk_live_{secret}")
    status, _, answer = inspecting.ask(MESSAGES, asked)
    assert status == 403
    assert b"withheld" in answer
    assert secret.encode() not in answer


def test_held_back_text_is_inspected_when_a_provider_dies(
    inspecting: Running, gateway: Running
) -> None:
    def body() -> Iterator[bytes]:
        delta = {"type": "text_delta", "text": f"Write to {OTHER}"}
        yield events({"type": "content_block_delta", "index": 2, "delta": delta})
        raise DiesError

    gateway.provider.reply = lambda _: Reply(body, content_type="text/event-stream")
    _, _, answer = inspecting.ask(MESSAGES, {"messages": []})
    assert OTHER.encode() not in answer
    assert b'"content_block_stop", "index": 2}' in answer
    assert b'"stop_reason": "refusal"' in answer
