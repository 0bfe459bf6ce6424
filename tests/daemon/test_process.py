"""The service as a process: its start, its end, and failures around it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane

posix = pytest.mark.skipif(os.name != "posix", reason="signals, modes and sockets of POSIX")


def raw(port, data, *, wait=300.0):
    """Return everything that comes back on a separate connection until it is closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        connection.sendall(data)
        received = b""
        while piece := connection.recv(65536):
            received += piece
            head, end, body = received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if end and length and len(body) >= int(length[1]):
                break
    return received


def test_it_answers_and_ends_when_told(start):
    with start() as service:
        key = service.key()
        made = service.check(key)
        assert made.json["masked_content"] == "write to j***@corp.example.net"
        assert "Server" not in made.headers
        token = service.folder / "admin.token"
        if os.name == "posix":
            assert stat.S_IMODE(token.stat().st_mode) == 0o600
        service.process.terminate()
        assert service.process.wait(timeout=300) == 0
        log = service.log.read_text("utf-8")
        assert '"ended"' in log
        assert token.read_text("ascii").strip() not in log


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_running_requests_are_answered_before_the_end(start, wait_for, number):
    with start() as service:
        key = service.key()
        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(service.check, key, f"held {one}") for one in range(4)]
            wait_for(lambda: service.held() == 4)
            service.process.send_signal(number)
            service.release()
            assert [answer.result().status for answer in answers] == [200] * 4
        assert service.process.wait(timeout=300) == 0
        with pytest.raises(OSError, match=r"refused|reset"):
            socket.create_connection(("127.0.0.1", service.port), timeout=1)


@posix
def test_a_request_that_is_half_sent_delays_the_end_by_seconds_and_is_refused(start):
    with start() as service:
        with socket.create_connection(("127.0.0.1", service.port), timeout=300) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
            assert service.ask("GET", "/healthz").status == 200
            service.process.terminate()
            answer = connection.recv(65536)
        assert b" 503 Service Unavailable\r\n" in answer
        assert b"Retry-After: " in answer
        assert service.process.wait(timeout=300) == 0


def test_a_killed_service_has_kept_every_check_that_it_answered(start, wait_for, detector):
    answered, key = set(), ""
    for _ in range(3):
        with start() as service:
            key = key or service.key()
            stop = threading.Event()

            def ask(service=service, stop=stop, key=key):
                while not stop.is_set():
                    try:
                        answered.add(service.check(key).json["preflight_id"])
                    except (OSError, ValueError):
                        return

            threads = [threading.Thread(target=ask) for _ in range(6)]
            for thread in threads:
                thread.start()
            enough = len(answered) + 15
            wait_for(lambda enough=enough: len(answered) >= enough)
            service.process.kill()
            stop.set()
            for thread in threads:
                thread.join()
            folder = service.folder
    assert len(answered) > 30
    with ControlPlane.open(folder, lambda: detector) as control:
        report = control.audit.verify(LOCAL)
        assert report.intact
        with closing(sqlite3.connect(folder / "control.db")) as database:
            stored = {row[0] for row in database.execute("SELECT preflight_id FROM checks")}
        assert answered <= stored
        assert sum(one.checks_this_month for one in control.licenses.list(LOCAL, "acme")) == len(
            stored
        )
        assert control.maintenance.check() == ()


def test_a_locked_database_delays_and_does_not_fail(start):
    with start() as service:
        key = service.key()
        with closing(sqlite3.connect(service.folder / "control.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with ThreadPoolExecutor(4) as pool:
                answers = [pool.submit(service.check, key) for _ in range(4)]
                time.sleep(3)
                assert not any(answer.done() for answer in answers)
                assert service.ask("GET", "/healthz").status == 200
                other.execute("ROLLBACK")
                assert [answer.result().status for answer in answers] == [200] * 4


@posix
def test_a_full_disk_is_reported_and_survived(start):
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of another process cannot be set here")
    with start() as service:
        key = service.key()
        assert service.check(key).status == 200
        before = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            refused = service.check(key)
            ready = service.ask("GET", "/readyz")
        finally:
            resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, before)
        assert (refused.status, ready.status) == (503, 503)
        assert refused.headers["Retry-After"]
        assert service.ask("GET", "/readyz").status == 200
        assert service.check(key).status == 200
        assert service.administer("GET", "/api/audit")["total"] == 2


@posix
def test_temporary_folders_of_a_killed_service_go_with_the_next_start(start, wait_for, tmp_path):
    left = tmp_path / "tmp" / "dlpctl-scratch-0123456789abcdef"
    left.parent.mkdir()
    left.mkdir(mode=0o700)
    (left / "page.png").write_bytes(b"x")
    with start():
        wait_for(lambda: not left.exists())


@posix
def test_an_unwritable_log_delays_no_request(start):
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of another process cannot be set here")
    with start() as service:
        key = service.key()
        while service.log.stat().st_size < 8192:
            assert service.check(key).status == 200
        before = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            assert [service.ask("GET", "/healthz").status for _ in range(5)] == [200] * 5
            assert [service.check(key).status for _ in range(5)] == [503] * 5
        finally:
            resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, before)
        assert service.check(key).status == 200
        service.process.terminate()
        assert service.process.wait(timeout=300) == 0
        assert '"log lines lost"' in service.log.read_text("utf-8")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", 431),
        (b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (
            b"POST /api/preflight HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
            413,
        ),
        (b"POST /api/preflight HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
        (
            b"POST /api/preflight HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
            501,
        ),
        (
            b"POST /api/preflight HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            400,
        ),
        (b"GET /%ff%00/.. HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (
            b"POST /api/preflight/text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n{",
            401,
        ),
    ],
)
def test_invalid_http_is_refused(service, request_, status):
    head, _, body = raw(service.port, request_).partition(b"\r\n\r\n")
    assert int(head.split()[1]) == status
    assert list(json.loads(body)) == ["detail"]
    assert b"Content-Type: application/json" in head
    assert service.ask("GET", "/healthz").status == 200


def test_malformed_json_over_the_wire(service):
    lines = [
        b"POST /api/preflight/text HTTP/1.1",
        b"Host: localhost",
        b"Content-Type: application/json",
        b"X-Service-API-Key: " + service.key("malformed").encode(),
        b"Content-Length: 1",
    ]
    answer = raw(service.port, b"\r\n".join([*lines, b"", b"{"]))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"detail"' in answer


def test_requests_in_a_row_on_one_connection(service):
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=300) as connection:
        connection.sendall(one * 20 + last)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert received.count(b"HTTP/1.1 200") == 20
    assert received.count(b"HTTP/1.1 404") == 1


def test_slow_clients_delay_no_other(start):
    with start(threads=2) as service:
        key = service.key()
        slow = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(40)]
        for connection in slow:
            connection.sendall(
                b"POST /api/preflight/text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
            )
        assert service.check(key).status == 200
        for connection in slow:
            connection.close()


def test_a_large_file_and_its_copy(service):
    """More than the buffers on the way hold."""
    key = service.key("large")
    data = b"nothing to see here\n" * 200_000
    parts = [
        b'--b\r\nContent-Disposition: form-data; name="destination"\r\n\r\nVENDOR',
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + data,
        b"--b--\r\n",
    ]
    body = b"\r\n".join(parts)
    head = [
        b"POST /api/preflight HTTP/1.1",
        f"Host: 127.0.0.1:{service.port}".encode(),
        b"Content-Type: multipart/form-data; boundary=b",
        b"X-Service-API-Key: " + key.encode(),
        b"Content-Length: %d" % len(body),
    ]
    answer = raw(service.port, b"\r\n".join([*head, b"", body]))
    assert answer.startswith(b"HTTP/1.1 200"), answer[-300:]
    url = json.loads(answer.partition(b"\r\n\r\n")[2])["masked_file_url"]
    path = url.removeprefix(f"http://127.0.0.1:{service.port}")
    assert service.ask("GET", path, X_Service_API_Key=key).body == data


@posix
def test_a_socket_in_the_file_system(start, tmp_path):
    file = tmp_path / "service.sock"
    with closing(socket.socket(socket.AF_UNIX)) as left:
        left.bind(str(file))
    with start(unix_socket=str(file), port=0) as service:
        with closing(socket.socket(socket.AF_UNIX)) as connection:
            connection.connect(str(file))
            connection.sendall(
                b"GET /healthz HTTP/1.1\r\nHost: whatever.example\r\nConnection: close\r\n\r\n"
            )
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        service.process.terminate()
        assert service.process.wait(timeout=300) == 0
    assert not file.exists()


def test_a_trusted_proxy_names_the_client(start):
    forwarded = {
        "X_Forwarded_Host": "dlp.example.com",
        "X_Forwarded_Proto": "https",
        "X_Forwarded_For": "10.0.0.9",
    }
    with start(trusted_proxy="127.0.0.1", allowed_hosts=["dlp.example.com"]) as service:
        assert service.ask("GET", "/healthz", **forwarded).status == 200
        evil = forwarded | {"X_Forwarded_Host": "evil.example"}
        assert service.ask("GET", "/healthz", **evil).status == 400
        assert _clients(service) == ["10.0.0.9"] * 2


def test_headers_of_untrusted_clients_are_ignored(start):
    with start() as service:
        assert service.ask("GET", "/healthz", X_Forwarded_Host="evil.example").status == 200
        assert service.ask("GET", "/healthz", X_Forwarded_For="10.0.0.9").status == 200
        assert _clients(service) == ["127.0.0.1"] * 2


def _clients(service):
    """The addresses in the lines of all requests."""
    service.process.terminate()
    assert service.process.wait(timeout=300) == 0
    lines = [json.loads(line) for line in service.log.read_text("utf-8").splitlines()]
    return [line["client"] for line in lines if line["event"] == "request"]


class TestCommand:
    """`dlpctl serve` with the whole library."""

    @pytest.fixture
    def environ(self, tmp_path, compiled_cache):
        shutil.copytree(compiled_cache, tmp_path / "home" / "cache")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DLPCTL_")}
        return kept | {"DLPCTL_HOME": str(tmp_path / "home"), "DLPCTL_SERVE_LOG": "json"}

    def run(self, environ, *arguments):
        command = [sys.executable, "-m", "dlpctl", "serve", *arguments]
        return subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=300, check=False
        )

    @posix
    @pytest.mark.parametrize("more", [(), ("--processes", "2")])
    def test_it_serves(self, environ, tmp_path, more):
        command = [sys.executable, "-m", "dlpctl", "serve", "--port", "0", *more]
        with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
            try:
                said = json.loads(process.stderr.readline())
                assert said["event"] == "listening"
                assert said["folder"] == str(tmp_path / "home" / "data")
                port = int(said["address"].rpartition(":")[2])
                assert b"200" in raw(port, b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                process.terminate()
                process.stderr.read()
                assert process.wait(timeout=300) == 0
            finally:
                process.kill()

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--host", "0.0.0.0"], "--allow-remote"),
            (["--host", "nowhere.invalid"], "--allow-remote"),
            (["--host", "nowhere.invalid", "--allow-remote"], "no address"),
            (["--port", "99999"], "65535"),
            (["--processes", "0"], "1"),
            (["--processes", "65"], "64"),
        ],
    )
    def test_what_it_refuses(self, environ, arguments, words):
        done = self.run(environ, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
        assert done.stderr.count("\n") == 1

    def test_a_port_that_is_taken(self, environ):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = self.run(environ, "--port", str(taken.getsockname()[1]))
        assert done.returncode == 2
        assert "cannot be listened on" in done.stderr
