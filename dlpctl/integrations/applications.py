"""Requests to applications that use models, masked before the application sees them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dlpctl.gateway.protocol import Body, Delta, Failure, Protocol, Route, Shape
from dlpctl.integrations.models import MaskedModels

_SHAPE = Shape(any_delta=Delta())
"""No table describes the texts of an application: any may hold values and arrive in pieces."""


def _error(failure: Failure) -> bytes:
    return json.dumps({"detail": failure.message}).encode()


_ANY = Protocol("application", "", (), _error)


class MaskedApplication(MaskedModels):
    """Masks requests to an application, and restores its answers. Thread-safe."""

    def __init__(
        self, protocol: str | Protocol = _ANY, *, skipped: Sequence[str] = (), **options: Any
    ) -> None:
        """`protocol` is that of a provider, for an application with the provider's routes.

        Paths that start with one of the `skipped` prefixes are neither inspected nor restored.
        """
        super().__init__(protocol, **options)
        self._skipped = tuple(each.rstrip("/") for each in skipped)

    def skips(self, path: str) -> bool:
        """Return whether requests for a path are passed on unread."""
        is_plain = "//" not in path and "/." not in path
        return is_plain and any(
            path == each or path.startswith(f"{each}/") for each in self._skipped
        )

    def _route(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        if self.protocol is _ANY:
            return Route(method, path, _SHAPE, Body.ANY), ()
        return super()._route(method, path)
