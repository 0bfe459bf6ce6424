"""The endpoints: a module a resource."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from dlpctl_daemon.endpoints import Resource

_MODULES = (
    "preflight",
    "organizations",
    "policies",
    "groups",
    "licenses",
    "usage",
    "tokens",
    "analytics",
    "audit",
    "operation",
)


def resources() -> Iterator[Resource]:
    """In the order in which the description shows them."""
    for name in _MODULES:
        resource: Resource = import_module(f"dlpctl_daemon.api.{name}").resource
        yield resource
