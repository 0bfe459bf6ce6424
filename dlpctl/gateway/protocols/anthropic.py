"""Anthropic: Messages, with token counting, batches and files."""

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
    moved,
    server_sent,
    under,
)

_BLOCK = "messages[].content[]"
_NESTED = f"{_BLOCK}.content[]"
_BLOCK_CODES = ("type", "id", "name", "tool_use_id", "file_id", "signature", "data", "server_name")
_CACHE = ("cache_control.type", "cache_control.ttl")
_SOURCE = ("source.type", "source.media_type", "source.file_id")
_SEALED = ("encrypted_content", "encrypted_index", "citations[].encrypted_index")


def _cut(_first: Any, last: Any) -> bytes:
    stop = {"type": "content_block_stop", "index": last.get("index", 0)}
    delta = {"stop_reason": "refusal", "stop_sequence": None}
    over = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}}
    return server_sent(stop, over, {"type": "message_stop"})


MESSAGES = Shape(
    opaque=frozenset({f"{_BLOCK}.thinking"}),
    codes=under(_BLOCK, *_BLOCK_CODES, *_CACHE, *_SOURCE, *_SEALED)
    | under(_NESTED, "type", "tool_use_id", "file_id", *_CACHE, *_SOURCE, *_SEALED)
    | under("tools[]", "name", "type", *_CACHE)
    | under("system[]", "type", *_CACHE)
    | {"model", "messages[].role", "tool_choice.type", "tool_choice.name", "thinking.type"},
    media={
        f"{block}.source.{field}": sibling
        for block in (_BLOCK, _NESTED, f"{_BLOCK}.source.content[]")
        for field, sibling in (("data", "media_type"), ("url", ""))
    },
    turns=("messages",),
    named=("metadata.user_id",),
    answer_opaque=under("content[]", "thinking", "signature", "data")
    | under("content_block", "thinking", "signature", "data")
    | under("delta", "thinking", "signature"),
    answer_texts=("content[].text", "content[].thinking", "content[].input"),
    unchanged={"delta.thinking": Delta(("index",))},
    cut=_cut,
    deltas={
        "delta.text": Delta(("index",)),
        "delta.partial_json": Delta(("index",), is_json=True),
    },
    ends=(
        End("type", "index", frozenset({"content_block_stop"})),
        End("type", "", frozenset({"message_delta", "message_stop", "error"})),
    ),
)
_BATCH = moved(MESSAGES, "requests[].params")._replace(kept=("id",))
_FILE = Shape(kept=("id",))
_RESULTS = Shape(answer_opaque=under("result.message.content[]", "thinking", "signature", "data"))
_LIST = ("limit", "before_id", "after_id", "beta", "scope_id")

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


def _error(failure: Failure) -> bytes:
    default = "invalid_request_error" if failure.status < 500 else "api_error"
    error = {"type": _TYPES.get(failure.status, default), "message": failure.message}
    return json.dumps({"type": "error", "error": error}).encode()


PROTOCOL = Protocol(
    "anthropic",
    "https://api.anthropic.com",
    (
        Route("POST", "/v1/messages", MESSAGES, query=("beta",)),
        Route("POST", "/v1/messages/count_tokens", MESSAGES, query=("beta",)),
        Route("POST", "/v1/messages/batches", _BATCH, query=("beta",)),
        Route("GET", "/v1/messages/batches", body=Body.NONE, query=_LIST),
        Route("GET", "/v1/messages/batches/{id}", body=Body.NONE, query=("beta",)),
        Route("DELETE", "/v1/messages/batches/{id}", body=Body.NONE, query=("beta",)),
        Route("POST", "/v1/messages/batches/{id}/cancel", body=Body.NONE, query=("beta",)),
        Route(
            "GET",
            "/v1/messages/batches/{id}/results",
            _RESULTS,
            Body.NONE,
            query=("beta",),
            is_lines=True,
        ),
        Route("POST", "/v1/files", _FILE, Body.FORM, query=("beta",)),
        Route("GET", "/v1/files", body=Body.NONE, query=_LIST),
        Route("GET", "/v1/files/{id}", body=Body.NONE, query=("beta",)),
        Route("DELETE", "/v1/files/{id}", body=Body.NONE, query=("beta",)),
        Route("GET", "/v1/files/{id}/content", body=Body.NONE, query=("beta",), is_lines=True),
        Route("GET", "/v1/models", body=Body.NONE, query=_LIST),
        Route("GET", "/v1/models/{id}", body=Body.NONE, query=("beta",)),
    ),
    _error,
    b"event: error\ndata: %s\n\n",
)
