"""For those who run the service: health, metrics, and the description of the interface."""

from __future__ import annotations

from flask import Response

from dlpctl import __version__
from dlpctl.control.access import Role
from dlpctl_daemon.endpoints import Call, Guard, Resource
from dlpctl_daemon.schemas import text

resource = Resource("Operation", "Health, metrics, and the description of the interface.")


@resource.endpoint("GET", "/healthz", answer="Health", guard=Guard.OPEN)
def healthz(call: Call) -> object:
    """Say that the process runs"""
    return {"status": "ok", "version": __version__}


@resource.endpoint("GET", "/readyz", answer="Health", guard=Guard.OPEN)
def readyz(call: Call) -> object:
    """Say that a check could be recorded now, or 503"""
    call.service.readiness.check()
    return {"status": "ready", "version": __version__}


@resource.endpoint("GET", "/metrics", answer=text("Prometheus's text format"), media="text/plain")
def metrics(call: Call) -> Response:
    """Give numbers to Prometheus; any token for all organizations opens it"""
    call.access.require_everywhere(Role.AUDITOR)
    return Response(
        call.service.metrics.text(), content_type="text/plain; version=0.0.4; charset=utf-8"
    )
