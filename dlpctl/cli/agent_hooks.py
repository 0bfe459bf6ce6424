"""The hooks of coding agents on the command line: install, show, test and answer."""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.cli.render import Printer
from dlpctl.errors import DlpctlError, UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.agents.settings import Settings

KEY_VARIABLE = "DLPCTL_API_KEY"
_BROKEN = 1
_GRACE = 4.0
_SECONDS = 60


def chosen(
    target: str | None,
    *,
    every: bool,
    project: bool,
    over_http: bool = False,
    required: bool = True,
) -> list[Settings]:
    """Return the settings of one agent, or of `every` one that is installed; refuse to return none
    if one is `required`.
    """
    from dlpctl.agents.adapters import adapters
    from dlpctl.agents.settings import Settings, is_present
    from dlpctl.config import load_config

    known = adapters()
    if (target is None) is not every:
        raise UsageError(f"name git, {', '.join(known)}, or give --all")
    if target == "git":
        raise UsageError("git is not a coding agent; 'dlpctl hook status git' shows its hook")
    if target is not None and target not in known:
        hint = did_you_mean(target, [*known, "git"]) or f"; there are git, {', '.join(known)}"
        raise UsageError(f"no agent {target!r}{hint}")
    names = [target] if target else [name for name in known if is_present(known[name], os.environ)]
    if not names and required:
        raise UsageError("no coding agent was found; name one, such as claude-code")
    config = load_config()
    serve = config.serve
    address = config.server or f"http://{serve.host}:{serve.port}"
    return [
        Settings.of(
            known[name],
            os.environ,
            project=Path.cwd() if project else None,
            allow=config.agents.on_failure == "allow",
            service=address.rstrip("/") if over_http else "",
        )
        for name in names
    ]


def install(settings: Sequence[Settings], *, wrap_mcp: bool | None = None) -> None:
    """Install the hooks; wrap MCP servers with `dlpctl mcp wrap`, or ask if `wrap_mcp` is None."""
    from dlpctl.cli.session import Session

    printer = Printer()
    for each in settings:
        before = each.install()
        done = {"installed": "unchanged", "stale": "repaired"}.get(before, "installed")
        printer.line(f"{each.adapter.TITLE}: {done} in {each.file}")
        if each.adapter.INSTALLATION.remark and before != "installed":
            printer.line(f"  {each.adapter.INSTALLATION.remark}")
        if each.service and before != "installed":
            printer.line(
                f"  Set {KEY_VARIABLE} to the key of a policy of {each.service} where the agent is"
                " started; events that the service does not answer pass"
            )
        _offer_wrapping(printer, each, wrap_mcp)
    Session.start().detector().compile()  # so that the first event need not wait for the patterns


def _offer_wrapping(printer: Printer, settings: Settings, wrap_mcp: bool | None) -> None:
    if settings.mcp is None or wrap_mcp is False:
        return
    servers = settings.mcp.servers()
    open_ones = [server.name for server in servers if server.command and not server.is_wrapped]
    if wrap_mcp is None and open_ones and sys.stdin.isatty() and sys.stdout.isatty():
        import typer

        wrap_mcp = typer.confirm(
            f"  Inspect what its MCP servers get and send ({', '.join(open_ones)})?", default=True
        )
    if wrap_mcp or any(server.is_stale for server in servers):
        if names := settings.mcp.wrap():
            printer.line(f"  MCP servers inspected: {', '.join(names)} in {settings.mcp.file}")
    elif open_ones and wrap_mcp is None:
        printer.line(
            f"  MCP servers not inspected: {', '.join(open_ones)}; give --wrap-mcp to inspect them"
        )
    if remote := [server.name for server in servers if not server.command]:
        printer.line(f"  MCP servers over the network, not inspected: {', '.join(remote)}")


def uninstall(settings: Sequence[Settings]) -> None:
    printer = Printer()
    for each in settings:
        if each.mcp is not None and (names := each.mcp.unwrap()):
            printer.line(f"{each.adapter.TITLE}: no longer before MCP servers {', '.join(names)}")
        done = "removed from" if each.uninstall() else "there are no hooks of dlpctl in"
        printer.line(f"{each.adapter.TITLE}: {done} {each.file}")


def status(settings: Sequence[Settings]) -> list[tuple[str, str, str, str]]:
    """Return a row about the hooks of each agent."""
    rows = []
    for each in settings:
        try:
            state = each.state().value
        except DlpctlError as problem:
            state = problem.message
        rows.append((each.adapter.NAME, state, _wrapping(each), str(each.file)))
    return rows


def _wrapping(settings: Settings) -> str:
    """Return how many MCP servers of the agent are inspected, in words."""
    try:
        servers = settings.mcp.servers() if settings.mcp else []
    except DlpctlError:
        return "unreadable"
    inspected = sum(server.is_wrapped for server in servers)
    return f"{inspected} of {len(servers)} inspected" if servers else "none"


def diagnose(settings: Sequence[Settings]) -> int:
    """Test the installed hook of each agent with a canary, and return the exit status."""
    from dlpctl.agents.canary import canary_event
    from dlpctl.agents.settings import State

    printer = Printer()
    has_failed = False
    for each in settings:
        state = each.state()
        printer.line(f"{each.adapter.TITLE}: {state.value} ({each.file})")
        if state is State.ABSENT:
            continue
        value, event = canary_event(each.adapter.NAME, Path.cwd())
        told, is_answer = _told(each.installed_line(), json.dumps(event).encode())
        works = is_answer and value not in told
        printer.line(f"  a made-up secret was {'caught' if works else 'NOT caught'}")
        printer.line(f"  the agent is told: {told}")
        if not works or state is State.STALE:
            printer.line(f"  to repair it: dlpctl hook install {each.adapter.NAME}")
            has_failed = True
    return _BROKEN if has_failed else 0


def _told(line: str, event: bytes) -> tuple[str, bool]:
    """Run a hook as its agent does; return its answer and whether it decides anything."""
    if line.startswith("http"):
        from urllib.request import Request, urlopen

        headers = {
            "Content-Type": "application/json",
            "X-Service-API-Key": os.environ.get(KEY_VARIABLE, ""),
        }
        try:
            with urlopen(Request(line, event, headers), timeout=_SECONDS) as answer:  # noqa: S310
                told = answer.read().decode("utf-8", "replace").strip()
        except OSError as problem:
            return f"nothing, so it proceeds: {problem}", False
        return told, bool(told)
    ran = subprocess.run(  # noqa: S602 -- as the agent runs it
        line, shell=True, input=event, capture_output=True, timeout=_SECONDS, check=False
    )
    told = (ran.stdout + ran.stderr).decode("utf-8", "replace").strip()
    return told, bool(ran.returncode) or told not in ("", "{}")


def answer(*, stay: bool) -> int:
    """Answer the event on stdin, and return the exit status."""
    from dlpctl.agents import client
    from dlpctl.cli.guards import answer as answer_event

    client.limit_time()
    with Path(os.devnull).open("w") as nowhere:
        # If a long call keeps Python from handling the signal, this ends the process.
        faulthandler.dump_traceback_later(client.SECONDS + _GRACE, exit=True, file=nowhere)
        reply = answer_event(sys.stdin.buffer.read(client.LARGEST + 1), Path.cwd(), os.environ)
        faulthandler.cancel_dump_traceback_later()
    sys.stdout.buffer.write(reply.out.encode())
    sys.stdout.buffer.flush()
    sys.stderr.write(reply.error)
    sys.stderr.flush()
    client.limit_time(over=True)
    if stay:
        from dlpctl.agents import process

        process.become(_answer_of_others)
    return reply.status


def serve() -> None:
    """Serve as the process that answers the events of this user."""
    from dlpctl.agents.process import WarmProcess

    WarmProcess(_answer_of_others).serve()


def _answer_of_others(event: bytes, folder: Path, environ: Any) -> Any:
    from dlpctl.cli.guards import answer as answer_event

    return answer_event(event, folder, environ)
