"""Backends, which execute the operations of the control plane in this process or on a server.

Operations are declared in `dlpctl.control.resources`; a backend has each of them as a method of the
same name. Answers are JSON.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from dlpctl.control.access import SHORTENED
from dlpctl.control.resources import OPERATIONS
from dlpctl.control.resources.operations import Operation
from dlpctl.control.resources.shapes import Json
from dlpctl.errors import ForbiddenError, NotFoundError


class EvidenceSource(Protocol):
    """A source of evidence that the audit log is complete."""

    @property
    def get_head(self) -> Callable[[], Json]: ...
    @property
    def verify_audit(self) -> Callable[..., Json]: ...


class Backend(ABC):
    """All operations by name: `backend.get_group(org, group)`.

    Arguments are the key that the operation needs (unless that is an admin token), the path
    parameters, the body, and the query by name. `org` is an id or a slug, a group an id or a name.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = OPERATIONS.get(name)
        if operation is None:
            raise AttributeError(f"there is no operation {name}")
        return partial(self.ask, operation)

    @abstractmethod
    def ask(self, operation: Operation, *given: Any, **query: Any) -> Any:
        """Execute an operation and return its answer."""

    @abstractmethod
    def check_file(
        self, key: str, data: bytes, name: str, destination: str, **selection: str | None
    ) -> Json:
        """Check a file by a policy key; `selection` is `org_id` and `policy_id`."""

    @abstractmethod
    def check_text(self, key: str, text: str, destination: str, **selection: str | None) -> Json:
        """Check a text by a policy key."""

    @abstractmethod
    def masked_file(self, key: str, url: str) -> bytes:
        """Return the file at the `masked_file_url` of an answer."""

    @abstractmethod
    def close(self) -> None: ...


def policy_key(backend: Backend, org: str, policy: str | None) -> str:
    """Return the policy key for an organization's policy, given by id or name; by default, that of
    the first active policy of the default group.
    """
    policies = backend.list_policies(org)
    if any(SHORTENED in each["api_key"] for each in policies):
        raise ForbiddenError(
            "an auditor's token cannot see keys: set DLPCTL_API_KEY to a policy's key"
        )
    if policy is not None:
        for each in policies:
            if policy in (each["policy_id"], each["name"]):
                return str(each["api_key"])
        raise NotFoundError(f"{org} has no policy {policy!r}; see 'dlpctl policy stored {org}'")
    default = next(group for group in backend.list_groups(org) if group["is_default"])
    for each in policies:
        if each["is_active"] and each["policy_id"] in default["policy_ids"]:
            return str(each["api_key"])
    raise NotFoundError(
        f"{org}: its default policy group has no active policy; name one with --policy"
    )
