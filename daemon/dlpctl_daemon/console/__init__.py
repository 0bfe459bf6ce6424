"""The console: web pages for the operations of the control plane.

A page uses the operations of the API with the access of the signed-in token. All files belong to
this package: pages load nothing from elsewhere, and run no inline scripts or styles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint

from dlpctl_daemon.console import (
    actions,
    editor,
    entrance,
    files,
    logbook,
    overview,
    playground,
    records,
    traffic,
)
from dlpctl_daemon.console.pages import Pages

if TYPE_CHECKING:
    from dlpctl_daemon.endpoints import Service

_ROOMS = (overview, logbook, records, editor, playground, traffic, actions)


def blueprint(service: Service) -> Blueprint:
    """Return all pages of the console."""
    made = Blueprint("console", __name__, template_folder="templates")
    pages = Pages(made, service)
    entrance.add_pages(pages)
    for room in _ROOMS:
        room.add_pages(pages)
    files.add_files(made)
    pages.add_errors()
    return made
