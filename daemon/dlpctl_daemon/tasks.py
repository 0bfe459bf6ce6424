"""Answers to single requests: errors in the form of the interface, others in two steps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

from waitress import task
from waitress.utilities import build_http_date

from dlpctl.errors import BusyError, TooLargeError
from dlpctl_daemon.context import IDENTIFIED, KEY, QUEUED

LARGEST_HEADER = 1 << 16
_RETRY_SECONDS = 5
_DETAILS = {
    400: "the request is not valid HTTP",
    408: "the request took too long to arrive",
    413: "the body is larger than the largest that is allowed",
    429: "too many requests of this organization or key wait already; try again later",
    431: f"the headers are larger than {LARGEST_HEADER:,} bytes",
    500: "the service failed",
    501: "unknown transfer encoding",
    503: "the service is busy, so nothing was done; try again later",
}
_CODES = {413: TooLargeError.code, 429: BusyError.code, 503: BusyError.code}


def code_of(status: int) -> str:
    """Return the code of an error that HTTP itself describes, such as `method-not-allowed`."""
    return _CODES.get(status) or HTTPStatus(status).name.lower().replace("_", "-")


class Refusal(NamedTuple):
    """An answer without the application, or that the application has made already."""

    code: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    is_logged: bool = False

    @classmethod
    def of(cls, status: int) -> Refusal:
        body = json.dumps({"detail": _DETAILS[status]}).encode("ascii")
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Error-Code", code_of(status)),
        ]
        if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
            headers.append(("Retry-After", str(_RETRY_SECONDS)))
        return cls(status, HTTPStatus(status).phrase, tuple(headers), body)


class ErrorTask(task.ErrorTask):
    """Answers a request that was refused before it reached the application."""

    def execute(self) -> None:
        error = self.request.error
        refusal = error if isinstance(error, Refusal) else Refusal.of(error.code)
        self.status = f"{refusal.code} {refusal.reason}"
        self.content_length = len(refusal.body)
        self.response_headers += refusal.headers
        self.set_close_on_finish()
        self.channel.lingers = True
        if not refusal.is_logged:
            self.channel.log_refusal(self.request, refusal.code)
        self.write(refusal.body)


class Task(task.WSGITask):
    """Answers a request in two steps; the first does all that does not wait for the disk."""

    wrote_header: bool
    _answer: Iterable[bytes] | None = None
    _problem: BaseException | None = None

    def call_application(self) -> None:
        """Do the first step; `execute` does the second."""
        self.start_time = time.time()
        try:
            environ = self.get_environment()
            environ[QUEUED] = self.channel.queued
            environ[IDENTIFIED] = self.channel.identified
            if self.request.context is not None:
                environ[KEY] = self.request.context
            self._answer = self.channel.server.application(environ, self._start_response)
        except BaseException as problem:
            self._problem = problem  # raised where it is answered

    def start(self) -> None:
        if self._answer is None and self._problem is None:
            self.call_application()

    def execute(self) -> None:
        if self._problem is not None:
            raise self._problem
        try:
            if self.channel.server.is_ending:
                self.set_close_on_finish()
            for chunk in self._answer or ():
                if chunk:
                    self.write(chunk)
            if (
                self.content_bytes_written != (self.content_length or 0)
                and self.request.command != "HEAD"
            ):
                self.set_close_on_finish()
        finally:
            self.drop()

    def drop(self) -> None:
        """Close the answer, also one that no client waits for: its check must still be recorded."""
        close = getattr(self._answer, "close", None)
        self._answer = None
        if close is not None:
            close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], _error: object = None
    ) -> Callable[[bytes], None]:
        self.complete = True
        self.status = status
        for name, value in headers:
            if name.lower() == "content-length":
                self.content_length = int(value)
        self.response_headers.extend(headers)
        write: Callable[[bytes], None] = self.write
        return write

    def build_response_header(self) -> bytes:
        """Build the header of a usual answer directly; the application names headers correctly."""
        if self.version != "1.1" or self.content_length is None or not self.has_body:
            made: bytes = super().build_response_header()
            return made
        if self.request.headers.get("CONNECTION", "").lower() == "close":
            self.set_close_on_finish()
        lines = [f"HTTP/1.1 {self.status}"]
        lines += [f"{name}: {value}" for name, value in self.response_headers]
        lines += [f"Date: {_date(int(self.start_time))}", "", ""]
        return "\r\n".join(lines).encode("latin-1")

    def write(self, data: bytes) -> None:
        """Send header and body together: two sends would wake the client twice."""
        if (
            not self.wrote_header
            and self.complete
            and self.content_length == len(data)
            and self.has_body
        ):
            head = self.build_response_header()
            self.wrote_header = True
            self.content_bytes_written = len(data)
            self.channel.write_soon(head + data)
        else:
            super().write(data)


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    made: str = build_http_date(second)
    return made
