"""Cost is linear: twice as much of anything takes about twice as long, in every format and for
every command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from growing import GROWING, Growing, sentence

from dlpctl.cli.documents import is_plain
from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.errors import StillExposedError
from dlpctl.files.checking import FileChecker
from dlpctl.formats.residues import StrictMatcher
from dlpctl.masking.leaks import Value, find_leaks
from dlpctl.masking.repeats import find_repeats
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker
from dlpctl.scan.content import Examiner
from dlpctl.scan.local import LocalFiles
from dlpctl.scan.places import TextPlaces
from dlpctl.scan.reader import FILES, BatchReader, Task
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File
from dlpctl.types import Category, Destination, Finding

MOST = 2.3
"""Times the cost, at most, for twice the work."""
LONG = 0.4
"""Seconds that a file takes at least, so that what every file costs does not hide how cost grows.
"""
ATTEMPTS = 6
UNKNOWN = "a.bin"
"""A file of no known format: its strings are searched, and it counts as not inspected."""
Command = Callable[[str, bytes], object]


@pytest.fixture(scope="module")
def commands(library: Detector, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Command]:
    examiner = Examiner(library, 0.5, AllowList())
    checker = Checker(library, Policy.builtin(), Destination.VENDOR)
    folder = tmp_path_factory.mktemp("growing")

    def scan(name: str, data: bytes) -> object:
        (folder / name).write_bytes(data)
        reader = BatchReader(examiner, sources=[LocalFiles([])])
        try:
            outcome = reader(Task(FILES, [File(str(folder / name), name, 0)]))
        finally:
            reader.close()
        assert name == UNKNOWN or not outcome.skipped
        return len(list(outcome.results))

    def check(name: str, data: bytes) -> object:
        if is_plain(name, data[:8192]):
            return len(checker.check(data.decode("utf-8", "surrogateescape")).findings)
        return len(FileChecker(checker, method="spawn").check(data, name).report.findings)

    def mask(name: str, data: bytes) -> object:
        if is_plain(name, data[:8192]):
            return [piece.masked(checker.masker()) for piece in checker.mask_pieces(iter([data]))]
        with suppress(StillExposedError) if name == UNKNOWN else nullcontext():
            return FileChecker(checker, method="spawn").mask(data, name)
        return None

    return {"scan": scan, "check": check, "mask": mask}


def calls_of(work: Callable[[], object]) -> int:
    """Count the functions that are called, those of Python's own library in C included."""
    counter = count()

    def on_event(_frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            next(counter)

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(counter)


def seconds_of(work: Callable[[], object]) -> float:
    """Measure the processor time, that of other processes which end meanwhile included.

    Forked workers do not count: they are children of the process that forks them.
    """
    before = _seconds()
    work()
    return _seconds() - before


def _seconds() -> float:
    if sys.platform == "win32":
        return sum(os.times()[:4])
    import resource

    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def growth_of(work: Callable[[int], Callable[[], object]], size: int, most: int) -> float:
    """Return how many times the time twice the size takes, at a size that takes a while."""
    constant = seconds_of(work(max(size // 50, 1)))
    # Twice, since the first time something may be compiled and remembered.
    while size * 4 <= most and min(map(seconds_of, [work(size)] * 2)) < LONG + constant:
        size *= 2
    small, large = work(size), work(2 * size)
    times: tuple[list[float], list[float]] = [], []
    for _ in range(ATTEMPTS):
        for measured, one in zip(times, (small, large), strict=True):
            measured.append(seconds_of(one))
        # Another program may take from the cache, or from the processor's other thread, in any of
        # them.
        if min(times[1]) <= MOST * min(times[0]):
            break
    return min(times[1]) / max(min(times[0]), 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["scan", "check", "mask"])
@pytest.mark.parametrize("growing", GROWING, ids=lambda one: one.id)
def test_twice_the_work_takes_twice_the_time(
    commands: dict[str, Command], growing: Growing, command: str
) -> None:
    def work(size: int) -> Callable[[], object]:
        data = growing.make(size)
        return lambda: commands[command](growing.name, data)

    work(1)()
    assert growth_of(work, growing.size, growing.most) <= MOST


@pytest.mark.slow
def test_twice_the_files_take_twice_the_time(library: Detector, tmp_path: Path) -> None:
    def work(size: int) -> Callable[[], object]:
        folder = tmp_path / str(size)
        for number in range(size):
            (folder / str(number % 10)).mkdir(parents=True, exist_ok=True)
            (folder / str(number % 10) / f"{number}.txt").write_text(sentence(number))
        examiner = Examiner(library, 0.5, AllowList())
        return lambda: sum(1 for _ in Scan(examiner, Selection(), jobs=1).files([str(folder)]))

    assert growth_of(work, 500, 1 << 20) <= MOST


FEW = {
    "a.txt: lines with findings": 30,
    "a.txt: names in one line": 60,
    "a.csv: rows": 40,
    "a.json: length of one line": 20,
    "a.ini: lines": 60,
    "a.sql: rows": 20,
}
"""Sizes of inputs whose operations are counted rather than timed, in this process alone."""


@pytest.mark.parametrize("command", ["scan", "check"])
@pytest.mark.parametrize(
    "growing", [one for one in GROWING if one.id in FEW], ids=lambda one: one.id
)
def test_twice_the_work_is_twice_the_calls(
    commands: dict[str, Command], growing: Growing, command: str
) -> None:
    small, large = (growing.make(FEW[growing.id] * times) for times in (1, 2))
    run = commands[command]
    run(growing.name, large)  # what is compiled and remembered once
    counted = [calls_of(lambda data=data: run(growing.name, data)) for data in (small, large)]
    assert counted[1] <= MOST * counted[0], counted


class Counting(list[Finding]):
    """A list that counts how often one of its items is taken out."""

    taken = 0

    def __iter__(self) -> Iterator[Finding]:
        for item in super().__iter__():
            self.taken += 1
            yield item

    def __getitem__(self, place: Any) -> Any:
        self.taken += 1
        return super().__getitem__(place)


def test_a_finding_is_named_without_searching_all_before_it() -> None:
    examiner = Examiner(Detector(patterns=[]), 0.5, AllowList())
    examiner.detector.label = lambda _: "x"  # type: ignore[method-assign]
    text = "x 12345678\n" * 2000
    found = Counting(
        Finding("ID", Category.PII, at + 2, at + 10, 0.9, "id") for at in range(0, len(text), 11)
    )
    assert len(list(examiner.located_results("a.txt", TextPlaces(text, found)).results)) == 2000
    assert found.taken < 10 * len(found)


def test_values_that_start_with_the_same_word_are_not_tried_one_by_one() -> None:
    def look(size: int) -> int:
        matcher = StrictMatcher(f"m.name{number}@acme.example" for number in range(size))
        text = "m.other@acme.example " * size
        assert not matcher.in_text(text)
        assert not matcher.in_bytes(text.encode())
        return calls_of(lambda: matcher.in_text(text))

    assert look(400) <= MOST * look(200)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("by Maria  Lopez3 min", False),
        ("MARIA LOPEZ", True),
        ("Maria\n Lopez", True),
        ("Maria Lopezova", False),
        ("Anna Maria Lopez", True),
        ("Maria Lopez-Roy", True),
    ],
)
def test_a_value_of_several_words_is_found_by_its_words(text: str, held: bool) -> None:
    matcher = StrictMatcher(["Maria Lopez", "Maria Lopez Garcia", "Maria Roy"])
    assert matcher.in_text(text) is held


def test_many_values_are_found_joined_to_their_neighbours() -> None:
    names = [f"Maria{number} Lopez" for number in range(3000)]
    text = "; ".join(names) + " é by Maria77 Lopez3 min"
    found = [
        Finding(
            "PERSON_NAME", Category.PII, text.index(name), text.index(name) + len(name), 0.9, "n"
        )
        for name in names
    ]
    (again,) = [one for one in find_repeats(text, found) if one.start > text.index("by")]
    assert text[again.start : again.end] == "Maria77 Lopez"
    assert find_leaks("Maria77 Lopez", [Value("PERSON_NAME", Category.PII, name) for name in names])
