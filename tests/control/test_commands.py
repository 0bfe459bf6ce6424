from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dlpctl.cli.main import run
from dlpctl.config.setting_types import DatabaseAddress

SPEC = """
[[organization]]
slug = "acme"
name = "Acme Inc"
settings = { primary_color = "#3366cc" }

[[organization.group]]
name = "legal"
description = "Lawyers"

[[organization.policy]]
name = "default"
source = "default"
groups = ["default", "legal"]

[[organization.policy]]
name = "vendors"
source = "vendors.toml"
is_active = false
"""
VENDORS = """
name = "whatever"
minScore = 0.7
[[rules]]
name = "No mail"
dataTypes = ["EMAIL"]
destinations = ["VENDOR"]
action = "BLOCK"
"""


@pytest.fixture
def dlpctl(
    tmp_path: Path,
    compiled_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process, with a home of its own."""
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    for variable, folder in (("CONFIG", tmp_path / "config"), ("DATA", tmp_path / "data")):
        folder.mkdir(mode=0o700, exist_ok=True)
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(folder))
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(arguments)
        out, err = capfd.readouterr()
        return status, out, err

    return call


@pytest.fixture
def answer(dlpctl):
    """Return the JSON answer of a command."""

    def call(*arguments):
        status, out, err = dlpctl(*arguments, "--format", "json")
        assert status == 0, err
        return json.loads(out) if out else None

    return call


def test_init_makes_a_token_file_and_an_organization(dlpctl, answer):
    made = answer("init", "--org", "Acme Inc")
    assert made["organization"] == "acme-inc"
    assert made["api_key"].startswith("dlp_pk_")
    token = Path(made["token_file"]).read_text()
    again = dlpctl("init")
    assert again[0] == 0
    assert Path(made["token_file"]).read_text() == token
    assert token.strip() not in again[1]


def test_organizations_groups_policies_licenses_and_tokens(dlpctl, answer):
    org = answer("org", "create", "Acme", "--set", "admin_email=a@b.example")["org_id"]
    assert (
        answer("org", "update", "acme", "--name", "New", "--set", "admin_email=")["settings"] == {}
    )
    assert [one["slug"] for one in answer("org", "list")] == ["acme"]
    Path("vendors.toml").write_text(VENDORS)
    policy = answer("policy", "create", "acme", "vendors.toml", "--inactive")["policy_id"]
    assert answer("policy", "update", "acme", policy, "default", "--active")["version"] == "1.1"
    assert "minScore" not in answer("policy", "stored", org, policy)
    assert len(answer("policy", "versions", org, policy)) == 2
    assert answer("policy", "regenerate-key", org, policy)["policy_id"] == policy
    assert answer("group", "create", "acme", "legal", "--policy-id", policy)["policy_ids"] == [
        policy
    ]
    assert dlpctl("group", "update", "acme", "legal")[0] == 2, "nothing to change"
    assert answer("group", "update", "acme", "legal", "--name", "law")["name"] == "law"
    answer("group", "delete", "acme", "law")
    answer("policy", "delete", "acme", policy)
    made = answer("license", "create", "acme", "--plan", "standard", "--expires", "2999-01-01")
    assert (
        answer("license", "extend", "acme", made["license_id"], "--checks", "5")[
            "max_checks_per_month"
        ]
        == 5
    )
    assert answer("license", "validate", "--key", made["license_key"])["valid"] is True
    answer("license", "revoke", "acme", made["license_id"])
    assert [one["status"] for one in answer("license", "list", "acme")] == ["active", "revoked"]
    token = answer("token", "create", "--role", "auditor", "--org", "acme")
    assert [one["token_id"] for one in answer("token", "list")] == [token["token_id"]]
    answer("token", "revoke", token["token_id"])
    for command in (
        ("org", "list"),
        ("policy", "stored", "acme"),
        ("license", "list", "acme"),
        ("group", "list", "acme"),
        ("token", "list"),
        ("org", "show", "acme"),
    ):
        status, out, _ = dlpctl(*command)
        assert (status, bool(out)) == (0, True)
    assert dlpctl("org", "delete", "acme")[0] == 2
    answer("org", "delete", "acme", "--yes")
    assert answer("org", "list") == []


def test_errors_are_one_line_and_name_the_field(dlpctl):
    status, _, err = dlpctl("org", "show", "none")
    assert (status, err) == (1, "dlpctl: there is no such organization\n")
    status, _, err = dlpctl("org", "create", "A", "--slug", "No!", "--format", "json")
    assert (status, json.loads(err)["error"]) == (2, "request")


def test_analytics_audit_and_the_database(dlpctl, answer, tmp_path):
    answer("org", "create", "=Acme")
    for text in ("hello", "write to jane.doe@corp.example.net"):
        Path("note.txt").write_text(text)
        dlpctl("check", "note.txt", "--org", "acme", "-d", "VENDOR")
    shown = answer("analytics", "acme", "--period", "7d")
    assert shown["analytics"]["total_checks"] == 2
    status, out, _ = dlpctl("analytics", "acme")
    assert (status, "█" in out) == (0, True)
    assert answer("audit", "list", "--search", "email")["total"] == 1
    assert "1 to 2 of 2 checks" in dlpctl("audit", "list")[1]
    assert len(dlpctl("audit", "export")[1].splitlines()) == 2
    assert dlpctl("audit", "export", "-f", "csv", "-o", "a.csv")[0] == 0
    rows = list(csv.DictReader(Path("a.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["org_name"] for row in rows] == ["'=Acme"] * 2
    assert answer("audit", "verify")["intact"] is True
    assert answer("db", "check") == {"intact": True, "problems": []}
    assert dlpctl("db", "backup", "b.db")[0] == 0
    assert dlpctl("db", "backup", "b.db")[0] == 1
    assert answer("db", "prune", "--older-than", "0h") == {"removed": 2}
    assert dlpctl("db", "prune", "--older-than", "soon")[0] == 2
    assert dlpctl("db", "restore", "b.db")[0] == 2
    assert dlpctl("db", "restore", "b.db", "--yes")[0] == 0
    assert dlpctl("db", "vacuum")[0] == 0
    assert answer("audit", "list")["total"] == 2


def test_a_folder_that_cannot_hold_the_key_file(dlpctl, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    status, _, err = dlpctl("init")
    assert (status, "set DLPCTL_HOME to another folder" in err) == (1, True)


def _damage_a_page(database: Path) -> None:
    content = bytearray(database.read_bytes())
    content[8192:12288] = b"A" * 4096
    database.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a damaged page": _damage_a_page,
    "another content": lambda database: database.write_bytes(b"not a database" * 500),
    "no content": lambda database: database.write_bytes(b""),
    "no file": lambda database: database.unlink(),
}


@pytest.mark.of_a_file
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_or_lost_database_is_restored(dlpctl, answer, damage, tmp_path):
    answer("init", "--org", "Acme")
    assert dlpctl("db", "backup", "b.db")[0] == 0
    database = tmp_path / "data" / "dlpctl" / "control.db"
    for log in database.parent.glob("control.db-*"):
        log.unlink()
    damage(database)
    status, out, err = dlpctl("db", "check")
    assert (status, "db check" in out + err) == (1, False)
    assert dlpctl("db", "restore", "b.db", "--yes")[0] == 0
    assert [one["slug"] for one in answer("org", "list")] == ["acme"]
    assert answer("audit", "verify")["intact"] is True


@pytest.mark.of_a_file
def test_a_backup_is_not_restored_beside_a_new_key_file(dlpctl, answer, tmp_path):
    answer("init", "--org", "Acme")
    assert dlpctl("db", "backup", "b.db")[0] == 0
    (tmp_path / "data" / "dlpctl").rename(tmp_path / "lost")
    status, _, err = dlpctl("db", "restore", "b.db", "--yes")
    assert (status, "copy it from where you keep it" in err) == (1, True)
    assert not (tmp_path / "data" / "dlpctl").exists()


def test_apply_is_idempotent_and_reports_its_changes(dlpctl, answer):
    Path("org.toml").write_text(SPEC)
    Path("vendors.toml").write_text(VENDORS)
    planned = answer("apply", "org.toml", "--dry-run")["changes"]
    assert planned == [
        "+ organization acme",
        "+ group acme/legal",
        "+ policy acme/default",
        "+ policy acme/vendors",
    ]
    assert answer("org", "list") == []
    made = answer("apply", "org.toml")["changes"]
    assert made[:2] == planned[:2]
    assert "~ policy acme/default: groups" in made
    for dry in ((), ("--dry-run",)):
        assert answer("apply", "org.toml", *dry)["changes"] == []
    assert dlpctl("apply", "org.toml")[1] == "nothing to change\n"
    Path("vendors.toml").write_text(VENDORS.replace("minScore = 0.7", "").replace("BLOCK", "MASK"))
    Path("org.toml").write_text(SPEC.replace("#3366cc", "#000000").replace("Lawyers", "Law"))
    assert answer("apply", "org.toml")["changes"] == [
        "~ organization acme: settings.primary_color",
        "~ group acme/legal: description",
        "~ policy acme/vendors: minScore, rules",
    ]
    stored = next(one for one in answer("policy", "stored", "acme") if one["name"] == "vendors")
    assert (stored["version"], stored["is_active"], "minScore" in stored) == ("1.1", False, False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("slug", "slgu"),
        ('name = "legal"', ""),
        ('source = "default"', 'source = "none.toml"'),
        ("groups", "gruops"),
    ],
)
def test_apply_reports_mistakes_and_changes_nothing(dlpctl, old, new):
    Path("org.toml").write_text(SPEC.replace(old, new))
    status, _, err = dlpctl("apply", "org.toml", "--dry-run")
    assert status == 2
    assert err.count("\n") == 1


def test_the_audit_log_is_verified_against_a_head_that_was_noted(dlpctl, tmp_path):
    assert dlpctl("audit", "verify")[0] == 1  # there is none, which is not the same as a good one
    assert dlpctl("init", "--org", "Acme")[0] == 0
    Path("note.txt").write_text("write to jane.doe@corp.example.net")
    status, out, _ = dlpctl("check", "note.txt", "--org", "acme")
    assert (status, out.splitlines()[-1]) == (10, "  masked copy: not written; -o FILE writes it")
    status, head, _ = dlpctl("audit", "head")
    assert (status, head.startswith("dlpctl-head:1:")) == (0, True)
    Path("head.txt").write_text(head)
    Path("head.json").write_text(dlpctl("audit", "head", "--format", "json")[1])
    assert dlpctl("db", "backup", "early.db")[0] == 0
    assert dlpctl("check", "note.txt", "--org", "acme")[0] == 10
    Path("later.txt").write_text(dlpctl("audit", "head")[1])
    key = str(tmp_path / "data" / "dlpctl" / "control.key")
    for noted in (head.strip(), "head.txt", "head.json"):
        assert dlpctl("audit", "verify", "--head", noted)[0] == 0
        assert (
            dlpctl("audit", "verify", "--head", noted, "--database", "early.db", "--key-file", key)[
                0
            ]
            == 0
        )
    status, out, _ = dlpctl(
        "audit", "verify", "--head", "later.txt", "--database", "early.db", "--key-file", key
    )
    assert (status, "1 checks and 0 events up to it are missing" in out) == (1, True)
    assert dlpctl("audit", "verify", "--head", "note.txt")[0] == 2
    status, out, _ = dlpctl("audit", "events", "--format", "json")
    assert [one["action"] for one in json.loads(out)["items"]][:2] == [
        "key.used",
        "organization.created",
    ]


def test_commands_use_the_database_that_the_settings_name(
    dlpctl, emptied_postgres, monkeypatch, tmp_path
):
    monkeypatch.setenv("DLPCTL_SERVE_DATABASE", emptied_postgres.replace(":@", ":hunter2@"))
    assert dlpctl("audit", "verify")[0] == 1
    assert dlpctl("init", "--org", "Acme")[0] == 0
    Path("note.txt").write_text("write to jane.doe@corp.example.net")
    assert dlpctl("check", "note.txt", "--org", "acme")[0] == 10
    assert dlpctl("audit", "verify")[0] == 0
    assert dlpctl("db", "check")[0] == 0
    assert dlpctl("db", "vacuum")[0] == 0
    status, _, said = dlpctl("db", "backup", "copy.db")
    assert (status, "pg_dump" in said) == (2, True)
    assert not (tmp_path / "data" / "dlpctl" / "control.db").exists()
    shown = dlpctl("config", "show")[1] + dlpctl("config", "show", "--format", "json")[1]
    shown += dlpctl("doctor")[1]
    assert "postgresql:///" in shown
    assert "hunter2" not in shown + said
    assert repr(DatabaseAddress("postgresql://a:hunter2@h:1/d?password=x")) == "postgresql://h:1/d"
    monkeypatch.setenv("DLPCTL_SERVE_DATABASE", "mysql://jane:hunter2@h/d")
    status, _, said = dlpctl("config", "show")
    assert (status, "must start with postgresql://" in said, "hunter2" in said) == (2, True, False)


def test_the_key_file_is_replaced_by_a_command(dlpctl, tmp_path):
    assert dlpctl("init", "--org", "Acme")[0] == 0
    file = tmp_path / "data" / "dlpctl" / "control.key"
    before = file.read_text()
    head = dlpctl("audit", "head")[1]
    status, out, _ = dlpctl("db", "rotate-key", "--format", "json")
    assert (status, set(json.loads(out))) == (0, {"key_file", "retired_key_id", "tokens_until"})
    assert file.read_text() != before
    Path("note.txt").write_text("write to jane.doe@corp.example.net")
    assert dlpctl("check", "note.txt", "--org", "acme")[0] == 10
    assert dlpctl("audit", "verify", "--head", head.strip())[0] == 0


_UNUSABLE = """
name = "badges"
[[rules]]
dataTypes = ["BADGE"]
destinations = ["VENDOR"]
action = "BLOCK"
[[customPatterns]]
id = "badge"
type = "BADGE"
category = "CUSTOM"
label = "Badge"
regex = "a*"
score = 0.8
"""


def test_a_policy_with_an_unusable_pattern_is_saved_by_no_command(dlpctl, answer):
    org = answer("org", "create", "Acme")["org_id"]
    (policy,) = answer("policy", "stored", org)
    Path("badges.toml").write_text(_UNUSABLE)
    Path("all.toml").write_text(
        '[[organization]]\nslug = "acme"\nname = "Acme"\n'
        '[[organization.policy]]\nname = "badges"\nsource = "badges.toml"\n'
    )
    for command in (
        ("policy", "create", "acme", "badges.toml"),
        ("policy", "update", "acme", policy["policy_id"], "badges.toml"),
        ("apply", "all.toml"),
    ):
        status, _, err = dlpctl(*command)
        assert status == 2
        assert "pattern 'badge': regex: matches the empty text" in err
        assert len(err.splitlines()) == 1
    assert answer("policy", "stored", org) == [policy]
