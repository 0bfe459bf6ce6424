from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlpctl.agents.audit import AuditLog
from dlpctl.agents.guard import Guard
from dlpctl.agents.hooking import answer
from dlpctl.agents.sessions import SessionVaults
from dlpctl.config import FileLimits
from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from dlpctl.files.checking import FileChecker
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker
from dlpctl.types import Destination

KEY = bytes(range(32))


@pytest.fixture(scope="session")
def checker(compiled_cache: Path) -> Checker:
    detector = Detector(cache=Cache(compiled_cache))
    policy = Policy.builtin("ai-prompts")
    return Checker(detector, policy, Destination.AI_TOOL, operator="token", key=KEY)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that an agent works in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def vaults(tmp_path: Path) -> SessionVaults:
    return SessionVaults(tmp_path / "data", KEY, days=7)


@pytest.fixture
def guard(checker: Checker, vaults: SessionVaults, tmp_path: Path) -> Guard:
    return Guard(
        checker,
        lambda: FileChecker(checker),
        vaults,
        AuditLog(tmp_path / "data" / "audit.jsonl"),
        restore_in=("mcp__notes__*",),
        largest_file=FileLimits().input_bytes,
    )


@pytest.fixture
def ask(guard: Guard) -> Callable[[dict[str, Any]], Any]:
    """Returns the answer to an event: its JSON, None if there is none, or its status and error."""

    def call(payload: dict[str, Any]) -> Any:
        reply = answer(json.dumps(payload).encode(), lambda: guard)
        if reply.status:
            return reply.status, reply.error
        return json.loads(reply.out) if reply.out else None

    return call


@pytest.fixture
def claude(ask: Callable[[dict[str, Any]], Any], work: Path) -> Callable[..., Any]:
    """Returns the answer to an event of Claude Code."""

    def call(event: str, session: str = "s1", **fields: Any) -> Any:
        base = {"hook_event_name": event, "session_id": session, "transcript_path": "t"}
        return ask(base | {"cwd": str(work), "permission_mode": "default"} | fields)

    return call
