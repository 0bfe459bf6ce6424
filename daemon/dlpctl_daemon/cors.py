"""Which web pages may call the service: none, unless their origins are set."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Request, Response
from werkzeug.datastructures import Headers

_ALLOWED = {
    "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Service-API-Key, X-Request-Id",
    "Access-Control-Max-Age": "600",
}
_SHOWN = "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id, X-Error-Code"


class Cors:
    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origins)

    def preflight(self, request: Request) -> Response | None:
        """The answer to a browser that asks whether a page may."""
        asks = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        if not asks or request.headers.get("Origin") not in self._origins:
            return None
        return Response(status=204, headers=_ALLOWED)

    def allow(self, request: Request, headers: Headers) -> None:
        if not self._origins:
            return
        headers.add("Vary", "Origin")
        origin = request.headers.get("Origin")
        if origin in self._origins:
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = _SHOWN
            headers["Cross-Origin-Resource-Policy"] = "cross-origin"
