from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dlpctl.system.tempfiles import PrivateFolder, sweep


@contextmanager
def private_folder() -> Iterator[Path]:
    folder = PrivateFolder()
    try:
        yield folder.make()
    finally:
        folder.remove()


def test_the_folder_is_private_and_goes() -> None:
    folders: list[Path] = []

    def interrupted() -> None:
        with private_folder() as folder:
            folders.append(folder)
            assert os.name != "posix" or folder.stat().st_mode & 0o777 == 0o700
            (folder / "left").write_bytes(b"x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not folders[0].exists()


def scratch(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.startswith("dlpctl-")]


def test_files_of_a_killed_process_are_removed_by_the_next(temporary_folder: Path) -> None:
    code = (
        "import signal, os\nfrom dlpctl.system.tempfiles import PrivateFolder\n"
        "folder = PrivateFolder().make()\n(folder / 'a' / 'b').mkdir(parents=True)\n"
        "(folder / 'a' / 'value').write_text('x')\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = os.environ | {"TMPDIR": str(temporary_folder)}
    subprocess.run([sys.executable, "-c", code], env=environment, timeout=300, check=False)
    assert len(scratch(temporary_folder)) == 1
    with private_folder() as folder:
        assert scratch(temporary_folder) == [folder.name]
    assert not scratch(temporary_folder)


@pytest.mark.skipif(os.name != "posix", reason="the folders of Windows are its own")
def test_finding_the_folder_of_temporary_files_writes_nothing_there(tmp_path: Path) -> None:
    """A probe file would remain if the process was killed at that moment."""
    code = (
        "import os\nfrom dlpctl.system.tempfiles import PrivateFolder\nmade = []\nreal = os.open\n"
        "os.open = lambda path, *rest, **more: made.append(os.fspath(path)) or real(path, *rest, **more)\n"
        "import tempfile\ntempfile._os.open = os.open\n"
        "folder = PrivateFolder().make()\nprint(folder, *made)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    folder, *opened = done.stdout.split()
    assert Path(folder).parent == tmp_path
    assert set(opened) == {folder}


def test_a_folder_that_is_held_is_left_alone(temporary_folder: Path) -> None:
    with private_folder() as first, private_folder() as second:
        (first / "x").touch()
        sweep()
        assert {first.name, second.name} == set(scratch(temporary_folder))


@pytest.mark.skipif(os.name != "posix", reason="modes and links")
def test_only_private_folders_of_that_name_are_removed(temporary_folder: Path) -> None:
    name = "dlpctl-scratch-" + "0" * 16
    kept = temporary_folder / "kept"
    (kept / name).mkdir(parents=True, mode=0o700)
    (temporary_folder / name).symlink_to(kept / name)
    for other in ("dlpctl-scratch-", "dlpctl-scratch-0", f"{name}-mine", "dlpctl-0123456789abcdef"):
        (temporary_folder / other).mkdir(mode=0o700)
    (temporary_folder / f"{name[:-1]}1").mkdir()
    (temporary_folder / f"{name[:-1]}1").chmod(0o755)
    (temporary_folder / f"{name[:-1]}2").write_text("a file")
    before = {*temporary_folder.rglob("*")}
    sweep()
    assert {*temporary_folder.rglob("*")} == before


def test_processes_killed_at_random_do_not_affect_others(
    temporary_folder: Path,
) -> None:
    code = (
        "import sys\nfrom dlpctl.system.tempfiles import PrivateFolder\nprint('ready', flush=True)\n"
        "while True:\n    private = PrivateFolder()\n    folder = private.make()\n    if folder:\n"
        "        for number in range(3):\n            (folder / str(number)).write_text('x')\n"
        "        assert sorted(path.name for path in folder.iterdir()) == ['0', '1', '2']\n"
        "    private.remove()\n"
    )
    environment = os.environ | {"TMPDIR": str(temporary_folder)}
    chance = random.Random(1)

    def started() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", code]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline()
        return process

    running = [started() for _ in range(3)]
    try:
        for _ in range(15):
            with private_folder() as folder:
                (folder / "mine").touch()
                chosen = chance.randrange(len(running))
                threading.Event().wait(chance.random() * 0.05)
                running[chosen].kill()
                _, errors = running[chosen].communicate()
                assert not errors
                running[chosen] = started()
                assert (folder / "mine").exists()
    finally:
        for process in running:
            process.kill()
            _, errors = process.communicate()
            assert not errors
    sweep()
    assert not scratch(temporary_folder)
