"""Scans of trees: the same for any number of workers, and complete or marked as incomplete."""

from __future__ import annotations

import base64
import os
import signal
import stat
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from timing import seconds

from dlpctl.config import FileLimits
from dlpctl.detect.allow import AllowList
from dlpctl.errors import EngineError
from dlpctl.scan.content import Examiner
from dlpctl.scan.executor import InOrder
from dlpctl.scan.results import Result, Skip, Why
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection

if TYPE_CHECKING:
    from limits import Limiter

    from dlpctl.detect.engine import Detector

BADGE = "AC-12345678"


def scan(
    examiner: Examiner, *names: str, **options: Any
) -> tuple[list[Result], dict[str, Skip], Scan]:
    one = Scan(examiner, options.pop("selection", Selection()), **options)
    found = list(one.files(names))
    results = [each for each in found if isinstance(each, Result)]
    return results, {each.path: each for each in found if isinstance(each, Skip)}, one


@contextmanager
def stdin_from(file: Path) -> Iterator[None]:
    before = os.dup(0)
    with file.open("rb") as opened:
        os.dup2(opened.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_large_document_is_refused_with_the_setting_that_allows_it(examiner: Examiner) -> None:
    with Path("a.pdf").open("wb") as file:
        file.write(b"%PDF-1.7\n")
        file.truncate(17 << 20)
    _, skipped, _ = scan(examiner, "a.pdf", jobs=1, limits=FileLimits(input_bytes=16 << 20))
    assert skipped["a.pdf"].detail == "a document of more than 16 MB: raise limits.input_bytes"


def test_places_are_lines_and_characters(examiner: Examiner) -> None:
    Path("a.txt").write_bytes(f"é {BADGE}\r\nx\r\n  ü {BADGE} {BADGE}\n".encode())
    results, _, done = scan(examiner, "a.txt")
    assert [(one.line, one.column, one.end_line, one.end_column) for one in results] == [
        (1, 6, 1, 14),
        (3, 8, 3, 16),
        (3, 20, 3, 28),
    ]
    text = Path("a.txt").read_bytes().decode()
    assert {text[one.start : one.end] for one in results} == {"12345678"}
    assert (done.summary.files, done.summary.findings, done.summary.partial) == (1, 3, False)


def test_no_result_holds_a_value(examiner: Examiner) -> None:
    Path("a.txt").write_text(f"{BADGE} tok_abcdefghijkl\n")
    results, _, _ = scan(examiner, "a.txt")
    assert len(results) == 2
    assert "12345678" not in repr(results)
    assert "abcdefghijkl" not in repr(results)


def test_identities_hold_while_lines_move_and_differ_in_one_file(examiner: Examiner) -> None:
    Path("a.txt").write_text(f"badge: {BADGE}\nbadge: {BADGE}\nother {BADGE}\n")
    before = [one.identity for one in scan(examiner, "a.txt")[0]]
    assert len(set(before)) == 3
    Path("a.txt").write_text(
        f"# new\n\nbadge: {BADGE.replace('8', '9')}\nbadge: {BADGE}\nother {BADGE}\n"
    )
    assert [one.identity for one in scan(examiner, "a.txt")[0]] == before


def test_fingerprints_need_a_key(badges: Any) -> None:
    Path("a.txt").write_text(f"{BADGE}\n\n{BADGE}")
    keyed = Examiner(badges, 0.5, AllowList(), keys=[b"k" * 32])
    prints = [one.fingerprint for one in scan(keyed, "a.txt")[0]]
    assert prints[0] == prints[1] != ""
    other = Examiner(badges, 0.5, AllowList(), keys=[b"l" * 32])
    assert scan(other, "a.txt")[0][0].fingerprint != prints[0]


def test_whatever_the_number_of_workers(examiner: Examiner) -> None:
    for number in range(300):
        file = Path(f"d{number % 7}/f{number}.txt")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{'x ' * number}\nAC-{10_000_000 + number}\n" * 3)
    alone = scan(examiner, ".", jobs=1)
    several = scan(examiner, ".", jobs=3)
    assert alone[0] == several[0]
    assert len(alone[0]) == 900
    assert alone[2].summary.to_dict() == several[2].summary.to_dict()


def test_threads_where_nothing_forks(examiner: Examiner, limit: Limiter) -> None:
    limit("dlpctl.scan.executor.FORKS", False)
    test_whatever_the_number_of_workers(examiner)


def test_large_files_are_read_in_parts(examiner: Examiner, limit: Limiter) -> None:
    """Positions are those of the complete file, wherever the seams are."""
    text = "".join(
        f"{'ü' * (number % 50)} AC-{10_000_000 + number}{' ' if number % 3 else chr(10)}"
        for number in range(4000)
    )
    Path("a.txt").write_text(text, encoding="utf-8")
    whole, _, _ = scan(examiner, "a.txt")
    assert len(whole) == 4000
    limit("dlpctl.scan.scanner.LARGE", 1000)
    limit("dlpctl.scan.scanner.PART_SIZE", 9973)
    parts, _, done = scan(examiner, "a.txt", jobs=2)
    drop = {"identity": ""}
    assert [one._replace(**drop) for one in parts] == [one._replace(**drop) for one in whole]
    assert done.summary.files == 1
    assert done.summary.bytes == len(text.encode())
    limit("dlpctl.scan.reader.LARGE", 1000)
    limit("dlpctl.scan.reader.PART_SIZE", 7919)
    with stdin_from(Path("a.txt")):
        piped, _, _ = scan(examiner, "-")
    drop["path"] = ""
    assert [one._replace(**drop) for one in piped] == [one._replace(**drop) for one in whole]


def test_a_sparse_file_costs_what_is_in_it(examiner: Examiner) -> None:
    with Path("sparse").open("wb") as file:
        file.write(b"\0" * 100)
        file.seek(5 << 30)
        file.write(f" {BADGE} ".encode())
    Path("dense").write_bytes(b"plain words\n" * (2 << 20))
    results, _, done = scan(examiner, "sparse", jobs=1)
    assert [one.inner for one in results] == [f"byte {(5 << 30) + 4:,}"]
    assert done.summary.files == 1
    sparse, dense = (
        seconds(lambda name=name: scan(examiner, name, jobs=1)) for name in ("sparse", "dense")
    )
    assert sparse < dense


def test_encodings_and_binaries(examiner: Examiner) -> None:
    Path("utf16.txt").write_text(f"Grüße\n{BADGE}\n", encoding="utf-16")
    Path("latin.txt").write_text(f"Grüße aus Köln\n{BADGE}\n", encoding="latin-1")
    Path("program").write_bytes(b"\x7fELF\0\0\xff" + BADGE.encode() + b"\0\xfe")
    Path("empty").write_bytes(b"")
    results, skips, done = scan(examiner, ".")
    assert [(one.path, one.line, one.inner[:5]) for one in results] == [
        ("latin.txt", 2, ""),
        ("program", 1, "byte "),
        ("utf16.txt", 2, ""),
    ]
    assert {path: one.why for path, one in skips.items()} == {"program": Why.BINARY}
    assert done.summary.failures == 0
    assert done.summary.files == 4


def test_archives_are_opened_unless_they_are_not_wanted(examiner: Examiner) -> None:
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("inner/note.txt", f"see {BADGE}\n")
    results, _, _ = scan(examiner, "a.zip")
    assert [one.type for one in results] == ["BADGE"]
    assert "note.txt" in results[0].inner
    results, skips, _ = scan(examiner, "a.zip", archives=False)
    assert not results
    assert skips["a.zip"].why is Why.ARCHIVE


def test_text_that_is_labelled_or_encoded_elsewhere(examiner: Examiner) -> None:
    encoded = base64.b64encode(f"see {BADGE}\n".encode()).decode()
    Path("mail.eml").write_text(
        f"From: a@example.com\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n{encoded}\n"
    )
    Path("table.csv").write_text(f"name,badge\nx,y\nz,{BADGE}\n")
    Path("broken.csv").write_bytes(b"\0\1\2 " + BADGE.encode() + b" \0")
    results, skips, _ = scan(examiner, ".")
    assert [(one.path, one.line, bool(one.inner)) for one in results] == [
        ("broken.csv", 1, True),
        ("mail.eml", 1, True),
        ("table.csv", 3, False),
    ]
    assert [(one.column, one.end_column, one.has_columns) for one in results[1:]] == [
        (1, 1, False),
        (6, 14, True),
    ]
    assert {path: one.why for path, one in skips.items()} == {"broken.csv": Why.BINARY}


def test_a_damaged_document_is_a_failure(examiner: Examiner) -> None:
    Path("broken.zip").write_bytes(b"PK\x03\x04" + b"\x01" * 200)
    _, skips, done = scan(examiner, ".")
    assert skips["broken.zip"].why is Why.UNREADABLE
    assert done.summary.failures == 1


def test_a_failure_in_one_file_is_reported_and_the_others_are_scanned(
    badges: Detector,
) -> None:
    class Failing(Examiner):
        def text(self, path: str, data: bytes) -> Any:
            if path == "b.txt":
                raise ValueError(data.decode())
            return super().text(path, data)

    for name in ("a.txt", "b.txt", "c.txt"):
        Path(name).write_text(BADGE)
    results, skipped, done = scan(Failing(badges, 0.5, AllowList()), ".")
    assert [one.path for one in results] == ["a.txt", "c.txt"]
    assert skipped["b.txt"].why is Why.UNREADABLE
    assert "ValueError in " in skipped["b.txt"].detail
    assert "12345678" not in skipped["b.txt"].detail
    assert done.summary.failures == 1


def test_files_that_vanish_or_change_during_the_scan(badges: Detector) -> None:
    class Slow(Examiner):
        """While it reads the first file, others change."""

        def text(self, path: str, data: bytes) -> Any:
            if path == "first":
                Path("gone").unlink()
                Path("pipe").unlink()
                os.mkfifo("pipe")
            return super().text(path, data)

    for name in ("first", "gone", "pipe", "stays"):
        Path(name).write_text(f"{BADGE}\n")
    run = Scan(Slow(badges, 0.5, AllowList()), Selection(), jobs=1)
    found = list(run.files(["."]))
    assert [(one.path, one.why if isinstance(one, Skip) else one.type) for one in found] == [
        ("first", "BADGE"),
        ("stays", "BADGE"),
        ("gone", Why.GONE),
        ("pipe", Why.SPECIAL),
    ]
    assert run.summary.failures == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_a_failure(examiner: Examiner) -> None:
    Path("secret").write_text(BADGE)
    Path("secret").chmod(0)
    _, skips, done = scan(examiner, ".")
    assert skips["secret"].why is Why.UNREADABLE
    assert done.summary.failures == 1


def test_accepted_results_are_counted_and_not_given(examiner: Examiner) -> None:
    Path("a.txt").write_text(f"{BADGE}\ntok_abcdefghijkl\nAC-87654321 dlpctl:allow\n")
    results, _, done = scan(examiner, "a.txt", accepts=lambda one: one.type == "TOKEN")
    assert [one.line for one in results] == [1]
    assert done.summary.accepted == 2
    assert done.summary.types == {"BADGE": 1}


class Job:
    def __init__(self, do: Callable[[Any], Any]) -> None:
        self._do = do

    def __call__(self, task: Any, /) -> Any:
        return self._do(task)

    def close(self) -> None:
        pass


class Numbered:
    def __init__(self, task: Any) -> None:
        self.task = task


@pytest.mark.parametrize("forks", [True, False])
def test_work_comes_back_in_order_and_failures_stop_it(forks: bool, limit: Limiter) -> None:
    if forks and not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    limit("dlpctl.scan.executor.FORKS", forks)

    def slow(task: Any) -> Any:
        time.sleep(0.01 if task % 5 == 0 else 0)
        return [task, "ü\udcff"]

    with InOrder(lambda: Job(slow), 3) as workers:
        outcomes = [outcome for _, outcome in workers.run(Numbered(number) for number in range(40))]
    assert [list(outcome) for outcome in outcomes] == [[number, "ü\udcff"] for number in range(40)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_worker_that_dies_is_an_error(limit: Limiter) -> None:
    limit("dlpctl.scan.executor.FORKS", True)

    def dies(task: Any) -> Any:
        if task == 7:
            os._exit(9)
        return task

    with (
        pytest.raises(EngineError, match="ended without an answer"),
        InOrder(lambda: Job(dies), 2) as workers,
    ):
        list(workers.run(Numbered(number) for number in range(20)))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of POSIX")
def test_ctrl_c_ends_a_scan_whose_wait_it_does_not_end() -> None:
    """A signal just before the wait, or to another thread, lets the main thread wait on."""
    ended = threading.Event()

    def interrupt() -> None:
        time.sleep(0.2)  # usually the main thread waits by then
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    def batches() -> Iterator[Numbered]:
        yield from map(Numbered, range(2))
        threading.Thread(target=interrupt).start()

    with (
        pytest.raises(KeyboardInterrupt),
        InOrder(lambda: Job(lambda _: ended.wait()), 2) as workers,
    ):
        list(workers.run(batches()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(
    "said",
    [
        b"\xff" * 8,
        b"\0" * 8,
        (2).to_bytes(8, "little") + b"[]",
        (5).to_bytes(8, "little") + b"[7,1]",
        (5).to_bytes(8, "little") + b"[1,2]",
        (9).to_bytes(8, "little") + b"\x80\x04\x95 no JSON",
        (100_000).to_bytes(8, "little") + b"[" * 100_000,
    ],
)
def test_a_worker_that_was_taken_over_is_an_error(
    said: bytes, monkeypatch: pytest.MonkeyPatch, limit: Limiter
) -> None:
    limit("dlpctl.scan.executor.FORKS", True)
    others = open_pipes()
    with (
        pytest.raises(EngineError, match="cannot be trusted"),
        InOrder(lambda: Job(lambda _: take_over(said, others)), 2) as workers,
    ):
        list(workers.run(Numbered(number) for number in range(4)))


def open_pipes() -> dict[int, int]:
    """Return the open pipes by their numbers, with what tells one from another."""
    found = {}
    for number in range(64):
        with suppress(OSError):
            status = os.fstat(number)
            if stat.S_ISFIFO(status.st_mode):
                found[number] = status.st_ino
    return found


def take_over(said: bytes, others: dict[int, int]) -> None:
    """Say something else in a forked worker, as a hostile file would have it do, on all pipes that
    are not of others.
    """
    for number, identity in open_pipes().items():
        if identity not in others.values():
            with suppress(OSError):
                os.write(number, said)
    os._exit(0)
