"""Time the hooks of coding agents as whole processes, in turns with `python -S -c pass`; time an MCP
server with and without `dlpctl mcp wrap`; and count which of 200 values reach the models of all
agents in played sessions.

    python tests/bench/agents.py [--json] [--short] [--home DIR]

The first event starts the warm process, which answers the others and is ended afterwards. A figure
is printed with its target, if there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dlpctl.agents import client
from dlpctl.cli.guards import answer

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.agents.played import AGENTS, Planted, play

TARGETS = {
    "2 KB prompt, warm ms": "<= 45 on a quiet machine",
    "2 KB prompt, warm ratio": "<= 3",
    "1 MB result, warm ms": "<= 120",
    "2 KB prompt, alone to mask": "<= 1.2",
    "2 KB call, added by mcp wrap ms": "<= 3",
    "different answers": "1",
    "values that reach a model": "0",
    "tokens in written files": "0",
}
REPETITIONS = 1_000
WORDS = "The report of the second quarter is ready and the team has read it. "
VALUES = "Write to john.doe@example.com about card 4111 1111 1111 1111. "


def event(name: str, folder: str, **fields: Any) -> bytes:
    base = {"hook_event_name": name, "session_id": "bench", "transcript_path": "", "cwd": folder}
    return json.dumps(base | fields).encode()


def prompt(folder: str) -> bytes:
    return event("UserPromptSubmit", folder, prompt=(WORDS * 40)[:1900] + VALUES)


def result(folder: str) -> bytes:
    text = (WORDS * 16_000)[: 1 << 20] + VALUES
    response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    return event("PostToolUse", folder, tool_name="Bash", tool_input={}, tool_response=response)


def seconds(command: list[str], data: bytes, environ: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=data, capture_output=True, check=True, env=environ)
    return time.perf_counter() - began


def warm_process(environ: dict[str, str]) -> int:
    """Return the id of the warm process, once it listens."""
    folder = client.run_folder(environ)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket(socket.AF_UNIX) as connection:
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                connection.connect(f"/proc/self/fd/{descriptor}/{client.socket_name()}")
                peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                return int.from_bytes(peer[:4], sys.byteorder)
            except OSError:
                time.sleep(0.05)
            finally:
                os.close(descriptor)
    raise SystemExit("the warm process does not listen")


def in_turns(runs: int, *measured: Callable[[], float]) -> list[float]:
    """Return the median of each, in milliseconds."""
    rounds = [[one() for one in measured] for _ in range(runs)]
    return [statistics.median(times) * 1e3 for times in zip(*rounds, strict=True)]


ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    content = [{"type": "text", "text": message["params"]["arguments"]["text"]}]
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}
    print(json.dumps(answer), flush=True)
"""


def call_seconds(command: list[str], runs: int, environ: dict[str, str]) -> float:
    """Return the median time of a call of 2 KB, after the first ones."""
    text = (WORDS * 40)[:1900] + VALUES
    params = {"name": "x", "arguments": {"text": text}}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        times = []
        for number in range(runs + 5):
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            began = time.perf_counter()
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            server.stdout.readline()
            times.append(time.perf_counter() - began)
        server.stdin.close()
    return statistics.median(times[5:])


def measure(*, runs: int, home: Path | None) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            "HOME": folder,
            "PATH": os.environ["PATH"],
            "DLPCTL_HOME": str(home or Path(folder, "home")),
        }
        hook = [sys.executable, "-I", "-S", client.__file__]
        nothing = [sys.executable, "-S", "-c", "pass"]
        alone = [sys.executable, "-m", "dlpctl", "hook", "agent"]
        mask = [sys.executable, "-m", "dlpctl", "mask", "--policy", "ai-prompts"]
        text = json.loads(prompt(folder))["prompt"].encode()
        seconds(hook, prompt(folder), environ)
        process = warm_process(environ)
        try:
            bare, warm = in_turns(
                runs,
                lambda: seconds(nothing, b"", environ),
                lambda: seconds(hook, prompt(folder), environ),
            )
            (large,) = in_turns(max(runs // 4, 2), lambda: seconds(hook, result(folder), environ))
            cold, masked = in_turns(
                max(runs // 4, 2),
                lambda: seconds(alone, prompt(folder), environ),
                lambda: seconds(mask, text, environ),
            )
            echo = [sys.executable, "-c", ECHO]
            wrap = [sys.executable, "-m", "dlpctl", "mcp", "wrap", "--", *echo]
            direct = call_seconds(echo, runs * 5, environ)
            wrapped = call_seconds(wrap, runs * 5, environ)
            answers = different_answers(folder, environ, REPETITIONS if runs > 4 else runs)
            played = played_sessions(Path(folder), environ)
        finally:
            os.kill(process, signal.SIGTERM)
    return {
        "python -S -c pass ms": round(bare, 1),
        "2 KB prompt, warm ms": round(warm, 1),
        "2 KB prompt, warm ratio": round(warm / bare, 2),
        "1 MB result, warm ms": round(large, 1),
        "2 KB prompt, alone ms": round(cold, 1),
        "2 KB prompt, alone to mask": round(cold / masked, 2),
        "2 KB call, added by mcp wrap ms": round((wrapped - direct) * 1e3, 2),
        "different answers": answers,
        **played,
    }


def different_answers(folder: str, environ: dict[str, str], times: int) -> int:
    """Return how many different answers the same session has, in so many repetitions of it."""
    events = [prompt(folder), event("UserPromptSubmit", folder, prompt=VALUES)]
    text = (WORDS * 40)[:1900] + VALUES
    response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    events.append(
        event("PostToolUse", folder, tool_name="Bash", tool_input={}, tool_response=response)
    )
    seen = {
        "".join(answer(each, Path(folder), environ).out for each in events) for _ in range(times)
    }
    return len(seen)


def played_sessions(folder: Path, environ: dict[str, str]) -> dict[str, float]:
    def ask(payload: dict[str, Any]) -> Any:
        reply = answer(json.dumps(payload).encode(), folder, environ)
        if reply.status:
            return reply.status, reply.error
        return json.loads(reply.out) if reply.out else None

    planted = Planted.drawn()
    outcomes = [play(agent, ask, folder / "played", planted) for agent in AGENTS]
    return {
        "values that reach a model": sum(len(each.leaked) for each in outcomes),
        "tokens in written files": sum(len(each.tokens) for each in outcomes),
        "values restored in files": sum(len(each.restored) for each in outcomes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--short", action="store_true", help="few runs: only to see that it runs")
    parser.add_argument("--home", type=Path, help="a folder with compiled patterns")
    arguments = parser.parse_args()
    figures = measure(runs=4 if arguments.short else 40, home=arguments.home)
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, figure in figures.items():
            print(f"{name:32} {figure:8} {TARGETS.get(name, '')}")


if __name__ == "__main__":
    main()
