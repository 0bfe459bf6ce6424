"""The worker process: limits are enforced, a dead parser is reported, and no answer is trusted
blindly.
"""

from __future__ import annotations

import contextlib
import gzip
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Edit, Limits
from dlpctl.formats.worker import Method, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.formats.conftest import Sample

LIMITS = Limits()
SECONDS = 300
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and resource limits are POSIX")
methods: list[Method] = ["spawn", "forkserver"] if sys.platform != "win32" else ["spawn"]


@pytest.fixture(autouse=True)
def empty_temporary_folder(temporary_folder: Path) -> Path:
    return temporary_folder


@pytest.mark.parametrize("method", methods)
def test_formats_run_in_it(method: Method, tmp_path: Path) -> None:
    data = gzip.compress(b"contents")
    with Worker(LIMITS, method) as process:
        document = process.extract("gzip", data, LIMITS, None, SECONDS)
        assert document.children[0].data == b"contents"
        masked = process.mask("gzip", data, LIMITS, None, [], {"content": b"other"}, SECONDS)
        assert process.read_again("gzip", masked, LIMITS, SECONDS)[0] == "other"
        with pytest.raises(FormatError, match="damaged"):
            process.extract("gzip", b"\x1f\x8b\x08" + b"\xff" * 50, LIMITS, None, SECONDS)
        (folder,) = tmp_path.glob("dlpctl-*")
        assert os.name != "posix" or folder.stat().st_mode & 0o777 == 0o700
    assert not list(tmp_path.glob("dlpctl-*"))


@posix
@pytest.mark.usefixtures("no_worker_yet")
def test_the_first_workers_are_spawned_and_the_following_ones_forked() -> None:
    def is_own_child() -> bool:
        with Worker(LIMITS) as process:
            process.start()
            assert process._child is not None
            try:
                os.waitid(os.P_PID, process._child._handle.pid, os.WEXITED | os.WNOHANG)
            except ChildProcessError:
                return False
            return True

    assert [is_own_child() for _ in range(6)] == [True] * 4 + [False] * 2


@posix
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_leaves_the_workers_of_its_parent_alone() -> None:
    read_one("forkserver")
    copy = multiprocessing.get_context("fork").Process(target=read_one, args=("forkserver",))
    copy.start()
    copy.join()
    assert copy.exitcode == 0
    read_one("forkserver")


def read_one(method: Method) -> None:
    with Worker(LIMITS, method) as process:
        document = process.extract("gzip", gzip.compress(b"contents"), LIMITS, None, SECONDS)
        assert document.children[0].data == b"contents"


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
    with Files(LIMITS, "spawn") as files:
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
    with (
        Files(Limits(seconds=0.01), "spawn") as files,
        pytest.raises(FormatError, match="longer than"),
    ):
        files.open(gzip.compress(b"x"), "a.gz")


@posix
def test_ctrl_c_leaves_no_process_and_no_file(
    tmp_path: Path, wait_for: Callable[[Callable[[], object]], None]
) -> None:
    script = (
        "import random, gzip\nfrom dlpctl.formats.files import Files\n"
        "data = gzip.compress(random.Random(1).randbytes(20 << 20), 0)\nprint('ready', flush=True)\n"
        "with Files() as files:\n    while True:\n        files.open(data, 'a.gz')\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            wait_for(lambda: list(tmp_path.iterdir()))
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert b"KeyboardInterrupt" in errors
    assert not list(tmp_path.iterdir())


def test_edits_in_other_words_are_the_same_in_it() -> None:
    data = b'{"a": "x"}'
    with Worker(LIMITS) as process:
        process.extract("json", data, LIMITS, None, SECONDS)
        assert (
            process.mask("json", data, LIMITS, None, [Edit(0, 7, 8, '"')], {}, SECONDS)
            == b'{"a": "\\""}'
        )


def test_a_file_is_masked_by_a_process_that_did_not_read_it() -> None:
    data = b'{"a": "x"}'
    with Worker(LIMITS) as process:
        assert (
            process.mask("json", data, LIMITS, None, [Edit(0, 7, 8, "y")], {}, SECONDS)
            == b'{"a": "y"}'
        )


def test_a_document_is_the_same_from_a_process(sample: Sample) -> None:
    data = sample.make()
    here = format_named(sample.format).extract(data, LIMITS)
    with Worker(LIMITS) as process:
        there = process.extract(sample.format, data, LIMITS, None, SECONDS)
    assert [(one.text, one.location, one.context) for one in there.segments] == [
        (one.text, one.location, one.context) for one in here.segments
    ]
    for number, segment in enumerate(here.segments):
        for offset in range(min(len(segment.text), 2_000)):
            assert there.place_of(number, offset) == here.place_of(number, offset)
    for one, other in zip(there.views, here.views, strict=True):
        assert (one.name, one.text, one.context, one.repeats) == (
            other.name,
            other.text,
            other.context,
            other.repeats,
        )
        assert one.pieces_of(0, len(one.text)) == other.pieces_of(0, len(other.text))
    assert (there.format, there.children, there.uninspected, there.remarks) == (
        here.format,
        here.children,
        here.uninspected,
        here.remarks,
    )


@posix
@pytest.mark.parametrize("method", methods)
def test_it_inherits_next_to_nothing(
    method: Method, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DLPCTL_PASSWORD", "secret")
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    with Worker(LIMITS, method) as process, (tmp_path / "other").open("wb"):
        process.extract("gzip", gzip.compress(b"x"), LIMITS, None, SECONDS)
        (number,) = _children_in(next(tmp_path.glob("dlpctl-*")))
        descriptors = {str(each.readlink()) for each in Path(f"/proc/{number}/fd").iterdir()}
        assert {each.partition(":")[0] for each in descriptors} <= {"/dev/null", "pipe", "socket"}
        if method == "spawn":
            assert "DLPCTL_PASSWORD" not in Path(f"/proc/{number}/environ").read_text()


def _children_in(folder: Path) -> list[int]:
    """The processes whose working directory is the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found
