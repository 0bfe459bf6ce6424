"""A body is read only after the host, the route and the credential were validated, and its
temporary file is always removed.
"""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

_LARGE = 40 << 20
_TEXT = "/api/preflight/text"


def _lines(path, *further, host="localhost", method="POST", length=_LARGE):
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {host}",
        f"Content-Length: {length}",
        *further,
        "",
        "",
    ]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (_lines("/api/preflight"), 401),
        (_lines("/api/preflight", "X-Service-API-Key: nobody's"), 401),
        (_lines(_TEXT, length=1 << 20), 401),
        (_lines("/api/organizations", length=1 << 20), 401),
        (_lines("/api/preflight", host="evil.example"), 400),
        (_lines("/nowhere"), 404),
        (_lines("/api/preflight", method="PUT"), 405),
        (_lines("/healthz", method="GET"), 413),
        (_lines("/api/preflight", length=1 << 40), 413),
    ],
)
def test_an_anonymous_body_is_refused_by_its_headers(service, ask, request_, status):
    answered, body = ask(request_)
    assert answered == status
    assert b'{"detail"' in body


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (_TEXT, ["Content-Type: text/plain"], 415),
        (_TEXT, ["Content-Type: application/json", "Content-Encoding: gzip"], 415),
        (_TEXT, ["Content-Type: application/json"], 413),
        ("/api/preflight", ["Content-Type: application/json"], 415),
        ("/api/preflight", ["Content-Type: multipart/form-data"], 400),
    ],
)
def test_a_body_that_would_be_refused_is_not_read(service, victim, ask, path, headers, status):
    answered, _ = ask(_lines(path, f"X-Service-API-Key: {victim.key}", *headers))
    assert answered == status


def test_chunks_are_bounded_by_the_limit_of_their_endpoint(service, victim, ask):
    head = victim.head(_TEXT, "application/json", 0).replace(
        b"Content-Length: 0", b"Transfer-Encoding: chunked"
    )
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    status, _ = ask(head + chunk * 7)
    assert status == 413


def test_chunks_without_a_credential_are_not_read(ask):
    status, _ = ask(
        b"POST /api/preflight HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n"
    )
    assert status == 401


def test_chunks_are_checked(victim, ask):
    head = victim.head(_TEXT, "application/json", 0).replace(
        b"Content-Length: 0", b"Transfer-Encoding: chunked"
    )
    body = b'{"text": "jane.doe@corp.example.net", "destination": "VENDOR"}'
    chunks = b"".join(b"1;x=y\r\n%c\r\n" % character for character in body)
    status, answer = ask(head + chunks + b"0\r\nX-Trailer: 1\r\n\r\n")
    assert (status, b"EMAIL" in answer) == (200, True)


def test_a_client_that_asks_first_is_told(victim, connect):
    body = b'{"text": "hello", "destination": "VENDOR"}'.ljust(20_000)
    head = victim.head(
        _TEXT, "application/json", len(body), "Expect: 100-continue", "Connection: close"
    )
    connection = connect(head)
    assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(body)
    assert connection.recv(100).startswith(b"HTTP/1.1 200")
    refused = connect(head.replace(victim.key.encode(), b"nobody's"))
    assert refused.recv(100).startswith(b"HTTP/1.1 401")


def test_a_client_that_keeps_sending_can_read_the_refusal(ask):
    status, body = ask(_lines("/api/preflight", length=200_000) + b"x" * 200_000)
    assert status == 401
    assert b"X-Service-API-Key" in body


def test_requests_after_a_large_body_are_answered(victim, ask):
    body = b'{"text": "hello", "destination": "VENDOR"}'.ljust(50_000)
    head = victim.head(_TEXT, "application/json", len(body))
    last = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", victim.service.port), timeout=300) as connection:
        connection.sendall(head + body + last)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert received.count(b"HTTP/1.1 200") == received.count(b"HTTP/1.1 404") == 1


def test_a_key_has_room_for_a_few_bodies_at_once(start, wait_for):
    with start(file_bytes=1 << 20) as service, ExitStack() as stack:
        key, other = service.key(), service.key("other")
        bodies = [stack.enter_context(_half_of_a_file(service.port, key)) for _ in range(2)]
        assert _status_of_one_more(service.port, key) == b"429"
        assert _status_of_one_more(service.port, other) == b"100"
        for one in bodies:
            one.close()
        wait_for(lambda: _status_of_one_more(service.port, key) == b"100")


def _status_of_one_more(port, key):
    with _half_of_a_file(port, key, "Expect: 100-continue") as connection:
        return connection.recv(100).split()[1]


def _half_of_a_file(port, key, *further):
    head = (
        f"X-Service-API-Key: {key}",
        "Content-Type: multipart/form-data; boundary=b",
        *further,
    )
    made = socket.create_connection(("127.0.0.1", port), timeout=300)
    made.sendall(_lines("/api/preflight", *head, length=1_050_000))
    return made


@pytest.mark.skipif(sys.platform != "linux", reason="reads the descriptors of a process")
def test_a_body_on_its_way_has_no_name_and_is_gone_with_its_connection(start, wait_for, tmp_path):
    with start() as service, _half_of_a_file(service.port, service.key()) as made:
        made.sendall(b"x" * 1_000_000)
        descriptors = Path(f"/proc/{service.process.pid}/fd")

        def spooled():
            targets = []
            for one in descriptors.iterdir():
                try:
                    targets.append(str(one.readlink()))
                except OSError:
                    continue
            return [target for target in targets if str(tmp_path / "tmp") in target]

        wait_for(spooled)
        assert [target for target in spooled() if not target.endswith("(deleted)")] == []
        assert list((tmp_path / "tmp").iterdir()) == []
        made.close()
        wait_for(lambda: not spooled())
