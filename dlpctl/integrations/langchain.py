"""A middleware for agents of LangChain 1 and later.

agent = create_agent(model, tools, middleware=[MaskingMiddleware()])
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.utils.function_calling import convert_to_openai_tool

from dlpctl.errors import InputError
from dlpctl.gateway.protocol import Failure, Protocol, Route, Shape, under
from dlpctl.integrations.chat_models import fields_of, restoring
from dlpctl.integrations.models import MaskedModels

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from dlpctl.integrations.answers import Masked

_BLOCK = "messages[].content[]"
_CALL_CODES = ("id", "name", "type", "index", "function.name")
_SEALED = ("thinking", "redacted_thinking")
"""The types of blocks that a provider accepts back only unchanged."""
_MEDIA = {
    "image_url": "",
    "image_url.url": "",
    "url": "",
    "source.url": "",
    "data": "mime_type",
    "base64": "mime_type",
    "source.data": "media_type",
    "file.file_data": "filename",
    "input_audio.data": "format",
}
_REQUEST = Shape(
    codes=under(_BLOCK, "type", "id", "index", "signature", "extras.signature", "mime_type")
    | under(_BLOCK, "file_id", "source_type", "encrypted_content", "tool_call_id", "name")
    | under("messages[].tool_calls[]", *_CALL_CODES)
    | under("messages[].invalid_tool_calls[]", *_CALL_CODES)
    | under("messages[].additional_kwargs.tool_calls[]", *_CALL_CODES)
    | {"messages[].role", "tools[].type", "tools[].function.name", "tools[].name"},
    media={f"{_BLOCK}.{path}": sibling for path, sibling in _MEDIA.items()},
    turns=("messages",),
)


def _error(failure: Failure) -> bytes:
    return failure.message.encode()


_PROTOCOL = Protocol("langchain", "", (Route("POST", "/messages", _REQUEST),), _error)


class MaskingMiddleware(AgentMiddleware[Any, Any, Any]):
    """Masks the input of a model, and restores its answers, tool calls and streams.

    A request that may not be sent raises `dlpctl.gateway.bodies.RefusedError`.
    """

    def __init__(self, **options: Any) -> None:
        """See `MaskedModels` for the `options`."""
        super().__init__()
        self._models = MaskedModels(_PROTOCOL, **options)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        return handler(self._masked(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(await asyncio.to_thread(self._masked, request))

    def _masked(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the masked request, whose model restores its answers."""
        system = [request.system_message] if request.system_message else []
        given: list[Any] = [*system, *request.messages]
        written = [_written(each) for each in given]
        tools = [_tool(each) for each in request.tools]
        settings = json.loads(json.dumps(request.model_settings, default=lambda _: None))
        masked = self._mask({"messages": written, "tools": tools, "settings": settings})
        model = restoring(request.model, masked.restorer)
        if masked.body == masked.request.body:
            return request.override(model=model)
        changed = json.loads(masked.body)
        triples = zip(given, written, changed["messages"], strict=True)
        messages = [_changed(*each) for each in triples]
        options = _replaced(
            [*request.model_settings.values()],
            [*settings.values()],
            [*changed["settings"].values()],
        )
        return request.override(
            model=model,
            system_message=messages[0] if system else None,
            messages=messages[len(system) :],
            tools=_replaced(request.tools, tools, changed["tools"]),
            model_settings=dict(zip(request.model_settings, options, strict=True)),
        )

    def _mask(self, document: dict[str, Any]) -> Masked:
        try:
            body = json.dumps(document).encode()
        except (TypeError, ValueError):
            raise InputError(
                "a message has content that is not JSON and cannot be inspected"
            ) from None
        headers = {"content-type": "application/json"}
        return self._models.mask("POST", "/messages", b"", headers, body)


def _tool(tool: Any) -> dict[str, Any]:
    """Return the definition of a tool as the provider gets it."""
    return tool if isinstance(tool, dict) else convert_to_openai_tool(tool)


def _replaced(given: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    """Return the given objects, those that masking changed in their masked form."""
    triples = zip(given, before, after, strict=True)
    return [each if old == new else new for each, old, new in triples]


def _written(message: BaseMessage) -> dict[str, Any]:
    """Return the fields of a message that the provider gets, without sealed blocks."""
    content = message.content
    if isinstance(content, list):
        content = [{} if _is_sealed(each) else each for each in content]
    return {**fields_of(message), "role": message.type, "content": content}


def _is_sealed(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in _SEALED


def _changed(message: Any, before: dict[str, Any], after: dict[str, Any]) -> Any:
    """Return a message with its masked fields."""
    update = {name: value for name, value in after.items() if value != before[name]}
    if not update:
        return message
    if isinstance(message.content, list) and "content" in update:
        pairs = zip(message.content, after["content"], strict=True)
        update["content"] = [old if _is_sealed(old) else new for old, new in pairs]
    return message.model_copy(update=update)
