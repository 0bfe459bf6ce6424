"""Requests that the gateway passes or refuses, and the answers that it restores."""

from __future__ import annotations

import base64
import gzip
import http.client
import io
import json
import shutil
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from dlpctl.detect.engine import Detector
from dlpctl.gateway.conversations import Conversations
from tests.gateway.standin import (
    DiesError,
    Provider,
    Reply,
    Running,
    Sent,
    events,
    make_gateway,
    running,
)

MAIL = "maria.lopez@acme-corp.com"
CARD = "4539 5787 6362 1486"
MESSAGES = "/anthropic/v1/messages"
CHAT = "/openai/v1/chat/completions"


def user(content: Any) -> Any:
    return {"model": "m", "messages": [{"role": "user", "content": content}]}


def refusal(answer: tuple[int, dict[str, str], bytes], status: int) -> str:
    """Return the message of an error in Anthropic's format."""
    assert answer[0] == status
    error = json.loads(answer[2])
    assert error["type"] == "error"
    assert (error["error"]["type"] == "api_error") == (status >= 500)
    assert answer[1]["content-type"] == "application/json"
    return str(error["error"]["message"])


# Masked requests


@pytest.mark.parametrize("path", [MESSAGES, CHAT])
def test_a_request_without_findings_is_byte_identical(gateway: Running, path: str) -> None:
    body = (
        b'{ "model":"m",\n "unknown" : {"a":[1.50,1e3,-0,true,null]},"messages":[{"role":"user",'
        b'"content":"caf\\u00e9 \\ud83d\\ude00 \\/ \xc3\xa9 \\"x\\""}] }\n'
    )
    status, headers, _ = gateway.ask(path, body)
    assert status == 200
    assert gateway.provider.sent[0].body == body
    assert headers["x-dlpctl-decision"] == "ALLOWED"
    assert float(headers["x-dlpctl-overhead-ms"]) > 0
    assert headers["x-dlpctl-check-id"].startswith("gw_")


def test_only_the_value_is_replaced(gateway: Running) -> None:
    before = b'{"messages":[{"role":"user","content":"caf\\u00e9 \\/ '
    after = b' \\u00fc"}], "zz_unknown": {"note": "'
    body = before + MAIL.encode() + after + MAIL.encode() + b'"}}'
    _, headers, _ = gateway.ask(MESSAGES, body)
    sent = gateway.provider.sent[0].body
    token = sent[len(before) : sent.index(b">") + 1]
    assert token.startswith(b"<EMAIL_")
    assert sent == before + token + after + token + b'"}}'
    assert headers["x-dlpctl-decision"] == "ALLOWED_WITH_MASKING"


@pytest.mark.parametrize(
    ("path", "make"),
    [
        (MESSAGES, lambda v: {"system": v, "messages": []}),
        (MESSAGES, lambda v: {"system": [{"type": "text", "text": v}], "messages": []}),
        (MESSAGES, lambda v: user([{"type": "text", "text": "a"}, {"type": "text", "text": v}])),
        (MESSAGES, lambda v: user([{"type": "tool_result", "tool_use_id": "t", "content": v}])),
        (
            MESSAGES,
            lambda v: user(
                [
                    {
                        "type": "tool_result",
                        "content": [{"type": "text", "text": json.dumps({"k": v})}],
                    }
                ]
            ),
        ),
        (MESSAGES, lambda v: user([{"type": "tool_use", "input": {"a": [{"b": v}]}}])),
        (
            MESSAGES,
            lambda v: user([{"type": "text", "text": "x" * 9_000 + f" {v} " + "y" * 9_000}]),
        ),
        (
            MESSAGES,
            lambda v: user(
                [
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": v},
                    }
                ]
            ),
        ),
        (MESSAGES, lambda v: {"tools": [{"name": "n", "description": v}], "messages": []}),
        (MESSAGES, lambda v: {"messages": [], "metadata": {"user_id": v}}),
        (MESSAGES, lambda v: user([{"type": "tool_use", "id": v, "input": {}}])),
        (MESSAGES, lambda v: user([{"type": "redacted_thinking", "data": v}])),
        (MESSAGES, lambda v: user([{"type": "new_kind", "new_field": {v: 1}}])),
        ("/anthropic/v1/messages/count_tokens", user),
        (
            "/anthropic/v1/messages/batches",
            lambda v: {"requests": [{"custom_id": "a", "params": user(v)}]},
        ),
        (
            CHAT,
            lambda v: {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [
                            {"function": {"name": "f", "arguments": json.dumps({"to": v})}}
                        ],
                    }
                ]
            },
        ),
        (CHAT, lambda v: {"messages": [{"role": "tool", "tool_call_id": "c", "content": v}]}),
        (CHAT, lambda v: user("a") | {"response_format": {"json_schema": {"description": v}}}),
        (CHAT, lambda v: user("a") | {"user": v}),
        ("/openai/v1/completions", lambda v: {"prompt": [v]}),
        ("/openai/v1/responses", lambda v: {"input": v}),
        ("/openai/v1/responses", lambda v: {"instructions": v, "input": "x"}),
        (
            "/openai/v1/responses",
            lambda v: {"input": [{"type": "function_call_output", "call_id": "c", "output": v}]},
        ),
        ("/openai/v1/moderations", lambda v: {"input": v}),
        ("/openai/v1/audio/speech", lambda v: {"input": v, "model": "m"}),
        ("/openai/v1/images/generations", lambda v: {"prompt": v}),
        ("/openai/v1/conversations", lambda v: {"items": [{"type": "message", "content": v}]}),
        (
            "/gemini/v1beta/models/g-1:generateContent",
            lambda v: {"contents": [{"parts": [{"functionResponse": {"response": {"r": v}}}]}]},
        ),
        (
            "/gemini/v1beta/models/g-1:countTokens",
            lambda v: {"systemInstruction": {"parts": [{"text": v}]}, "contents": []},
        ),
        (
            "/gemini/v1beta/models/g-1:batchEmbedContents",
            lambda v: {"requests": [{"content": {"parts": [{"text": v}]}}]},
        ),
        ("/ollama/api/generate", lambda v: {"model": "m", "prompt": v}),
        ("/ollama/api/embed", lambda v: {"model": "m", "input": [v]}),
        ("/ollama/v1/chat/completions", user),
    ],
)
def test_values_do_not_reach_the_provider(
    gateway: Running, path: str, make: Callable[[str], Any]
) -> None:
    value = f"{MAIL} and {CARD}"
    gateway.provider.reply = lambda sent: Reply(sent.body)
    status, _, _ = gateway.ask(path, make(value))
    assert status == 200
    sent = gateway.provider.sent[0].body.decode()
    assert MAIL not in sent
    assert CARD not in sent
    assert "<EMAIL_" in sent
    assert json.loads(sent)


def test_values_after_literal_escapes_do_not_reach_the_provider(gateway: Running) -> None:
    fenced = "```json\n" + json.dumps({"log": f"last\n{MAIL}\nnext", "raw": "x\ny"}) + "\n```"
    texts = [rf"see\t{CARD}\tnow", rf'the "card:\n{CARD}\nlast"', fenced, rf"to\n{MAIL}\nand"]
    gateway.ask(MESSAGES, user([{"type": "text", "text": each} for each in texts]))
    sent = gateway.provider.sent[0].body.decode()
    assert CARD not in sent
    assert MAIL not in sent


def test_values_in_deflated_texts_do_not_reach_the_provider(gateway: Running) -> None:
    packed = base64.b64encode(gzip.compress(f"write to {MAIL}".encode())).decode()
    _, headers, _ = gateway.ask(MESSAGES, user(f"unpack {packed} please"))
    assert packed not in gateway.provider.sent[0].body.decode()
    assert headers["x-dlpctl-decision"] == "ALLOWED_WITH_MASKING"


def test_a_value_found_in_a_later_block_is_masked_in_earlier_ones(gateway: Running) -> None:
    word = "Zq7Kd9wTnM4xBv2h"
    long = "nothing to see here " * 200
    texts = [f"{long} It was {word} again.", f"password = {word}"]
    gateway.ask(MESSAGES, user([{"type": "text", "text": each} for each in texts]))
    assert word not in gateway.provider.sent[0].body.decode()


def test_numbers_are_masked_and_stay_json(gateway: Running) -> None:
    body = user([{"type": "tool_use", "input": {"card": int(CARD.replace(" ", "")), "n": 5}}])
    gateway.ask(MESSAGES, body)
    given = gateway.provider.sent[0].json["messages"][0]["content"][0]["input"]
    assert given["card"].startswith("<CREDIT_CARD_")
    assert given["n"] == 5


def test_thinking_and_signatures_pass_untouched(gateway: Running) -> None:
    thinking = {"type": "thinking", "thinking": f"They wrote {MAIL}", "signature": "c2ln" * 90}
    redacted = {"type": "redacted_thinking", "data": "ZGF0" * 90}
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [thinking, redacted]},
        {"role": "user", "content": MAIL},
    ]
    gateway.ask(MESSAGES, {"messages": turns})
    sent = gateway.provider.sent[0].json["messages"]
    assert sent[1]["content"] == [thinking, redacted]
    assert sent[2]["content"].startswith("<EMAIL_")


def test_tokens_stay_the_same_from_turn_to_turn(
    gateway: Running, library: Detector, tmp_path: Path
) -> None:
    turns: list[Any] = [{"role": "user", "content": [{"type": "text", "text": f"I am {MAIL}"}]}]
    turns[0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    gateway.ask(MESSAGES, {"messages": turns})
    first = gateway.provider.sent[0].json["messages"][0]["content"][0]["text"]
    del turns[0]["content"][0]["cache_control"]
    turns.append({"role": "assistant", "content": f"Hello {MAIL}"})
    turns.append({"role": "user", "content": f"{CARD} is mine"})
    gateway.ask(MESSAGES, {"messages": turns})
    second = gateway.provider.sent[1].json["messages"]
    assert second[0]["content"][0]["text"] == first
    # After a restart, and in another process.
    other = make_gateway(library, gateway.provider.url, tmp_path)
    with running(other, gateway.provider, tmp_path) as restarted:
        restarted.ask(MESSAGES, {"messages": turns})
    assert gateway.provider.sent[2].body == gateway.provider.sent[1].body
    # Other callers and other conversations have other tokens.
    gateway.ask(MESSAGES, {"messages": turns}, {"x-api-key": "another"})
    gateway.ask(MESSAGES, {"messages": turns}, {"x-dlpctl-conversation": "another"})
    others = {each.json["messages"][0]["content"][0]["text"] for each in gateway.provider.sent}
    assert len(others) == 3


def test_values_of_other_conversations_are_not_restored(gateway: Running) -> None:
    turns: list[Any] = [{"role": "user", "content": "hi"}]
    gateway.ask(MESSAGES, {"messages": [*turns, {"role": "user", "content": MAIL}]})
    token = gateway.provider.sent[0].json["messages"][1]["content"]
    gateway.provider.reply = lambda _: Reply(json.dumps({"content": token}).encode())
    # With the same key and first turn but without the value, a guessed token stays as it is.
    guess = {"messages": [*turns, {"role": "user", "content": f"Who is {token}?"}]}
    assert json.loads(gateway.ask(MESSAGES, guess)[2])["content"] == token
    own = {"messages": [*turns, {"role": "user", "content": MAIL}]}
    assert json.loads(gateway.ask(MESSAGES, own)[2])["content"] == MAIL


def test_surrogates_look_real_and_are_restored(
    library: Detector, gateway: Running, tmp_path: Path
) -> None:
    gateway.provider.reply = lambda sent: Reply(
        json.dumps({"content": sent.json["messages"][0]["content"]}).encode()
    )
    other = make_gateway(library, gateway.provider.url, tmp_path, operator="surrogate")
    with running(other, gateway.provider, tmp_path) as started:
        _, _, answer = started.ask(MESSAGES, user(f"Mail {MAIL}, card {CARD}."))
    sent = gateway.provider.sent[0].body.decode()
    assert MAIL not in sent
    assert CARD not in sent
    assert "<" not in sent
    assert json.loads(answer) == {"content": f"Mail {MAIL}, card {CARD}."}


def test_values_are_kept_for_later_requests_in_vaults(
    library: Detector, gateway: Running, tmp_path: Path
) -> None:
    folder = tmp_path / "values"
    gateway.provider.reply = lambda sent: Reply(json.dumps({"id": "resp_9"}).encode())
    for number in range(2):
        conversations = Conversations(3_600, folder)
        other = make_gateway(library, gateway.provider.url, tmp_path, conversations=conversations)
        with running(other, gateway.provider, tmp_path) as started:
            if number == 0:
                started.ask("/openai/v1/responses", {"input": f"I am {MAIL}"})
                token = gateway.provider.sent[0].json["input"][5:]
                again = Reply(json.dumps({"id": "x", "t": token}).encode())
                gateway.provider.reply = lambda _, reply=again: reply
                continue
            body = {"input": "Who?", "previous_response_id": "resp_9"}
            _, _, answer = started.ask("/openai/v1/responses", body)
            assert json.loads(answer)["t"] == MAIL
            _, _, answer = started.ask("/openai/v1/responses", body, {"authorization": "other"})
            assert json.loads(answer)["t"] == token
    assert all(MAIL.encode() not in path.read_bytes() for path in folder.iterdir())
    assert Conversations(-1, folder).purge() >= 1


# Refused requests


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/anthropic/v1/unknown", 404),
        ("POST", "/anthropic/v1/messages/", 404),
        ("POST", "/anthropic//v1/messages", 404),
        ("PUT", MESSAGES, 405),
        ("GET", MESSAGES, 405),
        ("GET", "/anthropic/v1/files/jane@example.com", 404),
        ("POST", f"{MESSAGES}?note=abc", 400),
        ("POST", f"{MESSAGES}?beta=a%20b", 400),
    ],
)
def test_an_unknown_route_is_refused(gateway: Running, method: str, path: str, status: int) -> None:
    refusal(gateway.ask(path, user("a"), method=method), status)
    assert not gateway.provider.sent


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b'{"messages":[{"role":"user","content":"\xed\xa0\x80"}]}',
        b'{"messages":[],"messages":[]}',
        b'{"messages":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b'{"messages":[],"a":NaN}',
        b"\xef\xbb\xbf{}",
    ],
)
def test_a_bad_body_is_refused(gateway: Running, body: bytes) -> None:
    assert refusal(gateway.ask(MESSAGES, body), 400).startswith("dlpctl: ")
    assert not gateway.provider.sent


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json; charset=utf-16"}, 415),
        ({"content-encoding": "compress"}, 415),
        ({"content-encoding": "gzip, gzip"}, 415),
        ({"content-encoding": "gzip"}, 400),
        ({"upgrade": "websocket", "connection": "upgrade"}, 400),
        ({"host": "evil.example"}, 403),
    ],
)
def test_bad_headers_are_refused(gateway: Running, headers: dict[str, str], status: int) -> None:
    refusal(gateway.ask(MESSAGES, user("a"), headers), status)
    assert not gateway.provider.sent


def test_errors_have_the_format_of_the_provider(gateway: Running) -> None:
    _, headers, chat = gateway.ask("/openai/v1/nothing", {})
    assert set(json.loads(chat)["error"]) == {"message", "type", "param", "code"}
    assert headers["x-should-retry"] == "false"
    _, _, gemini = gateway.ask("/gemini/v1beta/nothing", {})
    assert json.loads(gemini)["error"]["status"] == "NOT_FOUND"
    _, _, stream = gateway.ask("/gemini/v1beta/models/g:streamGenerateContent", {})
    assert "alt=sse" in json.loads(stream)["error"]["message"]
    _, _, ollama = gateway.ask("/ollama/api/nothing", {})
    assert isinstance(json.loads(ollama)["error"], str)
    assert gateway.ask("/nobody/v1", {})[0] == 404


def compressed(name: str, data: bytes) -> bytes:
    if name == "br":
        return bytes(pytest.importorskip("brotli").compress(data))
    if name == "zstd":
        return bytes(pytest.importorskip("zstandard").compress(data))
    return gzip.compress(data) if name == "gzip" else zlib.compress(data)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_compressed_bodies_are_inspected(gateway: Running, name: str) -> None:
    plain = json.dumps(user("nothing here")).encode()
    packed = compressed(name, plain)
    gateway.ask(MESSAGES, packed, {"content-encoding": name})
    assert gateway.provider.sent[0].body == packed
    assert ("content-encoding", name) in gateway.provider.sent[0].headers
    packed = compressed(name, json.dumps(user(MAIL)).encode())
    gateway.ask(MESSAGES, packed, {"content-encoding": name})
    assert b"<EMAIL_" in gateway.provider.sent[1].body
    assert "content-encoding" not in dict(gateway.provider.sent[1].headers)
    bomb = compressed(name, b" " * (3 << 20))
    refusal(gateway.ask(MESSAGES, bomb, {"content-encoding": name}), 413)
    refusal(gateway.ask(MESSAGES, packed[:-6], {"content-encoding": name}), 400)


def test_large_and_slow_bodies_are_refused(gateway: Running) -> None:
    refusal(gateway.ask(MESSAGES, b" " * ((1 << 20) + 1)), 413)
    address = gateway.url.removeprefix("http://").split(":")
    with closing(socket.create_connection((address[0], int(address[1])), 20)) as client:
        client.sendall(
            b"POST /anthropic/v1/messages HTTP/1.1\r\nhost: localhost\r\n"
            b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n"
        )
        assert client.recv(100).startswith(b"HTTP/1.1 408 ")
    assert not gateway.provider.sent


def test_requests_cannot_be_smuggled(gateway: Running) -> None:
    address = gateway.url.removeprefix("http://").split(":")
    body = json.dumps(user("a")).encode()
    hidden = b"POST /v1/hidden HTTP/1.1\r\nhost: x\r\n\r\n"
    for lines in (
        b"content-length: %d\r\ncontent-length: 3\r\n" % len(body),
        b"content-length: %d\r\ntransfer-encoding: chunked\r\n" % (len(body) + len(hidden)),
        b"transfer-encoding: xchunked\r\n",
    ):
        with closing(socket.create_connection((address[0], int(address[1])), 20)) as client:
            client.sendall(
                b"POST /anthropic/v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
                b"content-type: application/json\r\n" + lines + b"\r\n" + body + hidden
            )
            assert client.recv(100).startswith(b"HTTP/1.1 4")
    assert not gateway.provider.sent


def test_a_private_key_is_blocked_and_never_quoted(gateway: Running) -> None:
    lines = base64.b64encode(bytes(range(200))).decode()
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"
    answer = gateway.ask(MESSAGES, user(key))
    assert "the policy blocks" in refusal(answer, 400)
    assert answer[1]["x-dlpctl-decision"] == "BLOCKED"
    assert lines[:20].encode() not in answer[2]
    assert not gateway.provider.sent
    assert lines[:20] not in gateway.log.read_text()


# Pictures and documents


def picture(text: str) -> bytes:
    """Return a picture of a text."""
    made = io.BytesIO()
    image = Image.new("RGB", (900, 120), "white")
    ImageDraw.Draw(image).text((20, 30), text, fill="black", font=ImageFont.load_default(48))
    image.save(made, "PNG")
    return made.getvalue()


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="pictures are read by tesseract")
def test_pictures_with_values_do_not_reach_the_provider(gateway: Running) -> None:
    image = picture(f"Card {CARD}")
    data = base64.b64encode(image).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    status, headers, _ = gateway.ask(MESSAGES, user([{"type": "image", "source": source}]))
    assert headers["x-dlpctl-decision"] != "ALLOWED"
    assert all(data.encode() not in each.body for each in gateway.provider.sent)
    assert status == (200 if gateway.provider.sent else 400)


def test_files_in_requests_are_inspected(gateway: Running) -> None:
    table = base64.b64encode(f"name,mail\nM,{MAIL}\n".encode()).decode()
    source = {"type": "base64", "media_type": "text/csv", "data": table}
    gateway.ask(MESSAGES, user([{"type": "document", "source": source}]))
    sent = gateway.provider.sent[0].json["messages"][0]["content"][0]["source"]["data"]
    assert b"<EMAIL_" in base64.b64decode(sent)
    url = f"data:text/csv;base64,{table}"
    gateway.ask(CHAT, user([{"type": "image_url", "image_url": {"url": url}}]))
    sent = gateway.provider.sent[1].json["messages"][0]["content"][0]["image_url"]["url"]
    assert b"<EMAIL_" in base64.b64decode(sent.partition(",")[2])


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!!"}},
        {
            "type": "document",
            "source": {
                "type": "base64",
                "media_type": "application/pdf",
                "data": base64.b64encode(b"%PDF-1.7 and no more").decode(),
            },
        },
    ],
)
def test_unreadable_content_is_refused(gateway: Running, block: Any) -> None:
    refusal(gateway.ask(MESSAGES, user([block])), 400)
    assert not gateway.provider.sent


def test_settings_can_let_unread_files_pass(
    library: Detector, gateway: Running, tmp_path: Path
) -> None:
    block = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    other = make_gateway(library, gateway.provider.url, tmp_path, refuses_unread=False)
    with running(other, gateway.provider, tmp_path) as started:
        assert started.ask(MESSAGES, user([block]))[0] == 200
    assert gateway.provider.sent[0].json == user([block])


# Answers


def test_headers_pass_unless_listed(gateway: Running) -> None:
    gateway.provider.reply = lambda _: Reply(
        headers={"anthropic-ratelimit-requests-remaining": "7", "x-new": "1", "keep-alive": "3"}
    )
    _, headers, _ = gateway.ask(
        MESSAGES,
        user("a"),
        {
            "anthropic-beta": "b",
            "x-new-header": "n",
            "connection": "x-mine",
            "x-mine": "1",
            "x-dlpctl-conversation": "c",
        },
    )
    sent = {name.lower(): value for name, value in gateway.provider.sent[0].headers}
    assert (sent["anthropic-beta"], sent["x-new-header"]) == ("b", "n")
    assert not {"x-mine", "x-dlpctl-conversation"} & sent.keys()
    assert sent["host"] == gateway.provider.url.removeprefix("http://")
    assert headers["anthropic-ratelimit-requests-remaining"] == "7"
    assert headers["x-new"] == "1"
    assert "keep-alive" not in headers


@pytest.mark.parametrize("status", [400, 429, 500, 529])
def test_errors_of_the_provider_are_relayed(gateway: Running, status: int) -> None:
    body = b'{"type":"error",  "error":{"type":"x","message":"<b>"}}'
    gateway.provider.reply = lambda _: Reply(body, status, headers={"retry-after": "9"})
    got = gateway.ask(MESSAGES, user(MAIL))
    assert (got[0], got[2], got[1]["retry-after"]) == (status, body, "9")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html>", content_type="text/html"),
        Reply(b"", 302, headers={"location": "https://elsewhere.example"}),
        Reply(b'{"a":', content_type="application/json"),
        Reply(b"{}", headers={"content-encoding": "zstd"}),
    ],
)
def test_answers_that_cannot_be_restored_are_errors(gateway: Running, reply: Reply) -> None:
    gateway.provider.reply = lambda _: reply
    answer = gateway.ask(MESSAGES, user(MAIL))
    refusal(answer, 502)
    assert "location" not in answer[1]


def test_text_that_only_looks_like_a_token_stays(gateway: Running) -> None:
    text = "<EMAIL_1> <EMAIL_123456> <<EMAIL_123456>> [PERSON_NAME_3]"
    gateway.provider.reply = lambda _: Reply(json.dumps({"content": text}).encode())
    _, _, answer = gateway.ask(MESSAGES, user(f"{MAIL} wrote <EMAIL_123456>"))
    assert json.loads(answer)["content"] == text


def test_an_unreachable_provider_is_an_error(library: Detector, tmp_path: Path) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with closing(Provider()) as provider:
            other = make_gateway(library, url, tmp_path)
            with running(other, provider, tmp_path) as started:
                refusal(started.ask(MESSAGES, user("a")), 502)


def _delta(text: str) -> bytes:
    delta = {"type": "text_delta", "text": text}
    return events({"type": "content_block_delta", "index": 0, "delta": delta})


def _stream(body: Callable[[], Iterator[bytes]]) -> Callable[[Sent], Reply]:
    return lambda _: Reply(body, content_type="text/event-stream")


def test_a_provider_that_dies_ends_the_stream_with_an_error(gateway: Running) -> None:
    def body() -> Iterator[bytes]:
        yield _delta("Hello <EMA")
        raise DiesError

    gateway.provider.reply = _stream(body)
    _, _, answer = gateway.ask(MESSAGES, user(MAIL))
    assert answer.startswith(_delta("Hello <EMA"))
    assert b'event: error\ndata: {"type": "error"' in answer


def test_a_provider_that_stalls_ends_the_stream_with_an_error(
    library: Detector, gateway: Running, tmp_path: Path
) -> None:
    done = threading.Event()

    def body() -> Iterator[bytes]:
        yield _delta("Hello")
        done.wait(300)

    gateway.provider.reply = _stream(body)
    other = make_gateway(library, gateway.provider.url, tmp_path, stall_seconds=0.2)
    with running(other, gateway.provider, tmp_path) as started:
        _, _, answer = started.ask(MESSAGES, user(MAIL))
    done.set()
    assert b"the provider's answer stalled" in answer


def test_the_first_text_does_not_wait_for_the_last(gateway: Running) -> None:
    more = threading.Event()

    def body() -> Iterator[bytes]:
        yield _delta("Hello")
        assert more.wait(300)
        yield _delta(" again")

    gateway.provider.reply = _stream(body)
    address = gateway.url.removeprefix("http://")
    with closing(http.client.HTTPConnection(address, timeout=300)) as connection:
        headers = {"content-type": "application/json"}
        connection.request("POST", MESSAGES, json.dumps(user(MAIL)), headers)
        answer = connection.getresponse()
        first = answer.read1()
        more.set()
        assert first + answer.read() == _delta("Hello") + _delta(" again")


def test_a_client_that_disconnects_cancels_the_upstream_request(
    gateway: Running, wait_for: Callable[[Callable[[], object]], None]
) -> None:
    def body() -> Iterator[bytes]:
        for _ in range(100_000):
            yield _delta("x" * 1_000)

    gateway.provider.reply = _stream(body)
    address = gateway.url.removeprefix("http://")
    with closing(http.client.HTTPConnection(address, timeout=300)) as connection:
        headers = {"content-type": "application/json"}
        connection.request("POST", MESSAGES, json.dumps(user("a")), headers)
        connection.getresponse().read1()
    wait_for(gateway.provider.ended.is_set)
    wait_for(lambda: '"status":499' in gateway.log.read_text())


# Logs and metrics


def test_calls_are_logged_and_counted_without_content(gateway: Running) -> None:
    gateway.ask(MESSAGES, user(f"{MAIL} {MAIL}") | {"model": "claude-x"})
    last = json.loads(gateway.log.read_text().splitlines()[-1])
    assert last["route"] == "anthropic POST /v1/messages"
    assert (last["model"], last["decision"], last["status"]) == (
        "claude-x",
        "ALLOWED_WITH_MASKING",
        200,
    )
    assert last["counts"] == {"EMAIL": 2}
    status, _, metrics = gateway.ask("/metrics", method="GET")
    assert status == 200
    assert b'dlpctl_gateway_values_total{type="EMAIL"}' in metrics
    assert b"dlpctl_gateway_streams_open 0\n" in metrics
    assert b'dlpctl_gateway_added_seconds_bucket{stage="request",le="+Inf"}' in metrics
    assert MAIL not in gateway.log.read_text()
