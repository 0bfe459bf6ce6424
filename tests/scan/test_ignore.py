"""The patterns of .gitignore, compared with git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlpctl.scan.ignore import Rules

FILES = (
    "a",
    "b",
    "ab",
    "a.b",
    "dir/a",
    "dir/b",
    "dir/dir/a",
    "x/dir/ab",
    "x/y/a.b",
    "a b",
    "#a",
    "!a",
    "[a]",
    "dir/[x",
)


def ignored_by_git(patterns: str, folder: Path) -> set[str]:
    (folder / ".gitignore").write_text(patterns, encoding="utf-8")
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(FILES),
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    return set(done.stdout.split("\0")) - {""}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    environ = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", "init", "-q"], cwd=folder, env=environ, check=True)
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


@pytest.mark.parametrize(
    "patterns",
    [
        "a",
        "/a",
        "dir",
        "dir/",
        "a/",
        "dir/a",
        "**/a",
        "dir/**",
        "x/**/ab",
        "**/dir/**",
        "*",
        "*\n!a",
        "*\n!*/\n!*.b",
        "dir/*\n!dir/a",
        "dir\n!dir/a",
        "a*",
        "?",
        "[ab]",
        "[!a]",
        "[^a]",
        "[a-b]",
        "[]a]",
        "\\#a",
        "\\!a",
        "#a",
        "a\\ b",
        "a b ",
        "\\[a\\]",
        "[[:alpha:]]",
        "[a",
        "dir/[[]x",
        "a.b\n\n# note\n",
        "/*\n!/dir",
        "**",
        "***",
        "a**",
        "/",
        "!",
        "x/y",
    ],
)
def test_like_git(patterns: str, tree: Path) -> None:
    rules = Rules(patterns.split("\n"))
    assert {name for name in FILES if rules.covers(name)} == ignored_by_git(patterns, tree)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text("ab*?/!.[]dirxy\\# ^-", min_size=1, max_size=8), min_size=1, max_size=4))
def test_any_pattern_works_as_in_git(tree: Path, lines: list[str]) -> None:
    rules = Rules(lines)
    assert {name for name in FILES if rules.covers(name)} == ignored_by_git(
        "\n".join(lines) + "\n", tree
    )


def test_a_file_of_rules_may_be_in_any_state() -> None:
    rules = Rules.of_bytes(b"\xef\xbb\xbfa\r\n\xff\xfe\r\nb")
    assert rules.verdict("a", folder=False)
    assert rules.verdict("b", folder=False)
    assert rules.verdict("c", folder=False) is None
    assert not Rules.of_bytes(b"\n# nothing\n")
