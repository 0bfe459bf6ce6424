from __future__ import annotations

import json
import os
import stat
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

posix = pytest.mark.skipif(os.name != "posix", reason="needs modes of files")


def said(dlpctl, subject, state):
    result = dlpctl("doctor", "--format", "json")
    answer = json.loads(result.out)
    assert result.status == (0 if answer["healthy"] else 1)
    found = [one for one in answer["checks"] if one["subject"] == subject and one["state"] == state]
    assert found, answer
    return found[0]


def data_folder(dlpctl):
    return Path(dlpctl("config", "path", "data").out.strip())


def test_a_new_installation_is_healthy(dlpctl):
    result = dlpctl("doctor")
    assert result.status == 0
    assert "0 in error" in result.out
    for subject in (
        "settings",
        "program",
        "engine",
        "cache",
        "keys",
        "database",
        "clock",
        "server",
        "tesseract",
    ):
        assert subject in result.out
    dlpctl("init", "--org", "Acme")
    assert "intact" in said(dlpctl, "database", "ok")["said"]


def test_a_wrong_setting_hides_nothing_else(dlpctl):
    Path("dlpctl.toml").write_text("min_scor = 1\n")
    assert "did you mean 'min_score'?" in said(dlpctl, "settings", "error")["said"]
    assert said(dlpctl, "engine", "ok")
    Path("dlpctl.toml").write_text('policy = "gpdr"\n')
    assert "did you mean 'gdpr'?" in said(dlpctl, "settings", "error")["said"]


def test_the_sandbox_of_the_process_that_reads_files(dlpctl):
    checks = json.loads(dlpctl("doctor", "-f", "json").out)["checks"]
    (found,) = (one for one in checks if one["subject"] == "sandbox")
    assert found["state"] in ("ok", "note")
    assert ("sockets" in found["said"]) is (found["state"] == "ok")


@posix
def test_keys_that_others_can_read(dlpctl):
    dlpctl("init")
    key = data_folder(dlpctl) / "control.key"
    key.chmod(0o644)
    found = said(dlpctl, "keys", "error")
    assert found["remedy"] == f"chmod 600 {key}"
    key.chmod(0o600)
    assert said(dlpctl, "keys", "ok")


@posix
def test_a_cache_that_others_can_write(dlpctl, tmp_path, monkeypatch):
    cache = tmp_path / "cache" / "dlpctl"
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent))
    assert said(dlpctl, "cache", "error")["remedy"] == f"chmod -R go-w {cache}"
    cache.chmod(stat.S_IRWXU)
    assert said(dlpctl, "cache", "note")["remedy"] == "dlpctl cache build"


def test_a_compiled_cache(dlpctl):
    assert said(dlpctl, "cache", "ok")


def test_a_folder_that_cannot_hold_keys(dlpctl, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert "DLPCTL_HOME" in said(dlpctl, "keys", "warning")["remedy"]


def test_a_damaged_database_and_a_lost_key(dlpctl):
    dlpctl("init")
    folder = data_folder(dlpctl)
    (folder / "control.key").unlink()
    assert "is missing" in said(dlpctl, "database", "error")["said"]
    for log in folder.glob("control.db-*"):
        log.unlink()
    (folder / "control.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    found = [
        one
        for one in json.loads(dlpctl("doctor", "-f", "json").out)["checks"]
        if one["subject"] == "database"
    ]
    assert any("db restore" in one["remedy"] for one in found)


def test_an_expiring_license(dlpctl):
    dlpctl("init", "--org", "Acme")
    (license_,) = json.loads(dlpctl("license", "list", "acme", "-f", "json").out)
    soon = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%MZ")
    dlpctl("license", "extend", "acme", license_["license_id"], "--expires", soon)
    found = said(dlpctl, "license", "warning")
    assert found["remedy"].startswith(
        f"dlpctl license extend acme {license_['license_id']} --expires "
    )
    assert dlpctl(*found["remedy"].split()[1:]).status == 0
    assert "expires on" not in dlpctl("doctor").out


def test_expired_exceptions(dlpctl):
    Path("a.txt").write_text("a@acme-corp.com")
    dlpctl("baseline", "create", "--expires", "2020-01-01")
    assert said(dlpctl, "exceptions", "warning")["remedy"] == "dlpctl baseline audit"
    Path(".dlpctl-allow").write_text("nonsense")
    assert ".dlpctl-allow:1" in said(dlpctl, "exceptions", "error")["said"]


class _Answers(BaseHTTPRequestHandler):
    ahead = timedelta()
    status = 200

    def do_GET(self):
        self.send_response_only(self.status if self.path == "/readyz" else 404)
        self.send_header("Date", format_datetime(datetime.now(UTC) + self.ahead, usegmt=True))
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    ("status", "ahead", "subject", "words"),
    [
        (200, 0, "server", "answers"),
        (503, 0, "server", "not ready"),
        (200, 600, "clock", "differs from the server's"),
        (None, 0, "server", "does not answer"),
    ],
)
def test_a_server(dlpctl, monkeypatch, status, ahead, subject, words):
    handler = type("Answers", (_Answers,), {"status": status, "ahead": timedelta(seconds=ahead)})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        if status is None:
            server.socket.close()
        monkeypatch.setenv("DLPCTL_SERVER", f"http://127.0.0.1:{server.server_port}")
        verdicts = json.loads(dlpctl("doctor", "-f", "json").out)["checks"]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert any(one["subject"] == subject and words in one["said"] for one in verdicts), verdicts
