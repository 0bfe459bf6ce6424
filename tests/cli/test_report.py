from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_the_difference_of_two_scans(dlpctl):
    Path("a.txt").write_text("mail jane.doe@example.com\n")
    dlpctl("scan", "a.txt", "--report", "json=old.json")
    Path("a.txt").write_text("mail  jane.doe@example.com\nand bob.roe@example.com\n")
    dlpctl("scan", "a.txt", "--report", "json=new.json")
    result = dlpctl("report", "diff", "old.json", "new.json")
    assert result.status == 20
    assert result.out.splitlines() == [
        "+ a.txt:1:7  EMAIL  j***@example.com",
        "+ a.txt:2:5  EMAIL  b***@example.com",
        "- a.txt:1:6  EMAIL  j***@example.com",
        "2 new, 1 gone, 0 in both",
    ]
    same = dlpctl("report", "diff", "new.json", "new.json", "--format", "json")
    assert same.status == 0
    assert json.loads(same.out) == {"new": [], "gone": [], "kept": 2}
    assert dlpctl("report", "diff", "old.json", "a.txt").status == 1


def test_the_page_gives_time_and_scope_of_the_scan(dlpctl):
    Path("a.txt").write_text("mail jane.doe@example.com for bob.roe@example.com\n")
    dlpctl("scan", "a.txt", "--report", "html=scan.html", "--format", "json")
    page = Path("scan.html").read_text()
    assert f"<dd>{Path('a.txt').absolute()}</dd>" in page
    assert "<dt>On</dt>" in page
    assert "mail <mark>j***@example.com</mark> for b***@example.com" in page
    assert "jane" not in page


FORGES = {"github": "of_github", "gitlab": "of_gitlab"}


@pytest.fixture(params=FORGES)
def pipeline(request, forge, monkeypatch, tmp_path):
    """The variables of a pull request pipeline."""
    for name in ("GITHUB_EVENT_PATH", "CI_MERGE_REQUEST_IID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in getattr(forge, FORGES[request.param])(tmp_path).items():
        monkeypatch.setenv(name, value)


def test_each_run_updates_the_comment(dlpctl, forge, pipeline):
    Path("prompt.txt").write_text("Mail jane.doe@example.com\n")
    forge.comments += [{"id": number + 1, "body": "hello"} for number in range(130)]
    dlpctl("scan", "prompt.txt", "--report", "markdown=scan.md")
    assert dlpctl("report", "comment", "scan.md").out.startswith("written the comment")
    assert len(forge.comments) == 131
    assert "prompt.txt:1:6" in forge.comments[-1]["body"]
    Path("scan.md").write_text("## dlpctl scan\n\n**Nothing found**\n")
    assert dlpctl("report", "comment", "scan.md").out.startswith("changed the comment")
    assert len(forge.comments) == 131
    assert "Nothing found" in forge.comments[-1]["body"]
    assert {one["body"] for one in forge.comments[:-1]} == {"hello"}


def test_a_long_report_is_cut_at_a_line(dlpctl, forge, pipeline):
    Path("scan.md").write_text("a line of the report\n" * 5_000)
    assert dlpctl("report", "comment", "scan.md").status == 0
    body = forge.comments[0]["body"]
    assert len(body) < 65_536
    assert set(body.splitlines()[1:-2]) == {"a line of the report"}
    assert body.endswith("see the report of the job.\n")


def test_a_refused_comment_is_one_line(dlpctl, forge, pipeline):
    Path("scan.md").write_text("nothing\n")
    forge.refusal = 403
    result = dlpctl("report", "comment", "scan.md")
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    assert "refused with 403" in result.err
    assert "made-up" not in result.err


def test_outside_a_pull_request_there_is_an_error(dlpctl, monkeypatch):
    for name in ("GITHUB_EVENT_PATH", "CI_MERGE_REQUEST_IID"):
        monkeypatch.delenv(name, raising=False)
    Path("scan.md").write_text("nothing\n")
    result = dlpctl("report", "comment", "scan.md")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "GITHUB_EVENT_PATH" in result.err
