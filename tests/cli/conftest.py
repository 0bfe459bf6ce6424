from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dlpctl.cli.main import run


class Result(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, compiled_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has its own settings and keys; identical compiled patterns are shared."""
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    for variable, folder in (("CONFIG", tmp_path / "config"), ("DATA", tmp_path / "data")):
        folder.mkdir(mode=0o700, exist_ok=True)
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(folder))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def dlpctl(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs a command in this process."""

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        status = run(arguments)
        out, err = capfd.readouterr()
        return Result(status, out, err)

    return call


@pytest.fixture
def piped() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a command as a separate process, with bytes on its stdin."""

    def call(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "dlpctl", *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, timeout=300, check=False)

    return call


class Forge:
    """The comments of pull request 7, over HTTP in the formats of GitHub and GitLab."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        self.refusal = 0
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                forge.tokens.add(self.headers["Authorization"] or self.headers["PRIVATE-TOKEN"])
                size = int(self.headers["Content-Length"] or 0)
                sent = json.loads(self.rfile.read(size)) if size else {}
                status, given = forge.refusal or 200, forge.act(self.command, self.path, sent)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(given).encode())

            do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def act(self, method: str, path: str, sent: dict[str, Any]) -> Any:
        listed = "(?:/repos/acme/app/issues/7/comments|/projects/3/merge_requests/7/notes)"
        changed = "(?:/repos/acme/app/issues/comments|/projects/3/merge_requests/7/notes)/([0-9]+)"
        if found := re.fullmatch(rf"{listed}\?per_page=100&page=([0-9]+)", path):
            assert method == "GET"
            last = int(found[1]) * 100
            return self.comments[last - 100 : last]
        if re.fullmatch(listed, path):
            assert method == "POST"
            self.comments.append({"id": len(self.comments) + 1} | sent)
            return self.comments[-1]
        number = re.fullmatch(changed, path)
        assert number
        assert method == ("PATCH" if "repos" in path else "PUT")
        self.comments[int(number[1]) - 1].update(sent)
        return {}

    def of_github(self, folder: Path) -> dict[str, str]:
        (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
        return {
            "GITHUB_API_URL": self.url,
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_TOKEN": "made-up",
        }

    def of_gitlab(self, _folder: Path) -> dict[str, str]:
        return {
            "CI_API_V4_URL": self.url,
            "CI_PROJECT_ID": "3",
            "CI_MERGE_REQUEST_IID": "7",
            "GITLAB_TOKEN": "made-up",
        }


@pytest.fixture
def forge() -> Iterator[Forge]:
    made = Forge()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()
