from __future__ import annotations

import json
from pathlib import Path


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


def test_the_page_says_when_and_what_was_scanned(dlpctl):
    Path("a.txt").write_text("mail jane.doe@example.com for bob.roe@example.com\n")
    dlpctl("scan", "a.txt", "--report", "html=scan.html", "--format", "json")
    page = Path("scan.html").read_text()
    assert f"<dd>{Path('a.txt').absolute()}</dd>" in page
    assert "<dt>On</dt>" in page
    assert "mail <mark>j***@example.com</mark> for b***@example.com" in page
    assert "jane" not in page
