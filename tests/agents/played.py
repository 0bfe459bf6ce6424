"""Sessions of all agents, simulated from how their clients are documented and were observed to
treat answers of hooks: which values would a model receive, and which would be in files that it
writes?
"""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.detect.patterns.measure import values as library
from dlpctl.masking.already_masked import is_already_masked
from dlpctl.types import Category

Ask = Callable[[dict[str, Any]], Any]
"""Returns the answer to an event: its JSON, None if there is none, or its status and error."""
TYPES = [
    "EMAIL",
    "CREDIT_CARD",
    "SSN",
    "IBAN",
    "PHONE",
    "PASSPORT",
    "DRIVER_LICENSE",
    "NATIONAL_ID",
    "TAX_ID",
    "VIN",
    "MEDICAL_RECORD_NUMBER",
    "BANK_ACCOUNT",
    "IMEI",
    "MAC_ADDRESS",
    "HEALTH_PLAN_ID",
    "US_MBI",
]
SECRETS = ("github-token", "aws-access-key-id", "stripe-secret-key")
CHANNELS = ("prompt", "mention", "shell", "read", "mcp", "error")
TOKEN = re.compile(r"<[A-Z][A-Z0-9_]*_[1-9]\d*>")
CHUNKS = 4


class Planted(list[tuple[str, str]]):
    """Values with the lines that contain them: ten of each of twenty types."""

    @classmethod
    def drawn(cls, seed: int = 20) -> Planted:
        found = cls()
        for type_name in TYPES:
            source = random.Random(f"{seed}/{type_name}")
            kinds = [kind for kind in library.value_kinds() if kind.type == type_name]
            drawn: dict[str, str] = {}
            for kind in itertools.islice(itertools.cycle(kinds), 500):
                value = library.value(kind, source)
                # Surrogates of `dlpctl mask` are not masked again.
                if not is_already_masked(type_name, Category.PII, value):
                    drawn[value] = f"{kind.label}: {value}"
                if len(drawn) == 10:
                    break
            found += drawn.items()
        for pattern in SECRETS:
            for number in range(10):
                secret = library.secret(pattern, seed + number)
                found.append((secret.value, f"{secret.name or 'token'} = {secret.value}"))
        chance = random.Random(f"{seed}/passwords")
        for _ in range(10):
            password = chance.randbytes(8).hex() + "Q!"
            found.append((password, f"DB_PASSWORD={password}"))
        return found

    def chunks(self) -> Iterator[str]:
        """Yield texts that together contain all values, each with some of every type."""
        for number in range(CHUNKS):
            yield "".join(f"{line}\n" for _, line in self[number::CHUNKS])

    def within(self, text: str) -> list[str]:
        return [value for value, _ in self if value in text]


class PlayedAgent:
    """The client of an agent, with its user, a model and an MCP server."""

    shell = "Bash"
    writes = "Write"
    reads = "Read"
    mcp = "mcp__crm__get"
    can_rewrite: tuple[str, ...] = CHANNELS
    """The channels that its hooks can rewrite or block."""

    def __init__(self, ask: Ask, work: Path, session: str) -> None:
        self.ask = ask
        self.work = work
        self.session = session
        self.received: list[str] = []
        """The texts that reached the model."""

    # How a client treats answers in the format of Claude Code.

    def event(self, name: str, **fields: Any) -> Any:
        base = {"hook_event_name": name, "session_id": self.session, "transcript_path": "t"}
        return self.ask(base | {"cwd": str(self.work)} | fields)

    def on_prompt(self, text: str) -> tuple[str | None, str]:
        """Return the prompt sent to the model, and the message shown to the user."""
        told = self.event("UserPromptSubmit", prompt=text)
        return (None, told["reason"]) if told and told.get("decision") == "block" else (text, "")

    def before(self, tool: str, arguments: Any) -> tuple[Any, str]:
        """Return the arguments that the tool runs with, or None and the reason."""
        told = self.event("PreToolUse", tool_name=tool, tool_input=arguments)
        decided = (told or {}).get("hookSpecificOutput", {})
        if decided.get("permissionDecision") == "deny":
            return None, decided["permissionDecisionReason"]
        return decided.get("updatedInput", arguments), ""

    def after(self, tool: str, arguments: Any, text: str) -> str:
        """Return the result of a tool that the model receives."""
        result = self.result(text)
        told = self.event("PostToolUse", tool_name=tool, tool_input=arguments, tool_response=result)
        changed = (told or {}).get("hookSpecificOutput", {}).get("updatedToolOutput", result)
        return json.dumps(changed if _form(changed) == _form(result) else result)

    def after_error(self, tool: str, arguments: Any, text: str) -> str:
        """Return the output of a failed command that the model receives."""
        self.event("PostToolUseFailure", tool_name=tool, tool_input=arguments, error=text)
        return text

    def result(self, text: str) -> Any:
        return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}

    # Actions of its user and its model.

    def play(self, channel: str, chunk: str) -> None:
        file = self.work / f"values-{len(self.received)}.txt"
        file.write_text("head\n" * 9 + chunk)
        getattr(self, f"play_{channel}")(chunk, file)

    def play_prompt(self, chunk: str, _file: Path) -> None:
        text, told = self.on_prompt(chunk)
        if text is None and "\n" in told:  # as the user is advised to
            text, _ = self.on_prompt(told.partition("\n")[2])
        self.receive(text or "")

    def play_mention(self, _chunk: str, file: Path) -> None:
        text, _ = self.on_prompt(f"Look at @{file.name} please")
        self.receive("" if text is None else text + file.read_text())

    def play_shell(self, _chunk: str, file: Path) -> None:
        self.run(self.shell, {"command": f"cat {file.name}"})

    def play_error(self, _chunk: str, file: Path) -> None:
        self.run(self.shell, {"command": f"cat {file.name} >&2; exit 3"})

    def play_read(self, chunk: str, file: Path) -> None:
        half = chunk.count("\n") // 2
        for offset in (10, 10 + half):
            arguments, reason = self.before(
                self.reads, {"file_path": str(file), "offset": offset, "limit": half + 1}
            )
            if arguments is None:
                self.receive(reason)
                continue
            lines = file.read_text().splitlines(keepends=True)
            part = "".join(lines[arguments["offset"] - 1 :][: arguments["limit"]])
            self.receive(self.after(self.reads, arguments, part))

    def play_mcp(self, chunk: str, _file: Path) -> None:
        arguments, reason = self.before(self.mcp, {"id": 1})
        self.receive(reason if arguments is None else self.after(self.mcp, arguments, chunk))

    def run(self, tool: str, arguments: dict[str, Any]) -> None:
        changed, reason = self.before(tool, arguments)
        if changed is None:
            self.receive(reason)
            return
        ran = subprocess.run(
            changed["command"], shell=True, cwd=self.work, capture_output=True, text=True
        )
        end = self.after_error if ran.returncode else self.after
        self.receive(end(tool, changed, ran.stdout + ran.stderr))

    def receive(self, text: str) -> None:
        """Let the model receive a text, and write all tokens in it into a file."""
        self.received.append(text)
        if tokens := TOKEN.findall(text):
            self.write(self.work / f"written-{len(self.received)}.txt", "\n".join(tokens))

    def write(self, file: Path, content: str) -> None:
        arguments, _ = self.before(self.writes, {"file_path": str(file), "content": content})
        if arguments is not None:
            Path(arguments["file_path"]).write_text(arguments["content"])
            self.after(self.writes, arguments, "written")

    def written(self) -> str:
        return "\n".join(file.read_text() for file in sorted(self.work.glob("written-*.txt")))


def _form(value: Any) -> Any:
    """Return the shape of a result: keys and types, without texts."""
    if isinstance(value, dict):
        return {key: _form(each) for key, each in value.items()}
    return [_form(each) for each in value] if isinstance(value, list) else type(value)


class ClaudeCode(PlayedAgent):
    pass


class Codex(PlayedAgent):
    writes = "apply_patch"

    def event(self, name: str, **fields: Any) -> Any:
        return super().event(name, turn_id="t", model="m", **fields)

    def before(self, tool: str, arguments: Any) -> tuple[Any, str]:
        told = self.event("PreToolUse", tool_name=tool, tool_input=arguments)
        decided = (told or {}).get("hookSpecificOutput", {})
        if decided.get("permissionDecision") == "deny":
            return None, decided["permissionDecisionReason"]
        assert "updatedInput" not in decided or decided["permissionDecision"] == "allow"
        return decided.get("updatedInput", arguments), ""

    def after(self, tool: str, arguments: Any, text: str) -> str:
        told = self.event("PostToolUse", tool_name=tool, tool_input=arguments, tool_response=text)
        assert told is None or told.keys() == {"decision", "reason"}
        return text if told is None else str(told["reason"])

    after_error = after


class Gemini(PlayedAgent):
    shell, writes, reads, mcp = "run_shell_command", "write_file", "read_file", "mcp_crm_get"

    def event(self, name: str, **fields: Any) -> Any:
        return super().event(name, timestamp="2026-11-22T20:00:00Z", **fields)

    def on_prompt(self, text: str) -> tuple[str | None, str]:
        told = self.event("BeforeAgent", prompt=text)
        return (None, told["reason"]) if told.get("decision") == "deny" else (text, "")

    def before(self, tool: str, arguments: Any) -> tuple[Any, str]:
        told = self.event("BeforeTool", tool_name=tool, tool_input=arguments)
        if told.get("decision") == "deny":
            return None, told["reason"]
        changed = told.get("hookSpecificOutput", {}).get("tool_input", {})
        return arguments | changed, ""

    def after(self, tool: str, arguments: Any, text: str) -> str:
        response = {"llmContent": text, "returnDisplay": text}
        told = self.event("AfterTool", tool_name=tool, tool_input=arguments, tool_response=response)
        return str(told["reason"]) if told.get("decision") == "deny" else text

    after_error = after

    def receive(self, text: str) -> None:
        request = {"model": "m", "messages": [{"role": "user", "content": text}]}
        told = self.event("BeforeModel", llm_request=request)
        request |= told.get("hookSpecificOutput", {}).get("llm_request", {})
        super().receive(str(request["messages"][0]["content"]))


class Copilot(PlayedAgent):
    shell, writes, reads, mcp = "bash", "create", "view", "crm-get"

    def event(self, _name: str, **fields: Any) -> Any:
        base = {"sessionId": self.session, "timestamp": 1, "cwd": str(self.work)}
        return self.ask(base | fields)

    def on_prompt(self, text: str) -> tuple[str | None, str]:
        told = self.event("", prompt=text, transformedPrompt=text)
        return told.get("modifiedTransformedPrompt", text), ""

    def play_mention(self, _chunk: str, file: Path) -> None:
        prompt = f"Look at @{file.name} please"
        text, _ = self.on_prompt(prompt)
        self.receive(prompt + file.read_text() if text == prompt else str(text))

    def before(self, tool: str, arguments: Any) -> tuple[Any, str]:
        told = self.event("", toolName=tool, toolArgs=arguments)
        if told.get("permissionDecision") == "deny":
            return None, told["permissionDecisionReason"]
        changed = told.get("modifiedArgs", arguments)
        self.received.append(json.dumps(changed))  # Copilot sends these to the model
        return changed, ""

    def after(self, tool: str, arguments: Any, text: str) -> str:
        result = {"resultType": "success", "textResultForLlm": text}
        told = self.event("", toolName=tool, toolArgs=arguments, toolResult=result)
        return str(told.get("modifiedResult", result)["textResultForLlm"])

    after_error = after


class OpenCode(PlayedAgent):
    shell, writes, reads, mcp = "bash", "write", "read", "crm_get"

    def event(self, name: str, **fields: Any) -> Any:
        base = {"dlpctl_agent": "opencode", "event": name, "session": self.session}
        return self.ask(base | {"cwd": str(self.work)} | fields)

    def on_prompt(self, text: str) -> tuple[str | None, str]:
        told = self.event("prompt", content=text, tool="")
        if told["action"] == "refuse":
            return None, told["reason"]
        return (told["content"] if told["action"] == "replace" else text), ""

    def before(self, tool: str, arguments: Any) -> tuple[Any, str]:
        told = self.event("input", content=arguments, tool=tool)
        if told["action"] == "refuse":
            return None, told["reason"]
        return (told["content"] if told["action"] == "replace" else arguments), ""

    def after(self, tool: str, arguments: Any, text: str) -> str:
        result = {"title": "t", "output": text, "metadata": {}}
        told = self.event("result", content=result, tool=tool)
        if told["action"] == "refuse":
            return str(told["reason"])
        return str((told["content"] if told["action"] == "replace" else result)["output"])

    after_error = after


class Cursor(PlayedAgent):
    shell, mcp = "Shell", "MCP:crm"

    def event(self, name: str, **fields: Any) -> Any:
        base = {"conversation_id": self.session, "cursor_version": "3.1", "cwd": str(self.work)}
        return self.ask(base | {"hook_event_name": name} | fields)

    def on_prompt(self, text: str) -> tuple[str | None, str]:
        told = self.event("beforeSubmitPrompt", prompt=text, attachments=[])
        return (text, "") if told["continue"] else (None, told["user_message"])

    def before(self, tool: str, arguments: Any) -> tuple[Any, str]:
        told = self.event("preToolUse", tool_name=tool, tool_input=arguments)
        if told.get("permission") == "deny":
            return None, told["agent_message"]
        return told.get("updated_input", arguments), ""

    def after(self, tool: str, arguments: Any, text: str) -> str:
        output = {"content": [{"type": "text", "text": text}]}
        told = self.event(
            "postToolUse", tool_name=tool, tool_input=arguments, tool_output=json.dumps(output)
        )
        if tool == self.mcp:
            output = told.get("updated_mcp_tool_output", output)
        return json.dumps(output)

    after_error = after


class Windsurf(PlayedAgent):
    can_rewrite = ("prompt", "mention", "shell", "read", "error")

    def event(self, name: str, **fields: Any) -> Any:
        base = {"agent_action_name": name, "trajectory_id": self.session}
        return self.ask(base | {"tool_info": {"cwd": str(self.work)} | fields})

    def on_prompt(self, text: str) -> tuple[str | None, str]:
        told = self.event("pre_user_prompt", user_prompt=text)
        return (text, "") if told is None else (None, told[1])

    def before(self, tool: str, arguments: Any) -> tuple[Any, str]:
        if tool == self.shell:
            told = self.event("pre_run_command", command_line=arguments["command"])
        elif tool == self.reads:
            told = self.event("pre_read_code", file_path=arguments["file_path"])
        elif tool == self.writes:
            edits = [{"old_string": "", "new_string": arguments["content"]}]
            told = self.event("pre_write_code", file_path=arguments["file_path"], edits=edits)
        else:
            told = self.event("pre_mcp_tool_use", mcp_tool_name=tool, mcp_tool_arguments=arguments)
        return (arguments, "") if told is None else (None, told[1])

    def after(self, _tool: str, _arguments: Any, text: str) -> str:
        return text

    after_error = after


AGENTS: dict[str, type[PlayedAgent]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "copilot": Copilot,
    "cursor": Cursor,
    "gemini": Gemini,
    "opencode": OpenCode,
    "windsurf": Windsurf,
}


class Outcome(NamedTuple):
    leaked: list[str]
    """The values that the model received."""
    tokens: list[str]
    """The tokens in the files that it wrote."""
    restored: list[str]
    """The values in those files."""


def play(agent: str, ask: Ask, work: Path, planted: Planted) -> Outcome:
    """Play a session for each channel."""
    outcome = Outcome([], [], [])
    for channel in AGENTS[agent].can_rewrite:
        folder = work / agent / channel
        folder.mkdir(parents=True)
        session = AGENTS[agent](ask, folder, f"{agent}/{channel}")
        for chunk in planted.chunks():
            session.play(channel, chunk)
        outcome.leaked.extend(planted.within("\n".join(session.received)))
        outcome.tokens.extend(TOKEN.findall(session.written()))
        outcome.restored.extend(planted.within(session.written()))
    return outcome
