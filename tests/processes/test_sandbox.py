"""The sandbox of the process that reads files: hijacked code can reach nothing but its folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dlpctl
from dlpctl.errors import FormatError
from dlpctl.formats.interface import Limits
from dlpctl.formats.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = Limits(memory_bytes=500 << 20)
SECONDS = 300
# In place of the module for gzip files: it executes the "file", and refuses it with the outcome.
_HIJACKED = """
import importlib.machinery, sys, types
class Hijacked:
    name, extensions = "gzip", ()
    def extract(self, data, limits, password=None):
        from dlpctl.errors import FormatError
        scope = {}
        try:
            exec(data.decode(), scope)
        except BaseException as error:
            raise FormatError(f"{type(error).__name__}: {error}") from None
        raise FormatError(f"done: {scope.get('outcome')}")
name = "dlpctl.formats.compressed"
if any("dlpctl.formats" in argument for argument in sys.orig_argv):
    made = sys.modules[name] = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.FORMAT = Hijacked()
"""
CONNECT = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
DATAGRAM = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
LOCAL = "import socket; socket.socket(socket.AF_UNIX)"
EXECUTE = "import subprocess; subprocess.run(['/bin/sh', '-c', 'true'], check=True)"
REPLACE = "import os, sys; os.execv(sys.executable, ['python', '-c', ''])"
COPY = """
import os, shutil, subprocess
shutil.copy("/bin/sh", "program"); os.chmod("program", 0o700)
subprocess.run(["./program", "-c", "true"], check=True)
"""
IN_MEMORY = "import os; os.memfd_create('program')"
ENVIRON = "import os; open(f'/proc/{os.getppid()}/environ').read()"
SIGNAL = "import os; os.kill(os.getppid(), 0)"
TRACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, os.getppid(), 0, 0): raise OSError(ctypes.get_errno(), "ptrace")
"""


@pytest.fixture
def hijacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    startup = tmp_path / "startup"
    startup.mkdir()
    (startup / "sitecustomize.py").write_text(_HIJACKED)
    monkeypatch.syspath_prepend(startup)
    with Worker(LIMITS, "spawn") as worker:
        yield worker


def outcome(worker: Worker, code: str) -> str:
    with pytest.raises(FormatError) as refused:
        worker.extract("gzip", code.encode(), LIMITS, None, SECONDS)
    return refused.value.message


def needs(worker: Worker, refused: str) -> None:
    if refused not in worker.sandbox(SECONDS):
        pytest.skip(f"this system cannot keep a process from {refused}")


def test_a_forked_process_is_confined_as_a_fresh_one() -> None:
    with Worker(LIMITS, "spawn") as fresh, Worker(LIMITS, "forkserver") as forked:
        assert forked.sandbox(SECONDS) == fresh.sandbox(SECONDS)


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        ("sockets", CONNECT),
        ("sockets", DATAGRAM),
        ("sockets", LOCAL),
        ("programs", EXECUTE),
        ("programs", REPLACE),
        ("programs", COPY),
        ("debugging", IN_MEMORY),
        ("debugging", TRACE),
        ("files", ENVIRON),
        ("signals", SIGNAL),
    ],
)
def test_hijacked_code_is_refused(hijacked: Worker, refused: str, code: str) -> None:
    needs(hijacked, refused)
    assert outcome(hijacked, code).startswith(("PermissionError: ", "OSError: [Errno 1]"))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other limits")
def test_memory_files_and_their_size_are_limited(hijacked: Worker) -> None:
    for code, refused in (
        ("bytearray(8 << 30)", "MemoryError"),
        ("open('own', 'w').truncate(8 << 30)", "OSError: [Errno 27]"),
        ("files = [open('/dev/null') for _ in range(300)]", "OSError: [Errno 24]"),
    ):
        assert outcome(hijacked, code).startswith(refused), code


def test_the_files_of_the_user_are_out_of_reach(hijacked: Worker, tmp_path: Path) -> None:
    needs(hijacked, "files")
    home = tmp_path / "home"
    home.mkdir()
    (home / "id_rsa").write_text("private")
    imported = tmp_path / "startup" / "letter.txt"  # in a folder from which modules are imported
    imported.write_text("private")
    for code in (
        f"open({str(imported)!r}).read()",
        f"open({str(home / 'id_rsa')!r}).read()",
        f"import os; os.listdir({str(home)!r})",
        f"open({str(home / 'new')!r}, 'w')",
        f"import os; os.unlink({str(home / 'id_rsa')!r})",
        f"import os; os.truncate({str(home / 'id_rsa')!r}, 0)",
        "open(__import__('dlpctl').__file__, 'a')",
        "open('/etc/passwd').read()",
    ):
        assert outcome(hijacked, code).startswith("PermissionError: "), code
    assert (home / "id_rsa").read_text() == "private"


def test_packages_of_links_can_be_imported(
    hijacked: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As uv installs them from its cache; files beside a package remain out of reach."""
    needs(hijacked, "files")
    stored = tmp_path / "stored"
    (stored / "linked").mkdir(parents=True)
    (stored / "linked" / "__init__.py").write_text("value = 7")
    (stored / "letter.txt").write_text("private")
    site = tmp_path / "site-packages"
    for package in (Path(dlpctl.__file__).parent, stored / "linked"):
        for file in package.rglob("*"):
            link = site / file.relative_to(package.parent)
            link.parent.mkdir(parents=True, exist_ok=True)
            if file.is_file():
                link.symlink_to(file)
    (site / "note.txt").symlink_to(stored / "letter.txt")
    monkeypatch.syspath_prepend(site)
    with Worker(LIMITS, "spawn") as worker:
        assert outcome(worker, "from linked import value as outcome") == "done: 7"
        for name in (stored / "letter.txt", site / "note.txt"):
            assert outcome(worker, f"open({str(name)!r})").startswith("PermissionError: ")


@pytest.mark.parametrize(
    "code",
    [
        "open('own', 'w').write('x'); outcome = open('own').read()",
        "import tempfile; outcome = tempfile.TemporaryFile().write(b'x') and 'x'",
        "import colorsys; outcome = 'x'",
        "import threading; t = threading.Thread(target=int); t.start(); t.join(); outcome = 'x'",
        "open('/dev/null', 'wb').write(b'x'); outcome = 'x'",
    ],
)
def test_parsing_works_in_the_sandbox(hijacked: Worker, code: str) -> None:
    assert outcome(hijacked, code) == "done: x"


def test_only_the_ocr_program_may_run(
    hijacked: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any program will do."""
    if sys.platform != "linux":
        pytest.skip("programs are copied as on Linux")
    import shutil

    folder = tmp_path / "programs"
    folder.mkdir()
    shutil.copy("/bin/echo", folder / "tesseract")
    monkeypatch.setenv("PATH", str(folder))
    needs(hijacked, "programs")
    run = "import subprocess; outcome = subprocess.run([%r], capture_output=True).returncode"
    assert outcome(hijacked, run % str(folder / "tesseract")) == "done: 0"
    assert outcome(hijacked, run % "/bin/echo").startswith("PermissionError: ")
    assert outcome(hijacked, LOCAL).startswith("PermissionError: ")
