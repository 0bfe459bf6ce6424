"""Google Gemini: content in one answer or streamed, token counting, and embeddings."""

from __future__ import annotations

import json
import re
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

_PART_CODES = (
    "thoughtSignature",
    "thought_signature",
    "functionCall.id",
    "functionCall.name",
    "functionResponse.id",
    "functionResponse.name",
    "inlineData.mimeType",
    "inline_data.mime_type",
    "fileData.mimeType",
    "executableCode.language",
    "codeExecutionResult.outcome",
)
_CONTENTS = (
    "contents[]",
    "content",
    "requests[].content",
    "systemInstruction",
    "system_instruction",
    "generateContentRequest.contents[]",
)
_TOOLS = ("functionDeclarations[].name", "function_declarations[].name")
_CANDIDATE = "candidates[].index"


def _cut(_first: Any, _last: Any) -> bytes:
    content = {"role": "model", "parts": []}
    return server_sent({"candidates": [{"index": 0, "content": content, "finishReason": "SAFETY"}]})


GENERATE = Shape(
    codes=frozenset().union(
        *(under(f"{each}.parts[]", *_PART_CODES) for each in _CONTENTS),
        *(under(each, "role") for each in _CONTENTS),
        under("tools[]", *_TOOLS),
        {"model", "requests[].model", "cachedContent", "cached_content"},
    ),
    media={
        f"{each}.parts[].{path}": sibling
        for each in _CONTENTS
        for path, sibling in (
            ("inlineData.data", "mimeType"),
            ("inline_data.data", "mime_type"),
            ("fileData.fileUri", ""),
            ("file_data.file_uri", ""),
        )
    },
    turns=("contents",),
    named=("cachedContent",),
    uploaded=re.compile(
        r"(?:https://generativelanguage\.googleapis\.com/v1(?:beta)?/)?files/[a-z0-9-]{1,64}"
    ),
    answer_opaque=under("candidates[].content.parts[]", "thoughtSignature"),
    answer_texts=tuple(
        under("candidates[].content.parts[]", "text", "functionCall.args", "executableCode.code")
    ),
    cut=_cut,
    deltas={
        "candidates[].content.parts[].text": Delta(
            (_CANDIDATE, "candidates[].content.parts[].thought")
        )
    },
    ends=(End("candidates[].finishReason", _CANDIDATE),),
)
_BATCH = moved(GENERATE, "batch.inputConfig.requests.requests[].request")._replace(kept=("name",))
_INLINED = "response.inlinedResponses.inlinedResponses[].response"
_BATCH_ANSWER = Shape(
    answer_opaque=under(f"{_INLINED}.candidates[].content.parts[]", "thoughtSignature")
)
_UPLOAD = Shape(codes=frozenset({"file.name", "file.mimeType", "file.mime_type"}))
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_KEY = ("key", "alt", "$alt")
_LIST = (*_KEY, "pageSize", "pageToken")


def _error(failure: Failure) -> bytes:
    default = "INVALID_ARGUMENT" if failure.status < 500 else "INTERNAL"
    status = _STATUSES.get(failure.status, default)
    error = {"code": failure.status, "message": failure.message, "status": status}
    return json.dumps({"error": error}).encode()


def _routes(version: str) -> tuple[Route, ...]:
    model = f"/{version}/models/{{id}}"
    return (
        Route("POST", f"{model}:generateContent", GENERATE, query=_KEY),
        Route(
            "POST",
            f"{model}:streamGenerateContent",
            GENERATE,
            query=_KEY,
            required={"alt": "sse"},
        ),
        Route("POST", f"{model}:countTokens", GENERATE, query=_KEY),
        Route("POST", f"{model}:embedContent", GENERATE, query=_KEY),
        Route("POST", f"{model}:batchEmbedContents", GENERATE, query=_KEY),
        Route("POST", f"{model}:batchGenerateContent", _BATCH, query=_KEY),
        Route("GET", f"/{version}/batches", body=Body.NONE, query=_LIST),
        Route("GET", f"/{version}/batches/{{id}}", _BATCH_ANSWER, Body.NONE, query=_KEY),
        Route("POST", f"/{version}/batches/{{id}}:cancel", body=Body.NONE, query=_KEY),
        Route("DELETE", f"/{version}/batches/{{id}}", body=Body.NONE, query=_KEY),
        Route("GET", model, body=Body.NONE, query=_KEY),
        Route("GET", f"/{version}/models", body=Body.NONE, query=_LIST),
        Route(
            "POST",
            f"/upload/{version}/files",
            _UPLOAD,
            Body.UPLOAD,
            query=(*_KEY, "upload_id", "upload_protocol"),
        ),
        Route("GET", f"/{version}/files", body=Body.NONE, query=_LIST),
        Route("GET", f"/{version}/files/{{id}}", body=Body.NONE, query=_KEY),
        Route("DELETE", f"/{version}/files/{{id}}", body=Body.NONE, query=_KEY),
    )


PROTOCOL = Protocol(
    "gemini",
    "https://generativelanguage.googleapis.com",
    (*_routes("v1beta"), *_routes("v1")),
    _error,
    b"data: %s\r\n\r\n",
)
