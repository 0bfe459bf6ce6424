"""Links that sign in to the console."""

from __future__ import annotations

from dlpctl.control.resources.console import ConsoleLink
from dlpctl_daemon.api.preflight import base_url
from dlpctl_daemon.console.sessions import LINK_SECONDS
from dlpctl_daemon.endpoints import Call, Handler


def create_console_link(call: Call) -> object:
    """The code is after the number sign, which no browser sends and no log has."""
    code = call.service.sessions.link(call.access.token_id)
    address = f"{base_url(call.service.options)}/console/sign-in#{code}"
    return ConsoleLink(address, int(LINK_SECONDS))


HANDLERS: tuple[Handler, ...] = (create_console_link,)
