from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

FIRST, SECOND = "jane.roe@acme-corp.com", "bob.doe@acme-corp.com"
FILE = Path(".dlpctl-allow")
WHY = ("--reason", "our own address")


@pytest.fixture(autouse=True)
def _tree(_own_home):
    Path("a.txt").write_text(f"write to {FIRST}\nor {SECOND}, {FIRST}\n")


def found(dlpctl, *arguments: str) -> list[tuple[int, int]]:
    findings = json.loads(dlpctl("scan", ".", "-f", "json", *arguments).out)["findings"]
    return [(one["line"], one["column"]) for one in findings]


def test_one_finding_is_accepted_by_its_position(dlpctl):
    result = dlpctl("allow", "a.txt:1", *WHY, "--owner", "jane", "--expires", "2099-01-31")
    assert (result.status, result.out) == (
        0,
        ".dlpctl-allow: 1 exception (1 EMAIL); 1 added, 0 removed\n",
    )
    assert FIRST not in FILE.read_text()
    assert 'EMAIL owner=jane expires=2099-01-31 reason="our own address"' in FILE.read_text()
    assert found(dlpctl) == [(2, 4)]
    before = FILE.read_text()
    assert "0 added, 0 removed" in dlpctl("allow", "a.txt:1", *WHY).out
    assert FILE.read_text() == before


def test_a_line_with_several_findings_needs_a_column(dlpctl):
    result = dlpctl("allow", "a.txt:2", *WHY)
    assert result.status == 2
    assert "name one of a.txt:2:4 (EMAIL), a.txt:2:27 (EMAIL)" in result.err
    assert not FILE.exists()
    assert dlpctl("allow", "a.txt:2:4", *WHY).status == 0
    assert found(dlpctl) == [(1, 10), (2, 27)]


def test_one_finding_is_accepted_by_its_fingerprint(dlpctl):
    findings = json.loads(dlpctl("scan", ".", "-f", "json").out)["findings"]
    assert dlpctl("allow", findings[1]["id"], *WHY).status == 0
    assert found(dlpctl) == [(1, 10), (2, 27)]
    findings = json.loads(dlpctl("scan", ".", "-f", "json").out)["findings"]
    assert dlpctl("allow", findings[0]["fingerprint"], *WHY).status == 0
    assert found(dlpctl) == []
    result = dlpctl("allow", "0" * 32, *WHY)
    assert (result.status, result.err.count("\n")) == (1, 1)


def test_a_fingerprint_of_a_narrower_scan_is_found_with_its_types(dlpctl):
    Path("a.txt").write_text(f"{FIRST} 4111 1111 1111 1111\n")
    (card,) = json.loads(dlpctl("scan", ".", "-f", "json", "--types", "FINANCIAL").out)["findings"]
    assert dlpctl("allow", card["id"], *WHY).status == 1
    assert dlpctl("allow", card["id"], *WHY, "--types", "FINANCIAL").status == 0
    assert found(dlpctl) == [(1, 1)]


def test_an_expired_exception_is_replaced(dlpctl):
    dlpctl("allow", "a.txt:1", *WHY, "--expires", "2020-01-01")
    assert len(found(dlpctl)) == 3
    assert "1 added, 1 removed" in dlpctl("allow", "a.txt:1", *WHY).out
    assert found(dlpctl) == [(2, 4)]


@pytest.mark.parametrize("command", [["allow", "a.txt:1", *WHY], ["baseline", "update"]])
def test_an_empty_file_of_exceptions_gets_a_key(dlpctl, command):
    FILE.touch()
    result = dlpctl(*command, "--format", "json")
    assert (result.status, json.loads(result.out)["removed"]) == (0, 0)
    assert (1, 10) not in found(dlpctl)


def test_in_a_repository_the_file_is_at_its_root(dlpctl):
    subprocess.run(["git", "init", "-q"], check=True)
    Path("src").mkdir()
    Path("src/b.txt").write_text("nothing but carl.poe@acme-corp.com\n")
    os.chdir("src")
    assert dlpctl("allow", "b.txt:1", *WHY).status == 0
    os.chdir("..")
    assert FILE.exists()
    assert ".dlpctl-allow merge=union" in Path(".gitattributes").read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["a.txt:1"], 2, "--reason"),
        (["a.txt:1", "--reason", " "], 2, "--reason is empty"),
        (["a.txt:1", *WHY, "--owner", ""], 2, "must not be empty"),
        (["a.txt:1", *WHY, "--expires", "soon"], 2, "neither a day"),
        (["a.txt", *WHY], 2, "neither FILE:LINE nor a fingerprint"),
        (["a.txt:3", *WHY], 1, "a.txt:3: nothing is found there"),
        (["missing.txt:1", *WHY], 1, "missing.txt: was not scanned"),
        (["a.txt:1", *WHY, "--types", "MAIL"], 2, "'MAIL' is not a category"),
    ],
)
def test_misuse_changes_nothing(dlpctl, arguments, status, said):
    result = dlpctl("allow", *arguments)
    assert (result.status, result.err.count("\n")) == (status, 1)
    assert said in result.err
    assert not FILE.exists()
