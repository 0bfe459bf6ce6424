"""Options of the service, checked together before it starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from dlpctl.config.settings import FileLimits, Serve
from dlpctl.control.checks import Limits
from dlpctl.errors import UsageError

_FORM_OVERHEAD = 1 << 16
"""Bytes of a form beside its file."""
_JSON_GROWTH = 6
"""A character may be escaped in JSON, which is that much longer."""
_OTHER_BODIES = 8 << 20
"""Policies may bring thousands of rules and patterns."""


class Options(NamedTuple):
    settings: Serve = Serve()
    unix_socket: str | None = None
    allow_remote: bool = False
    reading: FileLimits | None = None
    """The limits of reading a file."""
    answer_event: Callable[[bytes], bytes] | None = None
    """Answers events of coding agents on this machine, if the service does."""

    @property
    def limits(self) -> Limits:
        return Limits(self.settings.text_bytes, self.settings.file_bytes, self.reading)

    @property
    def text_body(self) -> int:
        return self.settings.text_bytes * _JSON_GROWTH + _FORM_OVERHEAD

    @property
    def file_body(self) -> int:
        return self.settings.file_bytes + _FORM_OVERHEAD

    @property
    def json_body(self) -> int:
        return _OTHER_BODIES

    @property
    def largest_body(self) -> int:
        return max(self.text_body, self.file_body, self.json_body)

    @property
    def public_url(self) -> str | None:
        return self.settings.public_url.rstrip("/") if self.settings.public_url else None

    def checked(self) -> Options:
        """Raise for options that contradict each other, and for a service that would be open to the
        network unasked.
        """
        url = self.settings.public_url
        if url is not None:
            parts = urlsplit(url)
            if (
                parts.scheme not in ("http", "https")
                or not parts.hostname
                or parts.query
                or parts.fragment
            ):
                raise UsageError(
                    "serve.public_url: must be an address such as https://dlp.example.com"
                )
        for origin in self.settings.cors_origins:
            parts = urlsplit(origin)
            if (
                parts.scheme not in ("http", "https")
                or f"{parts.scheme}://{parts.netloc}" != origin
            ):
                raise UsageError(
                    "serve.cors_origins: must be origins such as https://app.example.com"
                )
        proxy = self.settings.trusted_proxy
        if proxy is not None and not _is_client_address(proxy):
            raise UsageError(
                "serve.trusted_proxy: must be the IP address of the proxy, such as 10.0.0.1"
            )
        if self.settings.processes > 1 and not hasattr(os, "fork"):
            raise UsageError("--processes: this system cannot fork processes; use 1")
        if self.unix_socket is None and not self.allow_remote:
            require_loopback(self.settings.host)
        return self


def require_loopback(host: str) -> None:
    """Refuse an address that other machines can reach."""
    if not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines over an unencrypted connection;"
            " put a proxy with TLS before it, and pass --allow-remote to confirm"
        )


def _is_client_address(address: str) -> bool:
    """Return whether clients can have this address, in this spelling; those of a Unix socket have
    `localhost`.
    """
    from ipaddress import ip_address

    try:
        return address == "localhost" or str(ip_address(address)) == address
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def hosts_of(options: Options) -> Mapping[str, None]:
    """The names, in lower case, that requests may be for beside addresses and localhost."""
    names = [options.settings.host, *options.settings.allowed_hosts]
    if options.settings.public_url:
        names.append(urlsplit(options.settings.public_url).hostname or "")
    return dict.fromkeys(name.lower().rstrip(".") for name in names)
