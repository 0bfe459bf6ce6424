"""The styles and scripts of the console. The colours are those of the report of scans."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.resources import files

from flask import Blueprint, Response
from werkzeug.exceptions import NotFound

from dlpctl_daemon.context import request_context

_PATH = "/console/static/<name>"
_CSS, _SCRIPT, _PICTURE = "text/css", "text/javascript", "image/svg+xml"
_FILES = {
    "tokens.css": ("dlpctl.scan.reports", _CSS),
    "console.css": (__package__, _CSS),
    "console.js": (__package__, _SCRIPT),
    "editor.js": (__package__, _SCRIPT),
    "playground.js": (__package__, _SCRIPT),
    "icon.svg": (__package__, _PICTURE),
}


def add_files(blueprint: Blueprint) -> None:
    def view(name: str) -> Response:
        request_context().route = _PATH
        if name not in _FILES:
            raise NotFound
        media = f"{_FILES[name][1]}; charset=utf-8"
        headers = {"Cache-Control": "private, max-age=86400"}
        return Response(_content(name), content_type=media, headers=headers)

    blueprint.add_url_rule(_PATH, "files", view, methods=["GET"], provide_automatic_options=False)
    blueprint.add_app_template_global(address_of, "file_address")


@cache
def _content(name: str) -> bytes:
    package, _ = _FILES[name]
    folder = files(package)
    return (folder / name if package != __package__ else folder / "static" / name).read_bytes()


@cache
def address_of(name: str) -> str:
    """Return an address that changes with the content, so that browsers may cache the file."""
    return f"/console/static/{name}?{blake2b(_content(name), digest_size=6).hexdigest()}"
