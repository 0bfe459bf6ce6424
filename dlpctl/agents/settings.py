"""Install hooks into the settings of agents, next to what is there already, and remove them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.agents import client, jsonc
from dlpctl.agents.installing import PluginFile
from dlpctl.errors import ConfigError, OutputError, UsageError
from dlpctl.newfiles import replacing
from dlpctl.regex import lazy
from dlpctl.regular import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dlpctl.agents.adapters import Adapter

BACKUP = ".before-dlpctl"
_OURS = lazy(r"dlpctl[/\\]agents[/\\]client\.py|\bdlpctl hook agent\b")
_PLUGIN_MARK = "Written by 'dlpctl hook install opencode'"
_TEMPLATES = Path(__file__).parent / "templates"
_COMMANDS = ("command", "bash", "powershell", "exec")
_LARGEST = 16 << 20


class State(StrEnum):
    INSTALLED = "installed"
    STALE = "stale"
    ABSENT = "not installed"


class Settings(NamedTuple):
    """The file that an agent's hooks are configured in, for a user or for a project."""

    adapter: Adapter
    file: Path
    command: tuple[str, ...]
    """The program that answers events, with its arguments."""
    allow: bool
    """True if events pass when that program fails."""

    @classmethod
    def of(
        cls,
        adapter: Adapter,
        environ: Mapping[str, str],
        *,
        project: Path | None = None,
        allow: bool = False,
    ) -> Settings:
        installation = adapter.INSTALLATION
        file = home_file(installation.user_file, installation.variable, environ)
        if project is not None:
            file = project / installation.project_file
        command = (sys.executable, "-I", "-S", str(Path(client.__file__).absolute()))
        return cls(adapter, file, command, allow)

    @property
    def line(self) -> str:
        """The command line of the hook, which refuses what it cannot even be started for."""
        if os.name == "nt":
            return subprocess.list2cmdline(self.command)
        line = shlex.join(self.command)
        return f"DLPCTL_AGENTS_ON_FAILURE=allow {line}" if self.allow else f"{line} || exit 2"

    def state(self) -> State:
        text = self._read()
        if text is None or not self._own(text):
            return State.ABSENT
        return State.INSTALLED if text == self._installed(text) else State.STALE

    def installed_line(self) -> str:
        """Return the command line that the agent runs, as it is in the file."""
        text = self._read() or ""
        if isinstance(self.adapter.INSTALLATION.hooks, PluginFile):
            return shlex.join(json.loads(text.partition("const COMMAND = ")[2].partition("\n")[0]))
        entry = _at(self._loads(text), next(_own_paths(self._loads(text))))
        return str(next(entry[name] for name in _COMMANDS if name in entry))

    def install(self) -> State:
        """Install or repair the hooks, and return how they were before."""
        text = self._read()
        before = State.ABSENT if text is None else self.state()
        if before is not State.INSTALLED:
            self._write(text, self._installed(text))
        return before

    def uninstall(self) -> bool:
        """Remove what was installed; return whether there was anything."""
        text = self._read()
        if text is None or not self._own(text):
            return False
        left = (
            "" if isinstance(self.adapter.INSTALLATION.hooks, PluginFile) else self._without(text)
        )
        backup = self._backup()
        if not left or (not backup.exists() and self._loads(left) in ({}, self._preamble())):
            self.file.unlink()
        else:
            self._write(text, left)
        backup.unlink(missing_ok=True)
        return True

    def _preamble(self) -> dict[str, Any]:
        hooks = self.adapter.INSTALLATION.hooks
        return {} if isinstance(hooks, PluginFile) else hooks.preamble

    def _installed(self, text: str | None) -> str:
        """Return the content of the file with the hooks in it."""
        hooks = self.adapter.INSTALLATION.hooks
        if isinstance(hooks, PluginFile):
            if text is not None and _PLUGIN_MARK not in text:
                raise UsageError(f"{self.file}: is not a plugin of dlpctl; move it away")
            template = (_TEMPLATES / hooks.template).read_text("utf-8")
            return template.replace("@COMMAND@", json.dumps(self.command))
        expected = hooks.entries(self.line)
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

    def _has_exactly(self, data: Any, expected: Mapping[str, Any]) -> bool:
        """Return whether the entries of dlpctl are those, and no others."""
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
        """Return the content without the entries of dlpctl, and without what they leave empty."""
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

    def _read(self) -> str | None:
        try:
            with open_file(self.file) as opened:
                data = opened.read(_LARGEST)
            return data.decode("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError:
            raise ConfigError(f"{self.file}: is not UTF-8; nothing was changed") from None
        except OSError as error:
            raise ConfigError(f"{self.file}: cannot be read: {error.strerror}") from None

    def _backup(self) -> Path:
        real = self.file.resolve()
        return real.with_name(real.name + BACKUP)

    def _write(self, before: str | None, after: str) -> None:
        """Replace the file, of which a backup stays; a link goes on naming the same file."""
        real = self.file.resolve()
        mode = 0o644
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
            if before is not None:
                if not os.access(real, os.W_OK):
                    raise OutputError(f"{self.file}: is read-only; nothing was changed")
                mode = stat.S_IMODE(real.stat().st_mode)
                if not self._backup().exists():
                    _save(self._backup(), before, mode)
            if self._read() != before:
                raise OutputError(f"{self.file}: was changed meanwhile; run the command again")
            _save(real, after, mode)
        except OSError as error:
            raise OutputError(f"{self.file}: cannot be written: {error.strerror}") from None


def _save(file: Path, text: str, mode: int) -> None:
    with replacing(file, mode=mode) as opened:
        opened.write(text.encode())


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
    """Return the path of `~/.folder/file`, whose folder a variable may reinstallation."""
    if variable and (folder := environ.get(variable)):
        return Path(folder, *Path(name).parts[2:])
    home = environ.get("HOME") or environ.get("USERPROFILE")
    try:
        return Path(home, *Path(name).parts[1:]) if home else Path(name).expanduser()
    except RuntimeError:
        raise ConfigError("no home folder is known; set HOME") from None


def is_present(adapter: Adapter, environ: Mapping[str, str]) -> bool:
    """Return whether an agent seems to be installed for this user."""
    installation = adapter.INSTALLATION
    folder = home_file(installation.user_file, installation.variable, environ).parent
    return (
        folder.is_dir() or shutil.which(installation.program, path=environ.get("PATH")) is not None
    )
