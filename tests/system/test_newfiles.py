"""New files appear complete or not at all, whatever happens to the processes that write them."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import InputError
from dlpctl.system.newfiles import replacing, write_whole

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import os, signal, sys
from pathlib import Path
from dlpctl.system.newfiles import replacing
if sys.argv[2] == "named":
    del os.O_TMPFILE
with replacing(Path(sys.argv[1])) as file:
    file.write(b"half of it")
    file.flush()
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["nameless", "named"])
def kind(request: pytest.FixtureRequest) -> str:
    """Both ways to write: with files that have no name yet, and where the system has none."""
    if request.param == "nameless" and not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no nameless files")
    if request.param == "named":
        request.getfixturevalue("no_nameless_files")
    return str(request.param)


def test_a_result_is_whole_private_and_never_over_another(tmp_path: Path, kind: str) -> None:
    del kind
    path = tmp_path / "a.masked.txt"
    write_whole(path, b"one", overwrite=False)
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="--force"):
        write_whole(path, b"two", overwrite=False)
    assert path.read_bytes() == b"one"
    write_whole(path, b"two", overwrite=True)
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.masked.txt"]


@pytest.mark.usefixtures("kind")
def test_an_error_leaves_only_the_previous_content(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    def fails() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"):
        fails()
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("a", b"before")]


@pytest.mark.usefixtures("kind")
def test_modes_and_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120)
    before = os.umask(0o077)  # which a mode that is asked for does not heed
    try:
        with replacing(path, mode=0o644) as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"x"
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o644
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "no" / "a"):
        pass


def writer(path: Path, kind: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(path), kind]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_next_writer_removes_files_of_a_killed_one(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    with writer(path, kind) as process:
        assert len(list(tmp_path.iterdir())) == (kind == "named")
        process.send_signal(signal.SIGKILL)
    assert len(list(tmp_path.iterdir())) == (kind == "named")
    write_whole(path, b"whole", overwrite=True)
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(os.name != "posix", reason="locks")
def test_writers_of_the_same_file_leave_each_other_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    with writer(path, kind) as process:
        write_whole(path, b"mine", overwrite=True)
        assert path.read_bytes() == b"mine"
        process.communicate(b"", timeout=300)
        assert process.returncode == 0
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("a", b"half of it")]
