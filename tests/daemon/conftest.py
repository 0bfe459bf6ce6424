from __future__ import annotations

import io
import itertools
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dlpctl.config.settings import Serve
from dlpctl.control.access import LOCAL
from dlpctl.control.service import DATABASE, ControlPlane
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.library import load_patterns
from dlpctl_daemon.app import create_app
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options

_PATTERNS = Path(__file__).with_name("patterns.toml")
_SERVICE = Path(__file__).with_name("service.py")
EMAIL = "write to jane.doe@corp.example.net"


class SetClock:
    """A clock that does not move by itself."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 10, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **much: float) -> None:
        self.now += timedelta(**much)


class Caller:
    """Asks the application in this process."""

    def __init__(self, client: FlaskClient, token: str, key: str, log: io.StringIO) -> None:
        self.client = client
        self.token = token
        self.key = key
        self.log = log

    def __call__(self, method: str, path: str, body: Any = None, **more: Any) -> TestResponse:
        """With the first admin token, or with `token`."""
        headers = {"Authorization": f"Bearer {more.pop('token', self.token)}"} | more.pop(
            "headers", {}
        )
        return self.client.open(path, method=method, json=body, headers=headers, **more)

    def check(
        self, text: str = EMAIL, destination: str = "VENDOR", *, key: str | None = None, **more: Any
    ) -> TestResponse:
        return self.client.post(
            "/api/preflight/text",
            json={"text": text, "destination": destination} | more,
            headers={"X-Service-API-Key": key or self.key},
        )

    def check_file(self, data: bytes, name: str, **fields: Any) -> TestResponse:
        return self.client.post(
            "/api/preflight",
            data={"file": (io.BytesIO(data), name), "destination": "VENDOR"} | fields,
            headers={"X-Service-API-Key": self.key},
        )

    def get(self, path: str, key: str | None = None) -> TestResponse:
        """With a policy's key."""
        return self.client.get(path, headers={"X-Service-API-Key": key or self.key})


@pytest.fixture(scope="session")
def detector() -> Detector:
    """Two patterns: what the service does with findings does not depend on how many there could be."""
    return Detector(patterns=load_patterns([_PATTERNS]))


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def settings() -> Serve:
    return Serve(rate=60_000, burst=10_000)


@pytest.fixture
def control(
    tmp_path: Path, detector: Detector, clock: SetClock, settings: Serve, database: str | None
) -> Iterator[ControlPlane]:
    limits = Options(settings).limits
    with ControlPlane.open(
        tmp_path / "data", lambda: detector, clock=clock, limits=limits, database=database
    ) as opened:
        yield opened


@pytest.fixture
def caller(control: ControlPlane, settings: Serve) -> Caller:
    return caller_of(control, settings)


def caller_of(control: ControlPlane, settings: Serve) -> Caller:
    """With an organization `acme`, its policy's key, and the first token."""
    log = io.StringIO()
    app = create_app(control, Options(settings), Log(log, "json"))
    control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"})
    token = control.tokens.first().read_text("ascii").strip()
    return Caller(app.test_client(), token, control.policies.list(LOCAL, "acme")[0].api_key, log)


def lose_checks(control: ControlPlane) -> None:
    """Have another program remove what checks are recorded in."""
    with closing(sqlite3.connect(control.folder / DATABASE)) as database:
        database.execute("DROP TABLE checks")


_HANG_SECONDS = 300


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Running(NamedTuple):
    """A service in a process of its own."""

    process: subprocess.Popen[bytes]
    port: int
    folder: Path
    log: Path

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"}
            | {name.replace("_", "-"): said for name, said in headers.items()},
            method=method,
        )
        try:
            with urllib.request.urlopen(asked, timeout=_HANG_SECONDS) as answer:
                return Answer(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), error.read())

    def administer(self, method: str, path: str, body: Any = None) -> Any:
        token = (self.folder / "admin.token").read_text("ascii").strip()
        return self.ask(method, path, body, Authorization=f"Bearer {token}").json

    def key(self, slug: str = "acme") -> str:
        """Of the policy of a new organization that may check without end."""
        self.administer("POST", "/api/organizations", {"name": slug.title(), "slug": slug})
        self.administer("POST", f"/api/orgs/{slug}/licenses", {"license_type": "enterprise"})
        return str(self.administer("GET", f"/api/orgs/{slug}/policies")[0]["api_key"])

    def held(self) -> int:
        """Return how many checks of texts that start with `held` have started; none ends before
        `release()`.
        """
        file = self.folder / "held"
        return file.stat().st_size if file.exists() else 0

    def release(self) -> None:
        (self.folder / "released").touch()

    def check(self, key: str, text: str = EMAIL) -> Answer:
        return self.ask(
            "POST",
            "/api/preflight/text",
            {"text": text, "destination": "VENDOR"},
            X_Service_API_Key=key,
        )


@contextmanager
def running(home: Path, log_name: str = "log", **settings: Any) -> Iterator[Running]:
    folder, log, temporary = home / "data", home / log_name, home / "tmp"
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, str(_SERVICE), str(folder), json.dumps({"port": 0} | settings)]
    environ = _environ() | {"TMPDIR": str(temporary)}
    with log.open("w") as stderr, subprocess.Popen(command, stderr=stderr, env=environ) as process:
        try:
            yield Running(process, _port(process, log), folder, log)
        finally:
            process.kill()


class Load:
    """Checks as fast as they are answered, until the service is gone."""

    def __init__(self, service: Running, key: str, threads: int = 6) -> None:
        self.answered: set[str] = set()
        self.failed = 0
        self._stop = threading.Event()
        self._service, self._key = service, key
        self._threads = [threading.Thread(target=self._ask) for _ in range(threads)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        while not self._stop.is_set():
            try:
                self.answered.add(self._service.check(self._key).json["preflight_id"])
            except (OSError, ValueError, KeyError):
                self.failed += 1
                time.sleep(0.01)


@pytest.fixture
def load_of() -> type[Load]:
    """Checks of a service with a key, while others do something to it."""
    return Load


@pytest.fixture(scope="session")
def run_service() -> Callable[..., AbstractContextManager[Running]]:
    """Starts a service in a folder."""
    return running


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Any]:
    """Starts a service; arguments are settings of `serve`. All have the same folder, and each has a
    log of its own.
    """
    numbers = itertools.count()

    def started(**settings: Any) -> AbstractContextManager[Running]:
        return running(tmp_path, f"log-{next(numbers)}", **settings)

    return started


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with the usual settings, for the tests of a module."""
    with running(tmp_path_factory.mktemp("service")) as started:
        yield started


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of two processes, for the tests of a module."""
    with running(tmp_path_factory.mktemp("shared"), processes=2) as started:
        yield started


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """Waits until it listens."""
    while process.poll() is None:
        line = log.read_text("utf-8").partition("\n")[0]
        if '"listening"' in line and line.endswith("}"):
            port = json.loads(line)["address"].rpartition(":")[2]
            return int(port) if port.isdecimal() else 0
        time.sleep(0.01)
    raise AssertionError(log.read_text("utf-8"))


def _environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("DLPCTL_")}
