"""Pipes, devices and sockets under a file's name are refused at once by whatever reads files."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlpctl.errors import InputError
from dlpctl.files.library import check_file, mask_file
from dlpctl.masking.vault import Vault
from dlpctl.regular import NotRegularError, read_regular

pytestmark = pytest.mark.skipif(os.name != "posix", reason="special files are of POSIX")
HANGS = 60
"""Seconds after which a reader waits for what never comes."""
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
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled_cache: Path) -> None:
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled_cache.parent))
    for variable in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path / variable))
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("words\n")
    Path("table.csv").write_text("a,b\n1,2\n")
    monkeypatch.setenv("DLPCTL_VAULT_KEY", "ab" * 32)
    with Vault(Path("kept"), b"\xab" * 32, create=True).transaction() as vault:
        vault.token("EMAIL", "a@b.example")


@pytest.fixture(params=["a pipe", "a socket", "a device"])
def special(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The name of a special file, and what it is."""
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


def dlpctl(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dlpctl", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=HANGS, check=False)


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_nobody_writes_to_is_refused(reader: str) -> None:
    os.mkfifo("special.toml")
    done = dlpctl(*(word.format("special.toml") for word in READERS[reader]))
    message = done.stderr.decode()
    assert done.returncode in (1, 2)
    assert done.stdout == b""
    assert message.startswith("dlpctl: ")
    assert message.count("\n") == 1
    assert "special.toml" in message
    assert "it is a pipe, not a file" in message or reader == "password"


def test_check_names_what_it_is(special: tuple[str, str]) -> None:
    name, kind = special
    done = dlpctl("check", name)
    assert (done.returncode, done.stdout) == (1, b"")
    expected = (
        f"dlpctl: {name}: cannot be read: it is {kind}, not a file; pass its content on stdin, as '-'\n"
    )
    assert done.stderr.decode() == expected


def test_scan_counts_it_as_unreadable(special: tuple[str, str]) -> None:
    name, kind = special
    done = dlpctl("scan", name)
    assert done.returncode == 1
    assert f"it is {kind}, not a file; use '-' for stdin" in done.stdout.decode()


def test_the_library_refuses_it(special: tuple[str, str]) -> None:
    name, kind = special
    for call in (lambda: check_file(name), lambda: mask_file(name, "out")):
        with pytest.raises(InputError, match=f"cannot be read: it is {kind}, not a file"):
            call()
    assert not Path("out").exists()


def test_a_link_leads_where_it_leads(special: tuple[str, str]) -> None:
    name, kind = special
    Path("link").symlink_to(name)
    with pytest.raises(NotRegularError, match=kind):
        read_regular("link")
    Path("text").symlink_to("text.txt")
    assert read_regular("text") == b"words\n"
    with pytest.raises(OSError, match="symbolic links"):
        read_regular("text", follow=False)


def test_the_type_is_that_of_what_was_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that takes the place of a file after somebody looked at it is refused as well."""
    os.mkfifo("pipe")
    real = Path("text.txt").stat()
    monkeypatch.setattr(os, "stat", lambda *_, **__: real)
    with pytest.raises(NotRegularError):
        read_regular("pipe")


def test_stdin_may_be_a_pipe() -> None:
    for command in (["check", "-"], ["mask", "-"], ["scan", "-"]):
        assert dlpctl(*command, stdin=b"words\n").returncode == 0


def test_a_folder_is_named_as_one() -> None:
    done = dlpctl("check", ".")
    assert (done.returncode, done.stderr) == (1, b"dlpctl: .: is a directory; name the files in it\n")
