"""The guards of agents' hooks, built from the settings of a folder and reused until they change."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.config import Config, load_config
from dlpctl.errors import DlpctlError

if TYPE_CHECKING:
    from dlpctl.agents.events import Reply
    from dlpctl.agents.guard import Guard

_KEPT = 8
_KEY_VARIABLE = "DLPCTL_VAULT_KEY"


class _Basis(NamedTuple):
    """Everything that a guard is built from."""

    config: Config
    key: str
    files: tuple[tuple[str, int], ...]
    """The files that the settings name, with their modification times."""


def answer(event: bytes, folder: Path, environ: Mapping[str, str]) -> Reply:
    """Answer an event of an agent that works in a folder."""
    from dlpctl.agents import hooking

    try:
        config = load_config(environ=environ, working=folder)
    except DlpctlError as unusable:
        return hooking.answer(event, partial(_fail, unusable), folder=folder)
    allow = config.agents.on_failure == "allow"
    return hooking.answer(event, lambda: guard_of(config, environ), folder=folder, allow=allow)


def answer_over_http(event: bytes) -> bytes:
    """Return the body that answers an event of Claude Code, which proceeds after HTTP errors."""
    from dlpctl.agents.hooking import read_event

    try:
        folder = read_event(event)[1].folder
    except DlpctlError:
        folder = Path()  # the answer reports the problem
    reply = answer(event, folder, os.environ)
    if reply.status:
        return json.dumps({"continue": False, "stopReason": reply.error.strip()}).encode()
    return reply.out.encode()


def _fail(problem: DlpctlError) -> Guard:
    raise problem


def guard_of(config: Config, environ: Mapping[str, str]) -> Guard:
    named = [*config.patterns, Path(config.agents.policy)]
    files = tuple((str(file), _changed(file)) for file in named)
    return _guard(_Basis(config, environ.get(_KEY_VARIABLE, ""), files))


def _changed(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(_KEPT)
def _guard(basis: _Basis) -> Guard:
    from dlpctl.agents.audit import audit_log
    from dlpctl.agents.guard import Guard
    from dlpctl.agents.sessions import SessionVaults
    from dlpctl.cli.session import Session

    config = basis.config
    session = Session(config, None, {_KEY_VARIABLE: basis.key})
    checker = session.checker("AI_TOOL", config.agents.policy, "token")
    return Guard(
        checker,
        partial(session.file_checker, checker),
        SessionVaults(config.data_folder, session.key(), config.agents.vault_days),
        audit_log(config.data_folder),
        restore_in=config.agents.restore_in,
        largest_file=config.limits.input_bytes,
    )
