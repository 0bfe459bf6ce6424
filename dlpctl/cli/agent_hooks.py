"""The hooks of coding agents on the command line: installed, shown, tried and answered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.cli.render import Printer
from dlpctl.errors import DlpctlError, UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.agents.settings import Settings

_BROKEN = 1
_SECONDS = 60


def chosen(target: str | None, *, every: bool, project: bool) -> list[Settings]:
    """Return the settings of one agent, or of all that are installed."""
    from dlpctl.agents.adapters import adapters
    from dlpctl.agents.settings import Settings, is_present
    from dlpctl.config import load_config

    known = adapters()
    if target is not None and (every or target not in known):
        hint = did_you_mean(target, [*known, "git"]) or f"; there are git, {', '.join(known)}"
        raise UsageError("name an agent or give --all" if every else f"no agent {target!r}{hint}")
    allow = load_config().agents.on_failure == "allow"
    return [
        Settings.of(known[name], os.environ, project=Path.cwd() if project else None, allow=allow)
        for name in ([target] if target else known)
        if target or is_present(known[name], os.environ)
    ]


def install(settings: Sequence[Settings]) -> None:
    from dlpctl.cli.session import Session

    printer = Printer()
    if not settings:
        raise UsageError("no coding agent was found; name one: dlpctl hook install claude-code")
    for each in settings:
        before = each.install()
        done = {"installed": "unchanged", "stale": "repaired"}.get(before, "installed")
        printer.line(f"{each.adapter.TITLE}: {done} in {each.file}")
        if each.adapter.INSTALLATION.remark and before != "installed":
            printer.line(f"  {each.adapter.INSTALLATION.remark}")
    Session.begin().detector().compile()  # so that the first event need not wait for the patterns


def uninstall(settings: Sequence[Settings]) -> None:
    printer = Printer()
    for each in settings:
        done = "removed from" if each.uninstall() else "there are no hooks of dlpctl in"
        printer.line(f"{each.adapter.TITLE}: {done} {each.file}")


def show(settings: Sequence[Settings]) -> None:
    rows = []
    for each in settings:
        try:
            state = each.state().value
        except DlpctlError as problem:
            state = problem.message
        rows.append((each.adapter.NAME, state, str(each.file)))
    Printer().table(rows, head=("agent", "hooks", "file"))


def diagnose(settings: Sequence[Settings]) -> int:
    """Try the installed hook of each agent with a canary, and return the exit status."""
    from dlpctl.agents.canary import canary_event
    from dlpctl.agents.settings import State

    printer = Printer()
    status = 0
    for each in settings:
        state = each.state()
        printer.line(f"{each.adapter.TITLE}: {state.value} ({each.file})")
        if state is State.ABSENT:
            continue
        value, event = canary_event(each.adapter.NAME, Path.cwd())
        ran = subprocess.run(  # noqa: S602 -- as the agent runs it
            each.installed_line(),
            shell=True,
            input=json.dumps(event).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        told = (ran.stdout + ran.stderr).decode("utf-8", "replace").strip()
        works = value not in told and (ran.returncode or told not in ("", "{}"))
        printer.line(f"  a made-up secret was {'caught' if works else 'NOT caught'}")
        printer.line(f"  the agent is told: {told}")
        if not works or state is State.STALE:
            printer.line(f"  to repair it: dlpctl hook install {each.adapter.NAME}")
            status = _BROKEN
    return status


def answer(*, stay: bool) -> int:
    """Answer the event on stdin, and return the exit status."""
    from dlpctl.agents.hooking import LARGEST
    from dlpctl.cli.guards import answer as answer_event

    with _deadline():
        reply = answer_event(sys.stdin.buffer.read(LARGEST + 1), Path.cwd(), os.environ)
    sys.stdout.buffer.write(reply.out.encode())
    sys.stdout.buffer.flush()
    sys.stderr.write(reply.error)
    sys.stderr.flush()
    if stay and sys.platform != "win32":
        from dlpctl.agents import process

        process.become(_answer_of_others)
    return reply.status


@contextmanager
def _deadline() -> Iterator[None]:
    """Refuse the event before the agent gives up waiting, after which most go on without us."""
    from dlpctl.agents import client

    if not hasattr(signal, "setitimer"):
        yield
        return

    def refuse(_number: int, _frame: object) -> None:
        status = client.refuse(f"no answer within {client.SECONDS:.0f} seconds")
        sys.stderr.flush()
        os._exit(status)

    signal.signal(signal.SIGALRM, refuse)
    signal.setitimer(signal.ITIMER_REAL, client.SECONDS)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


def _answer_of_others(event: bytes, folder: Path, environ: Any) -> Any:
    from dlpctl.cli.guards import answer as answer_event

    return answer_event(event, folder, environ)
