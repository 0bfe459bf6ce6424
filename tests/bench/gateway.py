"""Measure what the gateway adds: latency of requests and chunks, stalls, memory and leaks.

    python tests/bench/gateway.py [--json] [--short]

A fake provider answers in another process. Each figure is printed with that of the same client
without the gateway, since a noisy machine is noisy for both.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from tests.gateway.standin import make_gateway, running

_WORDS = [
    "the",
    "order",
    "was",
    "sent",
    "to",
    "our",
    "office",
    "and",
    "will",
    "be",
    "paid",
    "by",
    "the",
    "end",
    "of",
    "next",
    "month",
]
_CHUNKS = 40


def standin(ready: Any) -> None:
    """Answer requests at once, and streams chunk by chunk."""
    from aiohttp import web

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if not body.get("stream"):
            return web.json_response({"content": [{"type": "text", "text": "ok"}]})
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for number in range(_CHUNKS):
            delta = {"type": "text_delta", "text": f" word {number} <EMAIL_100> [x]"}
            event = {"type": "content_block_delta", "index": 0, "delta": delta}
            stamped = {**event, "sent_at": time.perf_counter()}
            await response.write(b"data: " + json.dumps(stamped).encode() + b"\n\n")
            await asyncio.sleep(0.05)
        return response

    async def serve() -> None:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/messages", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ready.put(site._server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    asyncio.run(serve())


@contextmanager
def provider() -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    ready = context.Queue()
    process = context.Process(target=standin, args=(ready,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ready.get()}"
    finally:
        process.terminate()
        process.join()


def text(size: int, seed: int) -> str:
    """Return new text with a value in it."""
    drawn = random.Random(seed)
    words = [f"Mail m.{seed}@acme-corp.com, "]
    while sum(map(len, words)) + len(words) < size:
        words.append(drawn.choice(_WORDS))
    return " ".join(words)


class Taken(NamedTuple):
    milliseconds: list[float]
    processor: float
    """Milliseconds of this process for each, the client's among them."""


def asked(url: str, path: str, bodies: list[bytes]) -> Taken:
    """Ask one request after the other on one connection."""
    taken = []
    started = time.process_time()
    with closing(HTTPConnection(url.removeprefix("http://"), timeout=60)) as connection:
        for body in bodies:
            begun = time.perf_counter()
            connection.request("POST", path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
            taken.append((time.perf_counter() - begun) * 1_000)
    return Taken(taken, (time.process_time() - started) * 1_000 / len(bodies))


def compared(direct: Taken, through: Taken) -> dict[str, float]:
    """Return what the gateway adds to the same requests."""

    def at(taken: Taken, part: float) -> float:
        values = sorted(taken.milliseconds)
        return values[min(int(len(values) * part), len(values) - 1)]

    added = {
        f"{label} {side} ms": round(at(taken, part), 2)
        for label, part in (("p50", 0.5), ("p99", 0.99))
        for side, taken in (("direct", direct), ("gateway", through))
    }
    return added | {
        "processor direct ms": round(direct.processor, 2),
        "processor gateway ms": round(through.processor, 2),
    }


def body(messages: list[str]) -> bytes:
    turns = [
        {"role": ("user", "assistant")[number % 2], "content": [{"type": "text", "text": each}]}
        for number, each in enumerate(messages)
    ]
    return json.dumps({"model": "m", "max_tokens": 9, "messages": turns}).encode()


def streams(url: str, path: str, number: int) -> Taken:
    """Return how long each chunk of so many streams at once was under way."""
    import aiohttp

    late: list[float] = []

    async def read(session: aiohttp.ClientSession, each: int) -> None:
        given = json.loads(body([text(400, each)])) | {"stream": True}
        async with session.post(f"{url}{path}", json=given) as answer:
            async for line in answer.content:
                if line.startswith(b"data: "):
                    sent = json.loads(line[6:])["sent_at"]
                    late.append((time.perf_counter() - sent) * 1_000)

    async def read_all() -> None:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            await asyncio.gather(*(read(session, each) for each in range(number)))

    started = time.process_time()
    asyncio.run(read_all())
    return Taken(late, (time.process_time() - started) * 1_000 / len(late))


def measured(*, short: bool) -> dict[str, dict[str, float]]:
    requests, number, length = (20, 10, 8) if short else (300, 200, 70)
    with provider() as url, TemporaryDirectory() as folder:
        detector = Detector(cache=Cache(Path(folder)))
        detector.compile()
        gateway = make_gateway(detector, url, Path(folder))
        with running(gateway, None, Path(folder)) as started:  # in a thread of this process
            path = "/anthropic/v1/messages"

            def both(bodies: list[bytes]) -> dict[str, float]:
                direct = asked(url, "/v1/messages", bodies)
                return compared(direct, asked(started.url, path, bodies))

            def both_streams(number: int) -> dict[str, float]:
                direct = streams(url, "/v1/messages", number)
                return compared(direct, streams(started.url, path, number))

            asked(started.url, path, [body([text(2_000, -1 - each)]) for each in range(20)])
            gc.freeze()
            turns = [text(8_000, 90_000 + each) for each in range(length)]
            conversation = [body(turns[: each + 1]) for each in range(length)]
            first = length * 5 // 7
            asked(started.url, path, conversation[: first - 1])
            return {
                "new request of 2 KB": both([body([text(2_000, n)]) for n in range(requests)]),
                f"turn {first} and later, 8 KB new": both(conversation[first - 1 :]),
                "same turn again": both(conversation[-1:] * 20),
                "chunk of 1 stream": both_streams(1),
                f"chunk of {number} streams": both_streams(number),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--short", action="store_true")
    given = parser.parse_args()
    sys.setswitchinterval(0.0005)
    figures = measured(short=given.short)
    if given.json:
        print(json.dumps(figures))
        return
    for name, each in figures.items():
        print(f"{name:<32}", *(f"{key} {value:>8.2f}" for key, value in each.items()), sep="  ")


if __name__ == "__main__":
    main()
