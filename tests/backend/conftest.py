"""A real server process, a server in this process with an adjustable clock, and the command line
with its own home.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from werkzeug import Response
from werkzeug.serving import WSGIRequestHandler, make_server

from dlpctl.backend.address import Address
from dlpctl.backend.connection import Connection
from dlpctl.backend.remote import RemoteBackend
from dlpctl.cli.main import run
from dlpctl.control.access import FIRST_ADMIN, LOCAL
from dlpctl.control.service import ControlPlane
from dlpctl.detect.engine import Detector
from dlpctl_daemon.app import create_app
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options

if TYPE_CHECKING:
    from limits import Limiter

_START_SECONDS = 300


class Result(NamedTuple):
    status: int
    out: str
    err: str


class Daemon(NamedTuple):
    url: str
    home: Path


def environment(home: Path) -> dict[str, str]:
    folders = {name: home / name.lower() for name in ("CONFIG", "DATA")}
    for folder in folders.values():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {f"XDG_{name}_HOME": str(folder) for name, folder in folders.items()}


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, compiled_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    for name, folder in environment(tmp_path / "home").items():
        monkeypatch.setenv(name, folder)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def dlpctl(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs a command in this process."""

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        status = run(arguments)
        return Result(status, *capfd.readouterr())

    return call


@pytest.fixture
def at_home(
    dlpctl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Runs a command in a given home."""

    def call(home: Path, *arguments: str) -> Result:
        for name, folder in environment(home).items():
            monkeypatch.setenv(name, folder)
        return dlpctl(*arguments)

    return call


def _serve(home: Path, *arguments: str) -> Iterator[Daemon]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("DLPCTL_")}
    log = home / "log"
    command = [sys.executable, "-m", "dlpctl", "serve", *arguments]
    limits = {"DLPCTL_SERVE_RATE": "100000", "DLPCTL_SERVE_BURST": "100000"}
    environ = kept | environment(home) | limits
    with log.open("w", encoding="utf-8") as stderr:
        process = subprocess.Popen(command, env=environ, stderr=stderr)
    try:
        end = time.monotonic() + _START_SECONDS
        while not (listening := re.search(r"listening address=(\S+)", log.read_text("utf-8"))):
            assert process.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < end
            time.sleep(0.02)
        yield Daemon(listening[1], home)
    finally:
        process.terminate()
        process.wait(_START_SECONDS)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, compiled_cache: Path) -> Iterator[Daemon]:
    yield from _serve(tmp_path_factory.mktemp("daemon"), "--port", "0")


@pytest.fixture(scope="module")
def socket_daemon(
    tmp_path_factory: pytest.TempPathFactory, compiled_cache: Path
) -> Iterator[Daemon]:
    home = tmp_path_factory.mktemp("socket")
    for served in _serve(home, "--unix-socket", str(home / "s")):
        yield served._replace(url=f"unix:{home / 's'}")


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 10, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def forward(self, **much: float) -> None:
        self.now += timedelta(**much)


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


class Seen(NamedTuple):
    """A request as it was sent over the network."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Service:
    """A server in this process, which can be stopped and restarted at the same address."""

    def __init__(self, control: ControlPlane) -> None:
        self.control = control
        self.seen: list[Seen] = []
        self.change: Callable[[bytes], bytes] = lambda answer: answer
        """Changes of each answer on its way."""
        self._app = create_app(control, Options(), Log(io.StringIO()))
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._server = make_server(
            "127.0.0.1", self._port, self._recorded, threaded=True, request_handler=_Quiet
        )
        self._server.daemon_threads = True
        self._port = self._server.server_port
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _recorded(self, environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        headers = {name: str(text) for name, text in environ.items() if name.startswith("HTTP_")}
        self.seen.append(Seen(environ["PATH_INFO"], headers, body))
        answer = Response.from_app(self._app, environ)
        answer.data = self.change(answer.data)
        return answer(environ, start_response)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(tmp_path: Path, library: Detector, clock: Clock, limit: Limiter) -> Iterator[Service]:
    limit("dlpctl.control.signing._KEY_BITS", 2048)  # three times as fast to make
    with ControlPlane.open(tmp_path / "service", lambda: library, clock=clock) as control:
        served = Service(control)
        yield served
        served.stop()


@pytest.fixture
def server(service: Service) -> Iterator[RemoteBackend]:
    """The server over HTTP, with an admin token."""
    token = service.control.tokens.first().read_text("ascii").strip()
    backend = RemoteBackend(Connection(Address.parse(service.url)), token)
    yield backend
    backend.close()


@pytest.fixture
def acme(service: Service) -> str:
    return service.control.organizations.create(LOCAL, {"name": "Acme"}).org_id


@pytest.fixture
def license_key(service: Service, acme: str) -> str:
    return service.control.licenses.list(LOCAL, acme)[0].license_key


@pytest.fixture
def token_of(service: Service) -> str:
    return (service.control.folder / FIRST_ADMIN).read_text("ascii").strip()
