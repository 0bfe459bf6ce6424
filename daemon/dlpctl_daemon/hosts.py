"""Checks the host that a request is for.

A page on the web can point a name of its own at this machine; it cannot choose another name in the
header.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

from dlpctl.errors import UsageError


class Hosts:
    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names) | {"localhost"}
        self._fine: set[str] = set()
        """Headers that were checked and allowed; they are few."""

    def check(self, header: str | None) -> None:
        if header is None or header not in self._fine:
            name = _name(header or "")
            if (
                name not in self._names
                and not name.endswith(".localhost")
                and not _is_address(name)
            ):
                raise UsageError(
                    "Host: the service is not known by this name; name it in serve.allowed_hosts"
                    " if it should be"
                )
            if header is not None and len(self._fine) < 1_000:
                self._fine.add(header)


def _name(header: str) -> str:
    """Without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower().rstrip(".")


def _is_address(name: str) -> bool:
    """No name server has a say in where an address leads."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
