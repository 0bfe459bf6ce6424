"""Operations of the interface: method, path, credential, parameters and answer, and the method of
the control plane that implements each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from dlpctl.control.resources.fields import Field, Schema, array, as_field
from dlpctl.control.resources.shapes import Request

VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")
JSON = "application/json"
LINES = "application/x-ndjson"


class Credential(Enum):
    """The credential that an operation requires: the name of its scheme in the description."""

    NONE = None
    POLICY_KEY = "PolicyKey"
    GUARDRAIL_KEY = "GuardrailKey"
    """The key of a policy, also accepted in the headers of third-party gateways."""
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
    """The operation's name in the description, and the name of the backend's method."""
    method: str
    path: str
    """The path, with parameters as Flask writes them: `/api/organizations/<org_id>`."""
    summary: str
    does: str
    """The method of the control plane, such as `groups.list`; empty if the daemon has its own
    function. It takes the credential, the path parameters, the body, and the query parameters by
    name.
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
    """Error statuses of this operation beyond those of all similar operations."""
    is_direct: bool
    """The operation is answered without Flask, for speed: the path has no parameters, and the
    answer is JSON.
    """

    @property
    def parameters(self) -> list[str]:
        """Return the names of the parameters in the path."""
        return VARIABLE.findall(self.path)


_METHODS = {"list": "GET", "get": "GET", "create": "POST"}
_METHODS |= {"update": "PATCH", "extend": "PATCH", "delete": "DELETE", "revoke": "DELETE"}
"""The methods of operations on stored objects, by the verbs that their names start with."""


class Resource:
    """A group of related operations."""

    def __init__(self, name: str, about: str, path: str = "", item: str = "") -> None:
        """`path` is that of stored objects, and `item` the parameter for a single one."""
        self.name = name
        self.about = about
        self.path = path
        self.item_path = f"{path}/{item}"
        self.operations: list[Operation] = []

    def stored(
        self,
        name: str,
        answer: Any,
        summary: str,
        body: type[Request] | None = None,
        *,
        fails: tuple[int, ...] = (),
    ) -> None:
        """Declare an operation on stored objects. The verb that its name starts with determines the
        rest: `list` and `create` are operations on all of them, others on a single one.
        """
        verb = name.partition("_")[0]
        self.operation(
            name,
            f"{_METHODS[verb]} {self.path if verb in ('list', 'create') else self.item_path}",
            f"{self.path.rpartition('/')[2]}.{verb}",
            array(answer) if verb == "list" else answer,
            summary,
            body=body,
            status=201 if verb == "create" else 200,
            fails=fails,
        )

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
