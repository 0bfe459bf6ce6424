from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import InputError
from dlpctl.formats.tempfiles import private_folder, write_whole

if TYPE_CHECKING:
    from pathlib import Path


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


def test_a_result_is_whole_private_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "a.masked.txt"
    write_whole(path, b"one", overwrite=False)
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="--force"):
        write_whole(path, b"two", overwrite=False)
    assert path.read_bytes() == b"one"
    write_whole(path, b"two", overwrite=True)
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.masked.txt"]
