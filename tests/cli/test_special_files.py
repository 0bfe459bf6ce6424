"""Pipes, devices and sockets in place of files are refused immediately by every reader."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from dlpctl.errors import InputError
from dlpctl.files.library import check_file, mask_file
from dlpctl.masking.vault import Vault
from dlpctl.system.regular import NotRegularError, read_regular

pytestmark = pytest.mark.skipif(os.name != "posix", reason="special files are of POSIX")
Run = Callable[..., Any]
HANGS = 60
"""The seconds after which a reader is waiting for input that never comes."""
READERS = {
    "check": ["check", "{}"],
    "mask": ["mask", "{}"],
    "explain": ["explain", "{}"],
    "unmask": ["unmask", "--vault", "kept", "{}"],
    "decision alone": ["check", "--decision-only", "{}"],
    "policy": ["check", "text.txt", "--policy", "{}"],
    "patterns": ["check", "text.txt", "--patterns", "{}"],
    "password": ["check", "table.csv", "--password-file", "{}"],
    "vault": ["mask", "text.txt", "--vault", "{}"],
    "policy to lint": ["policy", "lint", "{}"],
    "baseline": ["scan", "text.txt", "--baseline", "{}"],
    "claims": ["baseline", "import", "{}"],
}


@pytest.fixture(autouse=True)
def _files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    Path("text.txt").write_text("words\n")
    Path("table.csv").write_text("a,b\n1,2\n")
    monkeypatch.setenv("DLPCTL_VAULT_KEY", "ab" * 32)
    with Vault(Path("kept"), b"\xab" * 32, create=True).transaction() as vault:
        vault.token("EMAIL", "a@b.example")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(HANGS)
    yield
    signal.alarm(0)


@pytest.fixture(params=["a pipe", "a socket", "a device"])
def special(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The name and type of a special file."""
    kind = request.param
    if kind == "a device":
        yield "/dev/zero", kind
        return
    if kind == "a pipe":
        os.mkfifo("special.toml")
        yield "special.toml", kind
        return
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("special.toml")
        yield "special.toml", kind


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_without_a_writer_is_refused(dlpctl: Run, reader: str) -> None:
    os.mkfifo("special.toml")
    done = dlpctl(*(word.format("special.toml") for word in READERS[reader]))
    message = done.err
    assert done.status in (1, 2)
    assert done.out == ""
    assert message.startswith("dlpctl: ")
    assert message.count("\n") == 1
    assert "special.toml" in message
    assert "it is a pipe, not a file" in message or reader == "password"


def test_check_names_the_type(dlpctl: Run, special: tuple[str, str]) -> None:
    name, kind = special
    done = dlpctl("check", name)
    assert (done.status, done.out) == (1, "")
    expected = f"dlpctl: {name}: cannot be read: it is {kind}, not a file; pass its content on stdin, as '-'\n"
    assert done.err == expected


def test_scan_counts_it_as_unreadable(dlpctl: Run, special: tuple[str, str]) -> None:
    name, kind = special
    done = dlpctl("scan", name)
    assert done.status == 1
    assert f"it is {kind}, not a file; use '-' for stdin" in done.out


def test_the_library_refuses_it(special: tuple[str, str]) -> None:
    name, kind = special
    for call in (lambda: check_file(name), lambda: mask_file(name, "out")):
        with pytest.raises(InputError, match=f"cannot be read: it is {kind}, not a file"):
            call()
    assert not Path("out").exists()


def test_links_are_followed(special: tuple[str, str]) -> None:
    name, kind = special
    Path("link").symlink_to(name)
    with pytest.raises(NotRegularError, match=kind):
        read_regular("link")
    Path("text").symlink_to("text.txt")
    assert read_regular("text") == b"words\n"
    with pytest.raises(OSError, match="symbolic links"):
        read_regular("text", follow=False)


def test_the_type_is_checked_after_opening(stale_status: Callable[[Path], None]) -> None:
    """A pipe that replaces a file after its check is refused as well."""
    os.mkfifo("pipe")
    stale_status(Path("text.txt"))
    with pytest.raises(NotRegularError):
        read_regular("pipe")


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_a_password_may_come_from_the_pipe_of_another_program(tmp_path: Path) -> None:
    code = f"'{sys.executable}' -m dlpctl check text.txt --decision-only --password-file <(sleep 0.2; echo secret)"
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("ALLOWED\n", "", 0)


@pytest.mark.parametrize("command", ["check", "mask", "scan"])
def test_stdin_may_be_a_pipe(piped: Callable[..., CompletedProcess[bytes]], command: str) -> None:
    assert piped(command, "-", stdin=b"words\n").returncode == 0


def test_a_folder_is_named_as_one(dlpctl: Run) -> None:
    done = dlpctl("check", ".")
    assert (done.status, done.err) == (1, "dlpctl: .: is a directory; name the files in it\n")
