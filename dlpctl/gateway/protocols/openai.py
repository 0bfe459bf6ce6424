"""OpenAI: Chat Completions, Responses, embeddings, moderations, files, audio and pictures."""

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
    server_sent,
    under,
)

_CHOICE = "choices[].index"
_CALL_CODES = ("id", "type", "index", "function.name")
_REASONING = ("content", "refusal", "reasoning_content", "reasoning", "audio.transcript")


def _cut_chat(_first: Any, last: Any) -> bytes:
    choices = [
        {"index": each.get("index", 0), "delta": {}, "finish_reason": "content_filter"}
        for each in last.get("choices") or [{}]
    ]
    return server_sent({**last, "choices": choices}) + b"data: [DONE]\n\n"


def _cut_response(first: Any, last: Any) -> bytes:
    response = {
        **first.get("response", {}),
        "status": "incomplete",
        "incomplete_details": {"reason": "content_filter"},
    }
    number = last.get("sequence_number", 0)
    over = {"type": "response.incomplete", "response": response, "sequence_number": number}
    return server_sent(over)


CHAT = Shape(
    codes=under("messages[]", "role", "tool_call_id", "audio.id")
    | under("messages[].content[]", "type", "file.file_id", "image_url.detail")
    | under("messages[].tool_calls[]", *_CALL_CODES)
    | under("tools[]", "type", "function.name")
    | under("tool_choice", "type", "function.name")
    | {"model", "prompt_cache_key", "response_format.type", "tool_choice", "service_tier"},
    media={
        "messages[].content[].image_url.url": "",
        "messages[].content[].input_audio.data": "format",
        "messages[].content[].file.file_data": "filename",
    },
    turns=("messages", "prompt"),
    named=("prompt_cache_key",),
    numbers=("prompt",),
    answer_texts=(
        "choices[].message.content",
        "choices[].message.tool_calls[].function.arguments",
        "choices[].message.function_call.arguments",
        "choices[].text",
    ),
    cut=_cut_chat,
    answer_json=under("choices[].message", "tool_calls[].function.arguments")
    | under("choices[].message", "function_call.arguments"),
    deltas={
        **{f"choices[].delta.{name}": Delta((_CHOICE,)) for name in _REASONING},
        "choices[].text": Delta((_CHOICE,)),
        "choices[].delta.tool_calls[].function.arguments": Delta(
            (_CHOICE, "choices[].delta.tool_calls[].index"), is_json=True
        ),
        "choices[].delta.tool_calls[].custom.input": Delta(
            (_CHOICE, "choices[].delta.tool_calls[].index")
        ),
        "choices[].delta.function_call.arguments": Delta((_CHOICE,), is_json=True),
    },
    ends=(End("choices[].finish_reason", _CHOICE),),
)

_PART_CODES = ("type", "file_id", "detail")
_ITEM_CODES = ("type", "role", "id", "call_id", "status", "name", "encrypted_content", "phase")
_BLOCK_KEYS = ("output_index", "type", "content_index", "summary_index")
_DONE = (
    "output_text",
    "refusal",
    "function_call_arguments",
    "custom_tool_call_input",
    "mcp_call_arguments",
    "reasoning_summary_text",
    "reasoning_text",
    "code_interpreter_call_code",
    "content_part",
    "output_item",
    "audio.transcript",
)
_OVER = ("completed", "failed", "incomplete", "cancelled")


def _responses(items: str) -> Shape:
    """Return the shape of requests whose items are in the given field."""
    return Shape(
        codes=under(f"{items}[]", *_ITEM_CODES, "result")
        | under(f"{items}[].content[]", *_PART_CODES)
        | under(f"{items}[].output[]", *_PART_CODES)
        | under("tools[]", "type", "name")
        | under("tool_choice", "type", "name")
        | {"model", "previous_response_id", "prompt_cache_key", "conversation", "tool_choice"}
        | {"include[]", "text.format.type", "reasoning.effort", "reasoning.summary"},
        media={
            f"{items}[].{part}.{field}": sibling
            for part in ("content[]", "output[]", "output")
            for field, sibling in (
                ("image_url", ""),
                ("file_url", ""),
                ("file_data", "filename"),
                ("input_audio.data", "format"),
            )
        },
        turns=(items,),
        named=("prompt_cache_key", "conversation", "conversation.id"),
        refers=("previous_response_id", "conversation", "conversation.id"),
        kept=("id", "response.id"),
        answer_texts=("output[].content[].text", "output[].arguments", "output[].input"),
        cut=_cut_response,
        answer_json=frozenset(
            {"arguments", "item.arguments", "output[].arguments", "response.output[].arguments"}
        ),
        deltas={
            "delta": Delta(_BLOCK_KEYS),
            "delta response.function_call_arguments.delta": Delta(_BLOCK_KEYS, is_json=True),
            "delta response.mcp_call_arguments.delta": Delta(_BLOCK_KEYS, is_json=True),
        },
        ends=(
            End("type", "output_index", frozenset(f"response.{each}.done" for each in _DONE)),
            End("type", "", frozenset(["error", *(f"response.{each}" for each in _OVER)])),
        ),
    )


RESPONSES = _responses("input")
_ITEMS = _responses("items")
_TEXTS = Shape(
    codes=frozenset({"model", "encoding_format", "input[].type", "voice", "response_format"}),
    media={"input[].image_url.url": ""},
    numbers=("input",),
)
_PLAIN = Shape(codes=frozenset({"model"}))
_FILE = Shape(kept=("id",))
_BATCH = Shape(
    codes=frozenset({"input_file_id", "endpoint", "completion_window"}),
    refers=("input_file_id",),
    kept=("id", "output_file_id", "error_file_id"),
)
_BODY = "response.body"
_RESULTS = Shape(
    answer_json=frozenset(
        {
            f"{_BODY}.choices[].message.tool_calls[].function.arguments",
            f"{_BODY}.output[].arguments",
        }
    )
)
_LIST = ("limit", "after", "before", "order", "purpose", "include[]", "include", "starting_after")


def _error(failure: Failure) -> bytes:
    error_type = {401: "authentication_error", 429: "rate_limit_error"}.get(
        failure.status, "invalid_request_error" if failure.status < 500 else "server_error"
    )
    error = {"message": failure.message, "type": error_type, "param": None, "code": "dlpctl"}
    return json.dumps({"error": error}).encode()


def _responses_error(failure: Failure) -> bytes:
    error = {
        "type": "error",
        "code": "dlpctl",
        "message": failure.message,
        "param": None,
        "sequence_number": 0,
    }
    return b"event: error\ndata: " + json.dumps(error).encode() + b"\n\n"


RESPONSES = RESPONSES._replace(stream_error=_responses_error)

CHAT_ROUTES = (
    Route("POST", "/v1/chat/completions", CHAT),
    Route("POST", "/v1/completions", CHAT),
    Route("POST", "/v1/embeddings", _TEXTS),
    Route("GET", "/v1/models", body=Body.NONE, query=_LIST),
    Route("GET", "/v1/models/{id}", body=Body.NONE),
)

PROTOCOL = Protocol(
    "openai",
    "https://api.openai.com",
    (
        *CHAT_ROUTES,
        Route("POST", "/v1/responses", RESPONSES),
        Route("POST", "/v1/responses/compact", RESPONSES),
        Route("POST", "/v1/responses/input_tokens", RESPONSES),
        Route("GET", "/v1/responses/{id}", RESPONSES, Body.NONE, query=(*_LIST, "stream")),
        Route("DELETE", "/v1/responses/{id}", body=Body.NONE),
        Route("POST", "/v1/responses/{id}/cancel", RESPONSES, Body.NONE),
        Route("GET", "/v1/responses/{id}/input_items", RESPONSES, Body.NONE, query=_LIST),
        Route("POST", "/v1/conversations", _ITEMS),
        Route("GET", "/v1/conversations/{id}", body=Body.NONE),
        Route("POST", "/v1/conversations/{id}", _ITEMS),
        Route("DELETE", "/v1/conversations/{id}", body=Body.NONE),
        Route("GET", "/v1/conversations/{id}/items", RESPONSES, Body.NONE, query=_LIST),
        Route("POST", "/v1/conversations/{id}/items", _ITEMS, query=_LIST),
        Route("POST", "/v1/moderations", _TEXTS),
        Route("POST", "/v1/images/generations", _PLAIN),
        Route("POST", "/v1/audio/speech", _TEXTS, is_raw=True),
        Route("POST", "/v1/audio/transcriptions", body=Body.FORM),
        Route("POST", "/v1/audio/translations", body=Body.FORM),
        Route("POST", "/v1/files", _FILE, Body.FORM),
        Route("GET", "/v1/files", body=Body.NONE, query=_LIST),
        Route("GET", "/v1/files/{id}", body=Body.NONE),
        Route("DELETE", "/v1/files/{id}", body=Body.NONE),
        Route("GET", "/v1/files/{id}/content", _RESULTS, Body.NONE, is_lines=True),
        Route("POST", "/v1/batches", _BATCH),
        Route("GET", "/v1/batches", body=Body.NONE, query=_LIST),
        Route("GET", "/v1/batches/{id}", _BATCH, Body.NONE),
        Route("POST", "/v1/batches/{id}/cancel", body=Body.NONE),
    ),
    _error,
)
