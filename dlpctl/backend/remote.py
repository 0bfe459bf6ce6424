"""The control plane of a server, over HTTP."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dlpctl.backend.address import Address, segment
from dlpctl.backend.connection import Connection
from dlpctl.backend.interface import Body, Json
from dlpctl.control.access import FIRST_ADMIN
from dlpctl.errors import NotFoundError, UnauthorizedError

_IN_A_FORM = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


class RemoteBackend:
    """Behind an address, with an admin token for all that needs one."""

    def __init__(self, connection: Connection, token: str | None) -> None:
        self._connection = connection
        self._token = token

    @classmethod
    def open(cls, url: str, data_folder: Path) -> RemoteBackend:
        """The token is the one in DLPCTL_TOKEN; for a server on this machine also the one that
        `serve` and `init` left for this user.
        """
        address = Address.parse(url)
        token = os.environ.get("DLPCTL_TOKEN", "").strip()
        if not token and address.is_local:
            with suppress(OSError, UnicodeDecodeError):
                token = (data_folder / FIRST_ADMIN).read_text("ascii").strip()
        return cls(Connection(address), token or None)

    def close(self) -> None:
        self._connection.close()

    def organizations(self) -> list[Json]:
        return self._list("/api/organizations")

    def create_organization(self, body: Body) -> Json:
        return self._one("POST", "/api/organizations", body)

    def organization(self, org: str) -> Json:
        return self._one("GET", f"/api/organizations/{segment(org)}")

    def update_organization(self, org: str, body: Body) -> Json:
        return self._one("PATCH", f"/api/organizations/{segment(org)}", body)

    def delete_organization(self, org: str) -> None:
        self._ask("DELETE", f"/api/organizations/{segment(org)}")

    def policies(self, org: str) -> list[Json]:
        return self._list(_of(org, "policies"))

    def create_policy(self, org: str, body: Body) -> Json:
        return self._one("POST", _of(org, "policies"), body)

    def policy(self, org: str, policy_id: str) -> Json:
        return self._one("GET", _of(org, "policies", policy_id))

    def update_policy(self, org: str, policy_id: str, body: Body) -> Json:
        return self._one("PATCH", _of(org, "policies", policy_id), body)

    def delete_policy(self, org: str, policy_id: str) -> None:
        self._ask("DELETE", _of(org, "policies", policy_id))

    def regenerate_key(self, org: str, policy_id: str) -> Json:
        return self._one("POST", _of(org, "policies", policy_id, "regenerate-key"))

    def policy_versions(self, org: str, policy_id: str) -> list[Json]:
        return self._list(_of(org, "policies", policy_id, "versions"))

    def groups(self, org: str) -> list[Json]:
        return self._list(_of(org, "groups"))

    def create_group(self, org: str, body: Body) -> Json:
        return self._one("POST", _of(org, "groups"), body)

    def group(self, org: str, group: str) -> Json:
        return self._one("GET", self._group(org, group))

    def update_group(self, org: str, group: str, body: Body) -> Json:
        return self._one("PATCH", self._group(org, group), body)

    def delete_group(self, org: str, group: str) -> None:
        self._ask("DELETE", self._group(org, group))

    def _group(self, org: str, group: str) -> str:
        """A name may hold a slash, which no part of a path can: such a group goes by its id."""
        if "/" in group:
            named = [one["group_id"] for one in self.groups(org) if one["name"] == group]
            if not named:
                raise NotFoundError("there is no such policy group")
            group = named[0]
        return _of(org, "groups", group)

    def licenses(self, org: str) -> list[Json]:
        return self._list(_of(org, "licenses"))

    def create_license(self, org: str, body: Body) -> Json:
        return self._one("POST", _of(org, "licenses"), body)

    def extend_license(self, org: str, license_id: str, body: Body) -> Json:
        return self._one("PATCH", _of(org, "licenses", license_id), body)

    def revoke_license(self, org: str, license_id: str) -> None:
        self._ask("DELETE", _of(org, "licenses", license_id))

    def validate_license(self, license_key: str) -> Json:
        return self._connection.table(
            self._connection.json("GET", "/v1/license/validate", credential=bearer(license_key))
        )

    def public_key(self, key_id: str | None = None) -> Json:
        return self._connection.table(
            self._connection.json("GET", "/v1/license/public-key", query={"key_id": key_id})
        )

    def report_usage(self, license_key: str, checks: list[Json]) -> Json:
        """Checks that this client has made by itself; each counts once, however often it is told."""
        return self._connection.table(
            self._connection.json(
                "POST", "/v1/license/usage", credential=bearer(license_key), body={"checks": checks}
            )
        )

    def rotate_keys(self) -> Json:
        return self._one("POST", "/v1/license/rotate-keys")

    def tokens(self) -> list[Json]:
        return self._list("/api/tokens")

    def create_token(self, body: Body) -> Json:
        return self._one("POST", "/api/tokens", body)

    def revoke_token(self, token_id: str) -> None:
        self._ask("DELETE", f"/api/tokens/{segment(token_id)}")

    def analytics(self, org: str, period: str) -> Json:
        return self._connection.table(
            self._ask("GET", _of(org, "analytics"), query={"period": period})
        )

    def timeseries(self, org: str, period: str) -> Json:
        return self._connection.table(
            self._ask("GET", _of(org, "analytics", "timeseries"), query={"period": period})
        )

    def detections(self, org: str, period: str) -> Json:
        return self._connection.table(
            self._ask("GET", _of(org, "analytics", "detections"), query={"period": period})
        )

    def audit(self, *, limit: int, offset: int, org_id: str | None, search: str | None) -> Json:
        query = {"limit": limit, "offset": offset, "org_id": org_id, "search": search}
        return self._connection.table(self._ask("GET", "/api/audit", query=query))

    def export_audit(self, *, org_id: str | None, search: str | None) -> Iterator[Json]:
        query = {"org_id": org_id, "search": search}
        with self._explained():
            yield from self._connection.lines("/api/audit/export", self._credential, query=query)

    def audit_events(self, *, limit: int, offset: int, org_id: str | None) -> Json:
        query = {"limit": limit, "offset": offset, "org_id": org_id}
        return self._connection.table(self._ask("GET", "/api/audit/events", query=query))

    def audit_head(self) -> Json:
        return self._one("GET", "/api/audit/head")

    def verify_audit(self, head: str | None = None) -> Json:
        return self._connection.table(self._ask("GET", "/api/audit/verify", query={"head": head}))

    def check_text(
        self, key: str, text: str, destination: str, *, org_id: str | None, policy_id: str | None
    ) -> Json:
        fields = {
            "text": text,
            "destination": destination,
            "org_id": org_id,
            "policy_id": policy_id,
        }
        body = {name: value for name, value in fields.items() if value is not None}
        return self._connection.table(
            self._connection.json(
                "POST", "/api/preflight/text", credential=service_key(key), body=body
            )
        )

    def check_file(
        self,
        key: str,
        data: bytes,
        name: str,
        destination: str,
        *,
        org_id: str | None,
        policy_id: str | None,
    ) -> Json:
        fields = {"destination": destination, "org_id": org_id, "policy_id": policy_id}
        content_type, body = _multipart(name, data, fields)
        headers = service_key(key) | {"Content-Type": content_type}
        answer = self._connection.table(
            self._connection.read(
                self._connection.send("POST", "/api/preflight", headers, content=body)
            )
        )
        if url := answer.get("masked_file_url"):
            answer["masked_file_url"] = _path_of(url)
        return answer

    def masked_file(self, key: str, url: str) -> bytes:
        return self._connection.send("GET", url, service_key(key)).data

    def _ask(
        self, method: str, path: str, body: Body | None = None, query: Body | None = None
    ) -> Any:
        with self._explained():
            return self._connection.json(
                method, path, credential=self._credential, query=query, body=body
            )

    @property
    def _credential(self) -> dict[str, str]:
        return bearer(self._token) if self._token else {}

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except UnauthorizedError as error:
            what = "another one" if self._token else "an admin token of that server"
            raise UnauthorizedError(
                f"{self._connection.address}: {error.message}; set DLPCTL_TOKEN to {what}"
            ) from None

    def _one(self, method: str, path: str, body: Body | None = None) -> Json:
        return self._connection.table(self._ask(method, path, body))

    def _list(self, path: str) -> list[Json]:
        return self._connection.tables(self._ask("GET", path))


def _of(org: str, *parts: str) -> str:
    return "/".join(("/api/orgs", *map(segment, (org, *parts))))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {_sendable(token)}"}


def service_key(key: str) -> dict[str, str]:
    return {"X-Service-API-Key": _sendable(key)}


def _sendable(key: str) -> str:
    if not key.isascii() or not key.isprintable():
        raise UnauthorizedError(
            "the key holds characters that no key has; look at where it comes from"
        )
    return key


def _multipart(name: str, data: bytes, fields: Mapping[str, str | None]) -> tuple[str, bytes]:
    """A form with a file in it. The boundary is random, so that no file can hold it."""
    boundary = secrets.token_hex(24)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
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
    """What is under the server's address: who asks knows the way to the server, which may be
    another than it thinks.
    """
    parts = urlsplit(url)
    return f"/api/{parts.path.partition('/api/')[2]}?{parts.query}"
