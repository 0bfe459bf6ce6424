"""A fake provider of models that answers from a script and records the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A turn of the model: a tool call."""

    tool: str
    arguments: dict[str, Any]


Turn = Call | str | Callable[[str], Call]
"""A call, or a function that makes it from everything the model has received."""


class StandIn:
    """Answers requests that have tools by the turns of a script; the last turn repeats."""

    def __init__(self, script: Sequence[Turn]) -> None:
        self.received: list[str] = []
        self._script = list(script)
        self._played = 0
        self._lock = threading.Lock()

    def text(self) -> str:
        text = "\n".join(self.received)
        return text.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")

    def turn(self, body: dict[str, Any]) -> tuple[int, Call | str]:
        with self._lock:
            if not body.get("tools"):  # a title or a check of the quota
                return 0, "ok"
            number = self._played
            self._played += 1
            turn = self._script[min(number, len(self._script) - 1)]
            return number, turn(self.text()) if callable(turn) else turn


@contextmanager
def serving(script: Sequence[Turn]) -> Iterator[tuple[StandIn, str]]:
    """Serve a script; yield the fake provider and its URL."""
    stand_in = StandIn(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"data": [], "models": []}))

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            stand_in.received.append(data.decode("utf-8", "replace"))
            try:
                body = json.loads(data)
            except ValueError:
                body = {}
            number, turn = stand_in.turn(body if isinstance(body, dict) else {})
            if "/messages" in self.path:
                events = list(_anthropic(number, turn))
            elif "/responses" in self.path:
                events = list(_responses(number, turn))
            elif "streamGenerateContent" in self.path:
                events = [_gemini(turn)]
            elif "generateContent" in self.path:
                return self._send("application/json", json.dumps(_gemini(turn)))
            elif "/chat/completions" in self.path:
                events = list(_chat(number, turn))
            else:
                return self._send("application/json", "{}")
            lines = [
                (f"event: {each['type']}\n" if "type" in each else "")
                + f"data: {json.dumps(each)}\n\n"
                for each in events
            ]
            if "/chat/completions" in self.path:
                lines.append("data: [DONE]\n\n")
            return self._send("text/event-stream", "".join(lines))

        def _send(self, kind: str, content: str) -> None:
            data = content.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stand_in, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _anthropic(number: int, turn: Call | str) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    if isinstance(turn, Call):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": turn.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "tool_use" if isinstance(turn, Call) else "end_turn"
    stop = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _responses(number: int, turn: Call | str) -> Iterator[dict[str, Any]]:
    if isinstance(turn, Call) and "input" in turn.arguments and len(turn.arguments) == 1:
        item = {
            "type": "custom_tool_call",
            "id": f"ctc_{number}",
            "call_id": f"call_{number}",
            "name": turn.tool,
            "input": turn.arguments["input"],
        }
    elif isinstance(turn, Call):
        namespace, _, name = turn.tool.rpartition("__")
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": json.dumps(turn.arguments),
        } | ({"namespace": namespace} if namespace else {})
    else:
        item = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "content": [{"type": "output_text", "text": turn, "annotations": []}],
        }
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    response = {"id": f"resp_{number}", "object": "response", "status": "in_progress"}
    yield {"type": "response.created", "response": response}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = response | {"status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": done}


def _gemini(turn: Call | str) -> dict[str, Any]:
    part: dict[str, Any] = {"text": turn}
    if isinstance(turn, Call):
        part = {"functionCall": {"name": turn.tool, "args": turn.arguments}}
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "gemini-2.5-pro",
    }


def _chat(number: int, turn: Call | str) -> Iterator[dict[str, Any]]:
    delta: dict[str, Any] = {"role": "assistant", "content": turn}
    if isinstance(turn, Call):
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    base = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    yield base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if isinstance(turn, Call) else "stop"
    yield base | {
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
