"""The real clients of agents, each in an empty home and before a stand-in for its model: what the
model receives, and what the agent writes. A client that is not on the PATH is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.agents.standin import Call, Turn, serving

pytestmark = pytest.mark.slow
SECONDS = 240
PEOPLE = [f"{name}.miller{number}@example.org" for number, name in enumerate(["ann", "bob", "cid"])]
CARDS = ["4111 1111 1111 1111", "5555 5555 5555 4444", "378282246310005"]
BANK = "500105175407324931"
IBAN = f"DE{98 - int(f'{BANK}131400') % 97:02}{BANK}"
OTHERS = ["536-90-4399", IBAN, "+1 415 555 0132"]
NOTE = "".join(
    f"Card {card} of {mail}\n" for card, mail in zip(CARDS, PEOPLE, strict=True)
) + "SSN {}\nIBAN {}\nPhone {}\n".format(*OTHERS)


class Place(NamedTuple):
    home: Path
    work: Path
    environ: dict[str, str]


@pytest.fixture
def place(tmp_path: Path, compiled_cache: Path) -> Iterator[Place]:
    work = tmp_path / "work"
    work.mkdir()
    (work / "note.txt").write_text(NOTE)
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    shutil.copytree(compiled_cache, tmp_path / "dlpctl" / "cache")
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    yield Place(tmp_path, work, environ | {"DLPCTL_HOME": str(tmp_path / "dlpctl")})
    # Without its socket, the warm process ends by itself.
    shutil.rmtree(tmp_path / "dlpctl" / "run", ignore_errors=True)


def claude(place: Place, url: str) -> list[str]:
    place.environ.update(
        ANTHROPIC_BASE_URL=url,
        ANTHROPIC_API_KEY="dummy",
        DISABLE_TELEMETRY="1",
        DISABLE_AUTOUPDATER="1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        IS_SANDBOX="1",
    )
    options = ["--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-5"]
    return ["claude", "-p", "Read the note", *options]


def codex(place: Place, url: str) -> list[str]:
    place.environ["OPENAI_API_KEY"] = "dummy"
    (place.home / ".codex" / "config.toml").write_text(
        'model = "m"\nmodel_provider = "x"\ncheck_for_update_on_startup = false\n'
        'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        "[analytics]\nenabled = false\n"
        f'[model_providers.x]\nname = "x"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        'env_key = "OPENAI_API_KEY"\nsupports_websockets = false\n'
    )
    options = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    return ["codex", "exec", *options, "Read the note"]


def copilot(place: Place, url: str) -> list[str]:
    place.environ.update(
        COPILOT_PROVIDER_BASE_URL=f"{url}/v1",
        COPILOT_PROVIDER_TYPE="openai",
        COPILOT_PROVIDER_API_KEY="dummy",
        COPILOT_MODEL="m",
        COPILOT_OFFLINE="true",
        COPILOT_AUTO_UPDATE="false",
    )
    prompt = f"Read the note of {PEOPLE[0]}"
    return ["copilot", "-p", prompt, "--allow-all-tools", "--allow-all-paths", "--no-color"]


def gemini(place: Place, url: str) -> list[str]:
    file = place.home / ".gemini" / "settings.json"
    settings = json.loads(file.read_text()) | {
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    file.write_text(json.dumps(settings))
    place.environ.update(
        GEMINI_API_KEY="dummy", GOOGLE_GEMINI_BASE_URL=url, GEMINI_CLI_TRUST_WORKSPACE="true"
    )
    (place.work / "GEMINI.md").write_text(f"The owner is {PEOPLE[1]}\n")
    return ["gemini", "--yolo", "-m", "gemini-2.5-pro", "-p", "Read the note"]


def opencode(place: Place, url: str) -> list[str]:
    options = {"baseURL": f"{url}/v1", "apiKey": "dummy"}
    model = {"name": "m", "tool_call": True}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": model}}
    settings = {"model": "x/m", "small_model": "x/m", "provider": {"x": provider}}
    more = {"autoupdate": False, "share": "disabled", "permission": "allow"}
    (place.work / "opencode.json").write_text(json.dumps(settings | more))
    place.environ.update(OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1")
    return ["opencode", "run", "Read the note", "--model", "x/m"]


Start = Callable[[Place, str], list[str]]
WRITTEN = "To <EMAIL_1> and <EMAIL_2>, card <CREDIT_CARD_1>\n"
SHELL = "printf '%s' '<EMAIL_1>' > shell.txt"
FAILING = "cat note.txt; false"


def script(agent: str, work: Path) -> list[Turn]:
    note, out = str(work / "note.txt"), str(work / "out.txt")
    turns: dict[str, list[Turn]] = {
        "claude-code": [
            Call("Read", {"file_path": note}),
            Call("Bash", {"command": FAILING, "description": "x"}),
            Call("Write", {"file_path": out, "content": WRITTEN}),
            Call("Bash", {"command": SHELL, "description": "x"}),
        ],
        "codex": [Call("exec_command", {"cmd": FAILING}), Call("exec_command", {"cmd": SHELL})],
        "copilot": [
            Call("view", {"path": note}),
            Call("bash", {"command": FAILING, "description": "x"}),
            Call("create", {"path": out, "file_text": WRITTEN}),
        ],
        "gemini": [
            Call("read_file", {"file_path": "note.txt"}),
            Call("run_shell_command", {"command": FAILING}),
            Call("write_file", {"file_path": out, "content": WRITTEN}),
            Call("run_shell_command", {"command": SHELL}),
        ],
        "opencode": [
            Call("read", {"filePath": note}),
            Call("bash", {"command": FAILING, "description": "x"}),
            Call("write", {"filePath": out, "content": WRITTEN}),
            Call("bash", {"command": SHELL, "description": "x"}),
        ],
    }
    return [*turns[agent], "I have written to <EMAIL_1>."]


@pytest.mark.parametrize(
    ("agent", "start", "written"),
    [
        ("claude-code", claude, {"out.txt", "shell.txt"}),
        ("codex", codex, {"shell.txt"}),
        ("copilot", copilot, {"out.txt"}),
        ("gemini", gemini, {"out.txt", "shell.txt"}),
        ("opencode", opencode, {"out.txt", "shell.txt"}),
    ],
)
def test_a_session(agent: str, start: Start, written: set[str], place: Place) -> None:
    install = [sys.executable, "-P", "-m", "dlpctl", "hook", "install", agent]
    subprocess.run(install, env=place.environ, cwd=place.work, check=True)
    with serving(script(agent, place.work)) as (model, url):
        command = start(place, url)
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        ran = subprocess.run(
            command,
            env=place.environ,
            cwd=place.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    assert ran.returncode == 0, ran.stderr
    received = model.text()
    assert "<EMAIL_1>" in received.replace("\\u003c", "<").replace("\\u003e", ">")
    assert [value for value in (*PEOPLE, *CARDS, *OTHERS) if value in received] == []
    for name in written:
        text = (place.work / name).read_text()
        assert "<EMAIL" not in text
        assert any(mail in text for mail in PEOPLE)
