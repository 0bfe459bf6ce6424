"""Operations of the interface: the method, path and credential of each, what it takes and gives,
and the method of the control plane that does it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from dlpctl.control.resources.fields import Field, Schema, as_field
from dlpctl.control.resources.shapes import Request

VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")
JSON = "application/json"
LINES = "application/x-ndjson"


class Credential(Enum):
    """The credential that opens an operation: the name of its scheme in the description."""

    NONE = None
    POLICY_KEY = "PolicyKey"
    GUARDRAIL_KEY = "GuardrailKey"
    """The key of a policy, in a header of gateways of others as well."""
    LICENSE_KEY = "LicenseKey"
    ADMIN_TOKEN = "AdminToken"  # noqa: S105  # a name

    @property
    def is_policy_key(self) -> bool:
        return self in (Credential.POLICY_KEY, Credential.GUARDRAIL_KEY)

    @property
    def challenge(self) -> str:
        return 'PolicyKey header="X-Service-API-Key"' if self.is_policy_key else "Bearer"


class Operation(NamedTuple):
    name: str
    """Its name in the description, and of the call of a backend that asks for it."""
    method: str
    path: str
    """With its parameters as Flask writes them: `/api/organizations/<org_id>`."""
    summary: str
    does: str
    """The method of the control plane that does it, such as `groups.list`; empty where the service
    has a function of its own. It takes the credential, the parameters of the path, the body, and
    the query by name.
    """
    answer: Schema | None
    """None for an answer without a body."""
    body: type[Request] | None
    form: type[Request] | None
    query: Mapping[str, Field]
    credential: Credential
    status: int
    media: str
    fails: tuple[int, ...]
    """Statuses of errors that this operation has and others like it do not."""
    is_direct: bool
    """Answered without Flask, for speed: the path has no parameters, and the answer is JSON."""

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters in its path."""
        return VARIABLE.findall(self.path)


class Resource:
    """Operations that belong together."""

    def __init__(self, name: str, about: str) -> None:
        self.name = name
        self.about = about
        self.operations: list[Operation] = []

    def operation(
        self,
        name: str,
        route: str,
        does: str,
        answer: Any,
        summary: str,
        *,
        body: type[Request] | None = None,
        form: type[Request] | None = None,
        query: Mapping[str, Field] | None = None,
        credential: Credential = Credential.ADMIN_TOKEN,
        status: int = 200,
        media: str = JSON,
        fails: tuple[int, ...] = (),
        is_direct: bool = False,
    ) -> None:
        """Declare an operation; `route` is its method and path, `answer` a shape or a field."""
        method, _, path = route.partition(" ")
        given = None if answer is None else as_field(answer).schema
        self.operations.append(
            Operation(
                *(name, method, path, summary, does, given, body, form, query or {}),
                *(credential, 204 if answer is None else status, media, fails, is_direct),
            )
        )
