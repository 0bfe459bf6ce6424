"""Scans of git contents, with real repositories."""

from __future__ import annotations

import os
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import InputError, UsageError
from dlpctl.scan.content import Examiner
from dlpctl.scan.git import Blob, Repository
from dlpctl.scan.results import Result, Skip, Why
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection

if TYPE_CHECKING:
    from limits import Limiter

Git = Callable[..., str]
pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


def badge(number: int) -> str:
    return f"AC-{10_000_000 + number}\n"


def commit(git: Git, message: str = "change") -> str:
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", message)
    return git("rev-parse", "HEAD").strip()


def history(
    examiner: Examiner, *ranges: str, paths: tuple[str, ...] = (), jobs: int = 1
) -> list[Result | Skip]:
    repository = Repository(".")
    return list(
        Scan(examiner, Selection(), jobs=jobs).blobs(repository, repository.history(ranges, paths))
    )


def test_every_content_once_with_its_first_commit_and_path(git: Git, examiner: Examiner) -> None:
    Path("a.txt").write_text(badge(1))
    first = commit(git)
    Path("b.txt").write_text(badge(1))  # the same content again
    Path("c.txt").write_text(badge(2))
    second = commit(git)
    Path("a.txt").unlink()
    Path("c.txt").write_text(badge(3))
    third = commit(git)
    found = history(examiner)
    assert [(one.path, one.commit) for one in found if isinstance(one, Result)] == [
        ("a.txt", first),
        ("c.txt", second),
        ("c.txt", third),
    ]
    assert isinstance(found[0], Result)
    assert found[0].date == "2024-05-06T07:08:09+02:00"
    assert history(examiner, jobs=2) == found
    assert [one.path for one in history(examiner, f"{first}..{second}")] == ["b.txt", "c.txt"]
    assert [one.path for one in history(examiner, paths=("a.txt",))] == ["a.txt"]


def test_a_content_under_an_excluded_path_is_found_under_the_next(
    git: Git, examiner: Examiner
) -> None:
    Path("build.out").write_text(badge(1))
    commit(git)
    Path("kept.txt").write_text(badge(1))
    second = commit(git)
    scan = Scan(examiner, Selection(exclude=("*.out",)))
    repository = Repository(".")
    found = list(scan.blobs(repository, repository.history((), ())))
    assert [(one.path, one.commit) for one in found if isinstance(one, Result)] == [
        ("kept.txt", second)
    ]
    assert [(one.path, one.why) for one in found if isinstance(one, Skip)] == [
        ("build.out", Why.EXCLUDED)
    ]


def test_a_value_that_stays_in_a_file_is_listed_once(git: Git, examiner: Examiner) -> None:
    path = Path("a.txt")
    path.write_text(badge(1))
    first = commit(git)
    path.write_text(f"a new line\n{badge(1)}{badge(1)}")
    second = commit(git)
    path.write_text(f"another line\n{badge(1)}{badge(2)}")  # in the same place, another value
    third = commit(git)
    repository = Repository(".")
    scan = Scan(examiner, Selection(), jobs=2)
    found = list(scan.blobs(repository, repository.history((), ())))
    assert [(one.commit, one.line) for one in found if isinstance(one, Result)] == [
        (first, 1),
        (second, 3),
        (third, 3),
    ]
    assert scan.summary.findings == 3
    assert "2 findings in later contents are repetitions" in scan.summary.remarks[0]


def test_merges_and_other_branches_count(git: Git, examiner: Examiner) -> None:
    Path("a").write_text("x\n")
    commit(git)
    git("checkout", "-q", "-b", "side")
    Path("a").write_text(f"side {badge(1)}")
    commit(git)
    git("checkout", "-q", "main")
    Path("b").write_text("y\n")
    commit(git)
    git("merge", "-q", "--no-commit", "side")
    Path("a").write_text(f"only in the merge {badge(2)}")
    merge = commit(git)
    git("checkout", "-q", "--orphan", "apart")
    Path("c").write_text(badge(3))
    commit(git)
    git("checkout", "-q", "main")
    found = [one for one in history(examiner) if isinstance(one, Result)]
    assert len(found) == 3
    assert ("a", merge) in [(one.path, one.commit) for one in found]


@pytest.mark.skipif(os.name != "posix", reason="names of bytes are of POSIX")
def test_strange_names_links_and_submodules(git: Git, examiner: Examiner) -> None:
    strange = os.fsdecode(b':new\nline "\xff')
    Path(strange).write_text(badge(1))
    Path("link").symlink_to("elsewhere")
    Path("\x01odd").write_text(badge(2))
    head = commit(git)
    git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    git("commit", "-q", "-m", "a submodule")
    found = history(examiner)
    assert {one.path for one in found if isinstance(one, Result)} == {strange, "\x01odd"}
    assert {(one.path, one.why) for one in found if isinstance(one, Skip)} == {
        ("link", Why.LINK),
        ("module", Why.SUBMODULE),
    }


def test_the_index_and_not_the_work_tree(git: Git, examiner: Examiner) -> None:
    repository = Repository(".")
    assert list(repository.staged(())) == []  # an empty index, and no commit yet
    Path("a").write_text(badge(1))
    git("add", "a")
    Path("a").write_text("nothing\n")
    Path("untracked").write_text(badge(2))

    def staged() -> list[tuple[str, str]]:
        run = Scan(examiner, Selection())
        return [
            (one.path, one.sample or "")
            for one in run.blobs(repository, repository.staged(()))
            if isinstance(one, Result)
        ]

    assert staged() == [("a", "******01")]
    git("commit", "-q", "-m", "one")
    assert staged() == []
    git("add", "a", "untracked")
    assert staged() == [("untracked", "******02")]


def test_only_lines_that_a_branch_adds(git: Git, examiner: Examiner) -> None:
    Path("a").write_text(f"{badge(1)}\n\n")
    Path("gone").write_text(badge(9))
    Path("moved").write_text(badge(8))
    commit(git)
    git("checkout", "-q", "-b", "feature")
    Path("a").write_text(
        f"{badge(1)}\n\nnew {badge(2)}+++ b/x\n@@ -1 +1 @@\ndiff --git a/a b/a\n{badge(3)}"
    )
    Path("gone").unlink()
    Path("moved").rename("moved2")
    Path("bin").write_bytes(b"\0\1\2 " + badge(4).encode())
    Path("empty").write_text("")
    Path("z").write_text(badge(5))
    commit(git)
    git("checkout", "-q", "main")
    Path("later").write_text(badge(7))  # main goes on; that is not of the branch
    commit(git)
    git("checkout", "-q", "feature")
    repository = Repository(".")
    found = Scan(examiner, Selection()).blobs(repository, repository.added("main", ()))
    assert [(one.path, one.line) for one in found if isinstance(one, Result)] == [
        ("a", 4),
        ("a", 8),
        ("bin", 1),
        ("moved2", 1),
        ("z", 1),
    ]
    with pytest.raises(UsageError, match="no such commit"):
        list(repository.added("nowhere", ()))


def test_ranges_that_are_none(git: Git) -> None:
    assert list(Repository(".").history((), ())) == []  # no commit yet
    commit(git)
    with pytest.raises(UsageError, match="neither a file nor a range"):
        list(Repository(".").history(("--output=x",), ()))
    assert not Path("x").exists()


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(InputError, match="is not in a git repository"):
        Repository(str(tmp_path))


def test_no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(InputError, match="not installed"):
        Repository(".")


def test_a_shallow_clone_is_reported(
    git: Git, examiner: Examiner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a").write_text(badge(1))
    commit(git)
    Path("a").write_text(badge(2))
    commit(git)
    git("clone", "-q", "--depth", "1", Path.cwd().as_uri(), str(tmp_path / "shallow"))
    assert not Repository(".").is_shallow
    monkeypatch.chdir(tmp_path / "shallow")
    assert Repository(".").is_shallow
    assert len(history(examiner)) == 1


def test_a_damaged_object_is_named_and_the_rest_is_scanned(git: Git, examiner: Examiner) -> None:
    for number in range(4):
        Path(f"f{number}").write_text(badge(number))
    commit(git)
    broken = git("rev-parse", "HEAD:f1").strip()
    file = Path(".git/objects") / broken[:2] / broken[2:]
    file.chmod(0o600)
    file.write_bytes(b"no zlib at all")
    found = history(examiner)
    assert [one.path for one in found if isinstance(one, Result)] == ["f0", "f2", "f3"]
    assert [(one.path, one.why) for one in found if isinstance(one, Skip)] == [
        ("f1", Why.UNREADABLE)
    ]


def test_a_broken_pack_is_an_error_or_named(git: Git, examiner: Examiner) -> None:
    for number in range(20):
        Path(f"f{number}").write_text(badge(number) * 50)
    commit(git)
    git("repack", "-q", "-a", "-d")
    (pack,) = Path(".git/objects/pack").glob("*.pack")
    content = bytearray(pack.read_bytes())
    content[len(content) // 3 : len(content) // 3 + 200] = b"\xee" * 200
    pack.chmod(0o600)
    pack.write_bytes(content)
    found: list[Result | Skip] = []
    with suppress(InputError):
        found = history(examiner)
        assert any(isinstance(one, Skip) and one.why is Why.UNREADABLE for one in found)
    assert len(found) != 20 or not all(isinstance(one, Result) for one in found)


def test_large_blobs_in_parts(git: Git, examiner: Examiner, limit: Limiter) -> None:
    text = "".join(f"line {number} {badge(number)}" for number in range(3000))
    Path("large").write_text(text)
    Path("small").write_text(badge(1))
    commit(git)
    whole = history(examiner)
    limit("dlpctl.scan.reader.LARGE", 1000)
    limit("dlpctl.scan.reader.PART_SIZE", 7001)
    parts = history(examiner)
    assert len(whole) == 3001
    assert [
        (one.path, one.line, one.column, one.start) for one in parts if isinstance(one, Result)
    ] == [(one.path, one.line, one.column, one.start) for one in whole if isinstance(one, Result)]
    limited = Scan(examiner, Selection(max_size=1000))
    repository = Repository(".")
    kept = list(limited.blobs(repository, repository.history((), ())))
    assert sorted((one.path, isinstance(one, Skip)) for one in kept) == [
        ("large", True),
        ("small", False),
    ]


def test_nothing_that_the_repository_configures_is_run(git: Git, examiner: Examiner) -> None:
    Path(".gitattributes").write_text("* diff=evil filter=evil\n")
    Path("a").write_text(badge(1))
    for key in (
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
    ):
        git("config", key, "touch ran; false")
    git("add", "-A")
    repository = Repository(".")
    staged = Scan(examiner, Selection()).blobs(repository, repository.staged(()))
    assert [one.path for one in staged if isinstance(one, Result)] == ["a"]
    git("-c", "core.fsmonitor=false", "commit", "-q", "-m", "one")
    Path("a").write_text(badge(2))
    git("-c", "core.fsmonitor=false", "commit", "-q", "-a", "-m", "two")
    Path("ran").unlink(missing_ok=True)
    assert len(history(examiner)) == 2
    assert [one.path for one in repository.added("HEAD~1", ()) if isinstance(one, Blob)] == ["a"]
    assert not Path("ran").exists()


def test_a_bare_repository(
    git: Git, examiner: Examiner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a").write_text(badge(1))
    commit(git)
    git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    monkeypatch.chdir(tmp_path / "bare.git")
    assert len(history(examiner)) == 1


@pytest.mark.no_cover
def test_memory_does_not_grow_with_what_is_listed(git: Git, examiner: Examiner) -> None:
    Path("a").write_text(badge(1))
    commit(git)
    name = git("rev-parse", "HEAD:a").strip()
    repository = Repository(".")

    def listed(count: int) -> Iterator[Blob | Skip]:
        for number in range(count):
            yield (
                Blob(name, f"folder/{number}")
                if number % 8 == 0
                else Skip(f"link/{number}", Why.LINK)
            )

    def peak(count: int) -> int:
        tracemalloc.start()
        given = sum(1 for _ in Scan(examiner, Selection(), jobs=2).blobs(repository, listed(count)))
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert given == count
        return memory

    peak(1_000)
    assert peak(8_000) < peak(1_000) + (300 << 10)
