"""Objects of Azure, Google Cloud and Hugging Face are scanned through their own packages, which
talk to stand-ins on this machine: Azurite (`npm install -g azurite`), `gcp-storage-emulator`, and
one of our own for the hub.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

pytestmark = pytest.mark.filterwarnings("default")
MAIL = "jane.doe@northwind.org"
LINE = f"ask {MAIL} today\n".encode()
BIG = b"all work and no play\n" * 1_000_000 + LINE
CONTENTS = {"a/clean.txt": b"x\n", "a/odd name+%20é.txt": LINE, "big.txt": BIG}
FOUND = {("a/odd name+%20é.txt", 1), ("big.txt", 1_000_001)}
Wait = Callable[[Callable[[], object]], None]


def scanned(address: str, environ: dict[str, str]) -> tuple[int, Any, str]:
    command = [sys.executable, "-m", "dlpctl", "scan", address, "--types", "EMAIL"]
    ran = subprocess.run(
        [*command, "--format", "json"],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert MAIL not in ran.stdout + ran.stderr
    return ran.returncode, json.loads(ran.stdout), ran.stderr


def assert_all_is_found(root: str, environ: dict[str, str], missing: dict[str, str]) -> None:
    """Scan a bucket, and addresses below which nothing is."""
    status, report, errors = scanned(root, environ)
    assert (status, errors) == (20, "")
    places = {(one["file"].removeprefix(f"{root}/"), one["line"]) for one in report["findings"]}
    assert places == FOUND
    assert report["summary"]["files"] == len(CONTENTS)
    for address, reason in missing.items():
        status, report, errors = scanned(address, environ)
        assert (status, errors) == (1, "")
        assert [one["detail"] for one in report["skipped"]] == [reason]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, folder: Path, wait_for: Wait) -> Iterator[None]:
    """Run a server until the end of the block."""

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        wait_for(answers)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_azure(tmp_path: Path, wait_for: Wait) -> None:
    pytest.importorskip("adlfs")
    blob = pytest.importorskip("azure.storage.blob")
    azurite = shutil.which("azurite-blob")
    if azurite is None:
        pytest.skip("needs azurite")
    port = free_port()
    options = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    # The public key of this account is in the documentation of Azurite.
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    connection = (
        f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={key};"
        f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
    )
    with running([azurite, "--blobPort", str(port), *options], port, tmp_path, wait_for):
        service = blob.BlobServiceClient.from_connection_string(connection)
        container = service.create_container("shop")
        for name, data in CONTENTS.items():
            container.upload_blob(name, data)
        missing = {
            "az://shop/none.txt": "there is no such object, bucket or folder",
            "az://nowhere/x": "there is no bucket nowhere",
        }
        environ = {"AZURE_STORAGE_CONNECTION_STRING": connection}
        assert_all_is_found("az://shop", environ, missing)


@pytest.mark.slow
def test_google_cloud(tmp_path: Path, wait_for: Wait) -> None:
    gcsfs = pytest.importorskip("gcsfs")
    pytest.importorskip("gcp_storage_emulator")
    port = free_port()
    environ = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}
    emulator = ["-m", "gcp_storage_emulator", "start", "--host=127.0.0.1", f"--port={port}"]
    command = [sys.executable, *emulator, "--in-memory"]
    with running(command, port, tmp_path, wait_for), pytest.MonkeyPatch.context() as patched:
        patched.setenv("STORAGE_EMULATOR_HOST", environ["STORAGE_EMULATOR_HOST"])
        store = gcsfs.GCSFileSystem(token="anon", project="test")
        store.mkdir("shop")
        for name, data in CONTENTS.items():
            store.pipe(f"shop/{name}", data)
        missing = {
            "gs://shop/none.txt": "there is no such object, bucket or folder",
            "gs://nowhere/x": "there is no bucket nowhere",
        }
        assert_all_is_found("gs://shop", environ, missing)


class _Hub(BaseHTTPRequestHandler):
    """One data set, org/set, as the hub of Hugging Face gives it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: Any) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/api/datasets/org/set":
            self._answer({"id": "org/set", "sha": "c" * 40})
        elif path.startswith("/api/datasets/org/set/tree/main"):
            self._answer(self._entries(path.removeprefix("/api/datasets/org/set/tree/main")[1:]))
        elif path.startswith("/datasets/org/set/resolve/main/"):
            self._content(path.removeprefix("/datasets/org/set/resolve/main/"))
        else:
            self._answer({"error": "Repository not found"}, 404)

    def _entries(self, folder: str) -> list[dict[str, Any]]:
        below = f"{folder}/" if folder else ""
        inside = [name.removeprefix(below) for name in CONTENTS if name.startswith(below)]
        folders = {name.partition("/")[0] for name in inside if "/" in name}
        described: list[dict[str, Any]] = [
            {"type": "directory", "oid": "d" * 40, "size": 0, "path": below + name}
            for name in folders
        ]
        for name in inside:
            if "/" not in name:
                path = below + name
                size = len(CONTENTS[path])
                described.append({"type": "file", "oid": "f" * 40, "size": size, "path": path})
        return described

    def _content(self, quoted: str) -> None:
        data = CONTENTS[unquote(quoted)]
        first, _, last = self.headers["range"].removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def _answer(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_hub_of_hugging_face(hub: str, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    environ = {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_TELEMETRY": "1"}
    root = "hf://datasets/org/set"
    missing = {
        f"{root}/none.txt": "there is no such object, bucket or folder",
        "hf://datasets/org/other": "there is no such object, bucket or folder",
    }
    assert_all_is_found(root, environ, missing)
