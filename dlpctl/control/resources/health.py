"""Health and metrics: the answers and operations for those who run the service."""

from __future__ import annotations

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Credential, Resource
from dlpctl.control.resources.shapes import Answer


class Health(Answer):
    """The service runs."""

    status: str = fields.text()
    version: str = fields.text()


class Error(Answer):
    """The reason of an error."""

    detail: str = fields.text("one line, for people")


resource = Resource("Operation", "Health, metrics, and the description of the interface.")

resource.operation(
    "healthz", "GET /healthz", "", Health, "Say that the process runs", credential=Credential.NONE
)
resource.operation(
    "readyz",
    "GET /readyz",
    "",
    Health,
    "Say that a check could be recorded now, or 503",
    credential=Credential.NONE,
)
resource.operation(
    "metrics",
    "GET /metrics",
    "",
    fields.text("Prometheus's text format"),
    "Give numbers to Prometheus; any token for all organizations opens it",
    media="text/plain",
)
