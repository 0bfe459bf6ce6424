"""The files that are scanned, and the reasons why others are not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dlpctl.scan.results import Skip, Why
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File
from dlpctl.scan.walk import walk


def made(folder: Path, **files: str) -> None:
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def scanned(*names: str, **selection: Any) -> list[str]:
    return [one.shown for one in walk(names, Selection(**selection)) if isinstance(one, File)]


def skipped(*names: str, **selection: Any) -> dict[str, Why]:
    return {
        one.path: one.why for one in walk(names, Selection(**selection)) if isinstance(one, Skip)
    }


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_in_the_order_of_names() -> None:
    made(Path(), b="", a__z="", a__b="", c__d__e="")
    assert scanned(".") == ["a/b", "a/z", "b", "c/d/e"]
    assert scanned("a", "b") == ["a/b", "a/z", "b"]


def test_nothing_twice() -> None:
    made(Path(), a__b="", c="")
    assert scanned(".", "a", "a/b", "./c", "c") == ["a/b", "c"]
    assert scanned("c", "c") == ["c"]


def test_ignore_files_of_folders_above_and_below() -> None:
    made(
        Path(),
        **{
            ".gitignore": "*.log\n/only\n",
            "sub__.gitignore": "!keep.log\nx/\n",
            "sub__.dlpctlignore": "data",
        },
    )
    made(Path(), a__log="", only="", sub__only="", sub__x__y="", sub__data="", sub__z="")
    Path("sub/keep.log").write_text("")
    Path("sub/a.log").write_text("")
    Path(".git").mkdir()
    assert scanned(".") == [
        ".gitignore",
        "a/log",
        "sub/.dlpctlignore",
        "sub/.gitignore",
        "sub/keep.log",
        "sub/only",
        "sub/z",
    ]
    assert scanned("sub") == [
        "sub/.dlpctlignore",
        "sub/.gitignore",
        "sub/keep.log",
        "sub/only",
        "sub/z",
    ]
    assert skipped("sub")["sub/a.log"] is Why.IGNORED
    assert skipped(".")["sub/x"] is Why.IGNORED
    assert skipped(".")[".git"] is Why.REPOSITORY
    assert "only" in scanned(".", ignore_files=False)


def test_include_and_exclude() -> None:
    made(Path(), **{"a.py": "", "b.txt": "", "docs__c.py": "", "src__d.py": ""})
    assert scanned(".", include=["*.py"]) == ["a.py", "docs/c.py", "src/d.py"]
    assert scanned(".", include=["*.py"], exclude=["docs/"]) == ["a.py", "src/d.py"]
    assert scanned(".", include=["src/"]) == ["src/d.py"]
    assert skipped(".", exclude=["docs", "b.*"]) == {"docs": Why.EXCLUDED, "b.txt": Why.EXCLUDED}


def test_sizes_and_the_allow_list() -> None:
    made(Path(), small="a", large="a" * 100, vendored__x="")
    assert skipped(".", max_size=10) == {"large": Why.TOO_LARGE}
    assert skipped(".", allowed=lambda path: path == "vendored") == {"vendored": Why.ALLOWED}


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and names of bytes are of POSIX")
def test_links_pipes_and_strange_names(tmp_path: Path) -> None:
    made(Path(), a__b="")
    Path("a/loop").symlink_to("..")
    Path("link").symlink_to("a/b")
    os.mkfifo("pipe")
    Path(".gitignore").symlink_to("pipe")
    strange = os.fsdecode(b"new\nline \xff")
    Path(strange).write_text("")
    assert scanned(".") == ["a/b", strange]
    assert skipped(".") == {
        "a/loop": Why.LINK,
        "link": Why.LINK,
        ".gitignore": Why.LINK,
        "pipe": Why.SPECIAL,
    }
    assert scanned("link") == ["link"]  # who names a link means what it leads to
    (named,) = walk(["pipe"], Selection())
    assert named == Skip("pipe", Why.UNREADABLE, "it is a pipe, not a file; use '-' for stdin")


def test_missing_files_are_unreadable() -> None:
    assert skipped("missing") == {"missing": Why.UNREADABLE}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_named() -> None:
    made(Path(), a__b="")
    Path("a").chmod(0)
    assert skipped(".") == skipped("a") == {"a": Why.UNREADABLE}
    Path("a").chmod(0o700)
