from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import yaml

from dlpctl.detect.validators.secrets_examples import pem_key

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks are shell scripts")
KEY = pem_key(Random(3))


def git(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, capture_output=True, text=True, check=check, timeout=60, env=environ)


def commits(name: str, content: str) -> bool:
    Path(name).write_text(content)
    git("add", name)
    done = git("commit", "-qm", name, check=False)
    if done.returncode:
        git("rm", "-qf", "--cached", name)
    return done.returncode == 0


@pytest.fixture
def repository(_own_home) -> Path:
    git("init", "-q")
    return Path.cwd()


@pytest.mark.usefixtures("repository")
def test_a_commit_with_a_key_is_refused(dlpctl):
    result = dlpctl("hook", "install", "git")
    assert result.status == 0
    assert commits("a.txt", "nothing\n")
    assert not commits("b.txt", KEY)
    Path("b.txt").write_text(KEY)
    git("add", "b.txt")
    assert "git commit --no-verify" in git("commit", "-qm", "b", check=False).stderr
    git("rm", "-qf", "--cached", "b.txt")
    assert dlpctl("hook", "install", "git").out.startswith("renewed ")
    assert dlpctl("hook", "uninstall", "git").status == 0
    assert commits("c.txt", KEY)
    assert dlpctl("hook", "uninstall", "git").status == 2


@pytest.mark.usefixtures("repository")
def test_a_hook_that_is_there_runs_first_and_comes_back(dlpctl):
    hook = Path(".git/hooks/pre-commit")
    hook.parent.mkdir(exist_ok=True)
    theirs = "#!/bin/sh\necho ran >> ran.log\ntest ! -e refuse\n"
    hook.write_text(theirs)
    hook.chmod(0o755)
    assert "runs first" in dlpctl("hook", "install", "git").out
    assert commits("a.txt", "nothing\n")
    assert Path("ran.log").read_text() == "ran\n"
    Path("refuse").touch()
    assert not commits("b.txt", "nothing\n")
    Path("refuse").unlink()
    assert not commits("c.txt", KEY)
    assert "is back" in dlpctl("hook", "uninstall", "git").out
    assert hook.read_text() == theirs
    assert os.access(hook, os.X_OK)
    assert not Path(".git/hooks/pre-commit.before-dlpctl").exists()


def test_hooks_are_where_git_looks_for_them(dlpctl, repository, tmp_path):
    git("config", "core.hooksPath", ".husky")
    assert str(repository / ".husky" / "pre-commit") in dlpctl("hook", "install", "git").out
    assert not commits("a.txt", KEY)
    git("config", "core.hooksPath", str(tmp_path / "everybody"))
    result = dlpctl("hook", "install", "git")
    assert result.status == 2
    assert "add 'dlpctl scan --staged'" in result.err
    assert not (tmp_path / "everybody").exists()
    git("config", "--unset", "core.hooksPath")
    assert commits("b.txt", "nothing\n")
    git("worktree", "add", "-q", "../tree")
    os.chdir("../tree")
    assert str(repository / ".git" / "hooks" / "pre-commit") in dlpctl("hook", "install", "git").out
    assert not commits("c.txt", KEY)


def test_without_a_repository_there_is_nothing_to_do(dlpctl):
    result = dlpctl("hook", "install", "git")
    assert result.status == 2
    assert "git init" in result.err


def test_templates_are_what_they_should_be(dlpctl):
    for name in ("pre-commit", "github", "gitlab"):
        out = dlpctl("hook", "show", name).out
        assert yaml.safe_load(out)
        assert "@VERSION@" not in out
    subprocess.run(["sh", "-n"], input=dlpctl("hook", "show", "git").out, text=True, check=True, timeout=60)


def test_what_pre_commit_and_github_read() -> None:
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")],
        check=True,
        timeout=60,
    )
    action = yaml.safe_load((ROOT / ".github/actions/scan/action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        if "run" in step:
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True, timeout=60)
            assert "${{" not in step["run"], "an input in a script is a way to inject commands"
