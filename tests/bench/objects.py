"""Time a second scan of a bucket in which little has changed, against the first.

    python tests/bench/objects.py [OBJECTS...]

The server speaks the protocol of S3 from a process of its own, with objects that it makes up.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import cache
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

CHANGED = 0.001
PAGE = 1000


def content(number: int, generation: int) -> bytes:
    """Return an object of some 2 KB; one in fifty has a finding."""
    line = f"order {number} of {generation} was sent and paid in time\n" * 40
    return (line + (f"ask user{number}@northwind.org\n" if number % 50 == 0 else "")).encode()


@cache
def entry(number: int, generation: int) -> str:
    data = content(number, generation)
    return (
        f"<Contents><Key>all/{number:07}</Key><Size>{len(data)}</Size>"
        f'<ETag>"{md5(data).hexdigest()}"</ETag></Contents>'
    )


def serve(count: int) -> None:
    changed = {"generation": 0}

    def generation(number: int) -> int:
        return changed["generation"] if number % round(1 / CHANGED) == 0 else 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_arguments: object) -> None:
            """Write nothing."""

        def answer(self, body: bytes, kind: str = "text/plain", status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            changed["generation"] += 1
            self.answer(b"")

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            query = parse_qs(split.query)
            if "list-type" not in query:
                number = int(split.path.rpartition("/")[2])
                self.answer(content(number, generation(number)), status=206)
                return
            first = int(query.get("continuation-token", ["0"])[0])
            last = min(first + PAGE, count)
            entries = "".join(entry(n, generation(n)) for n in range(first, last))
            more = f"<NextContinuationToken>{last}</NextContinuationToken>" if last < count else ""
            body = (
                "<?xml version='1.0' encoding='UTF-8'?><ListBucketResult>"
                f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{more}{entries}"
                "</ListBucketResult>"
            )
            self.answer(body.encode(), "application/xml")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


class Took(NamedTuple):
    wall: float
    cpu: float


def scanned(port: str, state: Path) -> tuple[Took, dict[str, Any]]:
    environ = os.environ | {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    command = [sys.executable, "-m", "dlpctl", "scan", "s3://bench/all/", "--state", str(state)]
    start, before = time.perf_counter(), cpu_of_children()
    done = subprocess.run(
        [*command, "--format", "json"], env=environ, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - start
    assert done.returncode == 20, done.stderr
    summary = json.loads(done.stdout)["summary"]
    return Took(took, cpu_of_children() - before), summary


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    for count in [int(each) for each in sys.argv[1:]] or [5_000, 20_000]:
        server = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(count)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            with tempfile.TemporaryDirectory() as folder:
                state = Path(folder) / "state"
                first, before = scanned(port, state)
                change(port)
                second, after = scanned(port, state)
        finally:
            server.kill()
            server.wait()
        assert before["findings"] == after["findings"] == -(-count // 50)
        print(
            f"{count:,} objects: first {first.wall:.2f} s and {first.cpu:.2f} s CPU, second"
            f" {second.wall:.2f} and {second.cpu:.2f} ({second.wall / first.wall:.1%},"
            f" {second.cpu / first.cpu:.1%}), {after['unchanged']:,} unchanged"
        )


def change(port: str) -> None:
    from urllib.request import urlopen

    with urlopen(f"http://127.0.0.1:{port}/", data=b"") as answer:
        answer.read()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        main()
