"""A middleware for WSGI applications, such as those of Flask and Django.

app.wsgi_app = MaskingMiddleware(app.wsgi_app)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any

from dlpctl.gateway.bodies import RefusedError
from dlpctl.integrations.applications import MaskedApplication

if TYPE_CHECKING:
    from dlpctl.integrations.answers import Masked, RestoredAnswer

Environ = dict[str, Any]
_CHUNK = 1 << 16


class MaskingMiddleware:
    """Masks requests or refuses them, and restores answers and streams."""

    def __init__(self, application: Callable[..., Iterable[bytes]], **options: Any) -> None:
        """See `MaskedApplication` for the `options`."""
        self._application = application
        self._masking = MaskedApplication(**options)

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8", "replace")
        if self._masking.skips(path):
            return self._application(environ, start_response)
        try:
            masked = self._masked(environ, path)
        except RefusedError as refusal:
            return self._refused(refusal, start_response)
        return _Restored(self._masking, masked, self._application, start_response).run(environ)

    def _masked(self, environ: Environ, path: str) -> Masked:
        """Mask a request, and put the masked input into its environment."""
        body = _body(environ, self._masking.body_bytes)
        headers = {
            name.removeprefix("HTTP_").replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_") or name == "CONTENT_TYPE"
        }
        query = environ.get("QUERY_STRING", "").encode("latin-1")
        masked = self._masking.mask(environ["REQUEST_METHOD"], path, query, headers, body)
        for name in ("HTTP_CONTENT_ENCODING", "HTTP_TRANSFER_ENCODING"):
            environ.pop(name, None)
        if body:
            environ["CONTENT_LENGTH"] = str(len(masked.body))
        environ["wsgi.input"] = BytesIO(masked.body)
        environ["HTTP_ACCEPT_ENCODING"] = "identity"
        return masked

    def _refused(
        self, refusal: RefusedError, start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        body = self._masking.refusal(refusal)
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(f"{refusal.status} {HTTPStatus(refusal.status).phrase}", headers)
        return [body]


class _Restored:
    """The answer of an application with its values restored."""

    def __init__(
        self,
        masking: MaskedApplication,
        masked: Masked,
        application: Callable[..., Iterable[bytes]],
        start_response: Callable[..., Any],
    ) -> None:
        self._masking = masking
        self._masked = masked
        self._application = application
        self._start_response = start_response
        self._answer: RestoredAnswer | None = None
        self._chunks: Iterable[bytes] = ()

    def run(self, environ: Environ) -> _Restored:
        self._chunks = self._application(environ, self._start)
        return self

    def _start(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], None]:
        answer = self._answer = self._masking.answer(self._masked, int(status[:3]), headers)
        write = self._start_response(status, answer.headers, exc_info)
        return lambda data: write(answer.feed(data))

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            assert self._answer is not None, "the application has not called start_response"
            yield self._answer.feed(chunk)
        if self._answer is not None:
            yield self._answer.finish()

    def close(self) -> None:
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()


def _body(environ: Environ, most: int) -> bytes:
    """Return the body of a request; raise `RefusedError` if it is too large or incomplete."""
    given = environ.get("CONTENT_LENGTH") or ""
    if given:
        if not given.isdecimal():
            raise RefusedError(400, "the length of the body is not a number")
        if int(given) > most:
            raise RefusedError(413, f"the body is larger than {most:,} bytes")
        body: bytes = environ["wsgi.input"].read(int(given))
        if len(body) < int(given):
            raise RefusedError(400, "the body is incomplete")
        return body
    if not environ.get("wsgi.input_terminated"):
        if environ.get("HTTP_TRANSFER_ENCODING"):
            raise RefusedError(411, "the server does not give the length of the body")
        return b""
    parts, size = [], 0
    while part := environ["wsgi.input"].read(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > most:
            raise RefusedError(413, f"the body is larger than {most:,} bytes")
    return b"".join(parts)
