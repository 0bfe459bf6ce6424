"""Sessions of aiohttp with the masking middleware, against a fake provider."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from dlpctl.detect.engine import Detector
from tests.gateway import test_streams
from tests.gateway.standin import Provider, Reply, Sent

aiohttp = pytest.importorskip("aiohttp", minversion="3.12")

from dlpctl.integrations.aiohttp import MaskingMiddleware, RefusedRequestError  # noqa: E402

MAIL = "maria.lopez@acme-corp.com"
PATH = "/v1/chat/completions"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with closing(Provider()) as started:
        yield started


def asked(**more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": f"I am {MAIL}"}], **more}


def reply(sent: Sent) -> Reply:
    assert MAIL.encode() not in sent.body
    token = sent.json["messages"][0]["content"][5:]
    if sent.json.get("stream"):
        stream = test_streams.of_chat(f"To {token}.", json.dumps({"to": token}), 3)

        def pieces() -> Iterator[bytes]:
            for start in range(0, len(stream), 11):
                yield stream[start : start + 11]

        return Reply(pieces, content_type="text/event-stream")
    return Reply(json.dumps({"choices": [{"message": {"content": f"To {token}."}}]}).encode())


def in_session(library: Detector, use: Callable[[Any], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        middleware = MaskingMiddleware("openai", detector=library, **options)
        async with aiohttp.ClientSession(middlewares=(middleware,)) as session:
            return await use(session)

    return asyncio.run(run())


def test_values_are_restored_in_answers(provider: Provider, library: Detector) -> None:
    provider.reply = reply

    async def ask(session: Any) -> Any:
        async with session.post(provider.url + PATH, json=asked()) as response:
            assert "content-length" not in response.headers
            return await response.json()

    assert in_session(library, ask)["choices"][0]["message"]["content"] == f"To {MAIL}."


async def by_lines(content: Any) -> bytes:
    return b"".join([line async for line in content])


async def by_pieces(content: Any) -> bytes:
    return b"".join([piece async for piece in content.iter_any()])


async def by_chunks(content: Any) -> bytes:
    return b"".join([piece async for piece, _ in content.iter_chunks()])


async def by_size(content: Any) -> bytes:
    return b"".join([piece async for piece in content.iter_chunked(5)])


async def at_once(content: Any) -> bytes:
    first: bytes = await content.readexactly(6)
    return first + await content.readuntil(b"\n") + await content.read()


@pytest.mark.parametrize("read", [by_lines, by_pieces, by_chunks, by_size, at_once])
def test_values_are_restored_in_streams_however_they_are_read(
    provider: Provider, library: Detector, read: Callable[[Any], Awaitable[bytes]]
) -> None:
    provider.reply = reply

    async def ask(session: Any) -> bytes:
        async with session.post(provider.url + PATH, json=asked(stream=True)) as response:
            got = await read(response.content)
            assert response.content.at_eof()
            return got

    stream = in_session(library, ask).decode()
    choices = [each["choices"][0] for each in test_streams.data_of(stream.encode())]
    deltas = [each["delta"].get("content") or "" for each in choices if not each["index"]]
    assert "".join(deltas) == f"To {MAIL}."


def test_the_connection_is_reused(provider: Provider, library: Detector) -> None:
    provider.reply = reply

    async def ask(session: Any) -> int:
        for _ in range(3):
            async with session.post(provider.url + PATH, json=asked(stream=True)) as response:
                await response.read()
        return len(session.connector._conns)

    assert in_session(library, ask) == 1


async def in_parts() -> AsyncIterator[bytes]:
    body = json.dumps(asked()).encode()
    yield body[:40]
    yield body[40:]


@pytest.mark.parametrize("given", ["parts", "compressed", "by aiohttp"])
def test_every_form_of_body_is_masked(provider: Provider, library: Detector, given: str) -> None:
    body = json.dumps(asked()).encode()
    headers = {"content-type": "application/json"}
    options: dict[str, Any] = {"data": body}
    if given == "parts":
        options["data"] = in_parts()
    elif given == "compressed":
        options["data"] = zlib.compress(body)
        headers["content-encoding"] = "deflate"
    else:
        options["compress"] = "deflate"

    async def ask(session: Any) -> int:
        async with session.post(provider.url + PATH, headers=headers, **options) as response:
            return int(response.status)

    assert in_session(library, ask) == 200
    sent = provider.sent[0].body
    if given == "by aiohttp":
        sent = zlib.decompress(sent)
    assert json.loads(sent)["model"] == "m"
    assert MAIL.encode() not in sent


def test_refused_requests_are_not_sent(provider: Provider, library: Detector) -> None:
    async def ask(session: Any) -> None:
        await session.post(f"{provider.url}/unknown", json={})

    with pytest.raises(RefusedRequestError, match="this route is not known") as caught:
        in_session(library, ask)
    assert caught.value.status == 404
    assert not provider.sent


def test_requests_without_values_are_sent_unchanged(provider: Provider, library: Detector) -> None:
    body = b'{"messages": [{"role": "user",  "content": "Hi"}]}'
    provider.reply = lambda _: Reply(b'{"a":  1}')

    async def ask(session: Any) -> tuple[bytes, str]:
        headers = {"content-type": "application/json"}
        async with session.post(provider.url + PATH, data=body, headers=headers) as response:
            return await response.read(), response.headers["content-length"]

    assert in_session(library, ask) == (b'{"a":  1}', "9")
    assert provider.sent[0].body == body
