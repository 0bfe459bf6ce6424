"""Scans by a pool of workers: the same results as on this machine, whatever the workers do."""

from __future__ import annotations

import json
import os
import pickle
import re
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from dlpctl.errors import EngineError, InputError, ServerError
from dlpctl.scan import cluster_worker, reader, scanner, units
from dlpctl.scan.cluster import Answer, OnCluster
from dlpctl.scan.cluster_worker import Root
from dlpctl.scan.content import Examiner
from dlpctl.scan.journal import Journal
from dlpctl.scan.reader import Outcome, Task
from dlpctl.scan.results import Result, Skip, Tally, Why
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File, Source
from dlpctl.version import __version__

if TYPE_CHECKING:
    from limits import Limiter

BADGE = "AC-12345678"
Found = tuple[list[Result | Skip], dict[str, object]]


class PoolHere:
    """A pool whose workers are this process, and answer in another order than they were asked.

    It fails after `breaks_after` answers, gives an answer twice now and then, and loses workers to
    files with `poison` in their names.
    """

    threads = 4
    roots: tuple[Root, ...] = ()
    make_reader: Callable[[], object] | None = None

    def __init__(self, breaks_after: int = 1_000_000, version: str = __version__) -> None:
        self.version = version
        self.left = breaks_after
        self.units: list[str] = []
        self.most = 0
        self.setup = b""
        self._random = Random(7)
        self._waiting: list[tuple[int, bytes]] = []
        self._last: list[Answer] = []

    def send(self, number: int, message: bytes, /) -> None:
        self._waiting.append((number, message))
        self.most = max(self.most, len(self._waiting))

    def answers(self, *, wait: bool) -> Iterator[Answer]:
        if not wait:
            return
        if not self.left:
            raise ServerError("gone")
        self.left -= 1
        number, message = self._waiting.pop(self._random.randrange(len(self._waiting)))
        answer = self.answer(message)
        yield from self._last
        yield number, answer
        self._last = [(number, answer)]

    def answer(self, message: bytes) -> bytes | None:
        if b"poison" in message:
            return None
        self.units += [unit.items[0][1] for unit in units.units_of(Task(*json.loads(message)))]
        return cluster_worker.answer(self.version, str(id(self)), self.setup, message)

    def close(self) -> None:
        cluster_worker.end(str(id(self)))


class Elsewhere(NamedTuple):
    pool: PoolHere
    journal: Journal

    def executor(self, make_reader: Any, prepare: Any, sources: Any) -> OnCluster:
        self.pool.setup = pickle.dumps(
            (self.pool.roots, self.pool.make_reader or make_reader, prepare)
        )
        return OnCluster(self.pool, sources, self.journal)

    def without_own(self, source: Source, files: Iterable[File | Skip]) -> Iterator[File | Skip]:
        del source
        return iter(files)


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Limiter) -> Path:
    monkeypatch.chdir(tmp_path)
    for module in (scanner, reader):
        limit(f"{module.__name__}.LARGE", 5000)
        limit(f"{module.__name__}.PART_SIZE", 4001)
    limit("dlpctl.scan.scanner._BATCH_FILES", 3)
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(60):
        text = f"{BADGE} in {number}\n{BADGE}\n" if number % 3 == 0 else "clean\n"
        (folder / f"{number:02}.txt").write_text(text)
    (folder / "20 big.txt").write_text("".join(f"{BADGE} ü {n}\n" for n in range(2000)))
    with zipfile.ZipFile(folder / "30.zip", "w") as packed:
        packed.writestr("inner.txt", f"{BADGE}\n")
    (folder / "31.zip").write_bytes(b"PK\x03\x04 cut off")
    return folder


@pytest.fixture
def run(examiner: Examiner) -> Callable[..., Found]:
    def call(*names: str, **options: Any) -> Found:
        one = Scan(examiner, Selection(), **options)
        return list(one.files(names or ["tree"])), one.summary.to_dict()

    return call


Run = Callable[..., Found]


def on(pool: PoolHere, run: Run, *, resumes: bool = False) -> Found:
    journal = Journal(Path("journals"), "scan", resumes=resumes)
    try:
        return run(elsewhere=Elsewhere(pool, journal))
    finally:
        journal.close()


def test_findings_and_order_are_those_of_the_local_workers(run: Run) -> None:
    pool = PoolHere()
    found, summary = on(pool, run)
    assert (found, summary) == run(jobs=2)
    assert summary["findings"] == 2041
    assert len(pool.units) > 60
    assert pool.most <= 3 * pool.threads


def test_a_stopped_scan_is_resumed(run: Run, tree: Path) -> None:
    whole, _ = run()
    for breaks_after in (0, 5, 9):
        with pytest.raises(ServerError):
            on(PoolHere(breaks_after), run, resumes=True)
    (journal,) = Path("journals").glob("*.journal")
    assert BADGE[3:] not in journal.read_bytes().decode("latin-1")
    assert journal.stat().st_mode & 0o077 == 0
    (tree / "00.txt").write_text("changed\n")
    last = PoolHere()
    found, summary = on(last, run, resumes=True)
    assert (found, summary) == run()
    assert found == whole[2:]
    assert "tree/00.txt" in last.units
    again = PoolHere()
    assert on(again, run, resumes=True)[0] == found
    assert again.units == ["tree/31.zip"]  # what could not be read is tried again
    fresh = PoolHere()
    assert on(fresh, run)[0] == found
    assert len(last.units) < len(fresh.units)


def test_a_file_that_ends_workers_is_skipped_and_no_other(run: Run, tree: Path) -> None:
    before, _ = run()
    (tree / "05 poison.txt").write_text(BADGE)
    found, summary = on(PoolHere(), run)
    assert [each for each in found if each.path != "tree/05 poison.txt"] == before
    why = Skip("tree/05 poison.txt", Why.UNREADABLE, "workers ended while they read it")
    assert why in found
    assert summary["complete"] is False


@pytest.fixture
def in_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """This thread is one of a worker of Dask."""
    distributed = pytest.importorskip("distributed")
    worker = SimpleNamespace(address="tcp://w:1")
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)


@pytest.mark.usefixtures("in_dask")
def test_a_worker_with_another_version_ends_the_scan(run: Run) -> None:
    expected = rf"worker tcp://w:1: has dlpctl {re.escape(__version__)}, and this is 0\.0\.9;"
    with pytest.raises(EngineError, match=expected):
        on(PoolHere(version="0.0.9"), run)


@pytest.mark.usefixtures("in_dask")
def test_a_worker_that_does_not_see_the_folder_ends_the_scan(run: Run) -> None:
    class Elsewhere(PoolHere):
        roots = (Root("tree", 1, 1),)

    with pytest.raises(EngineError, match="does not see the same tree; share it by"):
        on(Elsewhere(), run)


@pytest.mark.usefixtures("in_dask")
def test_an_error_of_a_worker_discloses_no_value(run: Run) -> None:
    class Failing(PoolHere):
        make_reader = staticmethod(failing)

    with pytest.raises(EngineError, match="failed: RuntimeError in ") as refused:
        on(Failing(), run)
    assert BADGE not in str(refused.value)


def failing() -> None:
    raise RuntimeError(BADGE)


def test_a_file_that_only_the_worker_misses_is_unreadable(run: Run, tree: Path) -> None:
    class WithoutFiles(PoolHere):
        def answer(self, message: bytes) -> bytes | None:
            gone = [
                Outcome(0, 0, 0, [], [Skip(unit.items[0][1], Why.GONE)], tallies=[Tally()])
                for unit in units.units_of(Task(*json.loads(message)))
            ]
            (tree / "01.txt").unlink(missing_ok=True)
            return "\n".join(map(units.encoded, gone)).encode()

    found, _ = on(WithoutFiles(), run)
    assert Skip("tree/01.txt", Why.GONE) in found
    assert Skip("tree/02.txt", Why.UNREADABLE, "a worker of the cluster does not see it") in found


def test_a_worker_has_to_see_the_same_folder(tree: Path, tmp_path: Path) -> None:
    root = cluster_worker.Root.of("tree")
    assert root.path == str(tree)
    (tree / "new").touch()
    assert root.is_same()  # it is written to
    tree.rename(tmp_path / "moved")
    assert not root.is_same()
    tree.mkdir()
    assert not root.is_same()
    os.utime(tree, ns=(0, root.modified))
    assert root.is_same()  # a copy


def entries(journal: Journal, keys: Sequence[str] = "abc") -> set[str]:
    return set(journal.known(keys))


def test_a_journal_is_for_one_scan_at_a_time(tmp_path: Path) -> None:
    line = units.encoded(Outcome(1, 9, 0, [], []))
    unread = units.encoded(Outcome(0, 0, 0, [], [Skip("x", Why.UNREADABLE)]))
    journal = Journal(tmp_path / "new", "a", resumes=True)
    journal.add([("a", line), ("", line), ("b", unread), ("a", line)])
    with pytest.raises(InputError, match="the same scan is running"):
        Journal(tmp_path / "new", "a", resumes=True)
    journal.close()
    journal = Journal(tmp_path / "new", "a", resumes=True)
    assert (entries(journal), journal.resumed) == ({"a"}, 1)
    journal.close()
    journal = Journal(tmp_path / "new", "a", resumes=False)
    assert entries(journal) == set()
    journal.close()
    assert not [*(tmp_path / "new").iterdir()]


def test_a_damaged_journal_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "a.journal").write_bytes(b"no database" * 1000)
    with pytest.raises(InputError, match=r"a\.journal: damaged.*without --resume"):
        Journal(tmp_path, "a", resumes=True)
    Journal(tmp_path, "a", resumes=False).remove()
    with sqlite3.connect(tmp_path / "b.journal") as other:
        other.execute("CREATE TABLE x (y)")
    other.close()
    with pytest.raises(InputError, match=r"b\.journal: damaged"):
        Journal(tmp_path, "b", resumes=True)


def test_journals_that_nobody_resumed_are_removed(tmp_path: Path) -> None:
    for name, days in (("old", 31), ("young", 29)):
        (tmp_path / f"{name}.journal").touch()
        then = time.time() - days * 24 * 3600
        os.utime(tmp_path / f"{name}.journal", (then, then))
    Journal(tmp_path, "a", resumes=False).close()
    assert [file.name for file in tmp_path.glob("*.journal")] == ["young.journal"]
