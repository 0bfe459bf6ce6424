"""Real agents with an empty home and a fake provider: the values in requests to the model and in
files that the agent writes. Agents that are not on the PATH are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dlpctl.agents.adapters import adapters
from tests.agents.played import TOKEN, Planted
from tests.agents.standin import Call, Turn, serving

pytestmark = pytest.mark.slow
SECONDS = 240
PROMPT = "Read the notes"
DLPCTL = [sys.executable, "-P", "-m", "dlpctl"]
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
CHANNELS = ("read", "shell", "error", "prompt", "mention", "mcp")
"""The channels in which values are planted, each with a file."""
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        info = {"name": "crm", "version": "1"}
        version = params["protocolVersion"]
        answer["result"] = {
            "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info
        }
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"id": {"type": "string"}}}
        tool = {"name": "get", "description": "Returns a record", "inputSchema": schema}
        answer["result"] = {"tools": [tool]}
    elif method == "tools/call":
        text = open(sys.argv[1]).read()
        answer["result"] = {"content": [{"type": "text", "text": text}]}
    else:
        answer["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(answer), flush=True)
"""


class Place(NamedTuple):
    home: Path
    work: Path
    environ: dict[str, str]
    planted: Planted

    def server(self) -> list[str]:
        """Return the command of the MCP server."""
        return [sys.executable, str(self.home / "server.py"), str(self.home / "mcp.txt")]

    def write(self, name: str, content: Any) -> None:
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))

    def count(self, text: str) -> int:
        """Return the number of values in a text; assertions show no values."""
        return len(self.planted.within(text))

    def missing(self, channel: str, text: str) -> int:
        """Return the number of a channel's values that a text lacks."""
        planted = set(self.planted.within(self.content(channel).read_text()))
        return len(planted - set(self.planted.within(text)))

    def content(self, channel: str) -> Path:
        return (self.home if channel == "mcp" else self.work) / f"{channel}.txt"


@pytest.fixture
def place(tmp_path: Path, compiled_cache: Path) -> Iterator[Place]:
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    shutil.copytree(compiled_cache, tmp_path / "dlpctl" / "cache")
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    environ["DLPCTL_HOME"] = str(tmp_path / "dlpctl")
    made = Place(tmp_path, work, environ, Planted.drawn())
    lines = [line for _, line in made.planted]
    parts = {"mcp": lines[:100:6]}  # no secrets for a vendor, not even masked ones
    lines = [line for line in lines if line not in parts["mcp"]]
    parts |= {name: lines[number::5] for number, name in enumerate(CHANNELS) if name != "mcp"}
    for channel, part in parts.items():
        made.content(channel).write_text("\n".join(part) + "\n")
    made.write("server.py", SERVER)
    yield made
    # Without its socket, the warm process ends by itself.
    shutil.rmtree(tmp_path / "dlpctl" / "run", ignore_errors=True)


def claude(place: Place, url: str, prompt: str) -> list[str]:
    place.environ.update(
        ANTHROPIC_BASE_URL=url,
        ANTHROPIC_API_KEY="dummy",
        DISABLE_TELEMETRY="1",
        DISABLE_AUTOUPDATER="1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        IS_SANDBOX="1",
    )
    options = ["--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-5"]
    return ["claude", "-p", prompt, *options]


def codex(place: Place, url: str, prompt: str) -> list[str]:
    place.environ["OPENAI_API_KEY"] = "dummy"
    file = place.home / ".codex" / "config.toml"
    place.write(
        ".codex/config.toml",
        'model = "m"\nmodel_provider = "x"\ncheck_for_update_on_startup = false\n'
        'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        "[analytics]\nenabled = false\n"
        f'[model_providers.x]\nname = "x"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        'env_key = "OPENAI_API_KEY"\nsupports_websockets = false\n' + file.read_text(),
    )
    options = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    return ["codex", "exec", *options, prompt]


def copilot(place: Place, url: str, prompt: str) -> list[str]:
    place.environ.update(
        COPILOT_PROVIDER_BASE_URL=f"{url}/v1",
        COPILOT_PROVIDER_TYPE="openai",
        COPILOT_PROVIDER_API_KEY="dummy",
        COPILOT_MODEL="m",
        COPILOT_OFFLINE="true",
        COPILOT_AUTO_UPDATE="false",
    )
    return ["copilot", "-p", prompt, "--allow-all-tools", "--allow-all-paths", "--no-color"]


def gemini(place: Place, url: str, prompt: str) -> list[str]:
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
    shutil.copy(place.content("mention"), place.work / "GEMINI.md")
    return ["gemini", "--yolo", "-m", "gemini-2.5-pro", "-p", prompt]


def opencode(place: Place, url: str, prompt: str) -> list[str]:
    options = {"baseURL": f"{url}/v1", "apiKey": "dummy"}
    model = {"name": "m", "tool_call": True}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": model}}
    settings = {"model": "x/m", "small_model": "x/m", "provider": {"x": provider}}
    more = {"autoupdate": False, "share": "disabled", "permission": "allow"}
    (place.work / "opencode.json").write_text(json.dumps(settings | more))
    place.environ.update(OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1")
    return ["opencode", "run", prompt, "--model", "x/m"]


Start = Callable[[Place, str, str], list[str]]
STARTS: dict[str, Start] = {
    "claude-code": claude,
    "codex": codex,
    "copilot": copilot,
    "gemini": gemini,
    "opencode": opencode,
}


def configure_server(agent: str, place: Place) -> None:
    command, *arguments = place.server()
    server = {"command": command, "args": arguments}
    if agent == "claude-code":
        place.write(".claude.json", {"mcpServers": {"crm": {"type": "stdio"} | server}})
    elif agent == "codex":
        arguments_written = json.dumps(arguments)
        place.write(
            ".codex/config.toml",
            f'[mcp_servers.crm]\ncommand = "{command}"\nargs = {arguments_written}\n'
            # It passes few variables to servers.
            f'[mcp_servers.crm.env]\nDLPCTL_HOME = "{place.environ["DLPCTL_HOME"]}"\n',
        )
    elif agent == "copilot":
        servers = {"crm": {"type": "local", "tools": ["*"]} | server}
        place.write(".copilot/mcp-config.json", {"mcpServers": servers})
    elif agent == "gemini":
        place.write(".gemini/settings.json", {"mcpServers": {"crm": {"trust": True} | server}})
    else:
        local = {"type": "local", "command": place.server(), "enabled": True}
        place.write(".config/opencode/opencode.json", {"mcp": {"crm": local}})


def script(agent: str, work: Path) -> list[Turn]:
    """Return the actions of the model: read in all ways, and write all tokens that it received."""
    read, out = str(work / "read.txt"), str(work / "out.txt")
    show, fail = "cat shell.txt", "cat error.txt; false"

    def tokens(received: str) -> str:
        return "\n".join(sorted(set(TOKEN.findall(received))))

    def here(received: str) -> str:
        return f"cat > out.txt <<'END'\n{tokens(received)}\nEND"

    def write(tool: str, path: str, content: str) -> Turn:
        return lambda received: Call(tool, {path: out, content: tokens(received)})

    turns: dict[str, list[Turn]] = {
        "claude-code": [
            Call("Read", {"file_path": read, "offset": 1, "limit": 90}),
            Call("Bash", {"command": show, "description": "x"}),
            Call("Bash", {"command": fail, "description": "x"}),
            Call("mcp__crm__get", {"id": "1"}),
            write("Write", "file_path", "content"),
        ],
        "codex": [
            Call("exec_command", {"cmd": "sed -n 1,90p read.txt"}),
            Call("exec_command", {"cmd": show}),
            Call("exec_command", {"cmd": fail}),
            Call("mcp__crm__get", {"id": "1"}),
            lambda received: Call("exec_command", {"cmd": here(received)}),
        ],
        "copilot": [
            Call("view", {"path": read, "view_range": [1, 37]}),
            Call("bash", {"command": show, "description": "x"}),
            Call("bash", {"command": fail, "description": "x"}),
            Call("crm-get", {"id": "1"}),
            write("create", "path", "file_text"),
        ],
        "gemini": [
            Call("read_file", {"file_path": "read.txt", "start_line": 1, "end_line": 90}),
            Call("run_shell_command", {"command": show}),
            Call("run_shell_command", {"command": fail}),
            Call("mcp_crm_get", {"id": "1"}),
            write("write_file", "file_path", "content"),
        ],
        "opencode": [
            Call("read", {"filePath": read, "offset": 1, "limit": 90}),
            Call("bash", {"command": show, "description": "x"}),
            Call("bash", {"command": fail, "description": "x"}),
            Call("crm_get", {"id": "1"}),
            write("write", "filePath", "content"),
        ],
    }
    return [*turns[agent], "Done."]


@pytest.fixture(params=sorted(STARTS))
def agent(request: pytest.FixtureRequest, place: Place) -> str:
    """Returns an agent with installed hooks and a wrapped MCP server."""
    name = str(request.param)
    install(name, place)
    return name


def install(name: str, place: Place, *options: str) -> None:
    program = adapters()[name].INSTALLATION.program
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    configure_server(name, place)
    subprocess.run(
        [*DLPCTL, "hook", "install", name, "--wrap-mcp", *options],
        env=place.environ,
        cwd=place.work,
        check=True,
    )


@contextmanager
def service(place: Place, wait_for: Callable[..., None]) -> Iterator[None]:
    """Serve on a free port, with the key in the environment."""
    made = subprocess.run(
        [*DLPCTL, "init", "--org", "acme", "--format", "json"],
        env=place.environ,
        capture_output=True,
        check=True,
    )
    place.environ["DLPCTL_API_KEY"] = json.loads(made.stdout)["api_key"]
    log = place.home / "serve.log"
    with log.open("wb") as stderr:
        command = [*DLPCTL, "serve", "--port", "0"]
        with subprocess.Popen(command, env=place.environ, stderr=stderr) as process:
            wait_for(lambda: ADDRESS.search(log.read_text()))
            found = ADDRESS.search(log.read_text())
            assert found is not None
            place.environ["DLPCTL_SERVER"] = found[0]
            yield
            process.terminate()


def test_claude_code_over_http(place: Place, wait_for: Callable[..., None]) -> None:
    with service(place, wait_for):
        install("claude-code", place, "--transport", "http")
        check_session(*run("claude-code", place, PROMPT), place)
        doctor = subprocess.run([*DLPCTL, "hook", "doctor", "claude-code"], env=place.environ)
        assert doctor.returncode == 0
        del place.environ["DLPCTL_API_KEY"]
        received, _ = run("claude-code", place, PROMPT)
        assert place.count(received) == 0, "a key that is missing stops the agent"


def run(agent: str, place: Place, prompt: str) -> tuple[str, subprocess.CompletedProcess[str]]:
    """Return the requests that the model received, and the finished client."""
    with serving(script(agent, place.work)) as (model, url):
        ran = subprocess.run(
            STARTS[agent](place, url, prompt),
            env=place.environ,
            cwd=place.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return model.text(), ran


def test_a_session(agent: str, place: Place) -> None:
    check_session(*run(agent, place, PROMPT), place)


def check_session(received: str, ran: subprocess.CompletedProcess[str], place: Place) -> None:
    assert ran.returncode == 0, ran.stderr
    assert place.count(received) == 0
    written = (place.work / "out.txt").read_text()
    assert TOKEN.findall(written) == []
    for channel in ("read", "shell", "error", "mcp"):
        assert place.missing(channel, written) == 0, channel


def test_a_prompt_with_values_and_a_file(agent: str, place: Place) -> None:
    prompt = place.content("prompt").read_text() + "Look at @mention.txt"
    received, _ = run(agent, place, prompt)
    assert place.count(received) == 0
