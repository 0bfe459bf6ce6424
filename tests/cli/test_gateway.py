"""The gateway on the command line: starting, stopping, its clients and its calls."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dlpctl.system.listening import listen
from tests.gateway.standin import Provider, Reply

MAIL = "maria.lopez@acme-corp.com"


@pytest.mark.skipif(os.name != "posix", reason="ends the gateway by a signal")
def test_it_serves_until_terminated(
    tmp_path: Path, compiled_cache: Path, wait_for: Callable[[Callable[[], object]], None]
) -> None:
    shutil.copytree(compiled_cache, tmp_path / "cache")  # a link is not trusted
    environ = {"DLPCTL_HOME": str(tmp_path), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    log = tmp_path / "log"
    with closing(Provider()) as provider:
        provider.reply = lambda sent: Reply(sent.body)
        command = [sys.executable, "-m", "dlpctl", "gateway", "--port", "0"]
        command += ["--upstream", f"anthropic={provider.url}"]
        with log.open("wb") as errors:
            process = subprocess.Popen(command, stderr=errors, env=environ)
        try:
            wait_for(lambda: b"/anthropic for " in log.read_bytes())
            url = log.read_text().split("listens on ")[1].split()[0]
            body = json.dumps({"messages": [{"role": "user", "content": MAIL}]}).encode()
            request = urllib.request.Request(
                f"{url}/anthropic/v1/messages", body, {"content-type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=300) as answer:
                assert answer.read() == body
            assert b"<EMAIL_" in provider.sent[0].body
            process.send_signal(signal.SIGTERM)
            assert process.wait(300) in (0, -signal.SIGTERM)
        finally:
            process.kill()
            process.wait()
    shown = [sys.executable, "-m", "dlpctl", "gateway", "tail", "--once"]
    ran = subprocess.run(shown, env=environ, capture_output=True, text=True, check=True)
    assert "200  ALLOWED_WITH_MASKING  anthropic POST /v1/messages" in ran.stdout
    assert "1 EMAIL" in ran.stdout


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return tmp_path / "user"


@pytest.mark.parametrize(
    ("client", "file", "before"),
    [
        (
            "claude-code",
            ".claude/settings.json",
            '{\n  // mine\n  "env": {"A": "b"},\n  "x": 1\n}\n',
        ),
        ("claude-code", ".claude/settings.json", '{"x": 1}\n'),
        ("claude-code", ".claude/settings.json", None),
        ("codex", ".codex/config.toml", 'model = "m"\n\n[features]\na = true'),
        ("codex", ".codex/config.toml", None),
        ("gemini", ".gemini/.env", "A=b\n"),
    ],
)
def test_settings_of_clients_are_edited_and_restored(
    dlpctl: Any, home: Path, client: str, file: str, before: str | None
) -> None:
    path = home / file
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_text(before)
    for _ in range(2):
        assert dlpctl("gateway", "env", client, "--install").status == 0
    text = path.read_text()
    assert text.count("http://127.0.0.1:8687/") == 1
    if client == "codex":
        provider = tomllib.loads(text)
        assert provider["model_provider"] == "dlpctl"
        assert provider["model_providers"]["dlpctl"]["supports_websockets"] is False
    assert dlpctl("gateway", "env", client, "--uninstall").status == 0
    if before is None:
        assert not path.exists()
    else:
        assert "8687" not in path.read_text()
        assert "dlpctl" not in path.read_text()
        if client != "claude-code":
            assert path.read_text().rstrip() == before.rstrip()
    assert not list(path.parent.glob("*before-dlpctl*"))


def test_variables_are_printed_for_shells(dlpctl: Any, home: Path) -> None:
    assert (
        dlpctl("gateway", "env", "openai-sdk", "--port", "9").out
        == "export OPENAI_BASE_URL=http://127.0.0.1:9/openai/v1\n"
    )
    assert tomllib.loads(dlpctl("gateway", "env", "codex").out)["model_provider"] == "dlpctl"
    assert "no settings file to edit" in dlpctl("gateway", "env", "copilot", "--install").err
    assert "did you mean 'codex'" in dlpctl("gateway", "env", "codexx").err
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text('model_provider = "mine"\n')
    refused = dlpctl("gateway", "env", "codex", "--install")
    assert refused.status == 2
    assert "set already" in refused.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--upstream", "openai"], "must be NAME=https://HOST"),
        (["--upstream", "nobody=https://example.com"], "must be NAME=https://HOST"),
        (["--upstream", "openai=file:///etc/passwd"], "must be NAME=https://HOST"),
        (["--upstream", "openai=https://u:p@example.com"], "must be an address"),
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--with-keys", "--policy", "gdpr"], "leave out --policy"),
        (["--server", "http://127.0.0.1:8686"], "needs --with-keys"),
        (["--with-keys", "--operator", "nope"], "there is no masking operator 'nope'"),
    ],
)
def test_invalid_options_are_refused(dlpctl: Any, arguments: list[str], problem: str) -> None:
    refused = dlpctl("gateway", *arguments)
    assert refused.status == 2
    assert problem in refused.err


def test_a_port_in_use_is_refused_with_advice(dlpctl: Any) -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        refused = dlpctl("gateway", "--port", str(taken.getsockname()[1]))
    assert refused.status == 2
    assert refused.err.endswith("; choose another one with --host and --port\n")
