from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from dlpctl.detect.validators.secrets_examples import pem_key

FILE = Path(".dlpctl-allow")
FIRST, SECOND = "jane.roe@acme-corp.com", "bob.doe@acme-corp.com"


@pytest.fixture(autouse=True)
def _tree(_own_home):
    Path("a.txt").write_text(f"write to {FIRST}\n")


def rows(dlpctl):
    return json.loads(dlpctl("baseline", "audit", "--format", "json").out)


def test_accepted_values_stay_accepted_when_they_move(dlpctl):
    created = dlpctl(
        "baseline", "create", "--owner", "jane", "--reason", "our own address", "--expires", "30d"
    )
    assert created.out == ".dlpctl-allow: 1 exception (1 EMAIL); 1 added, 0 removed\n"
    assert FIRST not in FILE.read_text()
    Path("a.txt").rename("b.txt")
    Path("b.txt").write_text(f"\n\nnew line, then {FIRST}\n")
    (row,) = rows(dlpctl)
    assert (row["state"], row["owner"], row["reason"], row["places"]) == (
        "in use",
        "jane",
        "our own address",
        ["b.txt:3"],
    )
    before = FILE.read_text()
    assert "0 added, 0 removed" in dlpctl("baseline", "update").out
    assert FILE.read_text() == before
    assert dlpctl("baseline", "create").status == 2


def test_new_findings_are_added_to_existing_exceptions(dlpctl):
    dlpctl("baseline", "create", "--owner", "jane")
    before = FILE.read_text().splitlines()
    Path("c.txt").write_text(f"{SECOND}\n219-09-9999\n")
    assert "1 added" in dlpctl("baseline", "update", "--types", "EMAIL", "--with-paths").out
    assert set(before) < set(FILE.read_text().splitlines())
    assert [row["path"] for row in rows(dlpctl) if row["path"]] == ["c.txt"]
    Path("c.txt").rename("d.txt")
    assert "unused" in {row["state"] for row in rows(dlpctl)}
    assert "0 added, 1 removed" in dlpctl("baseline", "prune", "--unused").out


def test_expired_exceptions_are_listed_renewed_and_pruned(dlpctl):
    dlpctl("baseline", "create", "--expires", "2020-01-01")
    audited = dlpctl("baseline", "audit")
    assert audited.status == 1
    assert "1 exception: 1 expired" in audited.out
    updated = dlpctl("baseline", "update")
    assert (
        "for EMAIL expired on 2020-01-01: 1 finding counts again. --renew extends it."
        in updated.err
    )
    assert "0 added" in updated.out
    dlpctl("baseline", "update", "--renew", "--expires", "never")
    assert [row["expires"] for row in rows(dlpctl)] == ["never"]
    assert dlpctl("baseline", "audit").status == 0
    dlpctl("baseline", "update", "--renew")
    FILE.write_text(FILE.read_text().replace("never", "2020-01-01"))
    pruned = json.loads(dlpctl("baseline", "prune", "--format", "json").out)
    assert (pruned["exceptions"], pruned["removed"]) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit"], "'dlpctl baseline create' makes one"),
        (["create", "--expires", "soon"], "neither a day such as 2027-01-31"),
        (["create", "--owner", " "], "--owner is empty"),
        (["create", "missing"], "missing: cannot be read"),
        (["import", "missing"], "missing: cannot be read"),
        (["import", "a.txt"], "a.txt:1: is not a gitleaks fingerprint"),
    ],
)
def test_misuse_changes_nothing(dlpctl, arguments, said):
    result = dlpctl("baseline", *arguments)
    assert result.status == 2
    assert said in result.err
    assert result.err.count("\n") == 1
    assert not FILE.exists()


def test_scan_counts_new_findings_and_expired_exceptions(dlpctl):
    dlpctl("baseline", "create")
    accepted = dlpctl("scan", ".", "--format", "json")
    assert (accepted.status, json.loads(accepted.out)["summary"]["accepted"]) == (0, 1)
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/c.txt").write_text(f"{FIRST} {SECOND}\n")
    os.chdir("deep/er")
    assert [one["start"] for one in found_in(dlpctl("scan", "c.txt", "--format", "json"))] == [
        len(FIRST) + 1
    ]
    os.chdir("../..")
    FILE.rename("known")
    others = ("scan", ".", "--exclude", "known", "--format", "json")
    assert len(found_in(dlpctl(*others))) == 3
    assert len(found_in(dlpctl(*others, "--baseline", "known"))) == 1
    Path("known").write_text(
        re.sub("expires=[0-9-]+", "expires=2020-01-01", Path("known").read_text())
    )
    expired = dlpctl("scan", ".", "--baseline", "known")
    assert expired.status == 20
    assert "for EMAIL expired on 2020-01-01: 2 findings count again" in expired.out + expired.err
    Path("known").write_text("nonsense")
    assert (
        "known:1: must start with a fingerprint" in dlpctl("scan", ".", "--baseline", "known").err
    )


def test_only_the_prose_in_the_file_of_exceptions_gives_findings(dlpctl):
    Path("people.txt").write_text("Date of birth: 12 April 1987\nMail: first.person@example.com\n")
    made = ("baseline", "create", "--owner", "their.name@example.com")
    assert dlpctl(*made, "--reason", "made up").status == 0
    assert dlpctl("scan").status == 0
    lines = Path(".dlpctl-allow").read_text()
    Path(".dlpctl-allow").write_text(lines.replace("made up", "ask other.person@example.com"))
    assert {one["file"] for one in found_in(dlpctl("scan", "-f", "json"))} == {".dlpctl-allow"}


def test_an_exception_for_a_destination_counts_for_that_alone(dlpctl):
    dlpctl("baseline", "create", "--destination", "vendor")
    statuses = [
        dlpctl("scan", ".", *more).status for more in ([], ["-d", "vendor"], ["-d", "CUSTOMER"])
    ]
    assert statuses == [20, 0, 20]


def found_in(result):
    return json.loads(result.out)["findings"]


def git(*arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=300
    ).stdout.strip()


def test_exceptions_of_gitleaks(dlpctl):
    git("init", "-q")
    Path("keys").mkdir()
    Path("keys/old.pem").write_text(pem_key(Random(1)))
    git("add", ".")
    git("commit", "-qm", "keys")
    commit = git("rev-parse", "HEAD")
    Path("keys/old.pem").unlink()
    Path("keys/new.pem").write_text(f"# first\n{pem_key(Random(2))}")
    Path(".gitleaksignore").write_text(
        f"# known\n{commit}:keys/old.pem:private-key:1\nkeys/new.pem:private-key:2\ngone.py:aws-access-token:7\na.txt:email:1\n"
    )
    result = dlpctl("baseline", "import", ".gitleaksignore", "--owner", "jane")
    assert "2 exceptions (2 PRIVATE_KEY)" in result.out
    assert "gone.py:7: nothing is found there now" in result.err
    assert "a.txt:1: nothing is found there now" in result.err
    assert {row["reason"] for row in rows(dlpctl)} == {"gitleaks: private-key"}
    assert ".dlpctl-allow merge=union" in Path(".gitattributes").read_text()


def test_a_baseline_of_detect_secrets(dlpctl):
    tokens = [f"ghp_{Random(number).getrandbits(140):036x}" for number in range(3)]
    Path("conf.py").write_text(
        "".join(f'token_{n} = "{token}"\n' for n, token in enumerate(tokens))
    )
    found = json.loads(dlpctl("scan", "conf.py", "--format", "json").out)
    assert len(found["findings"]) == 3
    hashed = [hashlib.sha1(token.encode()).hexdigest() for token in tokens]
    entries = [
        {"type": "GitHub Token", "hashed_secret": hashed[0], "line_number": 77},
        {"type": "GitHub Token", "hashed_secret": "0" * 40, "line_number": 2, "is_secret": False},
        {"type": "GitHub Token", "hashed_secret": hashed[2], "line_number": 3, "is_secret": True},
    ]
    Path(".secrets.baseline").write_text(
        json.dumps({"version": "1.5.0", "results": {"conf.py": entries}})
    )
    dlpctl("baseline", "import", ".secrets.baseline", "--expires", "never")
    assert sorted(row["places"] for row in rows(dlpctl)) == [["conf.py:1"], ["conf.py:2"]]
    assert dlpctl("baseline", "import", ".secrets.baseline").out.endswith("0 added, 0 removed\n")
    Path("broken.json").write_text('{"results": [1]}')
    assert "is not a baseline of detect-secrets" in dlpctl("baseline", "import", "broken.json").err


def test_setting_the_clock_back_revives_no_exception(dlpctl, set_clock):
    start = datetime(2026, 3, 10, 20, tzinfo=UTC)
    set_clock(start)
    dlpctl("baseline", "create", "--expires", "2026-03-10")
    for minutes in range(0, 300, 50):
        set_clock(start + timedelta(minutes=minutes))
        dlpctl("baseline", "audit")
    set_clock(start - timedelta(days=100))
    assert "1 exception: 1 expired" in dlpctl("baseline", "audit").out
