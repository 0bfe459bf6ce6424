"""Temporary files that nobody else can read and that are gone afterwards, and results that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of mode 0700, removed with all it holds on success, on an error and on Ctrl-C."""
    folder = Path(tempfile.mkdtemp(prefix="dlpctl-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_whole(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file of mode 0600 that is complete when it appears; an existing one is replaced only with `overwrite`."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            partial.replace(path)
        elif hasattr(os, "link"):
            _link(partial, path)
        elif path.exists():
            raise _exists(path)
        else:
            partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)


def _link(partial: Path, path: Path) -> None:
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        raise _exists(path) from None
    except OSError:
        # Some file systems have no hard links; the check and the rename then leave a moment between them.
        if path.exists():
            raise _exists(path) from None
        partial.rename(path)


def _exists(path: Path) -> InputError:
    return InputError(f"{path} exists: name another file with -o or give --force")
