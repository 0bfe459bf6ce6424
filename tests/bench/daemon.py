"""The service under load, beside a bare Flask application on waitress in the same run.

    python tests/bench/daemon.py [--seconds 5] [--checks 100000]
    python tests/bench/daemon.py --postgresql [--seconds 5]

Both are processes of their own; the load comes from this one, over loopback and connections that
are kept. A service of two processes is measured beside one of a single process, in turns. With
`--postgresql`, a service on PostgreSQL is measured beside one on SQLite instead, both durable.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_CONNECTIONS = 16
_MANY_CONNECTIONS = 32
"""As many for each of two processes as for one."""
_TEXT = (
    "Hi team, please help me rewrite this message to our customer so that it sounds friendlier. The customer wrote last week that"
    " the delivery of the second batch was late and that nobody had told them about it. We would like to apologize, explain that"
    " the carrier had a problem with the warehouse in the north, and offer a discount of ten percent on the next order. The account"
    " manager is away until Monday, so please do not promise a call before that. You can reach the customer at"
    " {contact} if you need further details about the order. Keep the tone warm but professional, avoid jargon, and"
    " do not mention the internal discussion about changing the carrier. The message should not be longer than two short paragraphs."
    " At the end, add a sentence that thanks them for their patience and says that we have already taken steps to make sure that"
    " this does not happen again. If anything is unclear, ask me before you write the final version. Thank you very much, and have a"
    " good day. Best regards from the support team."
)
_NO_CONTACT = "the address in the order form"
_CONTACT = "jane.doe@corp.example.net"
_BARE = """
import flask, waitress
app = flask.Flask("bare")
app.add_url_rule("/", view_func=lambda: "hello")
waitress.serve(app, host="127.0.0.1", port={port}, threads=16, _quiet=True)
"""


class Load(NamedTuple):
    requests: int
    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        return sorted(self.latencies)[int(len(self.latencies) * share)] * 1000


class _Connection:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.sent_at = 0.0

    def send(self, request: bytes) -> None:
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def has_answer(self) -> bool:
        self.received += self.socket.recv(65536)
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return False
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"an error: {head[:60]!r} {body[:200]!r}")
        self.received = b""
        return True


def load(
    port: int,
    request: bytes,
    *,
    most: int = 10**9,
    seconds: float = 1e9,
    rate: float = 0,
    number: int = _CONNECTIONS,
) -> Load:
    """As fast as it goes, or at a steady rate; a request that is late for its turn counts from its
    turn on.
    """
    connections = [_Connection(port) for _ in range(number)]
    latencies: list[float] = []
    with contextlib.ExitStack() as stack:
        for connection in connections:
            stack.callback(connection.socket.close)
        selector = stack.enter_context(selectors.DefaultSelector())
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        began = time.perf_counter()
        idle, sent = list(connections), 0
        while len(latencies) < most and time.perf_counter() - began < seconds:
            now = time.perf_counter()
            while idle and sent < most and (not rate or sent / rate <= now - began):
                connection = idle.pop()
                connection.send(request)
                if rate:
                    connection.sent_at = began + sent / rate
                sent += 1
            wait = max(0.0, sent / rate - (time.perf_counter() - began)) if rate and idle else 1.0
            for key, _ in selector.select(wait):
                if key.data.has_answer():
                    latencies.append(time.perf_counter() - key.data.sent_at)
                    idle.append(key.data)
        taken = time.perf_counter() - began
    return Load(len(latencies), taken, latencies)


def http(method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(2_000):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as probe:
            probe.sendall(http("GET", "/healthz"))
            if probe.recv(1):
                return
        time.sleep(0.005)
    raise SystemExit("the service does not start")


@contextlib.contextmanager
def process(command: list[str], port: int, environ: dict[str, str]) -> Iterator[int]:
    with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as running:
        try:
            wait_for(port)
            yield running.pid
        finally:
            running.terminate()


def cpu(pid: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """In megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def api(home: Path, port: int, path: str, body: dict[str, Any] | None = None) -> Any:
    token = (home / "data" / "admin.token").read_text("ascii").strip()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)


class _Timed(NamedTuple):
    rate: float
    cpu: float
    """Microseconds of computing a request."""

    def __str__(self) -> str:
        return f"{self.rate:,.0f} /s, {self.cpu:.0f} us"


def _timed(
    port: int, request: bytes, pid: int, seconds: float, number: int = _CONNECTIONS
) -> _Timed:
    before = cpu(pid)
    done = load(port, request, seconds=seconds, number=number)
    return _Timed(done.rate, (cpu(pid) - before) / done.requests * 1e6)


def _speedup(
    serve: list[str], port: int, request: bytes, environ: dict[str, str], seconds: float
) -> tuple[float, Load, Load]:
    """Return how many times the checks of one process two processes answer, by the median turn."""
    turns = []
    for _ in range(3):
        loads = []
        for processes in ("1", "2"):
            with process([*serve, "--processes", processes], port, environ):
                load(port, request, most=500, number=_MANY_CONNECTIONS)
                loads.append(load(port, request, seconds=seconds / 3, number=_MANY_CONNECTIONS))
        turns.append((loads[1].rate / loads[0].rate, *loads))
    return sorted(turns, key=lambda turn: turn[0])[1]


def _check(key: str, contact: str) -> bytes:
    body = {"text": _TEXT.format(contact=contact), "destination": "VENDOR"}
    return http(
        "POST",
        "/api/preflight/text",
        json.dumps(body).encode(),
        Content_Type="application/json",
        X_Service_API_Key=key,
    )


def _new_key(home: Path, port: int) -> str:
    made = api(home, port, "/api/organizations", {"name": "Bench"})
    api(home, port, "/api/orgs/bench/licenses", {"license_type": "enterprise"})
    return str(api(home, port, f"/api/orgs/{made['org_id']}/policies")[0]["api_key"])


def _beside_postgresql(folder: Path, environ: dict[str, str], seconds: float) -> None:
    """Measure checks on both databases at the same time of day, in turns."""
    import pgserver

    server = pgserver.get_server(folder / "postgresql", cleanup_mode="stop")
    with contextlib.ExitStack() as stack:
        stack.callback(server.cleanup)
        services = []
        for name, address in (("SQLite", None), ("PostgreSQL", server.get_uri())):
            home, port = folder / name, free_port()
            own = environ | {"DLPCTL_HOME": str(home)}
            if address is not None:
                own["DLPCTL_SERVE_DATABASE"] = address
            serve = [sys.executable, "-m", "dlpctl", "serve", "--port", str(port)]
            pid = stack.enter_context(process(serve, port, own))
            check = _check(_new_key(home, port), _NO_CONTACT)
            load(port, check, most=500)
            services.append((port, check, pid))
        for number in (_CONNECTIONS, 1):
            turns = []
            for _ in range(3):
                of_a_file, shared = (
                    _timed(*service, seconds / 3, number=number) for service in services
                )
                turns.append((shared.rate / of_a_file.rate, of_a_file, shared))
            ratio, of_a_file, shared = sorted(turns)[1]
            say(f"durable checks on SQLite, {number} connections", str(of_a_file))
            say(f"durable checks on PostgreSQL, {number} connections", str(shared))
            is_target = number == _CONNECTIONS
            say("PostgreSQL against SQLite", f"{ratio:.2f}", ratio >= 0.6 if is_target else None)


def say(what: str, value: str, good: bool | None = None) -> None:
    verdict = {None: "", True: "ok", False: "MISSED"}[good]
    print(f"{what:<48} {value:>20}  {verdict}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--checks", type=int, default=100_000)
    options.add_argument("--postgresql", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environ = {key: value for key, value in os.environ.items() if not key.startswith("DLPCTL_")}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        environ |= {
            "DLPCTL_HOME": folder,
            "DLPCTL_SERVE_RATE": "1000000000",
            "DLPCTL_SERVE_BURST": "1000000",
        }
        if given.postgresql:
            _beside_postgresql(home, environ, given.seconds)
            return
        port, bare_port = free_port(), free_port()
        serve = [sys.executable, "-m", "dlpctl", "serve", "--port", str(port)]
        with process(serve, port, environ):  # compiles the patterns
            key = _new_key(home, port)
        check, masked = (_check(key, contact) for contact in (_NO_CONTACT, _CONTACT))
        starts = []
        for _ in range(3):
            began = time.perf_counter()
            with process(serve, port, environ):
                load(port, check, most=1)
                starts.append(time.perf_counter() - began)
        say("serve to first answered check", f"{min(starts):.2f} s", min(starts) <= 1.2)
        ratio, one, two = _speedup(serve, port, check, environ, given.seconds)
        for name, done in (("1 process", one), ("2 processes", two)):
            shown = f"{done.rate:,.0f} /s, p99 {done.percentile(0.99):.0f} ms"
            say(f"{name}, {_MANY_CONNECTIONS} connections", shown)
        say("2 processes against 1", f"{ratio:.2f}", ratio >= 1.6)
        bare = [sys.executable, "-c", _BARE.format(port=bare_port)]
        with process(serve, port, environ) as pid, process(bare, bare_port, environ) as bare_pid:
            hello = http("GET", "/")
            turns = []
            for _ in range(3):
                plain = _timed(bare_port, hello, bare_pid, given.seconds / 3)
                full = _timed(port, check, pid, given.seconds / 3)
                heavy = _timed(port, masked, pid, given.seconds / 3)
                turns.append((full.rate / plain.rate, plain, full, heavy))
            share, plain, full, heavy = sorted(turns)[1]
            rate = full.rate
            say("bare Flask on waitress, 16 connections", str(plain))
            say("checks of 1 KB, nothing found, durable", str(full))
            say("share of the bare one", f"{share:.2f}", share >= 0.35)
            say("checks of 1 KB, one e-mail masked, durable", str(heavy))
            say("share of the bare one", f"{heavy.rate / plain.rate:.2f}")
            half = load(port, check, seconds=given.seconds, rate=rate / 2)
            say("half of that: median", f"{half.percentile(0.5):.1f} ms")
            say("half of that: p99", f"{half.percentile(0.99):.1f} ms", half.percentile(0.99) <= 25)
            if given.checks:
                load(port, check, most=given.checks // 2)
                middle = resident(pid)
                load(port, check, most=given.checks // 2)
                end = resident(pid)
                say(f"memory after {given.checks // 2:,} checks", f"{middle:.0f} MB")
                say(
                    f"memory after {given.checks:,} checks",
                    f"{end:.0f} MB",
                    end <= 150 and end - middle < 5,
                )


if __name__ == "__main__":
    sys.exit(main())
