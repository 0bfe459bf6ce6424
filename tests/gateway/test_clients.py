"""The official clients of providers, through the gateway to a fake provider."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway import test_streams
from tests.gateway.standin import Reply, Running, Sent

MAIL = "maria.lopez@acme-corp.com"
PROMPT = f"Write to {MAIL} please"
_TOKEN = re.compile(r"<EMAIL_\d+>")


@pytest.fixture
def clients() -> Iterator[list[Any]]:
    """Clients that are closed when a test ends."""
    made: list[Any] = []
    yield made
    for each in made:
        each.close()


def token_in(sent: Sent) -> str:
    assert MAIL.encode() not in sent.body
    found = _TOKEN.findall(sent.body.decode())
    assert found
    return found[0]


def streaming(name: str, content_type: str = "text/event-stream") -> Any:
    """Return a provider's reply: a text and a tool call, with the token that it received."""

    def reply(sent: Sent) -> Reply:
        token = token_in(sent)
        arguments = json.dumps({"to": token})
        stream = test_streams.PROTOCOLS[name][1](f"I write to {token}.", arguments, 5)

        def body() -> Iterator[bytes]:
            for start in range(0, len(stream), 33):
                yield stream[start : start + 33]

        return Reply(body, content_type=content_type)

    return reply


def full_anthropic(sent: Sent) -> Reply:
    """Return a stream with all fields that Anthropic's clients require."""
    made = streaming("anthropic")(sent)
    assert callable(made.body)
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    full = start | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    data = b"".join(made.body())
    data = data.replace(b'{"id": "msg_1", "content": []}', json.dumps(full).encode())
    data = data.replace(b'"end_turn"}}', b'"end_turn"}, "usage": {"output_tokens": 1}}')
    return Reply(data, content_type="text/event-stream")


def whole(make: Any) -> Any:
    return lambda sent: Reply(json.dumps(make(token_in(sent))).encode())


def test_anthropic(gateway: Running, clients: list[Any]) -> None:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=f"{gateway.url}/anthropic", api_key="made-up")
    clients.append(client)
    turns: list[Any] = [{"role": "user", "content": PROMPT}]
    given: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": turns}

    def message(token: str) -> Any:
        call = {"type": "tool_use", "id": "toolu_1", "name": "send", "input": {"to": token}}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": f"To {token}"}, call],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    gateway.provider.reply = whole(message)
    answer = client.messages.create(**given)
    assert answer.content[0].text == f"To {MAIL}"
    assert answer.content[1].input == {"to": MAIL}
    turns.append({"role": "assistant", "content": [each.model_dump() for each in answer.content]})
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"sent to {MAIL}"}
    turns.append({"role": "user", "content": [result]})
    client.messages.create(**given)
    first, second = (token_in(each) for each in gateway.provider.sent)
    assert first == second
    assert gateway.provider.sent[1].body.count(first.encode()) == 4
    sent_headers = dict(gateway.provider.sent[0].headers)
    assert "made-up" in sent_headers.get("authorization", sent_headers.get("x-api-key", ""))


def test_anthropic_streams(gateway: Running, clients: list[Any]) -> None:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=f"{gateway.url}/anthropic", api_key="made-up")
    clients.append(client)

    gateway.provider.reply = full_anthropic
    with client.messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": PROMPT}]
    ) as stream:
        assert "".join(stream.text_stream) == f"I write to {MAIL}."
        final = stream.get_final_message()
    assert final.content[2].input == {"to": MAIL}
    assert _TOKEN.search(final.content[0].thinking)


def test_openai_chat(gateway: Running, clients: list[Any]) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=f"{gateway.url}/openai/v1", api_key="made-up")
    clients.append(client)
    turns = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": PROMPT}]

    def completion(token: str) -> Any:
        call = {
            "id": "call_1",
            "type": "function",
            "function": {"name": "send", "arguments": json.dumps({"to": token})},
        }
        message = {"role": "assistant", "content": f"To {token}", "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }

    gateway.provider.reply = whole(completion)
    message = client.chat.completions.create(model="m", messages=turns).choices[0].message
    assert message.content == f"To {MAIL}"
    assert json.loads(message.tool_calls[0].function.arguments) == {"to": MAIL}
    gateway.provider.reply = streaming("chat")
    text = arguments = ""
    for chunk in client.chat.completions.create(model="m", messages=turns, stream=True):
        choice = chunk.choices[0]
        if choice.index == 0:
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or ():
                arguments += call.function.arguments
    assert text == f"I write to {MAIL}."
    assert json.loads(arguments) == {"to": MAIL}
    assert len({token_in(each) for each in gateway.provider.sent}) == 1


def test_openai_responses_refer_to_earlier_ones(gateway: Running, clients: list[Any]) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=f"{gateway.url}/openai/v1", api_key="made-up")
    clients.append(client)
    gateway.provider.reply = streaming("responses")
    kinds = {}
    for event in client.responses.create(model="m", input=PROMPT, stream=True):
        kinds[event.type] = event
    assert kinds["response.output_text.done"].text == f"I write to {MAIL}."
    assert json.loads(kinds["response.function_call_arguments.done"].arguments) == {"to": MAIL}
    token = token_in(gateway.provider.sent[0])
    gateway.provider.reply = lambda _: Reply(
        json.dumps(
            {
                "id": "resp_2",
                "object": "response",
                "output": [
                    {
                        "type": "message",
                        "id": "msg_2",
                        "role": "assistant",
                        "status": "completed",
                        "content": [
                            {"type": "output_text", "text": f"As {token} said", "annotations": []}
                        ],
                    }
                ],
            }
        ).encode()
    )
    answer = client.responses.create(
        model="m", input="What did they say?", previous_response_id="resp_1"
    )
    assert answer.output_text == f"As {MAIL} said"
    assert client.responses.retrieve("resp_2").output_text == f"As {MAIL} said"


def test_openai_files_and_embeddings(gateway: Running, clients: list[Any]) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=f"{gateway.url}/openai/v1", api_key="made-up", max_retries=0)
    clients.append(client)
    vector = {
        "object": "list",
        "model": "m",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }
    gateway.provider.reply = lambda _: Reply(json.dumps(vector).encode())
    client.embeddings.create(model="m", input=["nothing", PROMPT])
    token_in(gateway.provider.sent[-1])
    with pytest.raises(openai.BadRequestError, match="numbers cannot be inspected"):
        client.embeddings.create(model="m", input=[1, 2, 3])
    file = {"id": "file-1", "object": "file", "bytes": 1, "created_at": 1, "filename": "n.txt"}
    gateway.provider.reply = lambda _: Reply(json.dumps(file).encode())
    client.files.create(file=("notes.txt", f"{PROMPT}\n".encode()), purpose="user_data")
    token_in(gateway.provider.sent[-1])
    assert b"user_data" in gateway.provider.sent[-1].body
    with pytest.raises(openai.BadRequestError, match="dlpctl: the request was not sent"):
        client.audio.transcriptions.create(model="m", file=("a.mp3", b"ID3\x04" + bytes(99)))


def test_gemini(gateway: Running, clients: list[Any]) -> None:
    genai = pytest.importorskip("google.genai")
    client = genai.Client(
        api_key="made-up",
        http_options=genai.types.HttpOptions(base_url=f"{gateway.url}/gemini"),
    )
    clients.append(client)

    def answer(token: str) -> Any:
        part = {"text": f"To {token}"}
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}

    gateway.provider.reply = whole(answer)
    assert client.models.generate_content(model="m-1", contents=PROMPT).text == f"To {MAIL}"
    gateway.provider.reply = streaming("gemini")
    text, calls = "", []
    for chunk in client.models.generate_content_stream(model="m-1", contents=PROMPT):
        for part in chunk.candidates[0].content.parts or ():
            text += part.text or ""
            if part.function_call:
                calls.append(part.function_call.args)
    assert text == f"I write to {MAIL}."
    assert calls == [{"to": MAIL}]


def test_ollama(gateway: Running, clients: list[Any]) -> None:
    ollama = pytest.importorskip("ollama")
    client = ollama.Client(host=f"{gateway.url}/ollama")
    clients.append(client._client)
    gateway.provider.reply = streaming("ollama", "application/x-ndjson")
    chunks = list(client.chat("m", [{"role": "user", "content": PROMPT}], stream=True))
    assert "".join(each.message.content for each in chunks) == f"I write to {MAIL}."


@pytest.mark.slow
def test_clients_for_node(gateway: Running) -> None:
    """Needs node, and the packages of the clients in NODE_PATH or installed globally."""
    if not shutil.which("npm"):
        pytest.skip("needs node")
    asked = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=True)
    environ = {"NODE_PATH": asked.stdout.strip()} | os.environ
    known = "for (const n of ['openai', '@anthropic-ai/sdk', '@google/genai']) require.resolve(n)"
    if subprocess.run(
        ["node", "-e", known], env=environ, capture_output=True, check=False
    ).returncode:
        pytest.skip("needs the clients for Node")

    def reply(sent: Sent) -> Reply:
        if sent.path.endswith("/messages"):
            return full_anthropic(sent)
        ways = {"/chat/completions": "chat", "/responses": "responses"}
        made = next((name for end, name in ways.items() if sent.path.endswith(end)), "gemini")
        return streaming(made)(sent)

    gateway.provider.reply = reply
    command = ["node", str(Path(__file__).with_name("clients.cjs")), gateway.url, MAIL]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    for name in ("chat", "responses", "anthropic", "gemini"):
        assert told[name] == f"I write to {MAIL}."
        assert told[f"{name}_call"] == MAIL
