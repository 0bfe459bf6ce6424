"""The examples on the pages about integrations run and mask."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from dlpctl.cli import topics
from tests.gateway.standin import Provider, Reply, Sent

pytest.importorskip("openai")
pytest.importorskip("httpx2")
pytest.importorskip("aiohttp", minversion="3.12")
pytest.importorskip("langchain")
pytest.importorskip("starlette")
trace = pytest.importorskip("opentelemetry.sdk.trace")

from langchain_core.language_models import FakeListChatModel  # noqa: E402
from langchain_core.messages import HumanMessage  # noqa: E402
from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace.export.in_memory_span_exporter import (  # noqa: E402
    InMemorySpanExporter,
)

MAIL = "maria.lopez@acme-corp.com"
PATH = "/v1/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": f"I am {MAIL}"}]}


@pytest.fixture
def provider() -> Iterator[Provider]:
    def reply(sent: Sent) -> Reply:
        message = {"role": "assistant", "content": sent.json["messages"][0]["content"]}
        return Reply(
            json.dumps({"id": "c", "choices": [{"index": 0, "message": message}]}).encode()
        )

    with closing(Provider()) as started:
        started.reply = reply
        yield started


def test_the_examples_run(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    written, exporter = io.StringIO(), InMemorySpanExporter()
    spans = trace.TracerProvider(shutdown_on_exit=False)
    names: dict[str, Any] = {
        "__name__": "made_up",
        "model": FakeListChatModel(responses=["done"]),
        "tools": [],
        "routes": [],
        "handler": logging.StreamHandler(written),
        "provider": spans,
        "exporting": SimpleSpanProcessor(exporter),
    }
    made: dict[str, Any] = {}
    pages = topics.text("integrations") + topics.text("web-applications")
    for code in re.findall(r"```python\n(.*?)```", pages, re.DOTALL):
        exec(code, own := dict(names))  # examples do not share names
        made |= {f"{name} {code.split()[1]}": each for name, each in own.items()}

    with made["client httpx2"] as client:
        answer = client.chat.completions.create(**BODY)
    assert answer.choices[0].message.content == f"I am {MAIL}"
    answer = asyncio.run(made["ask aiohttp"](provider.url + PATH, BODY))
    assert answer["choices"][0]["message"]["content"] == f"I am {MAIL}"
    assert len(provider.sent) == 2
    assert MAIL not in repr(provider.sent)

    state = made["agent langchain.agents"].invoke({"messages": [HumanMessage(MAIL)]})
    assert state["messages"][-1].content == "done"

    logger = logging.Logger("made-up")
    logger.addHandler(names["handler"])
    logger.warning("to %s", MAIL)
    with spans.get_tracer("made-up").start_as_current_span("send", attributes={"to": MAIL}):
        pass
    (span,) = exporter.get_finished_spans()
    assert "m***@" in written.getvalue()
    assert MAIL not in written.getvalue() + span.to_json()

    client = made["app flask"].test_client()
    refused = client.post(f"/?q={MAIL}", json={})
    assert (refused.status_code, MAIL in refused.text) == (400, False)
    assert client.post("/healthz").status_code == 404
