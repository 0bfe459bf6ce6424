"""Cross-origin requests: web pages of the configured origins may call the service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_OWN_ORIGIN = "Cross-Origin-Resource-Policy"
_SHOWN = (
    "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id, X-Error-Code"
)


class Cors:
    allowed = (
        ("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE"),
        (
            "Access-Control-Allow-Headers",
            "Authorization, Content-Type, X-Service-API-Key, X-Request-Id",
        ),
        ("Access-Control-Max-Age", "600"),
    )

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origins)

    def asks(self, environ: WSGIEnvironment) -> bool:
        """Return whether a browser asks what a page may do."""
        return (
            environ["REQUEST_METHOD"] == "OPTIONS"
            and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ
            and environ.get("HTTP_ORIGIN") in self._origins
        )

    def extended(
        self, environ: WSGIEnvironment, headers: list[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        origin = environ.get("HTTP_ORIGIN")
        if origin not in self._origins:
            return [*headers, ("Vary", "Origin")]
        return [
            *(header for header in headers if header[0] != _OWN_ORIGIN),
            (_OWN_ORIGIN, "cross-origin"),
            ("Vary", "Origin"),
            ("Access-Control-Allow-Origin", str(origin)),
            ("Access-Control-Expose-Headers", _SHOWN),
        ]
