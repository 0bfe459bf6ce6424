"""The warm process and its client, as processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlpctl.agents import client

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Unix sockets")
PROMPT: dict[str, Any] = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s",
    "transcript_path": "",
    "prompt": "Write to jane.doe@example.com",
}


@pytest.fixture
def environ(tmp_path: Path, compiled_cache: Path) -> dict[str, str]:
    shutil.copytree(compiled_cache, tmp_path / "home" / "cache")
    return {"HOME": str(tmp_path), "PATH": os.defpath, "DLPCTL_HOME": str(tmp_path / "home")}


@pytest.fixture
def run(
    environ: dict[str, str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    def call(event: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        data = json.dumps(PROMPT | {"cwd": str(tmp_path)}).encode() if event is None else event
        command = [sys.executable, "-I", "-S", client.__file__]
        return subprocess.run(
            command, input=data, capture_output=True, env=environ, cwd=tmp_path, timeout=120
        )

    return call


@pytest.fixture
def sockets(
    environ: dict[str, str], wait_for: Callable[[Callable[[], object]], None]
) -> Iterator[Callable[[], list[Path]]]:
    """Returns the sockets of warm processes, and ends these processes after the test."""
    folder = Path(client.run_folder(environ))

    def call() -> list[Path]:
        return sorted(folder.glob("agents-*.sock"))

    yield call
    if client.is_private(str(folder)):  # a hook that has worked alone leaves one
        wait_for(lambda: any(map(_answers, call())))
        os.kill(_owner(call()[0]), signal.SIGTERM)


def _owner(path: Path) -> int:
    """Return the process that listens on a socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        folder = os.open(path.parent, os.O_RDONLY)
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(peer[:4], sys.byteorder)


def test_the_first_event_leaves_a_process_for_the_others(
    run: Callable[..., Any], sockets: Callable[[], list[Path]], wait_for: Callable[..., None]
) -> None:
    alone = run()
    assert json.loads(alone.stdout)["decision"] == "block"
    wait_for(sockets)
    (path,) = sockets()
    assert path.parent.stat().st_mode & 0o077 == 0
    wait_for(lambda: _answers(path))
    process = _owner(path)
    warm = run()
    assert (warm.returncode, warm.stdout) == (alone.returncode, alone.stdout)
    assert _owner(path) == process
    refused = run(b"no event")
    assert refused.returncode == 2
    os.kill(process, signal.SIGKILL)
    again = run()
    assert again.stdout == alone.stdout


def _answers(path: Path) -> bool:
    try:
        return _owner(path) > 0
    except OSError:
        return False


@pytest.mark.parametrize("answer", [b"", b"\1", (100).to_bytes(8, "little") + b"half"])
def test_a_process_that_dies_in_the_middle(
    answer: bytes,
    run: Callable[..., Any],
    environ: dict[str, str],
    sockets: Callable[[], list[Path]],
) -> None:
    folder = Path(client.run_folder(environ))
    folder.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        descriptor = os.open(folder, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{descriptor}/{client.socket_name()}")
        os.close(descriptor)
        listener.listen()

        def die() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(10)
                connection.sendall(answer)

        thread = threading.Thread(target=die)
        thread.start()
        ran = run()
        thread.join()
    assert json.loads(ran.stdout)["decision"] == "block"


def test_a_folder_that_others_may_enter_is_not_used(
    run: Callable[..., Any], environ: dict[str, str], sockets: Callable[[], list[Path]]
) -> None:
    folder = Path(client.run_folder(environ))
    folder.mkdir(mode=0o755, parents=True)
    folder.chmod(0o755)
    assert json.loads(run().stdout)["decision"] == "block"
    assert not sockets()


def test_no_home(environ: dict[str, str], run: Callable[..., Any], tmp_path: Path) -> None:
    environ.clear()
    (tmp_path / "~nobody-has-this-name").touch()  # no place for a warm process
    environ |= {"DLPCTL_HOME": "~nobody-has-this-name/x", "XDG_RUNTIME_DIR": "/proc/nowhere"}
    told = json.loads(run().stdout)
    assert told["decision"] == "block"
    assert "no home folder is known" in told["reason"]
