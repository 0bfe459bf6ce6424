"""A loopback server for S3 and web pages whose requests tests can make fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote
from wsgiref.util import request_uri

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

LINE_END = "\x01"
Environ = dict[str, Any]
Answer = tuple[str, list[tuple[str, str]], Iterable[bytes]]
Fault = Callable[[Environ], Answer | None]


class _Silent(WSGIRequestHandler):
    def log(self, *_arguments: Any, **_more: Any) -> None:
        """Write nothing: tests read the program's output."""


class ObjectServer:
    """Runs until `close`. If `fault` returns an answer, it replaces that of S3."""

    def __init__(self) -> None:
        self.fault: Fault = lambda _: None
        self.requests: list[tuple[str, str]] = []
        self.served: list[int] = []
        """The size in bytes of each answer of S3."""
        self._s3 = DomainDispatcherApplication(create_backend_app)
        self._server = make_server(
            "127.0.0.1", 0, self._serve, threaded=True, request_handler=_Silent
        )
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, environ: Environ, start: Callable[..., Any]) -> Iterator[bytes]:
        self.requests.append((environ["REQUEST_METHOD"], request_uri(environ)))
        answer = self.fault(environ)
        if answer is None:
            # The routes of moto reject a line end in a key, so it has another name there.
            environ["PATH_INFO"] = environ["PATH_INFO"].replace("\n", LINE_END)
            for name in ("RAW_URI", "REQUEST_URI"):
                environ[name] = environ[name].replace("%0A", quote(LINE_END))
            is_listing = "encoding-type=url" in environ["QUERY_STRING"]
            size = 0
            for part in self._s3(environ, start):
                size += len(part)
                yield part.replace(quote(LINE_END).encode(), b"%0A") if is_listing else part
            self.served.append(size)
            return
        status, headers, body = answer
        start(status, headers)
        yield from body


def refusal(status: str, code: str) -> Answer:
    """Return an error of S3."""
    body = f"<Error><Code>{code}</Code><Message>{code}, says the test.</Message></Error>"
    return status, [("Content-Type", "application/xml")], [body.encode()]
