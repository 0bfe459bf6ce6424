"""`/openapi.json`, and `/docs`: a page that shows it, made of files of this package alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from flask import Blueprint, Response

from dlpctl.control.resources import RESOURCES
from dlpctl_daemon.context import request_context
from dlpctl_daemon.openapi import describe

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FILES = {
    "/docs": ("docs.html", "text/html; charset=utf-8"),
    "/docs/docs.js": ("docs.js", "text/javascript; charset=utf-8"),
    "/docs/docs.css": ("docs.css", "text/css; charset=utf-8"),
}


def blueprint() -> Blueprint:
    made = Blueprint("docs", __name__)

    @cache
    def description() -> bytes:
        return json.dumps(describe(RESOURCES), separators=(",", ":")).encode("ascii")

    def openapi() -> Response:
        return Response(description(), content_type="application/json")

    _get(made, "/openapi.json", openapi)
    for path, (name, media) in _FILES.items():
        _get(made, path, _file(name, media))
    return made


def _file(name: str, media: str) -> Callable[[], Response]:
    def view() -> Response:
        content = (files(__package__) / "static" / name).read_bytes()
        return Response(content, content_type=media, headers={"Content-Security-Policy": _POLICY})

    return view


def _get(made: Blueprint, path: str, give: Callable[[], Response]) -> None:
    def view() -> Response:
        request_context().route = path
        return give()

    made.add_url_rule(
        path, path.replace(".", "-"), view, methods=["GET"], provide_automatic_options=False
    )
