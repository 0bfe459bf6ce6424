"""An HTTP connection to a server that is kept open between requests; each failure is a one-line
error.

It uses only the standard library: a command that asks a server must not start more slowly.
"""

from __future__ import annotations

import http.client
import json
import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urlencode

from dlpctl.backend.address import Address
from dlpctl.errors import (
    ConflictError,
    DlpctlError,
    ForbiddenError,
    FormatError,
    InputError,
    NotFoundError,
    RateLimitError,
    RequestError,
    ServerError,
    StoreError,
    TooLargeError,
    UnauthorizedError,
)
from dlpctl.version import __version__

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 120.0
_JSON = "application/json"
_OF_STATUS: dict[int, type[DlpctlError]] = {
    400: InputError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: TooLargeError,
    415: FormatError,
    422: RequestError,
    429: RateLimitError,
    503: StoreError,
}
_ALWAYS = {"Accept": f"{_JSON}, */*;q=0.5", "User-Agent": f"dlpctl/{__version__}"}


class Answer(NamedTuple):
    status: int
    content_type: str
    data: bytes


class Connection:
    def __init__(
        self,
        address: Address,
        *,
        connect_seconds: float = CONNECT_SECONDS,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.address = address
        self._connect_seconds = connect_seconds
        self._seconds = seconds
        self._open: http.client.HTTPConnection | None = None

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def json(
        self,
        method: str,
        path: str,
        *,
        credential: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Any:
        """Return the JSON of the server's answer; None for an answer without a body."""
        headers = {**(credential or {})}
        content = None
        if body is not None:
            content = json.dumps(body, separators=(",", ":")).encode()
            headers["Content-Type"] = _JSON
        answer = self.send(method, path, headers, query=query, content=content)
        return self.read(answer)

    def read(self, answer: Answer) -> Any:
        """Return the JSON of an answer; None if it is empty."""
        if not answer.data:
            return None
        if not answer.content_type.startswith(_JSON):
            raise self._stranger(answer)
        try:
            return json.loads(answer.data)
        except (ValueError, RecursionError):
            raise self._stranger(answer) from None

    def conforming(self, value: Any, schema: Mapping[str, Any] | None) -> Any:
        """Return an answer that has the shape of its schema: a list, an object or nothing."""
        if schema is not None:
            items = value if schema.get("type") == "array" else [value]
            if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
                raise self._stranger(Answer(200, _JSON, b""))
        return value

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        *,
        query: Mapping[str, Any] | None = None,
        content: bytes | None = None,
    ) -> Answer:
        """Return the answer; raise the error that it describes."""
        with self._exchange(method, path, headers, query, content) as response:
            return Answer(response.status, _content_type(response), response.read())

    def lines(
        self, path: str, headers: Mapping[str, str], *, query: Mapping[str, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the objects of an answer that consists of JSON lines."""
        with self._exchange("GET", path, headers, query, None) as response:
            for line in response:
                try:
                    item = json.loads(line)
                except ValueError:
                    item = None
                if not isinstance(item, dict):
                    raise self._stranger(Answer(response.status, _content_type(response), b""))
                yield item

    @contextmanager
    def _exchange(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None,
        content: bytes | None,
    ) -> Iterator[http.client.HTTPResponse]:
        """Yield an answer before its body is read; the connection stays open if it is read to its
        end.
        """
        given = {key: value for key, value in (query or {}).items() if value is not None}
        target = (
            f"{self.address.prefix}{path}{'?' if given else ''}{urlencode(given, errors='replace')}"
        )
        connection = self._connection()
        response = None
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                # A server that stops reading a request has usually sent the reason.
                connection.request(method, target, content, {**_ALWAYS, **headers})
            response = connection.getresponse()
            if not 200 <= response.status < 300:
                answer = Answer(response.status, _content_type(response), response.read())
                raise self._error(answer, response.headers)
            yield response
        except TimeoutError:
            raise ServerError(
                f"{self.address}: gave no answer within {self._seconds:g} seconds"
            ) from None
        except (OSError, http.client.HTTPException) as problem:
            raise ServerError(
                f"{self.address}: broke off the connection ({_reason(problem)}); is it a dlpctl"
                f" server?"
            ) from None
        finally:
            if response is None or not response.isclosed():
                self.close()

    def _connection(self) -> http.client.HTTPConnection:
        """Return the open connection, unless the server has closed it, which makes it readable."""
        if self._open is not None and self._open.sock is not None:
            if not select.select([self._open.sock], [], [], 0)[0]:
                return self._open
            self._open.close()
        connection = self._new()
        try:
            connection.connect()
        except TimeoutError:
            hint = (
                "; does the address need http:// instead?" if self.address.scheme == "https" else ""
            )
            raise ServerError(
                f"{self.address}: cannot be reached within {self._connect_seconds:g} seconds{hint}"
            ) from None
        except FileNotFoundError:
            raise ServerError(
                f"{self.address}: there is no such socket; is 'dlpctl serve' running?"
            ) from None
        except ConnectionRefusedError:
            raise ServerError(
                f"{self.address}: refuses connections; is 'dlpctl serve' running, and is this"
                f" its address?"
            ) from None
        except OSError as problem:
            raise ServerError(f"{self.address}: {_unreachable(problem)}") from None
        connection.sock.settimeout(self._seconds)
        self._open = connection
        return connection

    def _new(self) -> http.client.HTTPConnection:
        scheme, host, port, _ = self.address
        if scheme == "unix":
            return _UnixConnection(host, self._connect_seconds)
        if scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._connect_seconds)
        return http.client.HTTPConnection(host, port, timeout=self._connect_seconds)

    def _error(self, answer: Answer, headers: http.client.HTTPMessage) -> DlpctlError:
        if 300 <= answer.status < 400 and (where := headers.get("Location", "")):
            return ServerError(
                f"{self.address}: redirects to {where}; use that address as the server"
            )
        detail = None
        if answer.content_type.startswith(_JSON):
            try:
                detail = json.loads(answer.data)["detail"]
            except (ValueError, KeyError, TypeError, RecursionError):
                detail = None
        if not isinstance(detail, str):
            return self._stranger(answer)
        error_type = _of_code(headers.get("X-Error-Code", "")) or _OF_STATUS.get(answer.status)
        if error_type is None:
            return ServerError(f"{self.address}: {detail}")
        if issubclass(error_type, RateLimitError):
            limit, after = headers.get("RateLimit-Limit"), headers.get("Retry-After")
            return error_type(detail, limit=_number(limit), retry_after=_number(after))
        return error_type(detail)

    def _stranger(self, answer: Answer) -> ServerError:
        what = answer.content_type.partition(";")[0] or "nothing"
        return ServerError(
            f"{self.address}: does not answer like a dlpctl server (status {answer.status},"
            f" {what}); check the address"
        )


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, file: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._file = file

    def connect(self) -> None:
        family = getattr(socket, "AF_UNIX", None)
        if family is None:
            raise OSError("this system has no Unix sockets")
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(self._file)
        except OSError:
            self.sock.close()
            raise


def _content_type(response: http.client.HTTPResponse) -> str:
    return response.headers.get("Content-Type", "")


def _of_code(code: str) -> type[DlpctlError] | None:
    """Return the error class for a code, so that exit statuses are the same as in one process."""
    classes = [DlpctlError]
    for error_class in classes:
        if error_class.code == code and error_class is not DlpctlError:
            return error_class
        classes += error_class.__subclasses__()
    return None


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() else 0


def _reason(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return type(problem).__name__


def _unreachable(problem: OSError) -> str:
    import ssl

    if isinstance(problem, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({problem.verify_message}); "
            "set SSL_CERT_FILE to the authority's certificate"
        )
    if isinstance(problem, ssl.SSLError):
        return f"TLS failed ({problem.reason}); does the address need http:// instead?"
    if isinstance(problem, socket.gaierror):
        return "there is no such host; check the address"
    return f"cannot be reached: {problem.strerror or problem}"
