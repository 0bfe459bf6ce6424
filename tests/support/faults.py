"""Faults around the product and of its installed data, and a clock that a test sets."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dlpctl.control import clock
from dlpctl.detect.entities import finder
from dlpctl.formats import worker

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from datetime import datetime


@pytest.fixture
def damaged_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed data of names is damaged."""
    data = tmp_path / "tagger.bin"
    data.write_bytes(b"x" * 100)
    monkeypatch.setattr(finder, "DATA", data)


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """The clock of this machine shows what the test says."""
    return lambda moment: monkeypatch.setattr(clock, "utc_now", lambda: moment)


@pytest.fixture
def no_worker_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has not read a file before."""
    monkeypatch.setattr(worker, "_adaptive", count())


@pytest.fixture
def scheduler_that_goes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """A cluster is closed when the first answer has come."""
    from dlpctl.scan.cluster import OnCluster

    settle = OnCluster._settle

    def goes(close: Callable[[], None]) -> None:
        def last(executor: OnCluster, number: int, answer: bytes | None) -> None:
            settle(executor, number, answer)
            close()
            monkeypatch.setattr(OnCluster, "_settle", settle)

        monkeypatch.setattr(OnCluster, "_settle", last)

    return goes


@pytest.fixture
def slow_inspection(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str, threading.Event], None]:
    """The inspection of texts with some words takes until an event."""
    from dlpctl.gateway.inspecting import Inspector

    inspect = Inspector.inspect

    def slow(words: str, released: threading.Event) -> None:
        def wait(self: Inspector, text: str, *rest: Any) -> object:
            if words in text:
                released.wait(300)
            return inspect(self, text, *rest)

        monkeypatch.setattr(Inspector, "inspect", wait)

    return slow


@contextmanager
def full_disk(size: int = 0) -> Iterator[None]:
    """No file grows beyond a size: the system refuses to write what is more."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system cannot fork."""
    monkeypatch.delattr(os, "fork", raising=False)


@pytest.fixture
def no_nameless_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system has no files without a name."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """This process runs as another user, as far as it asks."""
    return lambda user: monkeypatch.setattr(os, "geteuid", lambda: user)


@pytest.fixture
def unknown_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user has no home that is known."""
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)


@pytest.fixture
def stale_status(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Another program replaces each file after its type was checked: it was that of a file."""

    def stale(file: Path) -> None:
        status = file.stat()
        monkeypatch.setattr(os, "stat", lambda *_, **__: status)

    return stale


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files is the test's, and empty."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path
