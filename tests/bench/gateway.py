"""Measure what the gateway adds: latency of requests and chunks, stalls and memory.

    python tests/bench/gateway.py [--json] [--short] [--only TEXT]

The gateway is the command as users start it; a fake provider and the clients are processes of
their own. Each figure is printed with that of the same client without the gateway, since a noisy
machine is noisy for both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

_SENTENCE = "the order was sent to our office and will be paid by the end of next month"
_WORDS = _SENTENCE.split()
_PATH = "/v1/messages"
_BETWEEN = 0.05
"""Seconds between the chunks of a stream."""
_STALL = 100.0
_SPAWN = multiprocessing.get_context("spawn")
_STAMP = re.compile(rb'"sent_at": ([0-9.]+)')
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n%s\r\n\r\n"
_ANSWER = json.dumps({"content": [{"type": "text", "text": "ok"}]}).encode()


def chunk(number: int) -> bytes:
    """Return an event with the moment at which it is sent."""
    text = f" word {number} <EMAIL_100> [x]" if number % 4 == 0 else f" word {number}, no more"
    delta = {"type": "text_delta", "text": text}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    data = json.dumps({**event, "sent_at": time.monotonic()}).encode()
    return b"event: content_block_delta\ndata: " + data + b"\n\n"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of a connection at once, and streams chunk by chunk."""
    while head := await _head(reader):
        length = re.search(rb"(?i)content-length: *([0-9]+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        chunks = re.search(rb'"stream": ([0-9]+)', body)
        if chunks is None:
            size = b"content-length: %d" % len(_ANSWER)
            writer.write(_HEAD % (b"application/json", size) + _ANSWER)
            continue
        writer.write(_HEAD % (b"text/event-stream", b"transfer-encoding: chunked"))
        for number in range(int(chunks[1])):
            data = chunk(number)
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await asyncio.sleep(_BETWEEN)
        writer.write(b"0\r\n\r\n")
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def provide(ready: Any) -> None:
    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1_024)
        ready.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def provider(target: Callable[[Any], None] = provide) -> Iterator[str]:
    ready = _SPAWN.Queue()
    process = _SPAWN.Process(target=target, args=(ready,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ready.get()}"
    finally:
        process.terminate()
        process.join()


class Gateway(NamedTuple):
    """The command `dlpctl gateway` as it runs."""

    url: str
    pid: int

    @property
    def processor(self) -> float:
        """Its processor time in milliseconds; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """Its memory in MB."""
        command = ["ps", "-o", "rss=", "-p", str(self.pid)]
        return int(subprocess.run(command, capture_output=True, check=True).stdout) / 1_024


@contextmanager
def gateway(*options: str) -> Iterator[Gateway]:
    """Run the gateway with a policy that masks, and a home of its own unless one is set."""
    with TemporaryDirectory() as folder:
        environ = {"DLPCTL_HOME": folder} | os.environ
        command = [sys.executable, "-m", "dlpctl", "gateway", "--port", "0", *options]
        with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                url = next(
                    match[0]
                    for line in process.stderr
                    if (match := re.search(r"http://127\.0\.0\.1:[0-9]+$", line.strip()))
                )
                yield Gateway(url, process.pid)
            finally:
                process.terminate()


def text(size: int, seed: int) -> str:
    """Return new text with a value in it."""
    drawn = random.Random(seed)
    words = [f"Mail m.{seed}@acme-corp.com, "]
    while sum(map(len, words)) + len(words) < size:
        words.append(drawn.choice(_WORDS))
    return " ".join(words)


def body(messages: list[str], **more: Any) -> bytes:
    turns = [
        {"role": ("user", "assistant")[number % 2], "content": [{"type": "text", "text": each}]}
        for number, each in enumerate(messages)
    ]
    return json.dumps({"model": "m", "max_tokens": 9, "messages": turns, **more}).encode()


def asked(url: str, bodies: list[bytes]) -> list[float]:
    """Ask one request after the other on one connection; return their milliseconds."""
    taken = []
    with closing(HTTPConnection(url.removeprefix("http://").partition("/")[0])) as connection:
        path = url.removeprefix("http://").partition("/")[2]
        for each in bodies:
            started = time.monotonic()
            connection.request(
                "POST",
                f"/{path}{_PATH}".replace("//", "/"),
                each,
                {"content-type": "application/json"},
            )
            got = connection.getresponse()
            got.read()
            assert got.status == 200, got.status
            taken.append((time.monotonic() - started) * 1_000)
    return taken


def late(url: str, first: int, streams: int, chunks: int) -> list[float]:
    """Read so many streams at once; return how long each chunk was under way."""
    host, _, path = url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    found: list[float] = []

    async def read(number: int) -> None:
        await asyncio.sleep(number * _BETWEEN / streams)  # they start one after the other
        given = body([text(400, first + number)], stream=chunks)
        reader, writer = await asyncio.open_connection(name, int(port))
        target = f"/{path}{_PATH}".replace("//", "/")
        head = f"POST {target} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        writer.write(f"{head}content-length: {len(given)}\r\n\r\n".encode() + given)
        rest = b""
        while not rest.endswith(b"0\r\n\r\n"):
            data = await reader.read(1 << 16)
            assert data
            now = time.monotonic()
            rest += data
            position = 0
            for stamp in _STAMP.finditer(rest):
                found.append((now - float(stamp[1])) * 1_000)
                position = stamp.end()
            rest = rest[position:]
        writer.close()

    async def read_all() -> None:
        await asyncio.gather(*map(read, range(streams)))

    asyncio.run(read_all())
    return found


class Bench:
    """The figures of a gateway, with those of the same clients without it."""

    def __init__(self, url: str, through: Gateway, clients: ProcessPoolExecutor) -> None:
        self._url = url
        self._gateway = through
        self._clients = clients
        self._seed = 0

    def requests(self, bodies: list[bytes]) -> dict[str, float]:
        through = f"{self._gateway.url}/anthropic"
        direct = self._clients.submit(asked, self._url, bodies).result()
        before = self._gateway.processor
        got = self._clients.submit(asked, through, bodies).result()
        return self._compared(direct, got, before)

    def streams(self, number: int, chunks: int) -> dict[str, float]:
        """Read streams by two clients."""
        direct = self._late(self._url, number, chunks)
        before = self._gateway.processor
        got = self._late(f"{self._gateway.url}/anthropic", number, chunks)
        figures = self._compared(direct, got, before)
        return figures | {
            "worst direct ms": round(max(direct), 2),
            "worst gateway ms": round(max(got), 2),
            "stalls": sum(each > _STALL for each in got),
            "stalls direct": sum(each > _STALL for each in direct),
            "memory MB": round(self._gateway.memory, 1),
        }

    def _late(self, url: str, number: int, chunks: int) -> list[float]:
        shares = [number // 2, number - number // 2]
        waiting = []
        for share in filter(None, shares):
            waiting.append(self._clients.submit(late, url, self._seed, share, chunks))
            self._seed += share
        return [each for part in waiting for each in part.result()]

    def _compared(self, direct: list[float], got: list[float], before: float) -> dict[str, float]:
        def at(taken: list[float], part: float) -> float:
            return sorted(taken)[min(int(len(taken) * part), len(taken) - 1)]

        figures = {
            f"{label} {side} ms": round(at(taken, part), 2)
            for label, part in (("p50", 0.5), ("p99", 0.99))
            for side, taken in (("direct", direct), ("gateway", got))
        }
        processor = (self._gateway.processor - before) / len(got)
        return figures | {"processor gateway ms": round(processor, 3)}


def measured(*, short: bool, only: str = "") -> dict[str, dict[str, float]]:
    requests, streams, length = (20, 10, 8) if short else (400, 200, 70)
    turns = [text(8_000, 90_000 + each) for each in range(length)]
    first = length * 5 // 7
    with (
        provider() as url,
        gateway("--upstream", f"anthropic={url}") as through,
        ProcessPoolExecutor(2, mp_context=_SPAWN) as clients,
    ):
        bench = Bench(url, through, clients)
        bench.requests([body([text(2_000, -1 - each)]) for each in range(40)])

        def conversation() -> dict[str, float]:
            bodies = [body(turns[: each + 1]) for each in range(length)]
            bench.requests(bodies[: first - 1])
            return bench.requests(bodies[first - 1 :])

        made: dict[str, Callable[[], dict[str, float]]] = {
            "new request of 2 KB": lambda: bench.requests(
                [body([text(2_000, n)]) for n in range(requests)]
            ),
            f"turn {first} and later, 8 KB new": conversation,
            "same turn again": lambda: bench.requests([body(turns)] * 20),
            "chunk of 1 stream": lambda: bench.streams(1, 10 if short else 200),
            f"chunk of {streams} streams": lambda: bench.streams(streams, 10 if short else 100),
            "the same once more": lambda: bench.streams(streams, 10 if short else 100),
        }
        return {name: measure() for name, measure in made.items() if only in name}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    given = parser.parse_args()
    figures = measured(short=given.short, only=given.only)
    if given.json:
        print(json.dumps(figures))
        return
    for name, each in figures.items():
        print(name)
        print("   ", *(f"{key} {value:.2f}" for key, value in each.items()), sep="  ")


if __name__ == "__main__":
    main()
