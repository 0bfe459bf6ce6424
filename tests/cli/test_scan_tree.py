"""`dlpctl scan` of folders and git, as a separate process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

MAIL = "Mail john.doe@example.com\n"


def records(out: str) -> list[dict[str, object]]:
    return json.loads(out)["findings"]


def test_a_tree_and_its_selection(dlpctl):
    for name in ("a.txt", "b/c.txt", "b/d.md", "ignored.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(MAIL)
    Path(".dlpctlignore").write_text("ignored*\n")
    result = dlpctl("scan", ".", "-f", "json")
    assert result.status == 20
    assert [one["file"] for one in records(result.out)] == ["a.txt", "b/c.txt", "b/d.md"]
    assert json.loads(result.out)["summary"]["skipped"] == {"ignored": 1}
    assert "ignored.txt: ignored" in dlpctl("scan", ".", "-v").out
    out = dlpctl("scan", ".", "-f", "json", "--include", "*.md", "--no-ignore").out
    assert [one["file"] for one in records(out)] == ["b/d.md"]
    assert dlpctl("scan", ".", "--exclude", "*.txt", "--exclude", "*.md", "--quiet") == (0, "", "")
    assert (
        json.loads(dlpctl("scan", ".", "-f", "json", "--max-size", "1k").out)["summary"]["files"]
        == 4
    )
    assert dlpctl("scan", ".", "--max-size", "much").status == 2


@pytest.mark.skipif(os.name != "posix", reason="names of bytes are of POSIX")
def test_names_that_are_not_text_are_kept_in_json(piped):
    strange = os.fsdecode(b"\xff\xe9.txt")
    Path(strange).write_text(MAIL)
    done = piped("scan", ".", "-f", "json")
    assert [one["file"] for one in records(done.stdout.decode())] == [strange]


def test_stdin_is_scanned_if_named(piped):
    done = piped("scan", "-", "-f", "jsonl", stdin=MAIL.encode())
    assert json.loads(done.stdout.splitlines()[0])["file"] == "stdin"
    assert b"stdin" in piped("scan", "-", stdin=MAIL.encode("utf-16")).stdout


def test_several_reports_of_one_scan(dlpctl):
    Path("a.txt").write_text(MAIL)
    result = dlpctl(
        "scan", "a.txt", "--report", "sarif=a.sarif", "--report", "html=a.html", "-f", "markdown"
    )
    assert result.status == 20
    assert "a.txt:1:6" in result.out
    assert json.loads(Path("a.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "email"
    for written in (result.out, Path("a.sarif").read_text(), Path("a.html").read_text()):
        assert "john.doe" not in written
    assert dlpctl("scan", "a.txt", "--report", "pdf=a.pdf").status == 2
    assert dlpctl("scan", "a.txt", "--report", "sarif=missing/a.sarif").status == 1


def test_unreadable_files_give_status_1_unless_kept_going(dlpctl):
    Path("a.txt").write_text(MAIL)
    result = dlpctl("scan", "a.txt", "missing.txt")
    assert result.status == 1
    assert "missing.txt: unreadable" in result.out
    assert "1 finding in 1 of 1 file" in result.out
    assert dlpctl("scan", "a.txt", "missing.txt", "--keep-going").status == 20
    nothing = dlpctl("scan", "missing.txt", "--keep-going")
    assert (nothing.status, nothing.err.count("no file was scanned (1 unreadable)")) == (1, 1)
    assert "No file was scanned" not in nothing.out


def test_a_policy_narrows_the_search(dlpctl):
    Path("a.txt").write_text(f"{MAIL}card 4111 1111 1111 1111\n")
    Path("cards.toml").write_text(
        'name = "cards"\n[[rules]]\nid = "r"\nname = "r"\ndataTypes = ["CREDIT_CARD"]\n'
        'destinations = ["VENDOR"]\naction = "BLOCK"\n'
    )
    out = dlpctl(
        "scan", "a.txt", "--policy", "cards.toml", "--destination", "VENDOR", "-f", "json"
    ).out
    assert [one["type"] for one in records(out)] == ["CREDIT_CARD"]
    assert (
        dlpctl("scan", "a.txt", "--policy", "cards.toml", "--destination", "CUSTOMER").status == 0
    )


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_git_in_a_hook_and_a_pull_request(dlpctl, monkeypatch):
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *arguments],
            check=True,
            capture_output=True,
        )

    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    git("init", "-q", "-b", "main")
    Path("src").mkdir()
    Path("src/a.txt").write_text(MAIL)
    git("add", ".")
    assert dlpctl("scan", "--staged").status == 20
    git("commit", "-q", "-m", "one")
    assert dlpctl("scan", "--staged").status == 0
    git("checkout", "-q", "-b", "feature")
    Path("src/a.txt").write_text(f"{MAIL}second@example.com\n")
    git("commit", "-q", "-a", "-m", "two")
    out = dlpctl("scan", "--diff", "main", "-f", "json").out
    assert [one["line"] for one in records(out)] == [2]
    result = dlpctl("scan", "--history", "-f", "json")
    assert [(one["line"], len(str(one["commit"]))) for one in records(result.out)] == [
        (1, 40),
        (2, 40),
    ]
    assert len(records(dlpctl("scan", "--history", "main..feature", "src", "-f", "json").out)) == 2
    assert dlpctl("scan", "--history", "nowhere..main").status == 2
    assert dlpctl("scan", "--history", "--staged").status == 2
    misled = dlpctl("scan", "--diff", "nowhere")
    assert (misled.status, misled.out) == (
        2,
        "",
    )  # an error, and no report that claims that nothing was found


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes are of POSIX")
def test_an_interrupt_ends_the_workers_and_marks_the_report():
    Path("a.txt").write_text(MAIL)
    command = [
        sys.executable,
        "-m",
        "dlpctl",
        "scan",
        "a.txt",
        "-",  # which never has any input
        "-j",
        "2",
        "-f",
        "jsonl",
        "--report",
        "json=report.json",
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert json.loads(first)["file"] == "a.txt"
    assert json.loads(out.splitlines()[-1])["summary"]["partial"] is True
    report = json.loads(Path("report.json").read_text())
    assert report["summary"]["partial"] is True
    assert len(report["findings"]) == 1
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
