"""Clients of models with the masking transport, against a fake provider."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from dlpctl.detect.engine import Detector
from tests.gateway import test_streams
from tests.gateway.standin import Provider, Reply, Sent

httpx = pytest.importorskip("httpx2")

from dlpctl.integrations.transport import AsyncMaskingTransport, MaskingTransport  # noqa: E402

MAIL = "maria.lopez@acme-corp.com"


@pytest.fixture
def openai() -> Any:
    """The client, which takes more than a second to import."""
    return pytest.importorskip("openai")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with closing(Provider()) as started:
        yield started


def reply(sent: Sent) -> Reply:
    assert MAIL.encode() not in sent.body
    token = sent.json["messages"][0]["content"][5:]
    if sent.json.get("stream"):
        stream = test_streams.of_chat(f"To {token}.", json.dumps({"to": token}), 3)
        return Reply(stream, content_type="text/event-stream")
    choice = {"index": 0, "message": {"role": "assistant", "content": f"To {token}."}}
    return Reply(json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode())


def test_openai_works_unchanged(provider: Provider, library: Detector, openai: Any) -> None:
    provider.reply = reply
    given: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "user", "content": f"I am {MAIL}"}],
    }
    with (
        httpx.Client(transport=MaskingTransport("openai", detector=library)) as http,
        openai.OpenAI(
            base_url=f"{provider.url}/some/v1", api_key="made-up", http_client=http
        ) as client,
    ):
        answer = client.chat.completions.create(**given)
        assert answer.choices[0].message.content == f"To {MAIL}."
        chunks = list(client.chat.completions.create(**given, stream=True))
        texts = [
            each.choices[0].delta.content or "" for each in chunks if not each.choices[0].index
        ]
        assert "".join(texts) == f"To {MAIL}."
        with pytest.raises(openai.NotFoundError, match="dlpctl: this route is not known"):
            client.post("/unknown", cast_to=object, body={})
    assert len(provider.sent) == 2


def test_asynchronous_clients_stream_too(
    provider: Provider, library: Detector, openai: Any
) -> None:
    provider.reply = reply

    async def ask() -> str:
        transport = AsyncMaskingTransport("openai", detector=library)
        async with (
            httpx.AsyncClient(transport=transport) as http,
            openai.AsyncOpenAI(
                base_url=f"{provider.url}/v1", api_key="made-up", http_client=http
            ) as client,
        ):
            stream = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": f"I am {MAIL}"}], stream=True
            )
            parts = [
                each.choices[0].delta.content or ""
                async for each in stream
                if not each.choices[0].index
            ]
            return "".join(parts)

    assert asyncio.run(ask()) == f"To {MAIL}."


def gzipped(stream: bytes, size: int) -> Iterator[bytes]:
    """Yield a compressed stream in pieces of any size."""
    compressor = zlib.compressobj(wbits=31)
    for start in range(0, len(stream), size):
        part = compressor.compress(stream[start : start + size])
        yield part + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield compressor.flush()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_streams_of_a_provider_that_compresses_anyway_are_restored(
    provider: Provider, library: Detector, asynchronous: bool
) -> None:
    def compressed(sent: Sent) -> Reply:
        plain = reply(sent).body
        assert isinstance(plain, bytes)
        headers = {"content-encoding": "gzip"}
        return Reply(lambda: gzipped(plain, 7), 200, "text/event-stream", headers)

    provider.reply = compressed
    given = {"messages": [{"role": "user", "content": f"I am {MAIL}"}], "stream": True}
    url = f"{provider.url}/v1/chat/completions"

    async def ask() -> str:
        transport = AsyncMaskingTransport("openai", detector=library)
        async with httpx.AsyncClient(transport=transport) as http:
            return str((await http.post(url, json=given)).text)

    if asynchronous:
        text = asyncio.run(ask())
    else:
        with httpx.Client(transport=MaskingTransport("openai", detector=library)) as http:
            text = http.post(url, json=given).text
    parts = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    choices = [each["choices"][0] for each in parts]
    deltas = [each["delta"].get("content") or "" for each in choices if not each["index"]]
    assert "".join(deltas) == f"To {MAIL}."


def test_answers_that_cannot_be_restored_keep_their_encoding(
    provider: Provider, library: Detector
) -> None:
    provider.reply = lambda _: Reply(b"packed", headers={"content-encoding": "made-up"})
    given = {"messages": [{"role": "user", "content": f"I am {MAIL}"}]}
    with httpx.Client(transport=MaskingTransport("openai", detector=library)) as http:
        answer = http.post(f"{provider.url}/v1/chat/completions", json=given)
    assert answer.content == b"packed"
    assert answer.headers["content-encoding"] == "made-up"
