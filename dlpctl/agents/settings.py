"""Install hooks into the settings of agents without changing other entries, and remove them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.agents import client, jsonc
from dlpctl.agents.installing import HOOK_PATH, SECONDS, CommandHooks, FileHooks, PluginFile
from dlpctl.agents.mcp_settings import McpSettings
from dlpctl.agents.settings_files import SettingsFile
from dlpctl.errors import ConfigError, UsageError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dlpctl.agents.adapters import Adapter

KEY_VARIABLE = "DLPCTL_API_KEY"
_OURS = lazy(rf"dlpctl[/\\]agents[/\\]client\.py|\bdlpctl hook agent\b|{HOOK_PATH}\Z")
_PLUGIN_MARK = "Written by 'dlpctl hook install opencode'"
_TEMPLATES = Path(__file__).parent / "templates"
_COMMANDS = ("command", "bash", "powershell", "exec", "url")


class State(StrEnum):
    INSTALLED = "installed"
    STALE = "stale"
    ABSENT = "not installed"


class Settings(NamedTuple):
    """The file that configures an agent's hooks, for a user or for a project."""

    adapter: Adapter
    file: Path
    command: tuple[str, ...]
    """The program that answers events, and its arguments."""
    allow: bool
    """True if events pass when that program fails."""
    mcp: McpSettings | None
    """The settings of the agent's MCP servers; None if it has no file for them."""
    service: str = ""
    """The URL of the daemon that answers events instead of the program, if set."""

    @classmethod
    def of(
        cls,
        adapter: Adapter,
        environ: Mapping[str, str],
        *,
        project: Path | None = None,
        allow: bool = False,
        service: str = "",
    ) -> Settings:
        installation = adapter.INSTALLATION
        hooks = installation.hooks
        if service and not (isinstance(hooks, CommandHooks) and hooks.speaks_http):
            raise UsageError(f"{adapter.TITLE} has no hooks over HTTP; leave out --transport")

        def user_file(name: str) -> Path:
            return home_file(name, installation.variable, environ)

        file = project / installation.project_file if project else user_file(installation.user_file)
        command = (sys.executable, "-I", "-S", str(Path(client.__file__).absolute()))
        mcp = McpSettings.of(installation.mcp, user_file, project)
        return cls(adapter, file, command, allow, mcp, service)

    @property
    def stored(self) -> SettingsFile:
        return SettingsFile(self.file)

    @property
    def line(self) -> str:
        """The command line of the hook, which refuses the event even if it cannot be started."""
        if os.name == "nt":
            return subprocess.list2cmdline(self.command)
        line = shlex.join(self.command)
        return f"DLPCTL_AGENTS_ON_FAILURE=allow {line}" if self.allow else f"{line} || exit 2"

    def state(self) -> State:
        text = self.stored.read()
        if text is None or not self._own(text):
            return State.ABSENT
        hook = str(next(iter(self._own_commands(text)), ""))
        asks = hook.removesuffix(HOOK_PATH) if hook.endswith(HOOK_PATH) else ""
        current = self._replace(service=asks)._installed(text)
        return State.INSTALLED if text == current else State.STALE

    def installed_line(self) -> str:
        """Return the command line that the agent runs, or the URL that it calls, as written in the
        file.
        """
        text = self.stored.read() or ""
        if isinstance(self.adapter.INSTALLATION.hooks, PluginFile):
            return shlex.join(json.loads(text.partition("const COMMAND = ")[2].partition("\n")[0]))
        return str(next(self._own_commands(text)))

    def _own_commands(self, text: str) -> Iterator[object]:
        if isinstance(self.adapter.INSTALLATION.hooks, PluginFile):
            return
        data = self._loads(text)
        for path in _own_paths(data):
            entry = _at(data, path)
            yield next(entry[name] for name in _COMMANDS if name in entry)

    def install(self) -> State:
        """Install or repair the hooks, and return their previous state."""
        text = self.stored.read()
        is_there = text is not None and self._own(text)
        after = self._installed(text)
        if text != after:
            self.stored.write(text, after, keeps=not is_there)
        if not is_there:
            return State.ABSENT
        return State.INSTALLED if text == after else State.STALE

    def uninstall(self) -> bool:
        """Remove the hooks; return whether there were any."""
        text = self.stored.read()
        if text is None or not self._own(text):
            return False
        is_plugin = isinstance(self.adapter.INSTALLATION.hooks, PluginFile)
        original = self.stored.before()
        left = "" if is_plugin else self._without(text)
        if original is not None and text == self._installed(original):
            left = original  # nobody has changed the file since
        if is_plugin or (original is None and self._loads(left) in ({}, self._preamble())):
            self.file.unlink()
        else:
            self.stored.write(text, left, keeps=False)
        self.stored.backup.unlink(missing_ok=True)
        return True

    def _preamble(self) -> dict[str, Any]:
        hooks = self.adapter.INSTALLATION.hooks
        return {} if isinstance(hooks, PluginFile) else hooks.preamble

    def _installed(self, text: str | None) -> str:
        """Return the content of the file with the hooks added."""
        hooks = self.adapter.INSTALLATION.hooks
        if isinstance(hooks, PluginFile):
            if text is not None and _PLUGIN_MARK not in text:
                raise UsageError(f"{self.file}: is not a plugin of dlpctl; move it away")
            template = (_TEMPLATES / hooks.template).read_text("utf-8")
            return template.replace("@COMMAND@", json.dumps(self.command))
        expected = hooks.entries(self._handler(hooks))
        if text is not None and text.strip():
            data = self._loads(text)
            if not isinstance(data, dict):
                raise ConfigError(f"{self.file}: is not a JSON object; nothing was changed")
            if self._has_exactly(data, expected):
                return text
            text = self._without(text)
        else:
            text = "{}\n"
        try:
            for key, value in hooks.preamble.items():
                if key not in self._loads(text):
                    text = jsonc.set_member(text, key, value)
            for event, entry in expected.items():
                text = jsonc.append(text, ("hooks", event), entry)
        except jsonc.JsoncError as problem:
            raise ConfigError(f"{self.file}: {problem}; nothing was changed") from None
        if not self._has_exactly(self._loads(text), expected):
            raise ConfigError(f"{self.file}: cannot be edited safely; nothing was changed")
        return text

    def _handler(self, hooks: CommandHooks | FileHooks) -> dict[str, Any]:
        """Return the handler of an event in the agent's format."""
        if not self.service:
            return hooks.handler(self.line)
        return {
            "type": "http",
            "url": self.service + HOOK_PATH,
            "headers": {"X-Service-API-Key": f"${KEY_VARIABLE}"},
            "allowedEnvVars": [KEY_VARIABLE],
            "timeout": SECONDS,
        }

    def _has_exactly(self, data: Any, expected: Mapping[str, Any]) -> bool:
        """Return whether the entries of dlpctl are exactly the expected ones."""
        hooks = data.get("hooks")
        if not isinstance(hooks, dict) or len(list(_own_paths(data))) != len(expected):
            return False
        return all(
            isinstance(hooks.get(event), list) and entry in hooks[event]
            for event, entry in expected.items()
        )

    def _own(self, text: str) -> bool:
        if isinstance(self.adapter.INSTALLATION.hooks, PluginFile):
            return _PLUGIN_MARK in text
        return any(_own_paths(self._loads(text)))

    def _without(self, text: str) -> str:
        """Return the content without the entries of dlpctl and the containers that become empty."""
        while paths := list(_own_paths(self._loads(text))):
            path = paths[-1]
            text = jsonc.remove(text, path)
            while path := path[:-1]:
                value = _at(self._loads(text), path)
                group = isinstance(path[-1], int) and isinstance(value, dict)
                if value and not (group and value.keys() <= {"matcher"}):
                    break
                text = jsonc.remove(text, path)
        return text

    def _loads(self, text: str) -> Any:
        try:
            return jsonc.loads(text)
        except jsonc.JsoncError as problem:
            raise ConfigError(
                f"{self.file}: cannot be read as JSON: {problem}; nothing was changed"
            ) from None


def _own_paths(value: Any, path: jsonc.Path = ()) -> Iterator[jsonc.Path]:
    """Yield the paths of the entries that run dlpctl."""
    if isinstance(value, dict):
        commands = (value.get(name) for name in _COMMANDS)
        if any(isinstance(each, str) and _OURS.search(each) for each in commands):
            yield path
            return
        for key, each in value.items():
            yield from _own_paths(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _own_paths(each, (*path, number))


def _at(value: Any, path: jsonc.Path) -> Any:
    for key in path:
        value = value[key]
    return value


def home_file(name: str, variable: str, environ: Mapping[str, str]) -> Path:
    """Return the path of `~/.folder/file`; a variable may name another folder."""
    if variable and (folder := environ.get(variable)):
        return Path(folder, *(Path(name).parts[2:] or Path(name).parts[1:]))
    home = environ.get("HOME") or environ.get("USERPROFILE")
    try:
        return Path(home, *Path(name).parts[1:]) if home else Path(name).expanduser()
    except RuntimeError:
        raise ConfigError("no home folder is known; set HOME") from None


def is_present(adapter: Adapter, environ: Mapping[str, str]) -> bool:
    """Return whether the agent seems to be installed for this user."""
    installation = adapter.INSTALLATION
    folder = home_file(installation.user_file, installation.variable, environ).parent
    return (
        folder.is_dir() or shutil.which(installation.program, path=environ.get("PATH")) is not None
    )
