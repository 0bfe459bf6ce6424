"""The HTTP server of the gateway; the only module that knows uvicorn."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlpctl.gateway.server import Gateway

_KEEP_ALIVE_SECONDS = 75
_END_SECONDS = 10
_LARGEST_HEAD = 64 << 10


class _Server(uvicorn.Server):
    """Calls `on_start` once it accepts requests, and shuts down gracefully at a signal."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()


def server(gateway: Gateway, on_start: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """Return a server that has yet to be run."""
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
    return _Server(config, on_start)
