"""Add `dlpctl mcp wrap` to the MCP servers in an agent's settings, and remove it.

The original command keeps its exact text, after the words that are inserted before it, so that
removing those restores the file.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.agents import jsonc, toml
from dlpctl.agents.settings_files import SettingsFile
from dlpctl.errors import ConfigError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from dlpctl.agents.installing import McpFiles

_WORDS = ("-P", "-m", "dlpctl", "mcp", "wrap", "--")
_LITERAL = lazy(r"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_BEFORE_FIRST = lazy(r"\[\s*")
_SEPARATOR = lazy(r",\s*")
_DEEPEST = 4


class McpServer(NamedTuple):
    """An MCP server in a settings file."""

    path: tuple[str, ...]
    command: tuple[str, ...]
    """Empty if the server is reached over the network instead of started by a command."""

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def is_wrapped(self) -> bool:
        return self.command[2:5] == _WORDS[1:4] or self.command[1:3] == ("mcp", "wrap")

    @property
    def is_ours(self) -> bool:
        """Return whether `wrap` wrote the entry."""
        return self.command[1 : len(_WORDS) + 1] == _WORDS

    @property
    def is_stale(self) -> bool:
        return self.is_ours and self.command[0] != sys.executable


class _Syntax(NamedTuple):
    """A syntax of settings files."""

    loads: Callable[[str], Any]
    span: Callable[[str, tuple[str, ...]], tuple[int, int] | None]
    """Returns the position of the value at a path."""
    member: str
    """The text of a new member after the last existing one."""


_JSON = _Syntax(jsonc.loads, jsonc.span, ', "args": [{}]')
_TOML = _Syntax(toml.loads, toml.span, "\nargs = [{}]")


class McpSettings(NamedTuple):
    """The file that configures an agent's MCP servers."""

    stored: SettingsFile
    key: str

    @classmethod
    def of(
        cls, files: McpFiles | None, user_file: Callable[[str], Path], project: Path | None
    ) -> McpSettings | None:
        if files is None or (project is not None and not files.project):
            return None
        path = user_file(files.user) if project is None else project / files.project
        commented = path.with_suffix(".jsonc")
        if not path.exists() and commented.exists():
            path = commented
        return cls(SettingsFile(path), files.key)

    @property
    def file(self) -> Path:
        return self.stored.path

    def servers(self) -> list[McpServer]:
        """Return all servers; raise `ConfigError` for a file that cannot be read."""
        text = self.stored.read()
        return [] if text is None or not text.strip() else list(self._servers(self._loads(text)))

    def wrap(self) -> list[str]:
        """Put `dlpctl mcp wrap` before the command of each stdio server, and return the names of
        the servers that were changed.
        """
        wanted = [
            server
            for server in self.servers()
            if server.command and (server.is_stale or not server.is_wrapped)
        ]
        self._edit(wanted, wraps=True)
        return [server.name for server in wanted]

    def unwrap(self) -> list[str]:
        """Undo `wrap`, and return the names of the servers that were changed."""
        wrapped = [server for server in self.servers() if server.is_ours]
        self._edit(wrapped, wraps=False)
        if wrapped:
            self.stored.backup.unlink(missing_ok=True)
        return [server.name for server in wrapped]

    def _edit(self, servers: list[McpServer], *, wraps: bool) -> None:
        text = before = self.stored.read()
        if text is None or not servers:
            return
        for server in servers:
            expected = server.command[len(_WORDS) + 1 :] if server.is_ours else server.command
            if server.is_ours:
                text = _unwrapped(self._syntax, text, server.path)
            if wraps:
                text = _wrapped(self._syntax, text, server.path)
                expected = (sys.executable, *_WORDS, *expected)
            now = {each.path: each.command for each in self._servers(self._loads(text))}
            if now.get(server.path) != expected:
                raise ConfigError(
                    f"{self.file}: the server {server.name!r} cannot be edited safely; nothing was"
                    " changed"
                )
        is_first = wraps and not any(server.is_ours for server in servers)
        self.stored.write(before, text, keeps=is_first)

    @property
    def _syntax(self) -> _Syntax:
        return _TOML if self.file.suffix == ".toml" else _JSON

    def _loads(self, text: str) -> Any:
        try:
            return self._syntax.loads(text)
        except ValueError as problem:
            raise ConfigError(
                f"{self.file}: cannot be read: {problem}; nothing was changed"
            ) from None

    def _servers(self, data: Any, path: tuple[str, ...] = ()) -> Iterator[McpServer]:
        """Yield the servers at the key, and those of projects in the same file."""
        if not isinstance(data, dict) or len(path) > _DEEPEST:
            return
        if self.key in path and (server := _server(data, path)):
            yield server
            return
        for name, each in data.items():
            yield from self._servers(each, (*path, name))


def _server(data: Mapping[str, Any], path: tuple[str, ...]) -> McpServer | None:
    command, arguments = data.get("command"), data.get("args", [])
    words = [command, *arguments] if isinstance(command, str) else command
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        return McpServer(path, tuple(words))
    return McpServer(path, ()) if isinstance(data.get("url"), str) else None


def _wrapped(syntax: _Syntax, text: str, path: tuple[str, ...]) -> str:
    command, arguments = syntax.span(text, (*path, "command")), syntax.span(text, (*path, "args"))
    if command is None:
        return text
    words = [json.dumps(word) for word in _WORDS]
    written = text[slice(*command)]
    if written.startswith("["):
        return _with_first(text, command[0], [json.dumps(sys.executable), *words])
    words.append(written)
    if arguments is None:
        member = syntax.member.format(", ".join(words))
        return text[: command[0]] + json.dumps(sys.executable) + member + text[command[1] :]
    if arguments > command:
        text = _with_first(text, arguments[0], words)
    text = text[: command[0]] + json.dumps(sys.executable) + text[command[1] :]
    return text if arguments > command else _with_first(text, arguments[0], words)


def _unwrapped(syntax: _Syntax, text: str, path: tuple[str, ...]) -> str:
    command, arguments = syntax.span(text, (*path, "command")), syntax.span(text, (*path, "args"))
    if command is None:
        return text
    if text.startswith("[", command[0]):
        return _without_first(text, command[0], len(_WORDS) + 1)[0]
    if arguments is None:
        return text
    after, removed = _without_first(text, arguments[0], len(_WORDS) + 1)
    added = syntax.member.format("")
    if after.startswith("[]", arguments[0]) and text[: arguments[0]].endswith(added[:-2]):
        start = arguments[0] - len(added) + 2
        after = after[:start] + after[arguments[0] + 2 :]
    shorter = len(text) - len(after)
    if arguments < command:
        command = (command[0] - shorter, command[1] - shorter)
    return after[: command[0]] + removed[-1] + after[command[1] :]


def _with_first(text: str, array: int, words: list[str]) -> str:
    """Return the text with words inserted at the start of an array."""
    match = _BEFORE_FIRST.match(text, array)
    assert match is not None
    at = match.end()
    return text[:at] + ", ".join(words) + ("" if text[at] == "]" else ", ") + text[at:]


def _without_first(text: str, array: int, number: int) -> tuple[str, list[str]]:
    """Return the text without the first words of an array, and these words as written."""
    match = _BEFORE_FIRST.match(text, array)
    assert match is not None
    start = position = match.end()
    removed: list[str] = []
    while len(removed) < number and (literal := _LITERAL.match(text, position)):
        removed.append(literal[0])
        position = literal.end()
        if separator := _SEPARATOR.match(text, position):
            position = separator.end()
    return text[:start] + text[position:], removed
