"""The checks of one tenant while another attacks the service: latency beside that of the
undisturbed service.

    python tests/bench/hardening.py [--seconds 20] [--rate 50] [--folder FOLDER] [ATTACK...]

The service, the attacker and the victim are processes of their own; each attack is measured between
two undisturbed turns. A check is on the disk before it is answered, so the slowest percent is that
of the disk's syncs: on a shared disk, give a folder in memory (/dev/shm) to measure the service.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from daemon import _TEXT, api, free_port, http, process

_TARGET = 1.2
_CHECK = "/api/preflight/text"
_LINE = "Jane Doe, jane.doe{0}@corp.example.net, +1 415 555 {0:04d}, born 1980-02-03\n"


class Target(NamedTuple):
    """The service, as the attacker sees it."""

    port: int
    home: Path
    slug: str
    key: str
    license_key: str

    def send(self, request: bytes) -> bytes:
        """The answer to a request; nothing where the service closes the connection."""
        received = b""
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=300) as connection,
        ):
            connection.sendall(request)
            while piece := connection.recv(65536):
                received += piece
        return received

    def check(self, body: bytes, path: str = _CHECK, media: str = "application/json") -> None:
        self.send(
            http(
                "POST",
                path,
                body,
                Content_Type=media,
                X_Service_API_Key=self.key,
                Connection="close",
            )
        )


def _in_parallel(work: Callable[[], object], times: int, pause: float = 0.1) -> None:
    """Keep so many threads at work, until this process is ended."""

    def repeat() -> None:
        while True:
            work()
            time.sleep(pause)

    threads = [threading.Thread(target=repeat, daemon=True) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def large_texts(target: Target) -> None:
    """24 texts of 400 KB"""
    text = "".join(_LINE.format(number) for number in range(6_000))[: 400 << 10]
    body = json.dumps({"text": text, "destination": "VENDOR"}).encode()
    _in_parallel(lambda: target.check(body), 24)


def files(target: Target) -> None:
    """17 PDFs of 47 KB"""
    fields = b'--b\r\nContent-Disposition: form-data; name="destination"\r\n\r\nVENDOR\r\n'
    fields += b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
    body = fields + _pdf(40) + b"\r\n--b--\r\n"
    _in_parallel(
        lambda: target.check(body, "/api/preflight", "multipart/form-data; boundary=b"), 17
    )


def dripping(target: Target) -> None:
    """1,100 connections that send a byte a second, and are opened again when they are closed"""
    connections: list[socket.socket | None] = [None] * 1_100
    while True:
        for place, connection in enumerate(connections):
            time.sleep(1 / len(connections))
            try:
                if connection is None:
                    connection = socket.create_connection(("127.0.0.1", target.port))
                    connection.sendall(
                        b"POST /api/preflight/text HTTP/1.1\r\nHost: localhost\r\nX: "
                    )
                else:
                    connection.sendall(b"x")
            except OSError:
                connection = None
            connections[place] = connection


def anonymous_bodies(target: Target) -> None:
    """10 anonymous requests of 49 MB"""
    body = http(
        "POST", "/api/preflight", bytes(49 << 20), Content_Type="multipart/form-data; boundary=b"
    )
    _in_parallel(lambda: target.send(body), 10, pause=1.0)


def usage_reports(target: Target) -> None:
    """Usage reports of 2^63-2 bytes"""
    policy = api(target.home, target.port, f"/api/orgs/{target.slug}/policies")[0]

    def report() -> None:
        check = {
            "preflight_id": f"pf_{os.urandom(12).hex()}",
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "destination": "VENDOR",
            "decision": "ALLOWED",
            "policy_id": policy["policy_id"],
            "policy_version": "1.0",
            "bytes": 2**63 - 2,
            "is_file": False,
            "detected": [],
        }
        body = json.dumps({"checks": [check]}).encode()
        authorization = f"Bearer {target.license_key}"
        target.send(
            http(
                "POST",
                "/v1/license/usage",
                body,
                Content_Type="application/json",
                Authorization=authorization,
                Connection="close",
            )
        )

    _in_parallel(report, 2)


def custom_patterns(target: Target) -> None:
    """Policies with 200 heavy patterns, which are refused, and with 10, which are used"""
    numbers, counts = itertools.count(), itertools.cycle((200, 10))

    def save() -> None:
        patterns = [
            {
                "id": f"heavy-{number}",
                "type": f"HEAVY_{number}",
                "category": "CUSTOM",
                "label": "Heavy",
                "regex": rf"\b[a-z{number % 10}]{{1,200}}(?:[0-9a-f]{{2,90}}-){{1,9}}{number:05d}\b",
                "score": 0.9,
            }
            for number in itertools.islice(numbers, next(counts))
        ]
        body = {"name": "Heavy", "rules": [], "customPatterns": patterns}
        with contextlib.suppress(urllib.error.HTTPError, OSError):
            made = api(target.home, target.port, f"/api/orgs/{target.slug}/policies", body)
            text = json.dumps({"text": "hello", "destination": "VENDOR"}).encode()
            target._replace(key=made["api_key"]).check(text)

    _in_parallel(save, 2)


ATTACKS: dict[str, Callable[[Target], None]] = {
    attack.__name__: attack
    for attack in (large_texts, files, dripping, anonymous_bodies, usage_reports, custom_patterns)
}


def _pdf(pages: int) -> bytes:
    """A PDF of text lines with personal data."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>"
        % (pages, b" ".join(b"%d 0 R" % (4 + 2 * page) for page in range(pages))),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for page in range(pages):
        lines = b" T* ".join(
            b"(%s) Tj" % _LINE.format(page * 50 + row).strip().encode() for row in range(50)
        )
        content = zlib.compress(b"BT /F1 9 Tf 12 TL 40 780 Td " + lines + b" ET")
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * page),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream"
            % (len(content), content),
        ]
    made, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return made + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (count, table, count, len(made))
    )


class Victim:
    """A tenant that checks texts at a steady rate, on connections that it keeps, and again where
    one was closed.
    """

    def __init__(self, port: int, key: str) -> None:
        body = json.dumps(
            {"text": _TEXT.format(contact="jane.doe@corp.example.net"), "destination": "VENDOR"}
        )
        self._request = http(
            "POST", _CHECK, body.encode(), Content_Type="application/json", X_Service_API_Key=key
        )
        self._port = port
        self._kept: socket.socket | None = None

    def measure(self, seconds: float, rate: float) -> tuple[list[float], int]:
        """Milliseconds of each check in order of their length, and how many failed."""
        times: list[float] = []
        failed = 0
        began = time.perf_counter()
        for number in range(int(seconds * rate)):
            time.sleep(max(0.0, began + number / rate - time.perf_counter()))
            sent = time.perf_counter()
            failed += not self._check()
            times.append((time.perf_counter() - sent) * 1000)
        return sorted(times), failed

    def _check(self) -> bool:
        """Return whether a check is answered; like any client, try again if the service has closed
        an idle connection.
        """
        for connection in (self._kept, None):
            try:
                if connection is None:
                    connection = socket.create_connection(("127.0.0.1", self._port), timeout=60)
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.sendall(self._request)
                if answer := connection.recv(65536):
                    self._kept = connection
                    return answer.startswith(b"HTTP/1.1 200")
            except OSError:
                continue
        return False


@contextlib.contextmanager
def _attacked(name: str, target: Target) -> Iterator[None]:
    given = json.dumps([target.port, str(target.home), target.slug, target.key, target.license_key])
    with subprocess.Popen(
        ["nice", "-n", "5", sys.executable, __file__, "--attack", name, given]
    ) as attacker:
        try:
            time.sleep(2)
            yield
        finally:
            attacker.kill()


def _tenant(home: Path, port: int, slug: str) -> tuple[str, str]:
    made: dict[str, Any] = api(home, port, "/api/organizations", {"name": slug, "slug": slug})
    api(home, port, f"/api/orgs/{slug}/licenses", {"license_type": "enterprise"})
    return api(home, port, f"/api/orgs/{slug}/policies")[0]["api_key"], made["license_key"]


def _measure(home: Path, name: str, seconds: float, rate: float) -> bool:
    port, slug = free_port(), name.replace("_", "-")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("DLPCTL_")}
    environ |= {
        "DLPCTL_HOME": str(home),
        "DLPCTL_SERVE_RATE": "1000000000",
        "DLPCTL_SERVE_BURST": "1000000",
    }
    with process([sys.executable, "-m", "dlpctl", "serve", "--port", str(port)], port, environ):
        victim = Victim(port, _tenant(home, port, f"{slug}-victim")[0])
        target = Target(port, home, slug, *_tenant(home, port, slug))
        victim.measure(1, rate)
        alone, _ = victim.measure(seconds / 2, rate)
        with _attacked(name, target):
            disturbed, failed = victim.measure(seconds, rate)
        time.sleep(2)
        after, _ = victim.measure(seconds / 2, rate)
    quiet = sorted(alone + after)
    shown = [
        f"{_percentile(each, share):7.1f}" for share in (0.5, 0.99) for each in (quiet, disturbed)
    ]
    ratio = _percentile(disturbed, 0.99) / _percentile(quiet, 0.99)
    good = ratio <= _TARGET and not failed
    print(
        f"{name:<18}{' '.join(shown)}   {ratio:6.2f} {failed:6d}  {'ok' if good else 'MISSED'}",
        flush=True,
    )
    return good


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[int(len(ordered) * share)]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("attacks", nargs="*", metavar="ATTACK", help=", ".join(ATTACKS))
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--rate", type=float, default=50)
    options.add_argument("--folder", help="where the service keeps its data")
    options.add_argument("--attack", nargs=2, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.attack:
        name, target = given.attack
        port, home, *rest = json.loads(target)
        ATTACKS[name](Target(port, Path(home), *rest))
    print("attack            median alone, attacked; p99 alone, attacked; ratio; failed")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        wanted = given.attacks or list(ATTACKS)
        good = [_measure(Path(folder), name, given.seconds, given.rate) for name in wanted]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
