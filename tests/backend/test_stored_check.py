"""`check` by the control plane, locally and on a server: recorded, counted, and answered as
specified.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.backend.conftest import Result

NOTE = "write to jane.doe@corp.example.net\n"
Run = Callable[..., Result]


@pytest.fixture(params=["local", "server"])
def asked(request, dlpctl: Run, daemon, monkeypatch) -> Run:
    """The command line in this process and against a server, both with an organization."""
    if request.param == "server":
        monkeypatch.setenv("DLPCTL_SERVER", daemon.url)
        token = daemon.home / "data" / "dlpctl" / "admin.token"
        monkeypatch.setenv("DLPCTL_TOKEN", token.read_text().strip())
    dlpctl("org", "delete", "acme", "--yes")
    assert dlpctl("org", "create", "Acme").status == 0
    Path("note.txt").write_text(NOTE)
    return dlpctl


@pytest.fixture
def key(asked: Run) -> str:
    return json.loads(asked("policy", "stored", "acme", "-f", "json").out)[0]["api_key"]


def test_a_check_is_in_the_log_and_in_the_quota(asked: Run) -> None:
    result = asked("check", "note.txt", "--org", "acme", "-d", "VENDOR", "-f", "json")
    answer = json.loads(result.out)
    assert (result.status, answer["decision"]) == (10, "ALLOWED_WITH_MASKING")
    assert list(answer) == [
        "preflight_id",
        "decision",
        "summary",
        "detected",
        "masked_file_url",
        "policy_version",
        "created_at",
    ]
    assert answer["masked_file_url"].startswith(f"/api/preflight/{answer['preflight_id']}/file?")
    assert "jane.doe" not in result.out
    page = json.loads(asked("audit", "list", "--search", answer["preflight_id"], "-f", "json").out)
    assert [item["destination"] for item in page["items"]] == ["VENDOR"]
    (license_,) = json.loads(asked("license", "list", "acme", "-f", "json").out)
    assert license_["checks_this_month"] == 1


def test_the_masked_copy_is_written_where_a_local_check_writes_it(asked: Run) -> None:
    assert asked("check", "note.txt", "--org", "acme", "-o", "out.txt").status == 10
    assert Path("out.txt").read_text() == NOTE.replace("jane.doe", "j***")
    assert asked("check", "note.txt", "--org", "acme", "-o", "out.txt").status == 1
    Path("data.csv").write_text(f"a,b\nx,{NOTE}")
    result = asked("check", "data.csv", "--org", "acme")
    assert "masked copy: data.masked.csv" in result.out
    assert "j***@corp" in Path("data.masked.csv").read_text()
    assert not Path("note.masked.txt").exists()


def test_several_files_and_the_decision_alone(asked: Run) -> None:
    Path("none.txt").write_text("nothing")
    result = asked("check", "note.txt", "none.txt", "--org", "acme", "--decision-only")
    assert (result.status, result.out) == (
        10,
        "ALLOWED_WITH_MASKING  note.txt\nALLOWED  none.txt\n",
    )
    files = json.loads(asked("check", "note.txt", "none.txt", "--org", "acme", "-f", "json").out)
    assert [one["file"] for one in files] == ["note.txt", "none.txt"]
    assert (
        "ALLOWED_WITH_MASKING  note.txt  Masked 1 email"
        in asked("check", "note.txt", "--org", "acme").out
    )


def test_a_policy_key_opens_checks_by_its_policy(asked: Run, key: str, monkeypatch) -> None:
    monkeypatch.delenv("DLPCTL_TOKEN", raising=False)
    Path("key").write_text(f"{key}\n")
    assert asked("check", "note.txt", "--api-key-file", "key").status == 10
    monkeypatch.setenv("DLPCTL_API_KEY", key)
    assert asked("check", "note.txt").status == 10
    assert asked("check", "note.txt", "--org", "acme").status == 10
    result = asked("check", "note.txt", "--org", "other")
    assert (result.status, "another organization" in result.err) == (1, True)
    monkeypatch.setenv("DLPCTL_API_KEY", "dlp_pk_x")
    result = asked("check", "note.txt")
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert "is unknown" in result.err


def test_an_auditor_sees_no_key_to_check_with(asked: Run, monkeypatch) -> None:
    if "DLPCTL_SERVER" not in os.environ:
        pytest.skip("in this process everybody is an administrator")
    made = json.loads(
        asked("token", "create", "--role", "auditor", "--org", "acme", "-f", "json").out
    )
    monkeypatch.setenv("DLPCTL_TOKEN", made["token"])
    result = asked("check", "note.txt", "--org", "acme")
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert "DLPCTL_API_KEY" in result.err
    assert asked("org", "update", "acme", "--name", "x").status == 1
    assert "role editor" in asked("org", "update", "acme", "--name", "x").err


def test_names_and_keys_that_http_cannot_carry(asked: Run, monkeypatch) -> None:
    result = asked("org", "show", "\udcff\n")
    assert (result.status, result.err) == (1, "dlpctl: there is no such organization\n")
    for key in ("ключ", "a\r\nHost: b", "\udcff"):
        monkeypatch.setenv("DLPCTL_API_KEY", key)
        result = asked("check", "note.txt")
        assert (result.status, result.err.count("\n")) == (1, 1)


@pytest.mark.parametrize("content", ["", "\n\n", "two words\n", "\x00\xff"])
def test_a_key_file_without_a_key(asked: Run, content: str) -> None:
    Path("key").write_bytes(content.encode("latin-1"))
    result = asked("check", "note.txt", "--api-key-file", "key")
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert asked("check", "note.txt", "--api-key-file", "none").status == 1


def test_options_of_local_checks_only(asked: Run) -> None:
    for option in (("--operator", "redact"), ("--findings",), ("--patterns", "x.toml")):
        assert asked("check", "note.txt", "--org", "acme", *option).status == 2


def test_a_server_needs_a_policy_key(dlpctl: Run) -> None:
    Path("note.txt").write_text(NOTE)
    result = dlpctl("check", "note.txt", "--server", "http://127.0.0.1:9")
    assert result.status == 2
    assert "DLPCTL_API_KEY" in result.err
    assert "--org" in result.err


def test_a_project_cannot_send_content_to_a_server_of_its_choice(dlpctl: Run) -> None:
    Path("note.txt").write_text(NOTE)
    Path("dlpctl.toml").write_text('server = "http://127.0.0.1:9"\n')
    result = dlpctl("check", "note.txt")
    assert result.status == 2
    assert "server: is only allowed in your own file and the environment" in result.err
