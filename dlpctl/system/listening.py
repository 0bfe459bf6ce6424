"""The socket that a service listens on, or the reason why there is none."""

from __future__ import annotations

import os
import socket

from dlpctl.errors import UsageError

BACKLOG = 1_024


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address of this machine."""
    try:
        # The protocol matters: asyncio sets TCP_NODELAY only on connections of a socket with it.
        family, socket_type, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as problem:
        raise UsageError(f"{host}: is no address of this machine: {problem.strerror}") from None
    made = socket.socket(family, socket_type, protocol)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as problem:
        made.close()
        raise UsageError(
            f"{host}:{port}: cannot be listened on: {problem.strerror}; choose another one with"
            f" --host and --port"
        ) from None
    return made
