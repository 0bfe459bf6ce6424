"""A command prints the same JSON whether it asks this process or a server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.backend.conftest import Daemon, Result

FILE = """
[[organization]]
slug = "initech"
name = "Initech"
[[organization.group]]
name = "legal"
[[organization.policy]]
name = "default"
source = "default"
groups = ["default", "legal"]
"""
POLICY = """
name = "vendors"
minScore = 0.7
[[rules]]
name = "No mail"
dataTypes = ["EMAIL"]
destinations = ["VENDOR"]
action = "BLOCK"
"""
_ID = re.compile(r"\b(?:org|pol|lic|tok|grp|pf|key)_[0-9a-f]{24}\b|\bdlp_[a-z]{2}_\w{49}\b")
_VARYING = re.compile(
    r"\bdlpctl-head:[\w.:]+|(?<=\"events\": )\d+"  # using a server's token is an event
    r"|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?|eyJ[\w.-]+|-----BEGIN[^\"]+|(?<=expires=)\d+|\b[0-9a-f]{64}\b"
)

Shell = Callable[..., Result]


class Twice:
    """Runs each command locally and through the server, in identical homes, and compares the
    complete output.
    """

    def __init__(self, shell: Shell, local: Path, daemon: Daemon) -> None:
        self._shell = shell
        self._homes = {"local": local, daemon.url: daemon.home}
        self._names: dict[str, dict[str, str]] = {url: {} for url in self._homes}

    def __call__(self, *arguments: str, status: int = 0) -> dict[str, str]:
        """`@name` in an argument is a value stored by `keep`."""
        printed = []
        answers = {}
        for url, home in self._homes.items():
            given = [
                self._names[url][text[1:]] if text.startswith("@") else text for text in arguments
            ]
            result = self._shell(home, *given, "--format", "json", "--server", url)
            assert result.status == status, result.err
            printed.append((_normalized(result.out), _normalized(result.err)))
            answers[url] = result.out
        assert printed[0] == printed[1]
        return answers

    def keep(self, name: str, answers: dict[str, str], *path: str | int) -> None:
        for url, text in answers.items():
            value = json.loads(text)
            for step in path:
                value = value[step]
            self._names[url][name] = value


def _normalized(text: str) -> str:
    """Return the output without random and time-dependent parts: each id becomes its order of first
    appearance.
    """
    known: dict[str, str] = {}
    text = _ID.sub(lambda found: known.setdefault(found[0], f"{found[0][:3]}#{len(known)}"), text)
    return _VARYING.sub("*", text)


@pytest.fixture
def twice(at_home: Shell, tmp_path: Path, daemon: Daemon) -> Twice:
    return Twice(at_home, tmp_path / "home", daemon)


def test_every_command_of_the_control_plane(twice: Twice) -> None:
    Path("vendors.toml").write_text(POLICY)
    Path("org.toml").write_text(FILE)
    created = twice("org", "create", "Acme", "--set", "primary_color=#3366cc")
    twice.keep("org", created, "org_id")
    twice.keep("license", created, "license_id")
    twice.keep("license_key", created, "license_key")
    twice("org", "create", "Acmé 2", "--slug", "acme", status=1)
    twice("org", "create", "A", "--slug", "No!", status=2)
    twice("org", "show", "@org")
    twice("org", "show", "..%2f?y#z'; --", status=1)
    twice("org", "update", "acme", "--name", "Acme Inc", "--set", 'tags=["a","ü"]')
    twice("org", "list")

    policy = twice("policy", "create", "acme", "vendors.toml", "--inactive")
    twice.keep("policy", policy, "policy_id")
    twice("policy", "update", "acme", "@policy", "default", "--active")
    twice("policy", "update", "acme", "@policy", "--group", "nowhere", status=2)
    twice("policy", "stored", "acme")
    twice("policy", "stored", "@org", "@policy")
    twice("policy", "versions", "acme", "@policy")
    twice("policy", "regenerate-key", "acme", "@policy")

    twice("group", "create", "acme", "legal", "--policy-id", "@policy", "--description", "Lawyers")
    twice("group", "create", "acme", "legal", status=1)
    twice("group", "update", "acme", "legal", "--name", "law & order/1")
    twice("group", "show", "acme", "law & order/1")
    twice("group", "list", "acme")
    twice("group", "delete", "acme", "law & order/1")

    made = twice("license", "create", "acme", "--plan", "standard", "--expires", "2999-01-01")
    twice.keep("standard", made, "license_id")
    twice("license", "create", "acme", "--plan", "gold", status=2)
    twice("license", "extend", "acme", "@standard", "--checks", "5")
    twice("license", "validate", "--key", "@license_key")
    twice("license", "validate", "--key", "dlp_lk_x", status=1)
    twice("license", "public-key")
    twice("license", "public-key", "--key-id", "none", status=1)
    twice("license", "rotate-keys")
    twice("license", "revoke", "acme", "@standard")
    twice("license", "list", "acme")

    token = twice(
        "token", "create", "--role", "auditor", "--org", "acme", "--expires", "2999-01-01"
    )
    twice.keep("token", token, "token_id")
    twice("token", "create", "--role", "king", status=2)
    twice("token", "revoke", "@token")
    twice("token", "revoke", "@token", status=1)

    Path("note.txt").write_text("write to jane.doe@corp.example.net")
    Path("data.csv").write_text("name,email\nJane Doe,jane.doe@corp.example.net\n")
    Path("none.txt").write_text("nothing here")
    twice("policy", "update", "acme", "@policy", "--active")
    twice("check", "note.txt", "--org", "acme", "--policy", "@policy", status=10)
    twice(
        "check",
        "data.csv",
        "none.txt",
        "--org",
        "acme",
        "--policy",
        "@policy",
        "--force",
        status=10,
    )
    twice("check", "note.txt", "--org", "acme", "--policy", "nothing", status=1)
    twice("check", "note.txt", "--org", "acme", "--policy", "@policy", "-d", "MARS", status=2)

    twice("analytics", "acme", "--period", "7d")
    twice("analytics", "acme", "--period", "8d", status=2)
    twice("audit", "list", "--search", "email", "--org", "@org", "--limit", "1")
    twice("audit", "list", "--offset", "-1", status=2)
    twice("audit", "verify")
    twice("audit", "head")
    twice("audit", "verify", "--head", "nonsense.txt", status=1)

    planned = twice("apply", "org.toml", "--dry-run")
    assert len(set(planned.values())) == 1
    twice("apply", "org.toml")
    twice("apply", "org.toml")
    twice("policy", "delete", "acme", "@policy")
    for org in ("acme", "initech"):
        twice("org", "delete", org, "--yes")
    twice("org", "list")


def test_output_for_the_same_database_is_byte_identical(
    at_home: Shell, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DLPCTL_SERVER", daemon.url)
    made = json.loads(at_home(daemon.home, "init", "--org", "Umbrella", "--format", "json").out)
    assert made["organization"] == "umbrella"
    Path("note.txt").write_text("write to jane.doe@corp.example.net")
    for destination in ("VENDOR", "CUSTOMER"):
        assert (
            at_home(daemon.home, "check", "note.txt", "--org", "umbrella", "-d", destination).status
            == 10
        )
    for command in (
        ("org", "list"),
        ("org", "show", "umbrella"),
        ("policy", "stored", "umbrella"),
        ("group", "list", "umbrella"),
        ("license", "list", "umbrella"),
        ("license", "public-key"),
        ("token", "list"),
        ("analytics", "umbrella"),
        ("audit", "list", "--org", "umbrella"),
        ("audit", "verify"),
        ("audit", "export", "--org", "umbrella"),
        ("audit", "export", "--search", "email"),
    ):
        extra = () if "export" in command else ("--format", "json")
        here = at_home(daemon.home, *command, *extra, "--server", "local")
        there = at_home(daemon.home, *command, *extra)
        assert (there.status, there.out) == (0, here.out), command
        assert here.out
    assert at_home(daemon.home, "org", "delete", "umbrella", "--yes").status == 0


def test_a_unix_socket_serves_as_well(at_home: Shell, socket_daemon: Daemon) -> None:
    url = socket_daemon.url
    made = at_home(
        socket_daemon.home, "init", "--org", "Hooli", "--server", url, "--format", "json"
    )
    assert json.loads(made.out)["organization"] == "hooli"
    here = at_home(socket_daemon.home, "org", "list", "--format", "json", "--server", "local")
    assert (
        at_home(socket_daemon.home, "org", "list", "--format", "json", "--server", url).out
        == here.out
    )
