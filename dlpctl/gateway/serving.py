"""The HTTP server of the gateway, the only module that knows uvicorn."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from dlpctl.gateway.server import Gateway

_KEEP_ALIVE_SECONDS = 75
_END_SECONDS = 10
_LARGEST_HEAD = 64 << 10


def server(gateway: Gateway) -> uvicorn.Server:
    """Return a server that is yet to be run."""
    config = uvicorn.Config(
        gateway,
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_END_SECONDS,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only connections of a socket with this protocol get TCP_NODELAY from asyncio.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(1_024)
    except OSError:
        listening.close()
        raise
    return listening
