"""Health, metrics and the description of the interface, for those who run the service."""

from __future__ import annotations

from dlpctl.control.resources.fields import text
from dlpctl.control.resources.operations import Credential, Resource
from dlpctl.control.resources.shapes import Answer


class Health(Answer):
    """The service runs."""

    status: str = text()
    version: str = text()


class Error(Answer):
    """What went wrong."""

    detail: str = text("one line, for people")


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
    text("Prometheus's text format"),
    "Give numbers to Prometheus; any token for all organizations opens it",
    media="text/plain",
)
