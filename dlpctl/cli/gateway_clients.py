"""The settings that point clients at the gateway: variables, or a settings file to edit."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from dlpctl.agents import jsonc
from dlpctl.agents.settings import home_file
from dlpctl.agents.settings_files import SettingsFile
from dlpctl.errors import ConfigError, UsageError, did_you_mean

_START, _END = "# >>> dlpctl gateway", "# <<< dlpctl gateway"


class ClientFile(NamedTuple):
    """A client's settings file."""

    name: str
    variable: str
    """The environment variable that overrides its folder."""
    edit: Callable[[str, Mapping[str, str]], str]
    """Returns the text of the file with the gateway added."""
    restore: Callable[[str, Mapping[str, str]], str]
    """Returns the text without the changes of `edit`."""


class GatewayClient(NamedTuple):
    """A client and the settings that it needs."""

    variables: Mapping[str, str]
    """Environment variables and their values; `{url}` is the address of the gateway."""
    file: ClientFile | None = None
    remark: str = ""


def _edit_json(text: str, variables: Mapping[str, str]) -> str:
    text = text if text.strip() else "{}\n"
    given = jsonc.loads(text)
    if not isinstance(given, dict) or not isinstance(given.get("env", {}), dict):
        raise ConfigError("the settings have an unexpected form; nothing was changed")
    merged = {**given.get("env", {}), **variables}
    if merged == given.get("env"):
        return text
    written = jsonc.span(text, ("env",))
    if written is None:
        return jsonc.set_member(text, "env", merged)
    start, end = written
    return text[:start] + json.dumps(merged, ensure_ascii=False) + text[end:]


def _restore_json(text: str, variables: Mapping[str, str]) -> str:
    given = jsonc.loads(text)
    present = given.get("env", {}) if isinstance(given, dict) else {}
    for name in [name for name in variables if name in present]:
        text = jsonc.remove(text, ("env", name))
    if isinstance(given, dict) and "env" in given and not jsonc.loads(text).get("env"):
        text = jsonc.remove(text, ("env",))
    return text


def _edit_lines(text: str, variables: Mapping[str, str]) -> str:
    lines = "".join(f"{name}={value}\n" for name, value in variables.items())
    kept = _without_blocks(text)
    return f"{kept}{'' if kept.endswith(chr(10)) or not kept else chr(10)}{_block(lines)}"


def _edit_codex(text: str, variables: Mapping[str, str]) -> str:
    kept = _without_blocks(text)
    known = tomllib.loads(kept)
    if "model_provider" in known or "dlpctl" in known.get("model_providers", {}):
        raise ConfigError("model_provider is set already; remove it first, nothing was changed")
    provider = (
        "[model_providers.dlpctl]\n"
        'name = "OpenAI through dlpctl"\n'
        f"base_url = {json.dumps(variables['OPENAI_BASE_URL'])}\n"
        'env_key = "OPENAI_API_KEY"\n'
        'wire_api = "responses"\n'
        "supports_websockets = false\n"
    )
    gap = "" if kept.endswith("\n") or not kept else "\n"
    new = _block('model_provider = "dlpctl"\n') + kept + gap + _block(provider)
    tomllib.loads(new)
    return new


def _block(lines: str) -> str:
    return f"{_START}\n{lines}{_END}\n"


def _without_blocks(text: str, _variables: Mapping[str, str] | None = None) -> str:
    while _START in text and _END in text:
        before, _start, rest = text.partition(f"{_START}\n")
        text = before + rest.partition(f"{_END}\n")[2]
    return text


CLIENTS: dict[str, GatewayClient] = {
    "claude-code": GatewayClient(
        {"ANTHROPIC_BASE_URL": "{url}/anthropic"},
        ClientFile("~/.claude/settings.json", "CLAUDE_CONFIG_DIR", _edit_json, _restore_json),
    ),
    "codex": GatewayClient(
        {"OPENAI_BASE_URL": "{url}/openai/v1"},
        ClientFile("~/.codex/config.toml", "CODEX_HOME", _edit_codex, _without_blocks),
        "with an API key in OPENAI_API_KEY",
    ),
    "gemini": GatewayClient(
        {"GOOGLE_GEMINI_BASE_URL": "{url}/gemini"},
        ClientFile("~/.gemini/.env", "", _edit_lines, _without_blocks),
        "with an API key in GEMINI_API_KEY",
    ),
    "copilot": GatewayClient(
        {"COPILOT_PROVIDER_BASE_URL": "{url}/openai/v1", "COPILOT_PROVIDER_TYPE": "openai"},
        remark="with COPILOT_PROVIDER_API_KEY and COPILOT_MODEL of your provider",
    ),
    "openai-sdk": GatewayClient({"OPENAI_BASE_URL": "{url}/openai/v1"}),
    "anthropic-sdk": GatewayClient({"ANTHROPIC_BASE_URL": "{url}/anthropic"}),
}


def client(name: str) -> GatewayClient:
    if name not in CLIENTS:
        hint = did_you_mean(name, CLIENTS) or f"; there are {', '.join(CLIENTS)}"
        raise UsageError(f"no client {name!r}{hint}")
    return CLIENTS[name]


def variables_of(name: str, url: str) -> dict[str, str]:
    return {key: value.format(url=url) for key, value in client(name).variables.items()}


def exports(name: str, url: str) -> str:
    """Return lines for a shell, or for the settings file where variables are not enough."""
    if name == "codex":
        return _edit_codex("", variables_of(name, url))
    lines = [f"export {key}={shlex.quote(value)}" for key, value in variables_of(name, url).items()]
    remark = client(name).remark
    return "".join(f"{line}\n" for line in (*lines, *([f"# {remark}"] if remark else [])))


def install(name: str, url: str) -> Path:
    """Point a client at the gateway in its settings, and return the settings file."""
    file, stored = _file(name)
    text = stored.read()
    new = _edited(lambda: file.edit(text or "", variables_of(name, url)), stored.path)
    if new != text:
        stored.write(text, new, keeps=True)
    return stored.path


def uninstall(name: str) -> tuple[Path, bool]:
    """Remove the gateway from a client's settings; return their file and whether it changed."""
    file, stored = _file(name)
    text = stored.read()
    if not text:
        return stored.path, False
    left = _edited(lambda: file.restore(text, client(name).variables), stored.path)
    if left == text:
        return stored.path, False
    if left.strip() in ("", "{}") and stored.before() is None:
        stored.path.unlink()
    else:
        stored.write(text, left, keeps=False)
    stored.backup.unlink(missing_ok=True)
    return stored.path, True


def _file(name: str) -> tuple[ClientFile, SettingsFile]:
    file = client(name).file
    if file is None:
        raise UsageError(f"{name} has no settings file to edit; set the variables in your shell")
    return file, SettingsFile(home_file(file.name, file.variable, os.environ))


def _edited(edit: Callable[[], str], path: Path) -> str:
    try:
        return edit()
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem.message}") from None
    except ValueError:
        raise ConfigError(f"{path}: cannot be read; nothing was changed") from None
