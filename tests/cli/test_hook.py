from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import yaml

from dlpctl.detect.validators.secrets_examples import pem_key

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks are shell scripts")
KEY, OTHER = pem_key(Random(3)), pem_key(Random(4))
PERSON = "Written by Jane Doe <jane.doe@acme-corp.com>\n"


def git(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    environ = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return subprocess.run(
        command, capture_output=True, text=True, check=check, timeout=300, env=environ
    )


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
    assert "git  installed  " in dlpctl("hook", "status", "git").out
    assert "\ngit  " in dlpctl("hook", "status").out
    for wrong in (("doctor", "git"), ("uninstall", "git", "--project")):
        assert dlpctl("hook", *wrong).status == 2
    assert dlpctl("hook", "uninstall", "git").status == 0
    assert "git  not installed  " in dlpctl("hook", "status", "git").out
    assert commits("c.txt", KEY)
    assert "does not exist; nothing was removed" in dlpctl("hook", "uninstall", "git").err


@pytest.mark.usefixtures("repository")
def test_an_existing_hook_runs_first_and_is_restored(dlpctl):
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
    assert "is restored" in dlpctl("hook", "uninstall", "git").out
    assert hook.read_text() == theirs
    assert os.access(hook, os.X_OK)
    assert not Path(".git/hooks/pre-commit.before-dlpctl").exists()


def test_hooks_are_installed_where_git_looks_for_them(dlpctl, repository, tmp_path):
    git("config", "core.hooksPath", ".husky")
    assert str(repository / ".husky" / "pre-commit") in dlpctl("hook", "install", "git").out
    assert not commits("a.txt", KEY)
    git("config", "core.hooksPath", str(tmp_path / "everybody"))
    result = dlpctl("hook", "install", "git")
    assert result.status == 2
    assert "add 'dlpctl hook run'" in result.err
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


@pytest.fixture
def hooked(repository, dlpctl) -> Path:
    """A repository with the hook installed."""
    assert dlpctl("hook", "install", "git").status == 0
    return repository


@pytest.mark.usefixtures("hooked")
def test_a_key_is_accepted_once_for_edits_and_renames(dlpctl):
    Path("old.pem").write_text(KEY)
    git("add", ".")
    git("commit", "-qnm", "without the hook")
    git("mv", "old.pem", "new.pem")
    assert dlpctl("hook", "run").status == 20
    dlpctl("allow", "new.pem:1", "--reason", "made up")
    assert dlpctl("hook", "run").status == 0
    Path("new.pem").write_text(f"edited\n{KEY}")
    git("add", ".")
    git("mv", "new.pem", "newest.pem")
    assert dlpctl("hook", "run").status == 0


@pytest.mark.usefixtures("hooked")
def test_a_commit_may_contain_a_name_but_no_key():
    assert commits("authors.txt", PERSON)
    assert not commits("deploy.pem", KEY)


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ("", {"deploy.pem"}),
        ('types = ["PII"]', {"authors.txt"}),
        ('types = ["FINANCIAL", "SECRETS"]', {"card.txt", "deploy.pem"}),
        ('policy = "pci-dss"', {"authors.txt", "card.txt", "deploy.pem"}),
        ('types = ["PII", "SECRETS"]\nmin_score = 0.6', {"authors.txt", "deploy.pem"}),
        ('types = ["FINANCIAL", "SECRETS"]\nmin_score = 1.0', set()),
    ],
)
def test_settings_choose_the_types_that_hooks_search(dlpctl, settings, refused):
    contents = {"authors.txt": PERSON, "card.txt": "card 4111 1111 1111 1111\n", "deploy.pem": KEY}
    for name, content in contents.items():
        Path(name).write_text(content)
    git("add", ".")
    Path("dlpctl.toml").write_text(settings)
    result = dlpctl("hook", "run")
    assert set(printed_advice(result.err)) == refused
    assert result.status == (20 if refused else 0)


@pytest.mark.usefixtures("repository")
def test_the_types_of_a_hook_are_chosen_when_it_is_installed(dlpctl):
    assert dlpctl("hook", "install", "git", "--types", "PII,SECRET").status == 2
    for option in ("--all", "--project", "--wrap-mcp", "--transport=http"):
        assert "for coding agents" in dlpctl("hook", "install", "git", option).err
    assert not Path(".git/hooks/pre-commit").exists()
    assert dlpctl("hook", "install", "git", "--types", "PII,SECRETS").status == 0
    assert not commits("authors.txt", PERSON)
    assert not commits("deploy.pem", KEY)


def printed_advice(stderr: str) -> dict[str, str]:
    """Return the command that a refused commit prints for each file."""
    assert "baseline update" not in stderr
    found = re.findall(
        r"^  \S+ in (.+):\d+\n    (.*dlpctl allow [0-9a-f]{32} .*)$", stderr, re.MULTILINE
    )
    return dict(found)


def advice_of(*names: str) -> dict[str, str]:
    git("add", *names)
    refused = git("commit", "-qm", "refused", check=False)
    assert refused.returncode
    return printed_advice(refused.stderr)


def follow(command: str) -> None:
    """Run the printed command in a shell, as printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "-c", command], check=True, timeout=300, env={**os.environ, "PATH": path})


@pytest.mark.usefixtures("hooked")
def test_the_advice_of_a_refused_commit_accepts_one_finding_and_no_other():
    Path("sample.pem").write_text(KEY)
    Path("real.pem").write_text(OTHER)
    advice = advice_of("sample.pem", "real.pem")
    assert set(advice) == {"sample.pem", "real.pem"}
    follow(advice["sample.pem"])
    remaining = advice_of("sample.pem", "real.pem")
    assert set(remaining) == {"real.pem"}
    git("rm", "-q", "--cached", "real.pem")
    assert git("commit", "-qm", "sample").returncode == 0
    follow(remaining["real.pem"])
    assert commits("real.pem", OTHER)


@pytest.mark.usefixtures("hooked")
def test_the_advice_works_for_staged_content_and_lines_with_other_findings():
    Path("a.txt").write_text(f"jane.doe@acme-corp.com {KEY}")
    git("add", "a.txt")
    Path("a.txt").write_text("changed since\n")
    git("config", "user.name", "t")
    git("config", "user.email", "t@example.com")
    refused = git("commit", "-qm", "a", check=False)
    follow(printed_advice(refused.stderr)["a.txt"])
    assert git("commit", "-qm", "a").returncode == 0


@pytest.mark.usefixtures("hooked")
def test_many_findings_give_short_advice():
    names = [f"{number}.pem" for number in range(8)]
    for number, name in enumerate(names):
        Path(name).write_text(pem_key(Random(number)))
    assert len(advice_of(*names)) == 5


@pytest.mark.usefixtures("hooked")
def test_file_names_never_become_part_of_a_command():
    name = "x; touch owned; #.pem"
    Path(name).write_text(KEY)
    (command,) = advice_of(name).values()
    assert "owned" not in command
    follow(command)
    assert git("commit", "-qm", "strange").returncode == 0


@pytest.mark.usefixtures("repository")
def test_a_hook_without_the_path_gives_advice_that_works(dlpctl):
    assert dlpctl("hook", "install", "git").status == 0
    Path("dlpctl").mkdir()  # a folder of the repository is not mistaken for the program
    Path("dlpctl/__main__.py").write_text("raise SystemExit(0)\n")
    Path("a.pem").write_text(KEY)
    git("add", "a.pem")
    path = os.pathsep.join(
        folder
        for folder in os.environ["PATH"].split(os.pathsep)
        if not Path(folder, "dlpctl").exists()
    )
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "a"]
    environ = {**os.environ, "PATH": path}
    refused = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=environ, check=False
    )
    assert refused.returncode
    advice = printed_advice(refused.stderr)
    subprocess.run(["sh", "-c", advice["a.pem"]], check=True, timeout=300, env=environ)
    subprocess.run(command, check=True, timeout=300, env=environ)


def test_named_files_are_scanned_instead_of_staged_ones(dlpctl):
    Path("-").write_text(KEY)
    Path("authors.txt").write_text(PERSON)
    assert dlpctl("hook", "run", "--", "authors.txt").status == 0
    result = dlpctl("hook", "run", "--", "authors.txt", "-")
    assert (result.status, "PRIVATE_KEY" in result.out) == (20, True)
    Path("dlpctl.toml").write_text("min_score = 0.0\n")
    Path("weak.txt").write_text("nothing\n")
    assert dlpctl("hook", "run", "weak.txt").status == 0


def test_the_hooks_of_pre_commit_find_keys(dlpctl, repository):
    """The hooks of the manifest are run like pre-commit runs them, with the files at the end."""
    hooks = {
        each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    }
    Path("authors.txt").write_text(PERSON)
    git("add", "authors.txt")
    staged = hooks["dlpctl-scan"]["entry"].split()[1:]
    files = hooks["dlpctl-scan-files"]["entry"].split()[1:]
    assert dlpctl(*staged).status == 0
    assert dlpctl(*files, "authors.txt").status == 0
    Path("a.pem").write_text(KEY)
    git("add", "a.pem")
    assert dlpctl(*staged).status == 20
    assert dlpctl(*files, "authors.txt", "a.pem").status == 20


def test_the_manifests_for_pre_commit_and_github() -> None:
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pre_commit",
            "validate-manifest",
            str(ROOT / ".pre-commit-hooks.yaml"),
        ],
        check=True,
        timeout=300,
    )
    action = yaml.safe_load((ROOT / ".github/actions/scan/action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        if "run" in step:
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True, timeout=300)
            assert "${{" not in step["run"], "an input in a script is a way to inject commands"
