"""Health and metrics, for those who run the service."""

from __future__ import annotations

from flask import Response

from dlpctl import __version__
from dlpctl.control.access import Role
from dlpctl_daemon.endpoints import Call, Handler


def healthz(call: Call) -> object:
    del call
    return {"status": "ok", "version": __version__}


def readyz(call: Call) -> object:
    call.service.readiness.check()
    return {"status": "ready", "version": __version__}


def metrics(call: Call) -> Response:
    call.access.require_everywhere(Role.AUDITOR)
    return Response(
        call.service.metrics.text(), content_type="text/plain; version=0.0.4; charset=utf-8"
    )


HANDLERS: tuple[Handler, ...] = (healthz, readyz, metrics)
