"""LangChain chat models whose answers and streams have their values restored."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from dlpctl.gateway.protocol import Delta, Shape, under
from dlpctl.gateway.streams import EventStream

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from dlpctl.gateway.restoring import Restorer

_FIELDS = ("name", "tool_calls", "invalid_tool_calls", "tool_call_chunks", "additional_kwargs")
_ATTRIBUTE = "_dlpctl_restorer"
_RAW_CALL = "additional_kwargs.tool_calls[]"
_ANSWER = Shape(
    answer_opaque=under("content[]", "thinking", "signature", "data", "extras.signature"),
    answer_json=frozenset({"invalid_tool_calls[].args", f"{_RAW_CALL}.function.arguments"})
    | {"additional_kwargs.function_call.arguments"},
)
_BLOCK_KEY = ("content[].index",)
_CHUNK = _ANSWER._replace(
    deltas={
        "content": Delta(),
        "content[].text": Delta(_BLOCK_KEY),
        "content[].reasoning": Delta(_BLOCK_KEY),
        "content[].partial_json": Delta(_BLOCK_KEY, is_json=True),
        "additional_kwargs.reasoning_content": Delta(),
        f"{_RAW_CALL}.function.arguments": Delta((f"{_RAW_CALL}.index",), is_json=True),
        "additional_kwargs.function_call.arguments": Delta(is_json=True),
        "tool_call_chunks[].args": Delta(("tool_call_chunks[].index",), is_json=True),
    }
)
_Message = TypeVar("_Message", bound="BaseMessage")


def fields_of(message: BaseMessage) -> dict[str, Any]:
    """Return the fields of a message, besides the content, that may hold text."""
    return {name: value for name in _FIELDS if (value := getattr(message, name, None))}


def restoring(model: BaseChatModel, restorer: Restorer) -> BaseChatModel:
    """Return a copy of a model whose answers are restored."""
    if not restorer.is_needed:
        return model
    made = model.model_copy()
    made.__class__ = _restoring_class(type(model))
    vars(made)[_ATTRIBUTE] = restorer
    return made


@cache
def _restoring_class(model_class: type[BaseChatModel]) -> type[BaseChatModel]:
    """Return a subclass; methods that the class does not implement keep LangChain's defaults."""
    implemented = {
        name: make(getattr(model_class, name))
        for name, make in _METHODS.items()
        if getattr(model_class, name) is not getattr(BaseChatModel, name)
    }
    names = {"__module__": model_class.__module__, "__qualname__": model_class.__qualname__}
    # Events that a model creates without `_stream` cannot be restored, so LangChain creates them
    # from it.
    hooks = dict.fromkeys(("_stream_chat_model_events", "_astream_chat_model_events"))
    hidden = {name: each for name, each in hooks.items() if hasattr(model_class, name)}
    return type(model_class.__name__, (model_class,), names | implemented | hidden)


def _generate(inner: Callable[..., ChatResult]) -> Callable[..., ChatResult]:
    def _generate(self: Any, *arguments: Any, **named: Any) -> ChatResult:
        return _restored(inner(self, *arguments, **named), vars(self)[_ATTRIBUTE])

    return _generate


def _agenerate(inner: Callable[..., Any]) -> Callable[..., Any]:
    async def _agenerate(self: Any, *arguments: Any, **named: Any) -> ChatResult:
        return _restored(await inner(self, *arguments, **named), vars(self)[_ATTRIBUTE])

    return _agenerate


def _stream(inner: Callable[..., Any]) -> Callable[..., Any]:
    def _stream(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **named: Any
    ) -> Iterator[ChatGenerationChunk]:
        chunks = _Chunks(vars(self)[_ATTRIBUTE])
        for chunk in inner(self, messages, stop=stop, **named):
            yield from _told(chunks.feed(chunk), run_manager)
        yield from _told(chunks.finish(), run_manager)

    return _stream


def _astream(inner: Callable[..., Any]) -> Callable[..., Any]:
    async def _astream(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **named: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        chunks = _Chunks(vars(self)[_ATTRIBUTE])
        async for chunk in inner(self, messages, stop=stop, **named):
            for each in chunks.feed(chunk):
                yield await _atold(each, run_manager)
        for each in chunks.finish():
            yield await _atold(each, run_manager)

    return _astream


_METHODS: dict[str, Callable[[Any], Any]] = {
    "_generate": _generate,
    "_agenerate": _agenerate,
    "_stream": _stream,
    "_astream": _astream,
}


def _told(chunks: Iterator[ChatGenerationChunk], manager: Any) -> Iterator[ChatGenerationChunk]:
    """Yield chunks, and report each to the callbacks as a model does."""
    for chunk in chunks:
        if manager is not None:
            manager.on_llm_new_token(chunk.text, chunk=chunk)
        yield chunk


async def _atold(chunk: ChatGenerationChunk, manager: Any) -> ChatGenerationChunk:
    if manager is not None:
        await manager.on_llm_new_token(chunk.text, chunk=chunk)
    return chunk


class _Chunks:
    """The chunks of a stream as JSON lines, which wait for the rest of their texts."""

    def __init__(self, restorer: Restorer) -> None:
        self._stream = EventStream(_CHUNK, restorer, is_lines=True)
        self._waiting: deque[ChatGenerationChunk] = deque()

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        self._waiting.append(chunk)
        line = json.dumps(_document(chunk.message)) + "\n"
        yield from self._ready(self._stream.feed(line.encode()))

    def finish(self) -> Iterator[ChatGenerationChunk]:
        yield from self._ready(self._stream.finish())

    def _ready(self, lines: bytes) -> Iterator[ChatGenerationChunk]:
        for line in lines.splitlines():
            chunk = self._waiting.popleft()
            message = _changed(chunk.message, json.loads(line))
            if message is not chunk.message:
                chunk = ChatGenerationChunk(message=message, generation_info=chunk.generation_info)
            yield chunk


def _restored(result: ChatResult, restorer: Restorer) -> ChatResult:
    def restored(generation: ChatGeneration) -> ChatGeneration:
        document = json.dumps(_document(generation.message))
        message = _changed(generation.message, json.loads(restorer.json(document, _ANSWER)))
        if message is generation.message:
            return generation
        return ChatGeneration(message=message, generation_info=generation.generation_info)

    generations = [restored(each) for each in result.generations]
    return ChatResult(generations=generations, llm_output=result.llm_output)


def _document(message: BaseMessage) -> dict[str, Any]:
    return {"content": message.content, **fields_of(message)}


def _changed(message: _Message, restored: dict[str, Any]) -> _Message:
    """Return a message with its restored fields."""
    update = {name: value for name, value in restored.items() if value != getattr(message, name)}
    if not update:
        return message
    return type(message).model_validate({**dict(message), **update})
