"""The console: pages for people on the operations of the control plane.

A page asks the operations that the API has, with the access of the token that has signed in. All
files are of this package: pages load nothing from elsewhere, and run no inline script or style.
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
