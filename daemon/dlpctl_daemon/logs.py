"""Log lines about requests and about the service, for people or for programs. No line holds
content, a key or a query.
"""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from dlpctl.control.clock import utc_now, written

if TYPE_CHECKING:
    from dlpctl_daemon.context import RequestContext


class _Form(NamedTuple):
    """The format of a request's line."""

    request: str
    more: str
    queued: str
    end: str


_HUMAN = _Form(
    "%s request method=%s route=%s status=%d ms=%.1f request_id=%s",
    " %s=%s",
    " lane=%s queue_ms=%.1f",
    "\n",
)
_JSON = _Form(
    '{"time": "%s", "level": "info", "event": "request", "method": "%s", "route": "%s",'
    ' "status": %d, "ms": %.1f, "request_id": "%s"',
    ', "%s": "%s"',
    ', "lane": "%s", "queue_ms": %.1f',
    "}\n",
)


class Log:
    """Writes a line an event."""

    def __init__(self, stream: IO[str], form: str = "human") -> None:
        self._stream = stream
        self._write = self._json if form == "json" else self._human
        self._form = _JSON if form == "json" else _HUMAN
        self._lock = threading.Lock()
        self._lost = 0

    def info(self, event: str, **fields: Any) -> None:
        self._line("info", event, fields)

    def request(self, method: str, route: str, context: RequestContext, seconds: float) -> None:
        """Log a request that was answered. Every request has a line, so it is formatted directly;
        nothing in it needs escapes.
        """
        form = self._form
        now = written(utc_now())
        status, request_id = context.status, context.request_id
        line = form.request % (now, method, route, status, seconds * 1000, request_id)
        if context.client:
            line += form.more % ("client", context.client)
        if context.queued is not None:
            lane, waited = context.queued
            line += form.queued % (lane, waited * 1000)
        if context.caller is not None:
            line += form.more % ("caller", context.caller)
        for name, identifier in context.objects.items():
            line += form.more % (name, identifier)
        if context.decision is not None:
            line += form.more % ("decision", context.decision)
        self._put(line + form.end)

    def error(self, event: str, **fields: Any) -> None:
        self._line("error", event, fields)

    def failure(self, problem: BaseException) -> None:
        """Log where an unexpected exception came from."""
        self.error("failed", error=type(problem).__name__, at=locations(problem))

    def _line(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        self._put(self._write(written(utc_now()), level, event, fields))

    def _put(self, line: str) -> None:
        """Write a line. If it cannot be written, requests are answered all the same."""
        with self._lock:
            try:
                if self._lost:
                    fields = {"lines": self._lost}
                    self._stream.write(
                        self._write(written(utc_now()), "error", "log lines lost", fields)
                    )
                    self._lost = 0
                self._stream.write(line)
            except (OSError, ValueError):
                self._lost += 1

    @staticmethod
    def _json(moment: str, level: str, event: str, fields: Mapping[str, Any]) -> str:
        return (
            json.dumps({"time": moment, "level": level, "event": event, **fields}, default=str)
            + "\n"
        )

    @staticmethod
    def _human(moment: str, level: str, event: str, fields: Mapping[str, Any]) -> str:
        shown = "".join(f" {name}={_plain(value)}" for name, value in fields.items())
        mark = "" if level == "info" else f"{level.upper()} "
        return f"{moment} {mark}{event}{shown}\n"


def locations(error: BaseException) -> list[str]:
    """Return the locations of an error, not its message, which may hold content."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def _plain(value: object) -> str:
    """Return a value on one line."""
    text = str(value)
    return text if text.isprintable() and text and " " not in text else json.dumps(text)
