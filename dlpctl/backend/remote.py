"""The backend for a server: the operations of its control plane over HTTP."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dlpctl.backend.address import Address, segment
from dlpctl.backend.connection import Connection
from dlpctl.backend.interface import Backend
from dlpctl.control.access import FIRST_ADMIN
from dlpctl.control.resources import OPERATIONS
from dlpctl.control.resources.operations import LINES, VARIABLE, Credential, Operation
from dlpctl.control.resources.shapes import Json
from dlpctl.errors import UnauthorizedError

_IN_A_FORM = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


class RemoteBackend(Backend):
    """A server, and an admin token for the operations that need one."""

    def __init__(self, connection: Connection, token: str | None) -> None:
        self._connection = connection
        self._token = token

    @classmethod
    def open(cls, url: str, data_folder: Path, environ: Mapping[str, str]) -> RemoteBackend:
        """Use the token in DLPCTL_TOKEN, or for a server on this machine the token that `serve` and
        `init` stored for this user.
        """
        address = Address.parse(url)
        token = environ.get("DLPCTL_TOKEN", "").strip()
        if not token and address.is_local:
            with suppress(OSError, UnicodeDecodeError):
                token = (data_folder / FIRST_ADMIN).read_text("ascii").strip()
        return cls(Connection(address), token or None)

    def close(self) -> None:
        self._connection.close()

    def ask(self, operation: Operation, *given: Any, **query: Any) -> Any:
        arguments = list(given)
        headers = self._headers(operation, arguments)
        path = VARIABLE.sub(lambda _: segment(arguments.pop(0)), operation.path)
        if operation.media == LINES:
            return self._lines(path, headers, query)
        body = arguments.pop(0) if operation.body else None
        with self._explained(operation):
            answer = self._connection.json(
                operation.method, path, credential=headers, query=query, body=body
            )
        return self._connection.conforming(answer, operation.answer)

    def _lines(
        self, path: str, headers: Mapping[str, str], query: Mapping[str, Any]
    ) -> Iterator[Json]:
        with self._explained():
            yield from self._connection.lines(path, headers, query=query)

    def check_text(self, key: str, text: str, destination: str, **selection: str | None) -> Json:
        fields = {"text": text, "destination": destination, **selection}
        body = {name: value for name, value in fields.items() if value is not None}
        answer: Json = self.ask(OPERATIONS["check_text"], key, body)
        return answer

    def check_file(
        self, key: str, data: bytes, name: str, destination: str, **selection: str | None
    ) -> Json:
        operation = OPERATIONS["check_file"]
        content_type, body = _multipart(name, data, {"destination": destination, **selection})
        headers = service_key(key) | {"Content-Type": content_type}
        sent = self._connection.send(operation.method, operation.path, headers, content=body)
        answer: Json = self._connection.conforming(self._connection.read(sent), operation.answer)
        if url := answer.get("masked_file_url"):
            answer["masked_file_url"] = _path_of(url)
        return answer

    def masked_file(self, key: str, url: str) -> bytes:
        return self._connection.send("GET", url, service_key(key)).data

    def _headers(self, operation: Operation, arguments: list[Any]) -> dict[str, str]:
        """Return the credential of an operation; a key other than an admin token is an argument."""
        if operation.credential is Credential.ADMIN_TOKEN:
            return self._credential
        if operation.credential is Credential.LICENSE_KEY:
            return bearer(arguments.pop(0))
        if operation.credential.is_policy_key:
            return service_key(arguments.pop(0))
        return {}

    @property
    def _credential(self) -> dict[str, str]:
        return bearer(self._token) if self._token else {}

    @contextmanager
    def _explained(self, operation: Operation | None = None) -> Iterator[None]:
        """Explain what to do if an admin token is not accepted."""
        try:
            yield
        except UnauthorizedError as error:
            if operation is not None and operation.credential is not Credential.ADMIN_TOKEN:
                raise
            what = "another one" if self._token else "an admin token of that server"
            raise UnauthorizedError(
                f"{self._connection.address}: {error.message}; set DLPCTL_TOKEN to {what}"
            ) from None


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {_sendable(token)}"}


def service_key(key: str) -> dict[str, str]:
    return {"X-Service-API-Key": _sendable(key)}


def _sendable(key: str) -> str:
    if not key.isascii() or not key.isprintable():
        raise UnauthorizedError(
            "the key has characters that keys never have; check where it comes from"
        )
    return key


def _multipart(name: str, data: bytes, fields: Mapping[str, str | None]) -> tuple[str, bytes]:
    """Return a form with a file in it. The boundary is random, so that no file can contain it."""
    boundary = secrets.token_hex(24)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"'
        f"\r\n\r\n{value}\r\n".encode()
        for field, value in fields.items()
        if value is not None
    ]
    named = name.encode("utf-8", "replace").decode().translate(_IN_A_FORM)
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{named}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n".encode()
    )
    body = b"".join((*parts, data, f"\r\n--{boundary}--\r\n".encode()))
    return f"multipart/form-data; boundary={boundary}", body


def _path_of(url: str) -> str:
    """Return the path below the server's address: the client may reach the server by another
    address than the server gives.
    """
    parts = urlsplit(url)
    return f"/api/{parts.path.partition('/api/')[2]}?{parts.query}"
