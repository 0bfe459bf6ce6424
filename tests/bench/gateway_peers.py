"""Compare the gateway with LiteLLM's proxy and its Presidio guardrail: latency, processor, leaks.

    python tests/bench/gateway_peers.py [--litellm COMMAND] [--json] [--short]

COMMAND is `litellm` of an environment with litellm[proxy]; without it, the gateway alone is
measured. The analyzer and anonymizer of Presidio are stand-ins on the loopback: they answer at
once, and know mail addresses alone. What Presidio itself takes comes on top.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import re
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gateway
from gateway import text

_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_STAMP = re.compile(r"@([0-9]+\.[0-9]+) ")
_BETWEEN = 0.02
"""Seconds between the chunks of a stream."""
_CHUNKS = 40
_START_SECONDS = 300
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n%s\r\n\r\n"
_EVENT = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
_MESSAGE = {"role": "assistant", "content": "ok"}
_ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": _MESSAGE}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


class Request(NamedTuple):
    """A request as it came to a stand-in."""

    path: str
    body: Any

    @property
    def kept(self) -> str:
        return json.dumps(self.body)


Answer = Callable[[Request], "bytes | AsyncIterator[bytes]"]


async def _served(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer
) -> None:
    """Answer the requests of a connection."""
    while head := await _head(reader):
        length = re.search(rb"(?i)content-length: *([0-9]+)", head)
        body = await reader.readexactly(int(length[1])) if length else b"{}"
        made = answer(Request(head.split(b" ")[1].decode(), json.loads(body)))
        if isinstance(made, bytes):
            writer.write(_HEAD % (b"application/json", b"content-length: %d" % len(made)) + made)
            continue
        writer.write(_HEAD % (b"text/event-stream", b"transfer-encoding: chunked"))
        async for chunk in made:
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        writer.write(b"0\r\n\r\n")
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def _serve(ready: Any, answer: Answer) -> None:
    async def serve() -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _served(reader, writer, answer)

        server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1_024)
        ready.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


async def _chunks() -> AsyncIterator[bytes]:
    """Yield events whose texts tell when they were sent."""
    for number in range(_CHUNKS):
        delta = {"content": f"word {number} @{time.monotonic():.6f} "}
        event = {**_EVENT, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield f"data: {json.dumps(event)}\n\n".encode()
        await asyncio.sleep(_BETWEEN)
    last = {**_EVENT, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode()


def provide(ready: Any) -> None:
    """Answer as OpenAI, and tell at `/kept` what the last request was."""
    last = [b""]

    def answer(request: Request) -> bytes | AsyncIterator[bytes]:
        if request.path == "/kept":
            return last[0]
        last[0] = json.dumps(request.kept).encode()
        if request.body.get("stream"):
            return _chunks()
        return json.dumps(_response() if "responses" in request.path else _ANSWER).encode()

    _serve(ready, answer)


def _response() -> dict[str, Any]:
    content = [{"type": "output_text", "text": "ok", "annotations": []}]
    item = {"type": "message", "id": "i", "role": "assistant", "content": content}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [item | {"status": "completed"}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }


def analyze(ready: Any) -> None:
    """Answer at once as Presidio's analyzer and anonymizer, which know mail addresses alone."""

    def answer(request: Request) -> bytes:
        given = request.body.get("text", "")
        if request.path.endswith("analyze"):
            found = [
                {"entity_type": "EMAIL_ADDRESS", "start": m.start(), "end": m.end(), "score": 1.0}
                for m in _MAIL.finditer(given)
            ]
            return json.dumps(found).encode()
        items = [
            {**each, "text": "<EMAIL_ADDRESS>", "operator": "replace"}
            for each in request.body.get("analyzer_results", [])
        ]
        masked = _MAIL.sub("<EMAIL_ADDRESS>", given)
        return json.dumps({"text": masked, "items": items}).encode()

    _serve(ready, answer)


class Peer(NamedTuple):
    """A way to the provider: the address to which its routes are added, and its process."""

    url: str
    pid: int = 0

    @property
    def process(self) -> gateway.Gateway:
        return gateway.Gateway(self.url, self.pid)


@contextmanager
def litellm(command: str, provider: str, guardrails: list[dict[str, Any]]) -> Iterator[Peer]:
    """Run LiteLLM's proxy with a model of the provider."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = {"model": "openai/m", "api_key": "made-up", "api_base": f"{provider}/v1"}
    config = {
        "model_list": [{"model_name": "m", "litellm_params": model}],
        "guardrails": guardrails,
    }
    with TemporaryDirectory() as folder:
        file = Path(folder) / "config.yaml"
        file.write_text(json.dumps(config))
        environ = os.environ | {
            "HOME": folder,
            "NO_PROXY": "127.0.0.1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        }
        options = ["--config", str(file), "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(
            [command, *options, "--telemetry", "False"],
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(port, process)
            yield Peer(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.terminate()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if _asked(f"http://127.0.0.1:{port}", "/health/liveliness", None)[0] == 200:
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("LiteLLM has not started")


def _connected(url: str) -> tuple[http.client.HTTPConnection, str]:
    host, _, path = url.removeprefix("http://").partition("/")
    return http.client.HTTPConnection(host, timeout=_START_SECONDS), f"/{path}".rstrip("/")


def _asked(url: str, route: str, body: Any) -> tuple[int, bytes]:
    connection, path = _connected(url)
    with closing(connection):
        headers = {"content-type": "application/json", "authorization": "Bearer made-up"}
        method = "GET" if body is None else "POST"
        data = None if body is None else json.dumps(body)
        connection.request(method, path + route, data, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def _chat(content: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": content}], **more}


def latencies(peer: Peer, first: int, number: int) -> list[float]:
    """Ask one new request of 2 KB after the other; return their milliseconds."""
    taken = []
    for seed in range(first, first + number):
        started = time.monotonic()
        status, _ = _asked(peer.url, "/v1/chat/completions", _chat(text(2_000, seed)))
        assert status == 200, status
        taken.append((time.monotonic() - started) * 1_000)
    return taken


def stream(peer: Peer, seed: int) -> tuple[float, list[float]]:
    """Read a stream; return when its first chunk came, and how long each was under way."""
    connection, path = _connected(peer.url)
    late: list[float] = []
    with closing(connection):
        body = json.dumps(_chat(text(400, seed), stream=True))
        headers = {"content-type": "application/json", "authorization": "Bearer made-up"}
        started = time.monotonic()
        connection.request("POST", f"{path}/v1/chat/completions", body, headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        first = 0.0
        for line in answer:
            for stamp in _STAMP.finditer(line.decode()):
                first = first or (time.monotonic() - started) * 1_000
                late.append((time.monotonic() - float(stamp[1])) * 1_000)
    return first, late


def leaks(peer: Peer, provider: str) -> list[str]:
    """Return the fields in which a value reaches the provider."""
    mail = "m.lopez@acme-corp.com"
    function = {"name": "f", "description": f"asks {mail}", "parameters": {"type": "object"}}
    call = {"name": "f", "arguments": json.dumps({"to": mail})}
    called = [{"id": "c", "type": "function", "function": call}]
    results: list[dict[str, Any]] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": called},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]
    tool = {"role": "tool", "tool_call_id": "c", "content": f"sent to {mail}"}
    clean = [{**called[0], "function": {"name": "f", "arguments": "{}"}}]
    before = [{"role": "user", "content": "hi"}, {**results[1], "tool_calls": clean}]
    chat, responses = "/v1/chat/completions", "/v1/responses"
    asked = {
        "system": (chat, _chat("hi") | {"messages": [{"role": "system", "content": mail}]}),
        "user": (chat, _chat(f"I am {mail}")),
        "parts": (chat, _chat([{"type": "text", "text": f"I am {mail}"}])),  # type: ignore[arg-type]
        "call of a tool": (chat, {"model": "m", "messages": results}),
        "result of a tool": (chat, {"model": "m", "messages": [*before, tool]}),
        "definition of a tool": (
            chat,
            _chat("hi", tools=[{"type": "function", "function": function}]),
        ),
        "name of the user": (chat, _chat("hi", user=mail)),
        "responses: input": (responses, {"model": "m", "input": f"I am {mail}"}),
        "responses: instructions": (responses, {"model": "m", "input": "hi", "instructions": mail}),
    }
    found = []
    for name, (route, body) in asked.items():
        _asked(provider, "/v1/chat/completions", _chat("nothing"))
        _asked(peer.url, route, body)
        if mail in _asked(provider, "/kept", None)[1].decode():
            found.append(name)
    return found


def figures(peer: Peer, provider: str, *, short: bool, first: int) -> dict[str, Any]:
    number, streams = (5, 2) if short else (200, 10)
    latencies(peer, -1_000 - first, 2 if short else 30)
    before = peer.process.processor if peer.pid else 0.0
    taken = sorted(latencies(peer, first, number))
    processor = (peer.process.processor - before) / number if peer.pid else 0.0
    read = [stream(peer, first + each) for each in range(streams)]
    late = sorted(each for _, chunks in read for each in chunks)
    firsts = sorted(each for each, _ in read)
    return {
        "p50 ms": round(taken[number // 2], 2),
        "p99 ms": round(taken[min(int(number * 0.99), number - 1)], 2),
        "processor ms": round(processor, 2),
        "chunk p50 ms": round(late[len(late) // 2], 2),
        "chunk p99 ms": round(late[int(len(late) * 0.99)], 2),
        "first chunk p50 ms": round(firsts[len(firsts) // 2], 1),
        "memory MB": round(peer.process.memory, 0) if peer.pid else 0,
        "values that reach the provider": leaks(peer, provider),
    }


def measured(command: str | None, *, short: bool) -> dict[str, dict[str, Any]]:
    with ExitStack() as stack:
        provider = stack.enter_context(gateway.provider(provide))
        own = stack.enter_context(gateway.gateway("--upstream", f"openai={provider}"))
        peers = {"direct": Peer(provider), "dlpctl gateway": Peer(f"{own.url}/openai", own.pid)}
        if command is not None:
            presidio = stack.enter_context(gateway.provider(analyze))
            guardrail = {
                "guardrail": "presidio",
                "mode": "pre_call",
                "default_on": True,
                "presidio_analyzer_api_base": presidio,
                "output_parse_pii": True,
                "presidio_anonymizer_api_base": presidio,
            }
            guardrails = [{"guardrail_name": "presidio", "litellm_params": guardrail}]
            peers["LiteLLM"] = stack.enter_context(litellm(command, provider, []))
            peers["LiteLLM with Presidio"] = stack.enter_context(
                litellm(command, provider, guardrails)
            )
        return {
            name: figures(peer, provider, short=short, first=number * 1_000)
            for number, (name, peer) in enumerate(peers.items())
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--litellm", metavar="COMMAND")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--short", action="store_true")
    given = parser.parse_args()
    found = measured(given.litellm, short=given.short)
    if given.json:
        print(json.dumps(found))
        return
    for name, each in found.items():
        print(name)
        print("   ", *(f"{key} {value}" for key, value in each.items()), sep="  ")


if __name__ == "__main__":
    main()
