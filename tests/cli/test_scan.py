from __future__ import annotations

import json
import os
import pty
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = "one\nMail john.doe@example.com or 219-09-9999 dlpctl\n"


def test_nothing_found_is_status_0(dlpctl):
    Path("in.txt").write_text("nothing to see\n")
    result = dlpctl("scan", "in.txt")
    assert (result.status, result.out) == (0, "nothing found in 1 file, 15 bytes\n")


def test_human_output_has_place_type_score_and_sample(dlpctl):
    Path("in.txt").write_text(TEXT)
    result = dlpctl("scan", "in.txt")
    assert result.status == 20
    lines = result.out.splitlines()
    assert re.fullmatch(r"in\.txt:2:6 +EMAIL +[01]\.\d\d +j\*\*\*@example\.com", lines[0])
    line, carets = [one for one in lines if " | " in one][:2]
    marked = carets.split("^^ ")[0]
    assert line[marked.index("^") : len(marked) + 2] == "j***@example.com"
    assert "john.doe" not in result.out
    assert "219-09" not in result.out


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_records_for_programs(dlpctl, form):
    Path("in.txt").write_text(TEXT)
    out = dlpctl("scan", "in.txt", "--format", form).out
    lines = [] if form == "json" else [json.loads(line) for line in out.splitlines()]
    whole = json.loads(out) if form == "json" else {"findings": lines[:-1]} | lines[-1]
    records = whole["findings"]
    assert whole["summary"]["types"] == {"EMAIL": 1, "SSN": 1}
    assert len(records[0].pop("id")) == 32
    assert 0.5 <= records[0].pop("score") <= 1
    assert records[0] == {
        "file": "in.txt",
        "line": 2,
        "column": 6,
        "end_line": 2,
        "end_column": 26,
        "type": "EMAIL",
        "category": "PII",
        "sample": "j***@example.com",
        "pattern_id": "email",
        "start": 9,
        "end": 29,
    }
    assert [record["type"] for record in records] == ["EMAIL", "SSN"]


def test_types_and_thresholds(dlpctl):
    Path("in.txt").write_text(TEXT)
    assert "EMAIL" not in dlpctl("scan", "in.txt", "--types", "ssn").out
    assert dlpctl("scan", "in.txt", "--types", "ssn", "--fail-on", "0.99").status == 10
    assert dlpctl("scan", "in.txt", "--types", "SNN").status == 2
    assert dlpctl("scan", "in.txt", "--min-score", "0.99").status == 0


def test_the_inline_marker_and_the_allow_list(dlpctl):
    Path("in.txt").write_text(
        "a@example.com dlpctl:allow\nb@example.com dlpctl:allow=SSN\nc@example.com\nd@example.com\n"
    )
    Path("dlpctl.toml").write_text(
        '[allow]\nvalues = ["c@example.com"]\nregexes = ["d@.*"]\npaths = ["vendored/*"]\n'
    )
    out = dlpctl("scan", "in.txt").out
    assert "2:1  EMAIL" in out
    assert "1 finding in 1 of 1 file" in out
    assert "3 findings accepted" in out
    Path("vendored").mkdir()
    Path("vendored/x.txt").write_text("e@example.com\n")
    assert dlpctl("scan", "vendored/x.txt").status == 0


def test_values_are_shown_on_a_terminal_only(dlpctl):
    Path("in.txt").write_text(TEXT)
    result = dlpctl("scan", "in.txt", "--show-values")
    assert result.status == 2
    assert "terminal" in result.err
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "dlpctl", "scan", "in.txt", "--show-values"]
    with subprocess.Popen(command, stdout=slave, stderr=slave) as process:
        process.wait(300)
    os.close(slave)
    assert b"john.doe@example.com" in os.read(master, 65536)
    os.close(master)


def test_additional_patterns_come_from_files(dlpctl):
    Path("mine.toml").write_text(
        '[[pattern]]\nid = "badge"\ntype = "BADGE"\ncategory = "CUSTOM"\nlabel = "Badge"\nregex = "AC-[0-9]{8}"\nscore = 0.9\n'
    )
    Path("in.txt").write_text("AC-12345678")
    assert dlpctl("scan", "in.txt").status == 0
    assert "BADGE" in dlpctl("scan", "in.txt", "--patterns", "mine.toml").out
    Path("dlpctl.toml").write_text('patterns = ["mine.toml"]\n')
    assert "BADGE" in dlpctl("scan", "in.txt").out


def test_a_text_with_placeholders_alone_is_explained(dlpctl):
    Path("k.txt").write_text("db_password = 'changeme'\npassword = 'changeme'\n")
    result = dlpctl("scan", "k.txt")
    assert (result.status, result.out) == (0, "nothing found in 1 file, 47 bytes\n")
    assert result.err == (
        "dlpctl: note: 2 values look like secrets but read as placeholders: dlpctl explain k.txt\n"
    )
    assert dlpctl("scan", "k.txt", "--format", "json").err == ""
    Path("plain.txt").write_text("nothing to see\n")
    assert dlpctl("scan", "plain.txt").err == ""


def test_lines_of_a_narrowed_search_show_no_other_value(dlpctl):
    key = "AKIA" + "".join(random.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16))
    Path("in.txt").write_text(f"key {key} of jane.doe@example.com, SSN 536-90-4399\n")
    result = dlpctl("scan", "in.txt", "--types", "SECRETS")
    (line,) = (one for one in result.out.splitlines() if one.startswith("  1 | "))
    assert line == "  1 | key AKIA******** of j***@example.com, SSN ***-**-4399"
    dlpctl("scan", "in.txt", "--types", "SECRETS", "--report", "html=page.html", "--quiet")
    page = Path("page.html").read_text()
    assert "<mark>AKIA********</mark> of j***@example.com" in page


def test_many_findings_are_folded_unless_all_are_asked_for(dlpctl):
    Path("in.txt").write_text("".join(f"mail jane{n}.doe@example.com\n" for n in range(30)))
    assert "and 20 more: 20 EMAIL; see --all" in dlpctl("scan", "in.txt").out
    every = dlpctl("scan", "in.txt", "--all").out
    assert len(re.findall(r"EMAIL  [01]\.\d\d", every)) == 30
    assert "more:" not in every
