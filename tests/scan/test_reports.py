"""Reports: each valid in its format, stable, complete or marked as incomplete, and without any
value.
"""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from dlpctl.scan.reports import FORMS, Marks, Setting, report_named
from dlpctl.scan.results import Result, Skip, Summary, Why

RESULT = Result(
    path='src/a "b" <c>&|`,:%.txt',
    line=3,
    column=5,
    end_line=4,
    end_column=9,
    start=40,
    end=60,
    type="EMAIL",
    category="PII",
    score=0.9,
    pattern_id="email",
    label="E-mail address",
    sample="j***@example.com",
    identity="0" * 32,
)
NEWLINE = RESULT._replace(
    path="new\nline\udcff\x1b[31m.txt",
    line=1,
    end_line=1,
    sample=None,
    category="PHI",
    type="MRN",
    pattern_id="mrn",
)
INNER = RESULT._replace(path="a.zip", inner="cv.docx > page 3", score=0.4, identity="1" * 32)
OLD = RESULT._replace(
    path="old", commit="c" * 40, date="2024-05-06T07:08:09+02:00", fingerprint="f" * 32
)
UNREAD = Skip("lost\n", Why.UNREADABLE, "Permission denied")


SETTING = Setting("1.2.3", 0.5)
KEY = RESULT._replace(
    category="SECRETS", type="CLOUD_KEY", pattern_id="aws-access-key-id", label="AWS access key id"
)
TOKEN = KEY._replace(type="ACCESS_TOKEN", pattern_id="nobody-knows-token", label="Token")


def written(
    form: str,
    *results: Result,
    partial: bool = False,
    skips: tuple[Skip, ...] = (UNREAD,),
    setting: Setting = SETTING,
) -> str:
    out: list[str] = []
    report = report_named(form, out.append, setting)
    summary = Summary()
    summary.files, summary.bytes, summary.partial = 7, 4096, partial
    for result in results:
        summary.add(result)
        report.add(result)
    for skip in (Skip("x.bin", Why.IGNORED), *skips):
        summary.skip(skip)
        report.skip(skip)
    report.finish(summary)
    return "".join(out)


ALL = (RESULT, NEWLINE, INNER, OLD)


SAID_OF_NOTHING = {
    "human": "No file was scanned (1 ignored).\n",
    "json": '"complete": false',
    "jsonl": '"complete": false',
    "sarif": '"executionSuccessful": false',
    "junit": '<error message="No file was scanned (1 ignored)."/>',
    "github": "::error title=dlpctl::No file was scanned (1 ignored).",
    "gitlab": '"severity": "major"',
    "html": "<strong>No file was scanned</strong>",
    "markdown": "**No file was scanned**",
}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_calls_a_scan_of_nothing_clean(form: str) -> None:
    out: list[str] = []
    report = report_named(form, out.append, Setting("1.2.3", 0.5))
    summary = Summary()
    summary.skip(Skip("x.bin", Why.IGNORED))
    summary.is_empty = True
    summary.remarks.append("No file was scanned (1 ignored).")
    report.finish(summary)
    said = "".join(out)
    assert SAID_OF_NOTHING[form] in said
    assert "nothing found" not in said.lower()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_written_with_and_without_findings(form: str) -> None:
    assert written(form, *ALL).encode("utf-8", "backslashreplace")
    assert written(form, skips=())
    assert "\x1b" not in written(form, *ALL)


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"json", "jsonl"}))
def test_a_stopped_scan_is_marked_incomplete(form: str) -> None:
    assert "stopped before its end" in written(form, RESULT, partial=True)
    assert "stopped before its end" not in written(form, RESULT)
    assert "nothing found in" not in written(form, skips=(), partial=True).lower()


def test_json() -> None:
    whole = json.loads(written("json", *ALL, partial=True))
    assert [one["file"] for one in whole["findings"]] == [one.path for one in ALL]
    assert whole["findings"][2]["place"] == "cv.docx > page 3"
    assert whole["findings"][3]["commit"] == "c" * 40
    assert whole["findings"][3]["fingerprint"] == "f" * 32
    assert whole["skipped"] == [
        {"file": "lost\n", "why": "unreadable", "detail": "Permission denied"}
    ]
    assert whole["summary"]["partial"] is True
    assert whole["summary"]["skipped"] == {"ignored": 1, "unreadable": 1}
    assert json.loads(written("json", skips=()))["findings"] == []


def test_json_lines() -> None:
    lines = [json.loads(line) for line in written("jsonl", *ALL, partial=True).splitlines()]
    assert [line.get("type") for line in lines[:4]] == ["EMAIL", "MRN", "EMAIL", "EMAIL"]
    assert "skipped" in lines[4]
    assert lines[5]["summary"]["partial"] is True


def sarif(*results: Result, **options: Any) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(written("sarif", *results, **options))
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert set(run) <= {"tool", "results", "invocations", "columnKind", "properties"}
    return dict(run)


def test_sarif() -> None:
    run = sarif(*ALL)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["email", "mrn"]
    for rule in rules:
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["shortDescription"]["text"]
        assert float(rule["properties"]["security-severity"]) > 0
    assert [one["ruleIndex"] for one in run["results"]] == [0, 1, 0, 0]
    assert [one["level"] for one in run["results"]] == ["error", "error", "note", "error"]
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        (location,) = one["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"(?:[A-Za-z0-9\-._~/]|%[0-9A-F]{2})+", uri)
        region = location["physicalLocation"]["region"]
        assert all(isinstance(number, int) and number >= 1 for number in region.values())
        assert one["partialFingerprints"]["dlpctl/v1"]
    first = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert first == {"startLine": 3, "startColumn": 5, "endLine": 4, "endColumn": 9}
    assert (
        run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        == "new%0Aline%FF%1B%5B31m.txt"
    )
    invocation = run["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert "Permission denied" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert sarif(RESULT, skips=())["invocations"][0]["executionSuccessful"] is True


def test_junit() -> None:
    root = ET.fromstring(written("junit", *ALL).encode("utf-8", "backslashreplace"))
    suites = {suite.get("name"): suite for suite in root}
    assert suites["a.zip"].get("failures") == "1"
    case = suites[RESULT.path][0]
    assert case.get("line") == "3"
    assert case[0].get("message") == "E-mail address: j***@example.com"
    assert suites["unreadable"].get("errors") == "1"
    assert "new\nline" in "".join(name or "" for name in suites)


def test_github_annotations() -> None:
    lines = written("github", *ALL).splitlines()
    assert lines[0] == (
        '::error file=src/a "b" <c>&|`%2C%3A%25.txt,line=3,endLine=4,col=5,endColumn=9,title=EMAIL (PII)'
        "::E-mail address: j***@example.com"
    )
    assert lines[1].startswith("::error file=new%0Aline")
    assert lines[2].startswith("::notice file=a.zip,line=1") or lines[2].startswith(
        "::notice file=a.zip,line=3,title"
    )
    assert all(line.startswith("::") for line in lines)


def test_gitlab() -> None:
    entries = json.loads(written("gitlab", *ALL, partial=True))
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(entries[0])
    assert [entry["severity"] for entry in entries[:3]] == ["major", "critical", "minor"]
    assert entries[0]["location"] == {"path": RESULT.path, "lines": {"begin": 3, "end": 4}}
    assert len({entry["fingerprint"] for entry in entries}) >= 4


class Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows = 0
        self.policy = ""
        self.text = ""
        self.inline: dict[str, str] = {}
        self._within = ""
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._within = tag
        self.rows += named.get("class") == "finding"
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"] or ""
        self.addresses += [
            text or ""
            for name, text in attrs
            if name in {"src", "href", "style"} or name.startswith("on")
        ]

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within in {"script", "style"}:
            self.inline[self._within] = self.inline.get(self._within, "") + data
        else:
            self.text += data


def test_the_page_needs_nothing_else_and_runs_only_its_own() -> None:
    page = Page()
    page.feed(written("html", *ALL, RESULT._replace(path="<script>alert(1)</script>")))
    assert page.rows == 5
    assert set(page.addresses) <= {"#summary"}
    assert "default-src 'none'" in page.policy
    for content in page.inline.values():
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"sha256-{digest}" in page.policy
    assert "alert" not in page.inline["script"]
    assert RESULT.path in page.text
    assert "Permission denied" in page.text


def test_the_page_sums_up_and_shows_lines_without_scripts_of_paths_and_values() -> None:
    evil = "<img src=x onerror=alert(1)>"
    about = [("Scanned", evil), ("Commit", "c" * 40)]
    results = (
        LINE._replace(path=f"{evil}/a.txt", excerpt=f"{evil} {LINE.sample}", mark=len(evil) + 1),
        KEY._replace(path="src/a.py", label=evil),
        KEY._replace(path="src/b.py", score=0.1),
    )
    html = written("html", *results, setting=SETTING._replace(about=about))
    page = Page()
    page.feed(html)
    assert "<img" not in html
    assert [one.startswith("https://docs.aws.amazon.com/") for one in page.addresses] == [
        False,
        True,
    ]
    assert f"<mark>{LINE.sample}</mark>" in html
    for said in ("By level", "By type", "By folder", "c" * 40, "3 findings", "src", "CLOUD_KEY"):
        assert said in page.text
    assert '<th scope="row">note</th><td class="number">1</td>' in html


def test_markdown_keeps_its_table_whatever_a_path_holds() -> None:
    lines = written("markdown", *ALL, *[RESULT] * 300).splitlines()
    rows = [line for line in lines if line.startswith("| ") and "---" not in line]
    assert len(rows) == 201
    assert all(len(re.split(r"(?<!\\)\|", row)) == 7 for row in rows)
    assert "104 more" in "\n".join(lines)


def test_people_see_files_places_and_totals() -> None:
    out = written("human", RESULT, RESULT._replace(line=10, type="SSN"), NEWLINE)
    path = 'src/a "b" <c>&|`,:%.txt'
    assert out.startswith(
        f"{path}:3:5  EMAIL  0.90  j***@example.com\n{path}:10:5  SSN  0.90  j***@example.com\n"
    )
    assert "\nnew\\nline\\udcff\\x1b[31m.txt:1:5  MRN  0.90  (hidden)\n" in out
    assert "3 findings in 2 of 7 files, 4.0 KB" in out
    assert "lost\\n: unreadable: Permission denied" in out
    assert "not scanned: 1 ignored, 1 unreadable" in out
    assert "1 file could not be read." in out


LINE = RESULT._replace(
    path="a.txt",
    line=12,
    end_line=12,
    excerpt="mail j***@example.com or b***@example.com now",
    mark=5,
)
SECOND = LINE._replace(column=26, sample="b***@example.com", mark=25)


def test_people_see_the_line_with_carets_below_its_values() -> None:
    assert written("human", LINE, SECOND).splitlines()[:4] == [
        "a.txt:12:5   EMAIL  0.90  j***@example.com",
        "a.txt:12:26  EMAIL  0.90  b***@example.com",
        "  12 | mail j***@example.com or b***@example.com now",
        "     |      ^^^^^^^^^^^^^^^^    ^^^^^^^^^^^^^^^^",
    ]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_lines_and_carets_fit_the_terminal(width: int) -> None:
    far = LINE._replace(excerpt=f"{'x' * 150}{LINE.sample}{'y' * 150}", mark=150)
    lines = written("human", far, setting=SETTING._replace(width=width)).splitlines()
    (line,) = (line for line in lines if line.startswith("  12 | "))
    carets = lines[lines.index(line) + 1]
    assert max(len(line), len(carets)) <= width
    assert "^" in carets
    marked = line[carets.index("^") : carets.rindex("^") + 1]
    assert (LINE.sample or "").startswith(marked)
    assert width < 40 or marked == LINE.sample


def test_carets_count_the_columns_of_wide_characters() -> None:
    lines = written("human", LINE._replace(excerpt="邮件 j***@example.com", mark=3)).splitlines()
    assert lines[2].index("^") - lines[1].index("j") == 2


def test_secrets_are_highlighted_and_unlikely_findings_are_not() -> None:
    coloured = SETTING._replace(coloured=True)
    assert "\x1b[1;31mCLOUD_KEY\x1b[0m" in written("human", KEY, setting=coloured)
    assert "\x1b[36mEMAIL\x1b[0m" in written("human", RESULT, setting=coloured)
    assert "\x1b[2mEMAIL\x1b[0m" in written("human", INNER, setting=coloured)


def test_ids_of_findings_are_shown_on_demand() -> None:
    assert f"id {LINE.identity}" not in written("human", LINE)
    assert f"  id {LINE.identity}\n" in written(
        "human", LINE, setting=SETTING._replace(verbose=True)
    )


def test_many_findings_of_a_type_are_folded_but_for_all() -> None:
    many = [RESULT._replace(line=line) for line in range(1, 41)]
    in_others = [RESULT._replace(path=f"other-{at}") for at in range(40) for _ in range(2)]
    folded = written("human", *many, KEY._replace(path="later"), *in_others)
    assert folded.count("j***@example.com\n") == 31
    assert "other-0:3:5" in folded
    assert "other-19:3:5" in folded
    assert "and 90 more: 90 EMAIL; see --all" in folded
    assert "later:3:5  CLOUD_KEY" in folded
    every = written("human", *many, setting=SETTING._replace(all_findings=True))
    assert every.count("j***@example.com\n") == 40


def test_a_narrowed_search_shows_lines_with_everything_masked() -> None:
    def conceal(line: str, marks: Marks) -> tuple[str, Marks]:
        return line.replace("mail", "(hidden)"), [(at + 4, size) for at, size in marks]

    lines = written("human", LINE, setting=SETTING._replace(conceal=conceal)).splitlines()
    assert lines[1] == "  12 | (hidden) j***@example.com or b***@example.com now"
    assert lines[2] == f"     | {' ' * 9}{'^' * 16}"


def test_secrets_come_with_the_way_to_replace_them_once() -> None:
    page = "https://docs.aws.amazon.com/"
    command = "aws iam update-access-key"
    human = written("human", KEY, KEY, TOKEN)
    assert human.count(page) == human.count(command) == 1
    assert "ACCESS_TOKEN: Revoke the token where it was issued" in human
    html = written("html", KEY, KEY)
    assert html.count(f'href="{page}') == 1
    assert command in html
    whole = json.loads(written("json", KEY, KEY, RESULT, TOKEN))
    last = json.loads(written("jsonl", KEY, KEY, RESULT, TOKEN).splitlines()[-1])
    for known in (whole, last):
        assert sorted(known["rotation"]) == [KEY.pattern_id, TOKEN.pattern_id]
        assert known["rotation"][KEY.pattern_id]["page"].startswith(page)
        assert "page" not in known["rotation"][TOKEN.pattern_id]
    assert "rotation" not in json.loads(written("json", RESULT))
    rules = json.loads(written("sarif", KEY, RESULT))["runs"][0]["tool"]["driver"]["rules"]
    assert rules[0]["helpUri"].startswith(page)
    assert command in rules[0]["help"]["text"]
    assert "helpUri" not in rules[1]
