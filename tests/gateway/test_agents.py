"""Real agents, each in an empty home, through the gateway to a fake model. Agents that are not on
the PATH are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents import standin as models
from tests.gateway.standin import Reply, Running, Sent

pytestmark = pytest.mark.slow
MAIL = "maria.lopez@acme-corp.com"
SECONDS = 240


def claude(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    options = ["--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-5"]
    environ = {
        "ANTHROPIC_BASE_URL": f"{url}/anthropic",
        "ANTHROPIC_API_KEY": "dummy",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }
    return ["claude", "-p", "Read the note", *options], environ


def codex(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        'model = "m"\nmodel_provider = "x"\ncheck_for_update_on_startup = false\n'
        'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        "[analytics]\nenabled = false\n"
        f'[model_providers.x]\nname = "x"\nbase_url = "{url}/openai/v1"\nwire_api = "responses"\n'
        'env_key = "OPENAI_API_KEY"\nsupports_websockets = false\n'
    )
    return ["codex", "exec", "--skip-git-repo-check", "Read the note"], {"OPENAI_API_KEY": "dummy"}


Turns = Callable[[Path, str], list[models.Turn]]


def claude_turns(work: Path, token: str) -> list[models.Turn]:
    return [
        models.Call("Bash", {"command": "cat note.txt", "description": "x"}),
        models.Call("Write", {"file_path": str(work / "out.txt"), "content": f"To {token}\n"}),
        f"Wrote to {token}.",
    ]


def codex_turns(work: Path, token: str) -> list[models.Turn]:
    return [
        models.Call("exec_command", {"cmd": "cat note.txt"}),
        models.Call("exec_command", {"cmd": f"echo 'To {token}' > out.txt"}),
        f"Wrote to {token}.",
    ]


@pytest.mark.parametrize(
    ("start", "turns"), [(claude, claude_turns), (codex, codex_turns)], ids=["claude", "codex"]
)
def test_an_agent_works_unchanged(
    gateway: Running, tmp_path: Path, start: Any, turns: Turns
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "note.txt").write_text(f"Write to {MAIL}\n")
    command, environ = start(home, gateway.url)
    if not shutil.which(command[0]):
        pytest.skip(f"needs {command[0]}")
    played: list[str] = []

    def reply(sent: Sent) -> Reply:
        body = json.loads(sent.body) if sent.body else {}
        found = re.findall(r"<EMAIL_\d+>", sent.body.decode())
        turn: models.Turn = "ok"
        if isinstance(body, dict) and body.get("tools"):
            script = turns(work, found[0] if found else "")
            turn = script[min(len(played), len(script) - 1)]
            played.append(sent.path)
        if sent.path.startswith("/v1/messages"):
            if "count_tokens" in sent.path:
                return Reply(b'{"input_tokens": 1}')
            events = list(models._anthropic(len(played), turn))
        elif sent.path.startswith("/v1/responses"):
            events = list(models._responses(len(played), turn))
        else:
            return Reply(b'{"data": [], "models": []}')
        lines = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
        return Reply(lines.encode(), content_type="text/event-stream")

    gateway.provider.reply = reply
    given = {"HOME": str(home), "PATH": os.environ["PATH"], **environ}
    ran = subprocess.run(
        command,
        cwd=work,
        env=given,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"Wrote to {MAIL}." in ran.stdout
    assert (work / "out.txt").read_text() == f"To {MAIL}\n"
    assert played
    assert all(MAIL.encode() not in each.body for each in gateway.provider.sent)
