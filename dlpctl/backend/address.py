"""Addresses of servers."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import SplitResult, quote, urlsplit

from dlpctl.errors import UsageError

_SCHEMES = ("http", "https")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Address(NamedTuple):
    """`http://host:port`, `https://host/prefix` or `unix:/path/of/socket`."""

    scheme: str
    host: str
    """The path of a Unix socket."""
    port: int | None = None
    prefix: str = ""

    @classmethod
    def parse(cls, url: str) -> Address:
        if url.startswith("unix:"):
            file = url.removeprefix("unix:").removeprefix("//")
            if not file.startswith("/"):
                raise UsageError(
                    f"{url!r} is not a server's address; write unix: and the socket's absolute path"
                )
            return cls("unix", file)
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise UsageError(
                f"{url!r} is not a server's address; write it as http://127.0.0.1:8686"
            ) from None
        _refuse_unfit(url, parts)
        return cls(parts.scheme, str(parts.hostname), port, parts.path.rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Return whether the server is on this machine."""
        return self.scheme == "unix" or self.host in _LOOPBACK

    def __str__(self) -> str:
        if self.scheme == "unix":
            return f"unix:{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{'' if self.port is None else f':{self.port}'}{self.prefix}"


def _refuse_unfit(url: str, parts: SplitResult) -> None:
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "the server's address has a user name or a password; remove it and set DLPCTL_TOKEN"
        )
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise UsageError(f"{url!r} is not a server's address; write it as http://127.0.0.1:8686")
    if parts.query or parts.fragment:
        raise UsageError(f"{url!r} is more than a server's address; remove what follows the path")


def segment(text: str) -> str:
    """Return a text as a single path segment."""
    return quote(text, safe="", errors="replace")
