"""A victim and an attacker on one service."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_LARGE = 20_000
_WAIT = 300.0
"""Seconds after which a test fails instead of hanging."""


class Tenant(NamedTuple):
    service: Any
    key: str

    def check(self, text: str = "write to jane.doe@corp.example.net") -> Any:
        return self.service.check(self.key, text)

    def check_file(self, content: bytes, name: str = "a.txt") -> tuple[int, bytes]:
        """The status and the body of the answer."""
        body = b"".join(
            (
                b'--b\r\nContent-Disposition: form-data; name="destination"\r\n\r\nVENDOR\r\n',
                f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode(),
                content,
                b"\r\n--b--\r\n",
            )
        )
        head = self.head("/api/preflight", "multipart/form-data; boundary=b", len(body))
        return exchange(self.service.port, head + body)

    def head(self, path: str, content_type: str, length: int, *further: str) -> bytes:
        """The headers of a request."""
        lines = [
            f"POST {path} HTTP/1.1",
            "Host: localhost",
            f"X-Service-API-Key: {self.key}",
            f"Content-Type: {content_type}",
            f"Content-Length: {length}",
            *further,
        ]
        return "\r\n".join([*lines, "", ""]).encode()


def exchange(port: int, request: bytes) -> tuple[int, bytes]:
    """The status and the body of the answer, on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=_WAIT) as connection:
        connection.sendall(request)
        received = b""
        while piece := connection.recv(65536):
            received += piece
            head, end, body = received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if end and length and len(body) >= int(length[1]):
                break
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


class Held:
    """Work of the attacker that lasts until it is released."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._threads: list[threading.Thread] = []
        self.answers: list[Any] = []

    @property
    def text(self) -> str:
        return f"hold {self._file} ".ljust(_LARGE, ".")

    def start(self, work: Callable[[], Any], times: int) -> None:
        for _ in range(times):
            thread = threading.Thread(target=lambda: self.answers.append(work()), daemon=True)
            thread.start()
            self._threads.append(thread)

    def release(self) -> None:
        self._file.touch()
        for thread in self._threads:
            thread.join(_WAIT)
            assert not thread.is_alive()


@pytest.fixture(scope="module")
def attacker(service: Any) -> Tenant:
    return Tenant(service, service.key("attacker"))


@pytest.fixture(scope="module")
def victim(service: Any) -> Tenant:
    return Tenant(service, service.key("victim"))


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    made = Held(tmp_path / "release")
    yield made
    made.release()


@pytest.fixture
def connect(service: Any) -> Iterator[Callable[..., socket.socket]]:
    """Opens a connection, sends some bytes, and leaves it open until the test ends."""
    with ExitStack() as stack:

        def connected(sent: bytes = b"") -> socket.socket:
            made = stack.enter_context(
                socket.create_connection(("127.0.0.1", service.port), timeout=_WAIT)
            )
            made.sendall(sent)
            return made

        yield connected


@pytest.fixture
def ask(service: Any) -> Callable[[bytes], tuple[int, bytes]]:
    """Sends a request on a connection of its own; the status and the body of the answer."""
    return lambda request: exchange(service.port, request)
