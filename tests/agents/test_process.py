"""The warm process and its client, as separate processes."""

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
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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


IMPATIENT = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("client", {client!r})
client = module_from_spec(spec)
spec.loader.exec_module(client)
client.SECONDS = 0.5
sys.exit(client.main())
"""
LOOPBACK = """
from dlpctl.agents.process import WarmProcess
from dlpctl.cli.guards import answer
WarmProcess(answer, over_loopback=True).serve()
"""


@pytest.fixture
def environ(tmp_path: Path, compiled_cache: Path) -> dict[str, str]:
    shutil.copytree(compiled_cache, tmp_path / "home" / "cache")
    return {"HOME": str(tmp_path), "PATH": os.defpath, "DLPCTL_HOME": str(tmp_path / "home")}


@pytest.fixture
def run(
    environ: dict[str, str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    def call(
        event: bytes | None = None, *, seconds: float = client.SECONDS
    ) -> subprocess.CompletedProcess[bytes]:
        data = json.dumps(PROMPT | {"cwd": str(tmp_path)}).encode() if event is None else event
        command = [sys.executable, "-I", "-S", client.__file__]
        if seconds != client.SECONDS:
            command = [sys.executable, "-I", "-S", "-c", IMPATIENT.format(client=client.__file__)]
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
    if client.is_private(str(folder)):  # a hook that worked alone leaves one
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


@contextmanager
def listening(environ: dict[str, str]) -> Iterator[socket.socket]:
    """Yield a socket in place of the warm process."""
    folder = Path(client.run_folder(environ))
    folder.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        descriptor = os.open(folder, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{descriptor}/{client.socket_name()}")
        os.close(descriptor)
        listener.listen()
        yield listener


@pytest.mark.parametrize("answer", [b"", b"\1", (100).to_bytes(8, "little") + b"half"])
def test_a_process_that_dies_in_the_middle(
    answer: bytes,
    run: Callable[..., Any],
    environ: dict[str, str],
    sockets: Callable[[], list[Path]],
) -> None:
    with listening(environ) as listener:

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


@pytest.mark.parametrize("allow", [False, True])
def test_a_process_that_hangs(
    allow: bool, run: Callable[..., Any], environ: dict[str, str]
) -> None:
    if allow:
        environ["DLPCTL_AGENTS_ON_FAILURE"] = "allow"
    with listening(environ):  # the system accepts connections, but nobody answers
        ran = run(seconds=0.5)
    assert ran.returncode == (0 if allow else 2)
    assert ran.stdout == b""
    assert b"there was no answer in time" in ran.stderr


def test_a_process_that_dies_while_it_is_sent_an_event(
    run: Callable[..., Any], environ: dict[str, str], sockets: Callable[[], list[Path]]
) -> None:
    event = json.dumps(PROMPT | {"cwd": "/", "prompt": "Nothing to see here. " * 100_000}).encode()
    with listening(environ) as listener:

        def die() -> None:
            connection, _ = listener.accept()
            connection.recv(1 << 16)
            connection.close()

        thread = threading.Thread(target=die)
        thread.start()
        ran = run(event)
        thread.join()
    assert (ran.returncode, ran.stdout) == (0, b"")


@pytest.fixture
def over_loopback(
    environ: dict[str, str], tmp_path: Path, wait_for: Callable[..., None]
) -> Iterator[Path]:
    """Yield the file of a process that answers over loopback."""
    command = [sys.executable, "-P", "-c", LOOPBACK]
    with subprocess.Popen(command, env=environ, cwd=tmp_path) as process:
        file = Path(client.run_folder(environ)) / client.port_name()
        wait_for(file.exists)
        yield file
        process.terminate()


def test_without_unix_sockets(
    run: Callable[..., Any], over_loopback: Path, environ: dict[str, str]
) -> None:
    assert over_loopback.stat().st_mode & 0o077 == 0
    assert json.loads(run().stdout)["decision"] == "block"
    assert not list(over_loopback.parent.glob("*.sock")), "the hook has worked alone"


def test_a_client_without_the_secret_is_not_answered(over_loopback: Path) -> None:
    stored = over_loopback.read_bytes()
    with socket.create_connection(("127.0.0.1", int.from_bytes(stored[32:], "little"))) as asking:
        asking.sendall(bytes(client.NONCE))
        assert len(client.receive(asking, client.NONCE + client.DIGEST)) == 48
        asking.sendall(bytes(client.DIGEST) + b"{}")
        assert asking.recv(1) == b""


def test_an_impostor_on_the_port_gets_no_event(
    run: Callable[..., Any], environ: dict[str, str], sockets: Callable[[], list[Path]]
) -> None:
    folder = Path(client.run_folder(environ))
    folder.mkdir(mode=0o700, parents=True)
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                received.append(connection.recv(1 << 16))
                connection.sendall(bytes(client.NONCE + client.DIGEST))
                received.append(connection.recv(1 << 16))

        port = listener.getsockname()[1].to_bytes(2, "little")
        (folder / client.port_name()).write_bytes(bytes(32) + port)
        thread = threading.Thread(target=answer)
        thread.start()
        ran = run()
        thread.join()
    assert json.loads(ran.stdout)["decision"] == "block"
    assert [len(each) for each in received] == [client.NONCE, 0]


def test_many_hooks_at_once(run: Callable[..., Any], over_loopback: Path, tmp_path: Path) -> None:
    """Two sessions at once, from several processes: each has its own tokens, and each value one."""

    def told(number: int) -> str:
        prompt = f"Write to person{number // 2 % 3}.smith@example.com"
        event = PROMPT | {"cwd": str(tmp_path), "session_id": f"s{number % 2}", "prompt": prompt}
        return str(json.loads(run(json.dumps(event).encode()).stdout)["reason"])

    with ThreadPoolExecutor(4) as pool:
        reasons = list(pool.map(told, range(12)))
    assert reasons[:6] == reasons[6:]
    assert len(set(reasons[0:6:2])) == len(set(reasons[1:6:2])) == 3


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
    (tmp_path / "~nobody-has-this-name").touch()  # leaves no place for a warm process
    environ |= {"DLPCTL_HOME": "~nobody-has-this-name/x", "XDG_RUNTIME_DIR": "/proc/nowhere"}
    told = json.loads(run().stdout)
    assert told["decision"] == "block"
    assert "no home folder is known" in told["reason"]
