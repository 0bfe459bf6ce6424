"""The guardrail API of LiteLLM: requests, answers and operations."""

from __future__ import annotations

from enum import StrEnum

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Credential, Resource
from dlpctl.control.resources.shapes import Answer, Request

MOST_TEXTS = 10_000


class Intervention(StrEnum):
    """The action that LiteLLM takes."""

    NONE = "NONE"
    INTERVENED = "GUARDRAIL_INTERVENED"
    BLOCKED = "BLOCKED"


class GuardrailRequest(Request):
    """The content of a request or an answer; LiteLLM may send further fields."""

    is_open = True
    texts: list[str] | None = fields.optional(fields.array(fields.text(), "texts", most=MOST_TEXTS))
    images: list[str] | None = fields.optional(
        fields.array(fields.text("a data: URI"), "images", most=MOST_TEXTS)
    )
    tool_calls: object = fields.any_value({"description": "calls of tools"}, default=None)
    tools: object = fields.any_value({"description": "definitions of tools"}, default=None)
    structured_messages: object = fields.any_value(
        {"description": "the messages, with files and fields that `texts` may leave out"},
        default=None,
    )
    input_type: str = fields.one_of(("request", "response"), "which of the two it is")


class GuardrailAnswer(Answer):
    """The decision, with texts to use instead."""

    action: str = fields.one_of(Intervention)
    blocked_reason: str | None = fields.omitted(fields.text("without any value"))
    texts: list[str] | None = fields.omitted(fields.array(fields.text()))
    stream_holdback_chars: list[int] | None = fields.omitted(fields.array(fields.integer()))
    """The number of characters at the end of each text that later text may change."""


resource = Resource("Guardrails", "Checks for gateways of others.")

resource.operation(
    "check_guardrail",
    "POST /beta/litellm_basic_guardrail_api",
    "guardrails.check",
    GuardrailAnswer,
    "Check texts, images and calls of tools for LiteLLM",
    body=GuardrailRequest,
    credential=Credential.GUARDRAIL_KEY,
    fails=(404, 429),
)
