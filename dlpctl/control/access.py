"""Access of administrators: a role, perhaps for a single organization."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from dlpctl.errors import ForbiddenError, NotFoundError

FIRST_ADMIN = "admin.token"
"""The file with the first token, for the command line of the same user."""

SHORTENED = "…"
"""Takes the place of what an auditor may not see of a key."""


class Role(StrEnum):
    """Each may do what those after it may."""

    ADMIN = "admin"
    """Organizations, licenses, tokens, the database."""
    EDITOR = "editor"
    """Policies, policy groups and an organization's name and settings."""
    AUDITOR = "auditor"
    """Reads all but keys."""


_RANK = {role: rank for rank, role in enumerate(reversed(Role))}


class Access(NamedTuple):
    """The rights of a token. Each service method takes it first, unless a key opens the method."""

    role: Role
    org_id: str | None = None
    """The only organization that it sees; None sees all."""
    token_id: str = ""

    @property
    def sees_keys(self) -> bool:
        return self.role is not Role.AUDITOR

    def require(self, role: Role) -> None:
        if _RANK[self.role] < _RANK[role]:
            raise ForbiddenError(f"this needs the role {role}; the token's role is {self.role}")

    def require_everywhere(self, role: Role) -> None:
        """Require a role for all organizations, for an operation that concerns more than one."""
        self.require(role)
        if self.org_id is not None:
            raise ForbiddenError(
                "this needs a token for all organizations; this one is for a single one"
            )

    def see(self, org_id: str) -> None:
        """Raise `NotFoundError` for another organization: to this token it does not exist."""
        if self.org_id not in (None, org_id):
            raise NotFoundError("there is no such organization")


LOCAL = Access(Role.ADMIN)
"""Access from this machine: a user who can read the key file and the database needs no token."""
