"""Messages between an MCP client and a server, and the wrapper as a separate process."""

from __future__ import annotations

import base64
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dlpctl.agents.mcp_messages import Forwarded, Inspector
from dlpctl.agents.mcp_wrap import Wrapper
from dlpctl.agents.sessions import SessionVaults
from dlpctl.files.checking import FileChecker
from dlpctl.preflight import Checker

if TYPE_CHECKING:
    from limits import Limiter

MAIL = "jane.doe@example.com"
TOKEN = re.compile(r"<EMAIL_[A-Z]{3}_[1-9][0-9]*>")
Message = dict[str, Any]


@pytest.fixture
def inspector(checker: Checker, vaults: SessionVaults) -> Inspector:
    return Inspector(checker, FileChecker(checker), vaults.open("claude-code", "s"))


def call(number: int, name: str = "send", **arguments: Any) -> Message:
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": 7}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params, "x": 1}


def result(number: int, **fields: Any) -> Message:
    return {"jsonrpc": "2.0", "id": number, "result": fields}


def text(content: str) -> Message:
    return {"type": "text", "text": content}


def test_arguments_and_results_are_masked(inspector: Inspector) -> None:
    sent = inspector.forward(call(1, to=MAIL), to_server=True).onward
    assert sent == call(1, to="<EMAIL_1>")
    answer = result(1, content=[text(f"sent to {MAIL}")], isError=False)
    got = inspector.forward(answer, to_server=False).onward
    assert got == result(1, content=[text("sent to <EMAIL_1>")], isError=False)


def test_messages_without_values_pass_unchanged(inspector: Inspector) -> None:
    for to_server in (True, False):
        for message in (
            call(1, to="nobody"),
            {"jsonrpc": "2.0", "method": "notifications/new", "params": {"a": MAIL}},
            {"jsonrpc": "2.0", "id": "x", "method": "future/method", "params": [MAIL]},
            result(99, anything=MAIL),
            {"jsonrpc": "2.0", "id": 3, "method": "ping"},
        ):
            forwarded = inspector.forward(message, to_server=to_server)
            assert forwarded == Forwarded(message)
            assert forwarded.onward is message


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("sampling/createMessage", {"messages": [{"role": "user", "content": text(MAIL)}]}),
        ("elicitation/create", {"message": f"Is it {MAIL}?"}),
        ("notifications/message", {"level": "info", "data": {"to": MAIL}}),
        ("notifications/progress", {"progressToken": 1, "message": MAIL}),
    ],
)
def test_requests_of_the_server(method: str, params: Message, inspector: Inspector) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    told = inspector.forward(message, to_server=False).onward
    assert MAIL not in json.dumps(told)
    assert "<EMAIL_1>" in json.dumps(told)
    answer = result(1, content={"mail": MAIL}, action="accept")
    assert MAIL not in json.dumps(inspector.forward(answer, to_server=True).onward)


@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "completion/complete"])
def test_answers_of_other_requests(method: str, inspector: Inspector) -> None:
    inspector.forward({"jsonrpc": "2.0", "id": 5, "method": method, "params": {}}, to_server=True)
    answer = result(5, contents=[{"uri": "file:///a", "text": MAIL}])
    assert MAIL not in json.dumps(inspector.forward(answer, to_server=False).onward)


def test_errors(inspector: Inspector) -> None:
    inspector.forward(call(1), to_server=True)
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": MAIL, "data": [MAIL]}}
    told = inspector.forward(error, to_server=False).onward
    assert told is not None
    assert told["error"] == {"code": -1, "message": "<EMAIL_1>", "data": ["<EMAIL_1>"]}


def test_blocked_calls_are_answered_and_not_sent(inspector: Inspector) -> None:
    body = "\n".join(random.Random(line).randbytes(48).hex() for line in range(8))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    told = inspector.forward(call(1, key=key), to_server=True)
    assert told.onward is None
    assert told.back is not None
    assert told.back["result"]["isError"] is True
    inspector.forward(call(2), to_server=True)
    answer = inspector.forward(result(2, content=[text(key)]), to_server=False).onward
    assert answer is not None
    assert body[:40] not in json.dumps(answer)


def test_attachments_are_inspected_or_refused(inspector: Inspector) -> None:
    data = base64.b64encode(f"mail,{MAIL}\n".encode()).decode()
    for number, blob, mime in (
        (1, data, "text/csv"),
        (2, base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0broken").decode(), "image/png"),
        (3, "%%%", "text/plain"),
    ):
        inspector.forward(call(number), to_server=True)
        resource = {"uri": "file:///a", "mimeType": mime, "blob": blob}
        answer = result(number, content=[{"type": "resource", "resource": resource}])
        told = inspector.forward(answer, to_server=False).onward
        assert told is not None
        assert told["result"]["isError"] is True, mime
    inspector.forward(call(4), to_server=True)
    plain = base64.b64encode(b"nothing here\n").decode()
    image = {"type": "audio", "mimeType": "text/plain", "data": plain}
    answer = result(4, content=[image, text(MAIL)])
    told = inspector.forward(answer, to_server=False).onward
    assert told == result(4, content=[image, text("<EMAIL_1>")])


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        ({"type": "string"}, True),
        ({"type": "string", "description": "x"}, True),
        ({"type": "string", "format": "email"}, False),
        ({"type": "string", "pattern": "@"}, False),
        ({"enum": [MAIL]}, False),
        ({"$ref": "#/x"}, False),
    ],
)
def test_structured_content_satisfies_its_schema(
    schema: Message, fits: bool, inspector: Inspector
) -> None:
    tools = [{"name": "get", "outputSchema": {"type": "object", "properties": {"mail": schema}}}]
    inspector.forward({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, to_server=True)
    inspector.forward(result(1, tools=tools), to_server=False)
    inspector.forward(call(2, "get"), to_server=True)
    answer = result(2, content=[text(MAIL)], structuredContent={"mail": MAIL, "n": 1})
    told = inspector.forward(answer, to_server=False).onward
    assert told is not None
    assert MAIL not in json.dumps(told)
    if fits:
        assert told["result"]["structuredContent"] == {"mail": "<EMAIL_1>", "n": 1}
    else:
        assert told["result"]["isError"] is True


def test_a_long_number_is_not_turned_into_text(inspector: Inspector) -> None:
    schema = {"type": "object", "properties": {"card": {"type": "integer"}}}
    inspector.forward({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, to_server=True)
    inspector.forward(result(1, tools=[{"name": "get", "outputSchema": schema}]), to_server=False)
    inspector.forward(call(2, "get"), to_server=True)
    answer = result(2, content=[], structuredContent={"card": 4111111111111111})
    told = inspector.forward(answer, to_server=False).onward
    assert told is not None
    assert told["result"]["isError"] is True


SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    sys.stderr.write("noise " * 20_000)
    if message["method"] == "batch":
        print(json.dumps([message["params"], message["params"]]), flush=True)
    elif message["method"] == "half":
        sys.stdout.write('{"jsonrpc": "2.0", "id": 1, "result"')
        sys.exit(3)
    elif message["method"] == "garbage":
        print("Server is ready!", flush=True)
    else:
        content = [{"type": "text", "text": json.dumps(message["params"]) + " bob@example.org"}]
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}
        print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def wrapped(compiled_cache: Path, tmp_path: Path) -> Callable[..., Any]:
    def run(*messages: Message, command: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
        (tmp_path / "home").mkdir(mode=0o700)
        shutil.copytree(compiled_cache, tmp_path / "home" / "cache")
        environ = {"HOME": str(tmp_path), "PATH": os.defpath, "DLPCTL_HOME": str(tmp_path / "home")}
        server = command or (sys.executable, "-c", SERVER)
        wrap = [sys.executable, "-m", "dlpctl", "mcp", "wrap", "--", *server]
        data = "".join(json.dumps(each) + "\n" for each in messages).encode()
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as stdin, os.fdopen(writer, "wb") as client:
            client.write(data)
            (client.close if data else client.flush)()
            return subprocess.run(
                wrap, stdin=stdin, capture_output=True, env=environ, cwd=tmp_path, timeout=120
            )

    return run


def test_a_server(wrapped: Callable[..., Any]) -> None:
    ran = wrapped(call(1, to=MAIL), {"method": "garbage"}, {"method": "half"})
    (line,) = ran.stdout.splitlines()
    answer = json.loads(line)
    told = answer["result"]["content"][0]["text"]
    first, second = TOKEN.findall(told)
    assert f'"to": "{first}"' in told
    assert told.endswith(second)
    assert first != second
    assert ran.returncode == 3
    assert b"not JSON was dropped" in ran.stderr
    assert b"in the middle of a message" in ran.stderr


def test_a_message_that_is_too_large_ends_the_session(inspector: Inspector, limit: Limiter) -> None:
    limit("dlpctl.agents.mcp_wrap.LARGEST", 1_000)
    client = io.BytesIO()
    wrapper = Wrapper(inspector, io.BytesIO(), client)
    assert wrapper.run([sys.executable, "-c", "print('[' + '0,' * 600 + '0]')"]) == 1
    assert not client.getvalue()


def test_a_batch(wrapped: Callable[..., Any]) -> None:
    inner = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": MAIL}}
    ran = wrapped({"method": "batch", "params": inner})
    (line,) = ran.stdout.splitlines()
    first, second = (each["params"]["data"] for each in json.loads(line))
    assert first == second
    assert TOKEN.fullmatch(first)
    assert ran.returncode == 0


def test_a_server_that_does_not_exist(wrapped: Callable[..., Any]) -> None:
    ran = wrapped(command=["/nowhere/server"])
    assert ran.returncode == 1
    assert b"cannot be started" in ran.stderr


def test_a_server_that_ends_before_its_client(wrapped: Callable[..., Any]) -> None:
    ran = wrapped(command=[sys.executable, "-c", "raise SystemExit(5)"])
    assert (ran.returncode, ran.stderr) == (5, b"")


def test_the_mcp_server_of_dlpctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp.server", reason="needs the extra mcp")
    import asyncio

    from dlpctl.cli import mcp_server
    from dlpctl.cli.session import Session

    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path))
    vault = tmp_path / "a.vault"
    server = mcp_server.build(Session.start(), vault, allow_unmask=False)
    listed = asyncio.run(server.list_tools())
    assert {tool.name for tool in listed} == {"check", "mask", "scan", "explain"}
    assert all(tool.annotations.read_only_hint for tool in listed)
    assert not any(tool.annotations.open_world_hint for tool in listed)
    server = mcp_server.build(Session.start(), vault, allow_unmask=True)
    assert "unmask" in {tool.name for tool in asyncio.run(server.list_tools())}
