"""A defect of the cache costs time, but never changes or prevents an answer."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults import full_disk

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from dlpctl.errors import PatternError

PATTERNS = """
[[pattern]]
id = "badge"
type = "BADGE"
category = "CUSTOM"
label = "Badge"
regex = 'AC-[0-9]{8}'
score = 0.9
"""
TEXT = "badge AC-12345678"


class Place:
    """A pattern file and a cache of its own, and how often the patterns were compiled."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "mine.toml"
        self.file.write_text(PATTERNS, encoding="utf-8")
        self.folder = folder / "cache"
        self.compilations = 0
        self.library: list[Path] = []

    def detector(self) -> Detector:
        return Detector(
            files=[self.file],
            cache=Cache(self.folder),
            on_compile=self._count,
            library=self.library,
        )

    def _count(self) -> None:
        self.compilations += 1

    def finds(self) -> bool:
        """Names are not asked for: what looks for them has an entry of its own."""
        return [one.type for one in self.detector().for_types({"BADGE"}).scan(TEXT)] == ["BADGE"]

    @property
    def entries(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    @property
    def entry(self) -> Path:
        (entry,) = self.entries
        return entry


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_compiled_once(place: Place) -> None:
    assert place.finds()
    assert place.finds()
    assert place.compilations == 1


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_only_the_owner_can_read_it(place: Place) -> None:
    place.finds()
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.entry.stat().st_mode) == 0o600


def test_changed_file_is_compiled_again(place: Place) -> None:
    place.finds()
    place.file.write_text(PATTERNS.replace("AC-[0-9]{8}", "AC-[0-9]{7}[0-8]"), encoding="utf-8")
    assert place.finds()
    assert place.compilations == 2


def test_the_same_content_elsewhere_and_at_another_time_is_taken(place: Place) -> None:
    """As in an image of a container, which is unpacked where it runs."""
    assert place.finds()
    elsewhere = place.file.parent / "unpacked" / place.file.name
    elsewhere.parent.mkdir()
    place.file.rename(elsewhere)
    os.utime(elsewhere, (0, 0))
    place.file = elsewhere
    assert place.finds()
    assert place.compilations == 1


def test_changed_file_leaves_the_library_alone(place: Place) -> None:
    library = place.file.with_name("library.toml")
    library.write_text(
        PATTERNS.replace('"badge"', '"builtin"')
        .replace('"BADGE"', '"BUILTIN"')
        .replace("AC-", "BC-")
    )
    place.library = [library]
    place.finds()
    before = set(place.entries)
    place.file.write_text(PATTERNS.replace("AC-[0-9]{8}", "AC-[0-9]{7}[0-8]"), encoding="utf-8")
    assert place.finds()
    assert len(set(place.entries) - before) == 1
    place.file.write_text(library.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(PatternError, match="pattern 'builtin': id is already used in"):
        place.finds()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "truncated in its head": lambda content: content[:17],
    "one bit": flipped,
    "one bit of the database": lambda content: (
        content[:-200] + bytes([content[-200] ^ 1]) + content[-199:]
    ),
    "wrong checksum": lambda content: content[:19] + b"\0\0\0\0" + content[23:],
    "another kind of file": lambda content: b"PK\3\4" + content,
    "longer": lambda content: content + b"\0",
    "older kind": lambda content: content.replace(b"dlpctl-cache-2", b"dlpctl-cache-1"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entry_is_made_again(
    place: Place, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    place.finds()
    whole = place.entry.read_bytes()
    place.entry.write_bytes(DAMAGES[damage](whole))
    assert place.finds()
    assert place.compilations == 2
    assert place.entry.read_bytes() == whole
    assert capfd.readouterr() == ("", "")


def test_entry_for_another_engine_is_made_again(place: Place) -> None:
    """The checksum is right, but Hyperscan refuses what is in it."""
    place.finds()
    cache, name = Cache(place.folder), place.entry.name
    entry = cache.read(name)
    assert entry
    content, database = entry
    cache.write(name, content, database[:-64] + bytes(64))
    for size in (200, 60):
        cache.write(name, content, database[:-size])
        assert place.finds()
    assert place.compilations == 3


def test_entry_of_another_key_under_the_same_short_name_is_not_taken(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zlib, "crc32", lambda data, start=0: 1)
    place.finds()
    place.file.write_text(PATTERNS.replace("AC-", "A[BC]-"), encoding="utf-8")
    assert place.finds()
    assert place.compilations == 2
    assert place.detector().scan("AB-12345678")


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_entry_that_others_may_write_is_made_again(place: Place, mode: int) -> None:
    place.finds()
    place.entry.chmod(mode)
    assert place.finds()
    assert place.compilations == 2
    assert stat.S_IMODE(place.entry.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_folder_that_others_may_write_is_neither_read_nor_written(place: Place, mode: int) -> None:
    place.finds()
    entry = place.entry
    entry.unlink()
    place.folder.chmod(mode)
    assert place.finds()
    assert place.finds()
    assert place.compilations == 3
    assert place.entries == []


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away"
)
def test_entry_of_somebody_else_is_made_again(place: Place) -> None:
    place.finds()
    os.chown(place.entry, 12345, 12345)
    assert place.finds()
    assert place.compilations == 2
    assert place.entry.stat().st_uid == os.geteuid()


def test_folder_that_cannot_be_made(place: Place) -> None:
    place.folder.parent.joinpath("file").write_text("")
    place.folder = place.folder.parent / "file" / "cache"
    assert place.finds()


def test_folder_that_is_a_file(place: Place) -> None:
    place.folder.write_text("mine")
    assert place.finds()
    assert place.folder.read_text() == "mine"


def test_entry_that_is_a_folder(place: Place) -> None:
    place.finds()
    entry = place.entry
    entry.unlink()
    entry.mkdir()
    assert place.finds()


def test_a_full_disk_leaves_no_partial_entry(place: Place) -> None:
    with full_disk(100):
        assert place.finds()
        assert place.entries == []


def test_entries_of_many_versions_are_kept(place: Place) -> None:
    for number in range(30):
        place.file.write_text(PATTERNS.replace("Badge", f"Badge {number}"), encoding="utf-8")
        assert place.finds()
    assert len(place.entries) == 30


def aged(folder: Path, name: str, days: float, size: int = 1) -> Path:
    """An entry that was used so long ago."""
    Cache(folder).write(name, b"x" * size)
    used = time.time() - days * 86_400
    os.utime(folder / name, (used, used))
    return folder / name


def test_unused_entries_are_evicted_when_another_is_written(place: Place) -> None:
    old = aged(place.folder, "patterns-old", days=61)
    recent = aged(place.folder, "patterns-recent", days=59)
    others = aged(place.folder, "policy-old", days=61)
    assert place.finds()
    assert [entry.exists() for entry in (old, recent, others)] == [False, True, True]


def test_the_longest_unused_entries_are_evicted_above_a_total_size(tmp_path: Path) -> None:
    kept = [aged(tmp_path, f"patterns-{days}", days, size=1000) for days in (0, 1, 2, 3)]
    Cache(tmp_path).evict("patterns-", 3500)
    assert [entry.exists() for entry in kept] == [True, True, True, False]


def test_an_entry_that_is_read_counts_as_used(tmp_path: Path) -> None:
    entry = aged(tmp_path, "patterns-a", days=2)
    assert Cache(tmp_path).read("patterns-a")
    assert entry.stat().st_mtime > time.time() - 86_400


def test_ten_processes_with_a_cold_cache(place: Place) -> None:
    program = (
        "import sys; from pathlib import Path; from dlpctl.detect import engine; from dlpctl.detect.automaton.cache import Cache\n"
        "engine.builtin_files = list; file, folder, text = sys.argv[1:]; sys.stdin.readline()\n"
        "detector = engine.Detector(files=[Path(file)], cache=Cache(Path(folder))).for_types(['BADGE'])\n"
        "print(*[finding.type for finding in detector.scan(text)])\n"
    )
    command = [sys.executable, "-c", program, str(place.file), str(place.folder), TEXT]
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    started = [subprocess.Popen(command, text=True, **pipes) for _ in range(10)]
    for process in started:  # all are up to the line that they wait for; now they go on at once
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        assert process.communicate(timeout=300) == ("BADGE\n", "")
        assert process.returncode == 0
    assert place.finds()
    assert place.compilations == 0
