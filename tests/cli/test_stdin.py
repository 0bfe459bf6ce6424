"""No command mistakes a stdin without content for content without findings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from dlpctl.detect.validators.secrets_examples import pem_key

KEY = pem_key(Random(5))
pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and pipes are of POSIX")


def in_shell(script: str) -> subprocess.CompletedProcess[str]:
    """A folder for the PATH in which `dlpctl` is this program."""
    script = f'dlpctl() {{ "{sys.executable}" -m dlpctl "$@"; }}\n{script}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=300, check=False
    )


NOTHING = {
    "/dev/null": "{} < /dev/null",
    "an empty pipe": ": | {}",
    "closed": "{} <&-",
    "empty file": "{} < e",
}


@pytest.fixture(autouse=True)
def _empty_file(_own_home):
    Path("e").touch()


@pytest.mark.parametrize("stdin", NOTHING)
def test_a_scan_without_a_path_scans_the_working_directory(stdin):
    Path("deploy.pem").write_text(KEY)
    done = in_shell(NOTHING[stdin].format("dlpctl scan"))
    assert done.returncode == 20
    assert "PRIVATE_KEY" in done.stdout


@pytest.mark.parametrize(
    ("command", "stdin"),
    [
        ("check", "an empty pipe"),
        ("check", "closed"),
        ("mask", "empty file"),
        ("explain", "/dev/null"),
        ("unmask --vault v", "an empty pipe"),
    ],
)
def test_an_empty_stdin_that_was_not_named_is_refused(command, stdin, dlpctl):
    Path("a.txt").write_text("jane.doe@example.com")
    assert dlpctl("mask", "a.txt", "--vault", "v").status == 0
    done = in_shell(NOTHING[stdin].format(f"dlpctl {command}"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dlpctl: stdin is ")
    assert "name a file" in done.stderr
    assert done.stderr.count("\n") == 1


def test_nothing_is_written_for_an_empty_stdin(dlpctl):
    assert in_shell(": | dlpctl mask -o out.txt").returncode == 2
    assert not Path("out.txt").exists()


@pytest.mark.parametrize("command", ["mask -", "scan -"])
def test_an_empty_stdin_may_be_named(command):
    assert in_shell(f"dlpctl {command} < /dev/null").returncode == 0
    closed = in_shell(f"dlpctl {command} <&-")
    assert (closed.returncode, closed.stderr) == (2, "dlpctl: stdin is closed: name a file\n")


def test_the_list_of_a_loop_is_left_alone():
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "deploy.pem").write_text(KEY)
    Path("list").write_text("one\ntwo\n")
    done = in_shell('while read r; do (cd "$r" && dlpctl scan -q; echo "$r $?"); done < list')
    assert done.stdout == "one 20\ntwo 20\n"


def test_an_unread_pipe_is_reported():
    Path("a.txt").write_text("nothing\n")
    done = in_shell("echo nothing | dlpctl scan")
    assert done.returncode == 0
    assert "'-' scans stdin" in done.stderr
    assert in_shell("dlpctl scan . < a.txt").stderr == ""


@pytest.mark.parametrize("files", ["< a.txt > a.txt", "a.txt > a.txt", "- < a.txt >> a.txt"])
def test_a_file_that_the_shell_writes_is_not_read(files):
    Path("a.txt").write_text("words\n")
    done = in_shell(f"dlpctl mask {files}")
    assert done.returncode == 2
    assert "is both input and output" in done.stderr


def test_a_file_never_takes_the_place_of_a_closed_stdin():
    """Opened files get the lowest free number, which is that of a closed stdin."""
    done = in_shell(
        "echo a@example.com | dlpctl mask --vault v > out.txt; dlpctl unmask --vault v - <&-"
    )
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("command", ["mask a.txt", "scan a.txt"])
def test_a_closed_stdout_is_an_error_of_one_line(command):
    Path("a.txt").write_text("nothing\n")
    done = in_shell(f"dlpctl {command} >&-")
    assert (done.returncode, done.stderr) == (1, "dlpctl: stdout: Bad file descriptor\n")


class TestNothingScanned:
    """A wrong path is never reported as clean."""

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            (["empty"], "there is no file"),
            (["src", "--include", "*.pyy"], "1 excluded"),
            (["src", "--max-size", "1"], "1 too large"),
            (["ignored"], "1 ignored"),
            (["missing", "--keep-going"], "1 unreadable"),
        ],
    )
    def test_is_status_1_in_every_form(self, dlpctl, arguments, why):
        for folder in ("empty", "src", "ignored"):
            Path(folder).mkdir()
        Path("src/a.py").write_text("nothing\n")
        Path("ignored/.dlpctlignore").write_text("*\n")
        result = dlpctl("scan", *arguments, "--report", "junit=j.xml", "--report", "sarif=s.sarif")
        assert result.status == 1
        assert f"no file was scanned ({why})" in result.err
        assert "nothing found" not in result.out
        assert 'errors="1"' in Path("j.xml").read_text()
        assert '"executionSuccessful": false' in Path("s.sarif").read_text()

    def test_of_files_that_the_settings_allow_is_fine(self, dlpctl):
        Path("a.txt").write_text(KEY)
        Path("dlpctl.toml").write_text('[allow]\npaths = ["a.txt"]\n')
        result = dlpctl("scan", "a.txt")
        assert (result.status, result.out) == (
            0,
            "no file was scanned\nnot scanned: 1 on the allow list\n",
        )

    def test_of_changes_is_fine_but_not_of_a_wrong_path(self, dlpctl):
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
        assert dlpctl("scan", "--history").status == 1
        Path("gone.txt").write_text("nothing\n")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "one"], check=True)
        for source in (["--staged"], ["--diff", "main"]):
            result = dlpctl("scan", *source)
            assert (result.status, "no changes to scan" in result.out) == (0, True)
            wrong = dlpctl("scan", *source, "srcc")
            assert (wrong.status, "srcc: no such file" in wrong.err) == (2, True)
        Path("gone.txt").unlink()
        assert dlpctl("scan", "--staged", "gone.txt").status == 0
