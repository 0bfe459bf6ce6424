"""Units of a scan: the same outcome in another process, stored by key."""

from __future__ import annotations

import os
import pickle
import zipfile
from functools import partial
from pathlib import Path

import pytest

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.model import Pattern
from dlpctl.errors import EngineError
from dlpctl.scan import units
from dlpctl.scan.content import Examiner
from dlpctl.scan.local import LocalFiles
from dlpctl.scan.reader import FILES, PART, BatchReader, Outcome, Task
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File
from dlpctl.types import Category

BADGE = "AC-12345678"
TEXT = "Mail jane.doe@example.com to Jane Doe, card 4111 1111 1111 1111, badge XY-1234567\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[File]:
    monkeypatch.chdir(tmp_path)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.txt").write_text(f"{BADGE} and {BADGE}\n")
    (tree / "b.bin").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    (tree / "c.txt").write_text("clean\n")
    with zipfile.ZipFile(tree / "d.zip", "w") as packed:
        packed.writestr("inner.txt", f"{BADGE}\n")
    (tree / "e.zip").write_bytes(b"PK\x03\x04 cut off")
    Path(os.fsdecode(b"tree/f\xff.txt")).write_text(BADGE)
    return [file for file in LocalFiles(["tree"]).files(Selection()) if isinstance(file, File)]


def listed(outcome: Outcome) -> Outcome:
    return outcome._replace(results=[*outcome.results])


def read(examiner: Examiner, task: Task) -> Outcome:
    made = partial(BatchReader, examiner, sources=[LocalFiles(["tree"])])
    reader = pickle.loads(pickle.dumps(made))()
    try:
        return listed(reader(task))
    finally:
        reader.close()


def test_outcomes_are_split_and_joined(examiner: Examiner, files: list[File]) -> None:
    task = Task(FILES, files, counts_possible=True)
    outcome = read(examiner, task)
    assert [one.path for one in outcome.results] == [
        *("tree/a.txt", "tree/a.txt", "tree/d.zip", os.fsdecode(b"tree/f\xff.txt"))
    ]
    carried = map(units.encoded, units.outcomes_of(task, outcome))
    parts = [listed(units.decoded(line)) for line in carried]
    assert [len([*part.results]) for part in parts] == [2, 0, 0, 1, 0, 1]
    assert listed(units.total_of(parts)) == outcome
    assert units.joined(units.units_of(task)) == task
    for unit, part in zip(units.units_of(task)[1:], parts[1:], strict=True):
        alone = read(examiner, unit._replace(counts_possible=False))
        assert alone._replace(possible=0, counted=0) == part


def test_a_key_names_address_version_and_range(
    files: list[File], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, file = LocalFiles(["tree"]), files[0]
    others = [
        Task(FILES, [file._replace(version="other")]),
        Task(FILES, [file._replace(size=1)]),
        Task(FILES, [files[1]]),
        Task(PART, (file, 0, 10, False)),
        Task(PART, (file, 10, 20, False)),
    ]
    assert len({units.key_of(task, source) for task in [Task(FILES, [file]), *others]}) == 6
    assert units.key_of(Task(FILES, [file._replace(version="")]), source) == ""
    before = units.key_of(Task(FILES, [file]), source)
    monkeypatch.chdir("/")
    assert units.key_of(Task(FILES, [file]), source) != before  # a relative name is another file


@pytest.mark.parametrize("kind", ["library", "types", "without names", "policy"])
def test_a_detector_finds_the_same_elsewhere(kind: str, library: Detector) -> None:
    detector = {
        "library": lambda: library,
        "types": lambda: library.for_types(["EMAIL", "PERSON_NAME"]),
        "without names": library.without_names,
        "policy": lambda: library.extended(
            [Pattern("badge", "BADGE", Category.CUSTOM, "Badge", r"XY-[0-9]{7}", 0.8)]
        ).for_known({"BADGE", "CREDIT_CARD"}),
    }[kind]()
    sent = pickle.loads(pickle.dumps(detector))
    assert sent.scan(TEXT) == detector.scan(TEXT) != []
    data = ("id,badge\n" + f"1,{TEXT}").encode()
    assert sent.scan_bytes(data) == detector.scan_bytes(data)


def test_source_code_and_binaries_are_read_the_same_elsewhere(
    library: Detector, files: list[File]
) -> None:
    Path("tree/a.py").write_text(f"# {TEXT}")
    Path("tree/b.bin").write_bytes(
        b"\0\1" * 2000 + b"postgres://admin:Xk29vQpLw81z@db.acme.io/prod"
    )
    files = [File(f"tree/{name}", f"tree/{name}", 1) for name in ("a.py", "b.bin", "c.txt")]
    examiner = Examiner(library, 0.5, AllowList())
    here = listed(BatchReader(examiner, sources=[LocalFiles(["tree"])])(Task(FILES, files)))
    assert read(Examiner(library, 0.5, AllowList()), Task(FILES, files)) == here
    assert {one.path for one in here.results} == {"tree/a.py", "tree/b.bin"}


def test_a_detector_of_another_library_is_refused(library: Detector) -> None:
    restored, (_, *rest) = library.__reduce__()
    with pytest.raises(EngineError, match="other built-in patterns"):
        restored("another library", *rest)


def test_an_allow_list_is_sent(badges: Detector, files: list[File]) -> None:
    allow = AllowList(["12345678"], ["[0-9]{8}"])
    outcome = read(Examiner(badges, 0.5, allow), Task(FILES, files))
    assert ([*outcome.results], outcome.accepted) == ([], 4)
