"""HTTP requests, parsed so strictly that no proxy can read them in another way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import RequestEntityTooLarge

from dlpctl_daemon.chunks import Chunks
from dlpctl_daemon.lanes import SMALL_BYTES

if TYPE_CHECKING:
    from dlpctl_daemon.context import RequestContext

_VERSIONS = ("1.0", "1.1")
_FRAMING = re.compile(rb"(?im)^(content-length|transfer-encoding|host):[ \t]*(.*?)[ \t]*\r$")
"""The headers that give the end and the host of a request."""
_LONGEST_NUMBER = 18


class Request(HTTPRequestParser):
    """A request whose large body is read only after the service has admitted it by its headers."""

    error: Any = None
    body_rcv: Any

    def __init__(self, adj: Any) -> None:
        super().__init__(adj)
        self.body_limit: int = adj.max_request_body_size
        self.is_asked = False
        """The service was asked to admit it."""
        self.is_admitted = False
        self.context: RequestContext | None = None
        """The context of the decision to admit it."""
        self.release: Callable[[], None] | None = None
        """Give back what is reserved for the body."""

    def received(self, data: bytes) -> int:
        taken: int = super().received(data)
        if self.body_bytes_received > self.body_limit and self.error is None:
            self.error = RequestEntityTooLarge("")
            self.completed = True
        return taken

    @property
    def needs_admission(self) -> bool:
        """Return true if nothing more may be read before the service has admitted the request."""
        return (
            self.headers_finished
            and not (self.completed or self.is_admitted)
            and (self.chunked or self.expect_continue or self.content_length > SMALL_BYTES)
        )

    def parse_header(self, header_plus: bytes) -> None:
        framing = _framing(header_plus)
        super().parse_header(header_plus)
        if self.version not in _VERSIONS:
            raise ParsingError("unknown version of HTTP")
        if b"transfer-encoding" in framing:
            if not self.chunked:
                raise ParsingError("Transfer-Encoding in an older version of HTTP")
            self.body_rcv = Chunks(self.body_rcv.getbuf())

    def close(self) -> None:
        super().close()
        release, self.release = self.release, None
        if release is not None:
            release()


def _framing(headers: bytes) -> dict[bytes, bytes]:
    """Return the headers that frame the request; refuse what two programs may read in two ways."""
    if b"\n " in headers or b"\n\t" in headers:
        raise ParsingError("folded line")
    found = _FRAMING.findall(headers)
    framing = {name.lower(): value for name, value in found}
    if len(found) != len(framing):
        raise ParsingError("header twice")
    coding = framing.get(b"transfer-encoding")
    if coding is not None:
        if b"content-length" in framing:
            raise ParsingError("Content-Length with Transfer-Encoding")
        if b"," in coding:
            raise ParsingError("more than one transfer encoding")
    if len(framing.get(b"content-length", b"")) > _LONGEST_NUMBER:
        raise ParsingError("Content-Length is too long")
    return framing
