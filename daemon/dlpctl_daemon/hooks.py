"""Answers events of coding agents on this machine, whose hooks can ask over HTTP.

Claude Code goes on after any answer but a decision, so that whatever goes wrong is answered by one
that stops it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from flask import Blueprint, Response, request

from dlpctl.agents.installing import HOOK_PATH
from dlpctl.errors import DlpctlError, UsageError
from dlpctl_daemon.bodies import body_length, check_json
from dlpctl_daemon.context import HEADERS_ONLY, request_context
from dlpctl_daemon.options import is_loopback

if TYPE_CHECKING:
    from dlpctl_daemon.endpoints import Service


def blueprint(answer: Callable[[bytes], bytes], service: Service) -> Blueprint:
    made = Blueprint("hooks", __name__)

    @made.post(HOOK_PATH)
    def hook() -> Response:
        try:
            return _json(_answer())
        except DlpctlError as problem:
            reason = f"dlpctl: refused: {problem.message}"
            return _json(json.dumps({"continue": False, "stopReason": reason}).encode())

    def _answer() -> bytes:
        environ, context = request.environ, request_context()
        context.route = HOOK_PATH
        if not is_loopback(environ.get("REMOTE_ADDR", "")):
            raise UsageError("events of agents are answered on this machine only")
        context.identify(service.callers.of_key(environ.get("HTTP_X_SERVICE_API_KEY")))
        check_json(environ, service.options.file_body)
        if HEADERS_ONLY in environ:
            context.is_admitted, context.body_limit = True, service.options.file_body
            return b""
        return answer(environ["wsgi.input"].read(body_length(environ)))

    return made


def _json(body: bytes) -> Response:
    return Response(body, content_type="application/json")
