"""The console: how the command line lets its user sign in."""

from __future__ import annotations

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer


class ConsoleLink(Answer):
    """An address that signs in to the console once."""

    url: str = fields.text()
    expires_in: int = fields.integer("seconds")


resource = Resource("Console", "The pages for people, at `/console/`.")

resource.operation(
    "create_console_link",
    "POST /api/console/links",
    "",
    ConsoleLink,
    "Give an address that opens the console once, with the rights of the token",
    status=201,
)
