"""A page to try policies: text is masked as it is typed, and files as they are dropped."""

from __future__ import annotations

from base64 import b64encode

from flask import request

from dlpctl.control.resources.shapes import plain
from dlpctl.errors import RequestError
from dlpctl.types import Destination
from dlpctl_daemon.api.preflight import base_name
from dlpctl_daemon.bodies import body_length, check_form, read_json
from dlpctl_daemon.console.pages import Answer, Pages, Visit
from dlpctl_daemon.endpoints import json_response
from dlpctl_daemon.forms import read_parts

_SAMPLE = """Hello Dana,

please refund jane.doe@example.com, card 4111 1111 1111 1111,
and call her back at +1 415 555 0132. Thank you!
"""


def show(visit: Visit) -> Answer:
    organization = visit.organization()
    if organization is None:
        return visit.page("no_organization", "Playground")
    return visit.page(
        "playground",
        "Playground",
        organization=organization,
        policies=visit.ask("list_policies", organization.slug),
        destinations=list(Destination),
        sample=_SAMPLE,
        largest=visit.service.options.settings.file_bytes,
    )


def preview_text(visit: Visit) -> Answer:
    given = read_json(request.environ)
    path = [str(given.pop(name, "")) for name in ("org", "policy")]
    return json_response(plain(visit.ask("preview_text", *path, given)), 200)


def preview_file(visit: Visit) -> Answer:
    """Return the preview of a file with its masked copy; nothing is written to disk."""
    check_form(request.environ, visit.service.options.file_body)
    length, boundary = body_length(request.environ), request.mimetype_params["boundary"]
    parts = {
        part.name: part for part in read_parts(request.environ["wsgi.input"], boundary, length)
    }
    if "file" not in parts or parts["file"].filename is None:
        raise RequestError("file: is missing")
    fields = {
        name: part.data.decode("utf-8", "replace") for name, part in parts.items() if name != "file"
    }
    name = base_name(parts["file"].filename)
    org, policy, destination = (fields.get(each, "") for each in ("org", "policy", "destination"))
    previews = visit.control.previews
    preview, masked = previews.file(
        visit.access, org, policy, destination, name, parts["file"].data
    )
    copy = None if masked is None else b64encode(masked).decode("ascii")
    return json_response(plain(preview) | {"name": name, "masked_file": copy}, 200)


def add_pages(pages: Pages) -> None:
    options = pages.service.options
    pages.get("/console/playground", show)
    pages.post("/console/preview/text", preview_text, options.text_body)
    pages.post("/console/preview/file", preview_file, options.file_body)
