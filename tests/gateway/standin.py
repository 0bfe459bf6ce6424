"""A gateway on loopback with a fake provider."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.config import FileLimits
from dlpctl.gateway.admission import LocalAdmission, grant
from dlpctl.gateway.calls import CallLog
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.lanes import TURNS
from dlpctl.gateway.protocols import PROTOCOLS
from dlpctl.gateway.relaying import Target
from dlpctl.gateway.server import Gateway, Settings
from dlpctl.gateway.serving import server
from dlpctl.gateway.upstream import Upstream
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker
from dlpctl.system.listening import listen
from dlpctl.types import Destination

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector

KEY = bytes(range(32))


class Sent(NamedTuple):
    """A request as the provider received it."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(NamedTuple):
    body: bytes | Callable[[], Iterator[bytes]] = b"{}"
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}


class Provider:
    """Answers as the test says, and records the requests."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.reply: Callable[[Sent], Reply] = lambda _: Reply()
        self.ended = threading.Event()
        """Set when a client has disconnected in the middle of an answer."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def parts(self) -> Iterator[bytes]:
                if self.headers.get("transfer-encoding") != "chunked":
                    yield self.rfile.read(int(self.headers.get("content-length") or 0))
                    return
                while size := int(self.rfile.readline(), 16):
                    yield self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()

            def answer(self) -> None:
                body = b"".join(self.parts())
                sent = Sent(self.command, self.path, self.headers.items(), body)
                provider.sent.append(sent)
                reply = provider.reply(sent)
                self.send_response(reply.status)
                self.send_header("content-type", reply.content_type)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if isinstance(reply.body, bytes):
                    self.send_header("content-length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                    return
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                try:
                    for chunk in reply.body():
                        if chunk:
                            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                            self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
                except DiesError:
                    self.close_connection = True
                    self.connection.close()
                except OSError:
                    provider.ended.set()
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class DiesError(Exception):
    """Raised by a stream to break off the connection."""


class Running(NamedTuple):
    """A gateway that listens."""

    url: str
    provider: Provider
    gateway: Gateway
    log: Path

    def ask(
        self,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] = {},
        method: str = "POST",
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request exactly as given, and return status, headers and body."""
        address = self.url.removeprefix("http://")
        with closing(http.client.HTTPConnection(address, timeout=300)) as connection:
            data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            given = {} if body is None else {"content-type": "application/json"}
            connection.request(method, path, data, given | dict(headers))
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, named, answer.read()


def make_gateway(
    detector: Detector,
    provider_url: str,
    folder: Path,
    *,
    policy: Policy | None = None,
    operator: str = "token",
    refuses_unread: bool = True,
    conversations: Conversations | None = None,
    stall_seconds: float = 5.0,
    answers: Checker | None = None,
) -> Gateway:
    checker = Checker(
        detector,
        policy or Policy.builtin("ai-prompts"),
        Destination.AI_TOOL,
        operator=operator,
        key=KEY,
    )
    everybody = grant(
        checker,
        FileLimits(),
        KEY,
        lambda *_: None,
        refuses_unread=refuses_unread,
        answers=answers,
    )
    return Gateway(
        {name: Target(protocol, provider_url) for name, protocol in PROTOCOLS.items()},
        LocalAdmission(everybody),
        conversations or Conversations(3_600),
        lambda: Upstream(stall_seconds=stall_seconds),
        CallLog(folder / "calls.jsonl"),
        ThreadPoolExecutor(TURNS + 1),
        Settings(frozenset({"127.0.0.1", "localhost"}), body_bytes=1 << 20, body_seconds=1.0),
    )


@contextmanager
def running(gateway: Gateway, provider: Provider, folder: Path) -> Iterator[Running]:
    listening = listen("127.0.0.1", 0)
    served = server(gateway)
    thread = threading.Thread(target=served.run, args=([listening],), daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        yield Running(url, provider, gateway, folder / "calls.jsonl")
    finally:
        served.should_exit = True
        thread.join(300)
        listening.close()
        gateway.executor.shutdown()


def events(*documents: Any, named: bool = True) -> bytes:
    """Return server-sent events."""
    return b"".join(
        (
            f"event: {each['type']}\n"
            if named and isinstance(each, dict) and "type" in each
            else ""
        ).encode()
        + b"data: "
        + (each if isinstance(each, bytes) else json.dumps(each).encode())
        + b"\n\n"
        for each in documents
    )
