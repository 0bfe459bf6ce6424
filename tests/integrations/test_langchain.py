"""LangChain agents whose model receives masked messages; the fake model records its input."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.gateway.bodies import RefusedError

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
)
from langchain_core.tools import tool
from pydantic import BaseModel, PrivateAttr

from dlpctl.integrations.langchain import MaskingMiddleware

MAIL = "maria.lopez@acme-corp.com"


class Model(BaseChatModel):
    """Sends a mail to the address that it received, and then confirms it."""

    streams: bool = False
    _got: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[Any] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "made-up"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self._tools[:] = tools
        return self.bind(**options)

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        self._got.append(messages)
        words = " ".join(str(each.content) for each in messages).split()
        address = next((word.strip(".,'}]") for word in words if "EMAIL" in word), "nobody")
        if any(isinstance(each, ToolMessage) for each in messages) or not self._tools:
            return AIMessage(f"Sent to {address}.")
        call = {"name": self._name, "args": {"to": address}, "id": "call_1"}
        return AIMessage("", tool_calls=[call])

    @property
    def _name(self) -> str:
        last = self._tools[-1]
        return str(last["function"]["name"] if isinstance(last, dict) else last.name)

    def _generate(self, messages: Any, *_: Any, **options: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])


class Streaming(Model):
    """A model that streams the same answer three characters at a time."""

    def _stream(self, messages: Any, *_: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        answer = self._answer(messages)
        text = str(answer.content)
        for start in range(0, len(text), 3):
            yield ChatGenerationChunk(message=AIMessageChunk(text[start : start + 3]))
        for call in answer.tool_calls:
            written = json.dumps(call["args"])
            for start in range(0, len(written), 3):
                piece = {"name": None, "args": written[start : start + 3], "id": None, "index": 0}
                if not start:
                    piece |= {"name": call["name"], "id": call["id"]}
                message = AIMessageChunk("", tool_call_chunks=[piece])
                yield ChatGenerationChunk(message=message)


SENT: list[str] = []


@tool
def send(to: str) -> str:
    """Send a mail."""
    SENT.append(to)
    return f"sent to {to}"


@pytest.fixture
def middleware(library: Detector) -> MaskingMiddleware:
    SENT.clear()
    return MaskingMiddleware(detector=library)


def asked(content: Any = f"Write to {MAIL} please") -> Any:
    return {"messages": [HumanMessage(content)]}


@pytest.mark.parametrize("model_class", [Model, Streaming])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_models_get_tokens_and_tools_get_values(
    middleware: MaskingMiddleware, model_class: type[Model], asynchronous: bool
) -> None:
    model = model_class()
    agent = create_agent(model, [send], middleware=[middleware], system_prompt=f"You are {MAIL}")
    answer = asyncio.run(agent.ainvoke(asked())) if asynchronous else agent.invoke(asked())
    assert SENT == [MAIL]
    assert answer["messages"][-1].content == f"Sent to {MAIL}."
    assert answer["messages"][1].tool_calls[0]["args"] == {"to": MAIL}
    assert len(model._got) == 2
    assert MAIL not in repr(model._got)
    assert "<EMAIL_" in repr(model._got)


def test_values_are_restored_in_streams_before_they_end(middleware: MaskingMiddleware) -> None:
    agent = create_agent(Streaming(), [send], middleware=[middleware])
    pieces = []
    for chunk, _ in agent.stream(asked(), stream_mode="messages"):
        if isinstance(chunk, AIMessageChunk):
            pieces.append(chunk)
    texts = [str(each.content) for each in pieces if each.content]
    assert "".join(texts) == f"Sent to {MAIL}."
    assert len(texts) > 3, "the text came at once"
    arguments = [each["args"] for piece in pieces for each in piece.tool_call_chunks]
    assert json.loads("".join(arguments)) == {"to": MAIL}
    assert SENT == [MAIL]


def test_asynchronous_streams_and_events_have_values(middleware: MaskingMiddleware) -> None:
    agent = create_agent(Streaming(), [send], middleware=[middleware])

    async def read() -> str:
        events = agent.astream_events(asked(), version="v2")
        chunks = [
            each["data"]["chunk"].content
            async for each in events
            if each["event"] == "on_chat_model_stream"
        ]
        return "".join(chunks)

    assert asyncio.run(read()) == f"Sent to {MAIL}."


def test_structured_answers_have_values(middleware: MaskingMiddleware) -> None:
    class Mail(BaseModel):
        to: str

    agent = create_agent(Model(), [], middleware=[middleware], response_format=Mail)
    assert agent.invoke(asked())["structured_response"] == Mail(to=MAIL)


def test_definitions_of_tools_are_masked(middleware: MaskingMiddleware) -> None:
    @tool(description=f"Send a mail as {MAIL}.")
    def send_as(to: str) -> str:
        SENT.append(to)
        return "done"

    model = Model()
    agent = create_agent(model, [send_as], middleware=[middleware])
    agent.invoke(asked())
    assert MAIL not in repr(model._tools)
    assert SENT == [MAIL]


def test_sealed_parts_of_blocks_stay_and_the_rest_is_masked(middleware: MaskingMiddleware) -> None:
    model = Model()
    agent = create_agent(model, [], middleware=[middleware])
    sealed = {"type": "thinking", "thinking": "made up", "signature": "c2lnbmVk"}
    answer = AIMessage([sealed, {"type": "text", "text": f"as {MAIL}"}])
    agent.invoke({"messages": [HumanMessage("Hello"), answer, HumanMessage("Again")]})
    (got,) = model._got
    assert got[1].content[0] == sealed
    assert MAIL not in repr(got)


def test_uninspectable_content_is_not_sent(middleware: MaskingMiddleware) -> None:
    model = Model()
    agent = create_agent(model, [], middleware=[middleware])
    address = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    with pytest.raises(RefusedError, match="a file at a URL"):
        agent.invoke(asked([address]))
    assert not model._got


def test_requests_without_values_are_sent_unchanged(middleware: MaskingMiddleware) -> None:
    model = Model()
    agent = create_agent(model, [], middleware=[middleware])
    given = asked("Hello")
    assert agent.invoke(given)["messages"][-1].content == "Sent to nobody."
    assert model._got[0][0].content == "Hello"
