"""Ollama: its own routes and those that it shares with OpenAI."""

from __future__ import annotations

import json
from typing import Any

from dlpctl.gateway.protocol import (
    Body,
    Delta,
    End,
    Failure,
    Protocol,
    Route,
    Shape,
    under,
)
from dlpctl.gateway.protocols.openai import CHAT_ROUTES


def _cut(_first: Any, last: Any) -> bytes:
    over = {name: last[name] for name in ("model", "created_at") if name in last}
    if "message" in last:
        over["message"] = {"role": "assistant", "content": ""}
    else:
        over["response"] = ""
    return json.dumps({**over, "done": True, "done_reason": "stop"}).encode() + b"\n"


CHAT = Shape(
    codes=frozenset({"model", "messages[].role", "tools[].type", "tools[].function.name"})
    | under("messages[]", "tool_name", "tool_calls[].function.name"),
    media={"messages[].images[]": "*", "images[]": "*"},
    turns=("messages", "prompt"),
    answer_texts=("message.content", "message.tool_calls", "response"),
    cut=_cut,
    deltas={
        "message.content": Delta(),
        "message.thinking": Delta(),
        "response": Delta(),
        "thinking": Delta(),
    },
    ends=(End("done"),),
)


def _error(failure: Failure) -> bytes:
    return json.dumps({"error": failure.message}).encode()


PROTOCOL = Protocol(
    "ollama",
    "http://127.0.0.1:11434",
    (
        Route("POST", "/api/chat", CHAT),
        Route("POST", "/api/generate", CHAT),
        Route("POST", "/api/embed", CHAT._replace(numbers=("input",))),
        Route("POST", "/api/embeddings", CHAT),
        Route("POST", "/api/show", CHAT),
        Route("GET", "/api/tags", body=Body.NONE),
        Route("GET", "/api/ps", body=Body.NONE),
        Route("GET", "/api/version", body=Body.NONE),
        *CHAT_ROUTES,
    ),
    _error,
    b"%s\n",
)
