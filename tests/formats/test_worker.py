"""The worker process: limits hold, a dead parser is reported, and nothing that it says is believed blindly."""

from __future__ import annotations

import gzip
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import FormatError
from dlpctl.formats import worker
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Edit, Limits
from dlpctl.formats.worker import Method, Worker

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits()
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and resource limits are POSIX")
methods: list[Method] = ["spawn", "forkserver"] if sys.platform != "win32" else ["spawn"]


@pytest.fixture(autouse=True)
def empty_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("method", methods)
def test_formats_run_in_it(method: Method, tmp_path: Path) -> None:
    data = gzip.compress(b"contents")
    with Worker(LIMITS, method) as process:
        document = process.extract("gzip", data, LIMITS, None, 20)
        assert document.children[0].data == b"contents"
        masked = process.mask("gzip", data, document, [], {"content": b"other"}, 20)
        assert process.read_again("gzip", masked, LIMITS, 20)[0] == "other"
        with pytest.raises(FormatError, match="damaged"):
            process.extract("gzip", b"\x1f\x8b\x08" + b"\xff" * 50, LIMITS, None, 20)
        (folder,) = tmp_path.glob("dlpctl-*")
        assert os.name != "posix" or folder.stat().st_mode & 0o777 == 0o700
    assert not list(tmp_path.glob("dlpctl-*"))


@posix
def test_a_crash_is_reported_and_the_next_file_read(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    real = subprocess.Popen

    def recorded(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        process = real(*arguments, **options)
        started.append(process.pid)
        return process

    monkeypatch.setattr(subprocess, "Popen", recorded)
    slow = gzip.compress(random.Random(1).randbytes(30 << 20), 0)
    with Files(LIMITS) as files:
        files.open(gzip.compress(b"first"), "a.gz")
        threading.Timer(0.02, os.kill, (started[0], signal.SIGSEGV)).start()
        with pytest.raises(FormatError, match="SIGSEGV"):
            all(files.open(slow, "a.gz") for _ in range(50))
        assert files.open(gzip.compress(b"next"), "a.gz").children[0].data == b"next"
    assert len(started) == 2


@posix
def test_memory_is_limited() -> None:
    limits = Limits(memory_bytes=300 << 20, expanded_bytes=1 << 40, entry_ratio=1 << 30)
    with Files(limits) as files, pytest.raises(FormatError, match=r"memory|crashed|failed"):
        files.open(gzip.compress(bytes(400 << 20), 1), "a.gz")


def test_time_is_limited() -> None:
    with Files(Limits(seconds=0.01)) as files, pytest.raises(FormatError, match="longer than"):
        files.open(gzip.compress(b"x"), "a.gz")


def test_a_reply_cannot_run_code(monkeypatch: pytest.MonkeyPatch) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.getpid, ()

    class Sneaky:
        def __reduce__(self) -> tuple[object, ...]:
            return worker.Worker, (LIMITS,)

    class Channel:
        reply: object = None

        def send(self, message: bytes) -> None: ...

        def receive(self) -> bytes:
            return pickle.dumps(("", self.reply))

        def kill(self) -> None: ...

        def wait(self) -> int:
            return 0

    channel = Channel()
    monkeypatch.setattr(worker, "_Spawned", lambda *_: channel)
    with Worker(LIMITS) as process:
        for channel.reply in (Evil(), Sneaky()):
            with pytest.raises(FormatError, match="cannot be trusted"):
                process.extract("gzip", b"", LIMITS, None, 5)
        for channel.reply in ("text", [1], None):
            with pytest.raises(FormatError, match="no "):
                process.read_again("gzip", b"", LIMITS, 5)


@posix
def test_ctrl_c_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    script = (
        "import random, gzip\nfrom dlpctl.formats.files import Files\n"
        "data = gzip.compress(random.Random(1).randbytes(20 << 20), 0)\nprint('ready', flush=True)\n"
        "with Files() as files:\n    while True:\n        files.open(data, 'a.gz')\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            for _ in range(200):
                if list(tmp_path.iterdir()):
                    break
                threading.Event().wait(0.1)
            assert list(tmp_path.iterdir())
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert b"KeyboardInterrupt" in errors
    assert not list(tmp_path.iterdir())


def test_edits_in_other_words_are_the_same_in_it() -> None:
    data = b'{"a": "x"}'
    with Worker(LIMITS) as process:
        document = process.extract("json", data, LIMITS, None, 20)
        assert process.mask("json", data, document, [Edit(0, 7, 8, '"')], {}, 20) == b'{"a": "\\""}'
