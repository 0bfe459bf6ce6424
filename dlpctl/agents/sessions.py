"""The vaults of sessions: one for each session of an agent, encrypted, readable only by its owner,
and removed when unused for its lifetime.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from dlpctl.errors import VaultError
from dlpctl.masking.leaks import Value
from dlpctl.masking.repeats import Repeats
from dlpctl.masking.vault import Vault
from dlpctl.operators.tokens import token_type
from dlpctl.system.recent import Recent
from dlpctl.types import Category, Finding

_NAME = re.compile(r"(?P<agent>[a-z][a-z0-9-]*)\.(?P<session>[0-9a-f]{16})\.vault")
_MOST_VALUES = 20_000
"""Limited because each event is searched for all values of its session."""
_WRAPPER = "mcp"
"""The agent name for vaults of `dlpctl mcp wrap`."""
_LETTERS = "BCDFGHJKLMNPQRTZ"
_DAY = 86_400
_TOUCHED = 3_600
"""The interval in seconds at which the use of a vault is recorded as its modification time."""
_MOST_KEPT = 16
"""The number of vaults that stay open between events."""
_PATTERN = "session"
"""The pattern id of findings that repeat a value of the session."""


class SessionVault(Vault):
    """A vault in which a value keeps its token, whatever type it is found as. Thread-safe."""

    patience = 5.0

    def __init__(self, path: Path, key: bytes) -> None:
        self.lock = threading.RLock()
        self._by_value: dict[str, str] = {}
        self.known = Repeats()
        """Finds the known values in texts."""
        self.elsewhere: Callable[[str], str | None] = lambda _: None
        """Returns the value of a token that this vault does not hold."""
        super().__init__(path, key, create=True)

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        with self.lock, super().transaction():
            yield self

    def refresh(self) -> None:
        with self.lock:
            super().refresh()

    def clear(self) -> None:
        super().clear()
        self._by_value.clear()
        self.known = Repeats()

    def value(self, name: str) -> str | None:
        """Return the value of a token; one from `elsewhere` is known and masked from then on."""
        found = super().value(name)
        if found is None and (found := self.elsewhere(name)) is not None:
            with self.transaction():
                self.add({name: found})
        return found

    def add(self, values: Mapping[str, str]) -> None:
        own = super().value
        if any(own(name) not in (None, value) for name, value in values.items()):
            self.clear()  # the file was removed and recreated
        super().add(values)
        for name, value in values.items():
            self._learn(name, value)

    def token(self, type_name: str, value: str) -> str:
        if known := self._by_value.get(value):
            return f"<{known}>"
        if len(self) >= _MOST_VALUES:
            raise VaultError(
                f"{self.path}: the vault is full ({_MOST_VALUES:,} values); start a new session"
            )
        token = super().token(type_name, value)
        self._learn(token[1:-1], value)
        return token

    def _learn(self, name: str, value: str) -> None:
        if self._by_value.setdefault(value, name) == name:
            type_name = name.rpartition("_")[0]
            finding = Finding(type_name, Category.CUSTOM, 0, len(value), 1.0, _PATTERN)
            self.known.add({Value(type_name, Category.CUSTOM, value): finding})

    def counts(self) -> dict[str, int]:
        """Return how many values of each type the vault holds."""
        counted: dict[str, int] = {}
        for name, _ in sorted(self.items()):
            type_name = token_type(name.rpartition("_")[0])
            counted[type_name] = counted.get(type_name, 0) + 1
        return counted


class StoredVault(NamedTuple):
    """A vault file."""

    name: str
    """The agent and a short hash of the session id."""
    agent: str
    path: Path
    used_at: float

    @property
    def used(self) -> str:
        return datetime.fromtimestamp(self.used_at, UTC).isoformat(timespec="seconds")


class SessionVaults:
    """The vaults of all sessions of this user."""

    def __init__(self, data_folder: Path, key: bytes, days: int) -> None:
        self._folder = folder_of(data_folder)
        self._key = key
        self._days = days
        self._kept: Recent[Path, SessionVault] = Recent(_MOST_KEPT)
        self._lock = threading.Lock()

    def open(self, agent: str, session: str) -> SessionVault:
        """Return the vault of a session; creating one removes expired vaults."""
        path = self._folder / f"{session_name(agent, session)}.vault"
        with self._lock:
            try:
                if time.time() - path.stat().st_mtime > _TOUCHED:
                    path.touch()
            except FileNotFoundError:
                self._kept.pop(path)
                purge(self._folder, self._days)
            except OSError as error:
                raise VaultError(f"{path}: cannot be read: {error.strerror}") from None
            vault = self._kept.get(path) or self._opened(path, agent)
            self._kept.put(path, vault)
        vault.refresh()
        return vault

    def open_wrapper(self) -> SessionVault:
        """Return a new vault for a wrapper of an MCP server.

        Its tokens appear next to those of the agent's session and must not be confused with them.
        """
        used = {_suffix(each.name) for each in stored(self._folder) if each.agent == _WRAPPER}
        session = secrets.token_hex(16)
        while _suffix(session_name(_WRAPPER, session)) in used:
            session = secrets.token_hex(16)
        return self.open(_WRAPPER, session)

    def _opened(self, path: Path, agent: str) -> SessionVault:
        vault = SessionVault(path, self._key)
        if agent == _WRAPPER:
            vault.suffix = _suffix(path.stem)
        else:
            vault.elsewhere = self._of_wrapper
        return vault

    def _of_wrapper(self, name: str) -> str | None:
        """Return the value of a token that a wrapper of an MCP server issued."""
        type_name = name.rpartition("_")[0]
        vaults = (each for each in stored(self._folder) if each.agent == _WRAPPER)
        found = next((each for each in vaults if type_name.endswith(_suffix(each.name))), None)
        return None if found is None else SessionVault(found.path, self._key).value(name)


def _suffix(name: str) -> str:
    """Return the suffix of the type names in the tokens of a wrapper's vault."""
    number = int(name.rpartition(".")[2], 16)
    return "_" + "".join(_LETTERS[number >> shift & 15] for shift in (0, 4, 8))


def folder_of(data_folder: Path) -> Path:
    return data_folder / "agents" / "vaults"


def session_name(agent: str, session: str) -> str:
    """Return the name of a session's vault, which does not reveal the session id."""
    digest = hashlib.sha256(f"{agent}\0{session}".encode("utf-8", "surrogatepass"))
    return f"{agent}.{digest.hexdigest()[:16]}"


def stored(folder: Path) -> list[StoredVault]:
    """Return the vaults in a folder, the most recently used first."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            match = _NAME.fullmatch(path.name)
            if match is not None:
                with suppress(FileNotFoundError):
                    used_at = path.stat().st_mtime
                    found.append(StoredVault(path.stem, match["agent"], path, used_at))
    return sorted(found, key=lambda each: (-each.used_at, each.name))


def purge(folder: Path, days: float) -> int:
    """Remove the vaults that have been unused for `days`, and return their number."""
    oldest = time.time() - days * _DAY
    expired = [each for each in stored(folder) if each.used_at <= oldest]
    for each in expired:
        each.path.unlink(missing_ok=True)
        each.path.with_name(f"{each.path.name}.lock").unlink(missing_ok=True)
    return len(expired)
