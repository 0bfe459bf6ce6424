"""A state: unchanged files are not read again, and all of their findings still count."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dlpctl.cli.scans.coverage import described
from dlpctl.detect.engine import Detector
from dlpctl.errors import InputError
from dlpctl.scan import reader, scanner
from dlpctl.scan.content import Examiner
from dlpctl.scan.results import Result, Skip
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from dlpctl.scan.state import State
from tests.detect.builtin_patterns import PATTERNS

if TYPE_CHECKING:
    from limits import Limiter

BADGE = "AC-12345678"
Run = Callable[..., tuple[list[Result], list[Skip], Scan]]


@pytest.fixture
def run(examiner: Examiner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(
        *names: str, search: Sequence[object] = (), library: str = "1", jobs: int = 1
    ) -> tuple[list[Result], list[Skip], Scan]:
        state = State(Path("state"), search, library)
        try:
            one = Scan(examiner, Selection(), jobs=jobs, state=state)
            found = list(one.files(names or ["tree"]))
        finally:
            state.close()
        results = [each for each in found if isinstance(each, Result)]
        return results, [each for each in found if isinstance(each, Skip)], one

    return call


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(8):
        text = f"{BADGE} in {number}\n{BADGE}\n" if number % 3 == 0 else "clean\n"
        (folder / f"{number}.txt").write_text(text)
    return folder


def counts(one: Scan) -> tuple[int, int, int, int | None]:
    summary = one.summary
    return summary.files, summary.bytes, summary.findings, summary.unchanged


@pytest.mark.parametrize("jobs", [1, 2])
def test_only_what_changed_is_read(run: Run, tree: Path, jobs: int) -> None:
    first, _, one = run(jobs=jobs)
    assert counts(one) == (8, one.summary.bytes, 6, 0)
    (tree / "1.txt").write_text(f"now {BADGE}\n")
    (tree / "2b.txt").write_text(f"new {BADGE}\n")
    (tree / "6.txt").unlink()
    second, _, two = run(jobs=jobs)
    assert (two.summary.files, two.summary.findings, two.summary.unchanged) == (8, 6, 6)
    assert two.summary.worst == one.summary.worst
    assert two.summary.types == {"BADGE": 6}
    assert [each.path for each in second] == [
        *("tree/0.txt", "tree/0.txt", "tree/1.txt", "tree/2b.txt", "tree/3.txt", "tree/3.txt"),
    ]
    assert second[:2] == first[:2]
    third, _, three = run()
    assert (third, three.summary.unchanged) == (second, 8)
    assert three.summary.remarks == [
        "8 files are unchanged since an earlier scan, with 6 findings."
    ]


def test_a_file_that_was_not_read_is_tried_again(run: Run, tree: Path) -> None:
    (tree / "half.zip").write_bytes(b"PK\x03\x04 cut off")
    _, skipped, _ = run()
    _, again, two = run()
    assert [each.path for each in skipped] == [each.path for each in again] == ["tree/half.zip"]
    assert two.summary.unchanged == 8
    assert two.summary.failures == 1


def test_uninspected_parts_of_a_known_file_are_reported_again(run: Run, tree: Path) -> None:
    with zipfile.ZipFile(tree / "all.zip", "w") as packed:
        packed.writestr("a.txt", f"{BADGE}\n")
        packed.writestr("b.bin", random.Random(1).randbytes(3000))
    first, skipped, _ = run()
    second, again, two = run()
    assert skipped
    assert (second, again, two.summary.unchanged) == (first, skipped, 9)


def test_large_files_are_known_when_their_last_part_is(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch, limit: Limiter
) -> None:
    for module in (scanner, reader):
        limit(f"{module.__name__}.LARGE", 1000)
        limit(f"{module.__name__}.PART_SIZE", 9973)
    (tree / "big.txt").write_text("".join(f"{BADGE} {n}\n" for n in range(4000)))
    first, _, one = run()
    second, _, two = run()
    assert (second, counts(two)[:3], two.summary.unchanged) == (first, counts(one)[:3], 9)


def test_each_search_and_each_name_has_its_own_memory(run: Run, tree: Path) -> None:
    run(search=["a"])
    assert run(search=["b"])[2].summary.unchanged == 0
    assert run(search=["a"])[2].summary.unchanged == 8
    assert run(str(tree), search=["a"])[2].summary.unchanged == 0  # results show other paths
    assert run("tree/1.txt", "tree/0.txt", search=["b"])[2].summary.unchanged == 2
    assert run(search=["b"])[2].summary.unchanged == 8  # the others were not forgotten


def test_another_version_of_the_library_reads_everything_again(run: Run, tree: Path) -> None:
    run()
    _, _, two = run(library="2")
    assert two.summary.unchanged == 0
    assert any("another version" in note for note in two.summary.remarks)
    assert run(library="2")[2].summary.remarks == [
        "8 files are unchanged since an earlier scan, with 6 findings."
    ]


def test_the_state_holds_no_value_and_is_not_scanned(run: Run, tree: Path) -> None:
    _, _, one = run(".")
    assert one.summary.files == 8
    assert BADGE[3:] not in Path("state").read_bytes().decode("latin-1")
    assert Path("state").stat().st_mode & 0o077 == 0
    assert run(".")[2].summary.unchanged == 8


def damaged(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    file.write_bytes(data)


def of_another_format(file: Path) -> None:
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def of_another_program(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE other (x)")
    database.close()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (damaged, "not the state of a scan, or damaged"),
        (of_another_format, "written by another version"),
        (of_another_program, "not the state of a scan, or damaged"),
        (lambda file: file.write_text("# notes\n"), "not the state of a scan, or damaged"),
    ],
)
def test_a_file_that_holds_no_state_is_refused_and_left(
    run: Run, tree: Path, spoil: Callable[[Path], object], message: str
) -> None:
    run()
    spoil(Path("state"))
    before = Path("state").read_bytes()
    with pytest.raises(InputError, match=message) as refused:
        run()
    assert "\n" not in refused.value.message
    assert Path("state").read_bytes() == before


def test_patterns_of_the_cache_and_of_files_are_the_same_search(library: Detector) -> None:
    read = PATTERNS
    assert described(library.patterns) == described(read)


def test_results_are_kept_while_a_scan_goes_on(run: Run, tree: Path, limit: Limiter) -> None:
    limit("dlpctl.scan.state._KEPT_EVERY", 0.0)
    run(jobs=2)
    assert run(jobs=2)[2].summary.unchanged == 8


def test_one_scan_at_a_time(run: Run, tree: Path) -> None:
    state = State(Path("state"), (), "1")
    with pytest.raises(InputError, match="another scan is using it"):
        run()
    state.close()
    run()


def test_a_stopped_scan_keeps_what_it_had_read(
    run: Run, tree: Path, examiner: Examiner, limit: Limiter
) -> None:
    limit("dlpctl.scan.scanner._BATCH_FILES", 1)
    state = State(Path("state"), (), "1")
    found: Iterator[Result | Skip] = Scan(examiner, Selection(), jobs=1, state=state).files(
        ["tree"]
    )
    while next(found).path < "tree/6":
        pass
    found.close()  # type: ignore[attr-defined]
    state.close()
    known = run()[2].summary.unchanged
    assert known is not None
    assert 6 <= known < 8


def test_a_killed_scan_leaves_a_state_that_can_be_used(run: Run, tree: Path) -> None:
    run()
    script = (
        "import os, signal, sys; from pathlib import Path; from dlpctl.scan.state import State;"
        "from dlpctl.scan.source import File\n"
        "state = State(Path('state'), (), '1')\n"
        "state.add([('x', File('tree/x', 'tree/x', 1, version='v'))] * 5000, [(1, 1, 0)] * 5000, ())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    assert run()[2].summary.unchanged == 8
