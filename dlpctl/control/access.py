"""Access rights of administrators: a role, for all organizations or for a single one."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from dlpctl.errors import ForbiddenError, NotFoundError

FIRST_ADMIN = "admin.token"
"""The file with the first admin token, which the command line of the same user reads."""

SHORTENED = "…"
"""Replaces the part of a key that an auditor may not see."""


class Role(StrEnum):
    """A role of an admin token. Each role includes the rights of the roles after it."""

    ADMIN = "admin"
    """Manages organizations, licenses, tokens and the database."""
    EDITOR = "editor"
    """Manages policies, policy groups, and an organization's name and settings."""
    AUDITOR = "auditor"
    """Reads everything except keys."""


_RANK = {role: rank for rank, role in enumerate(reversed(Role))}


class Access(NamedTuple):
    """The rights of a token. Every service method takes an `Access` first, unless a key authorizes
    it.
    """

    role: Role
    org_id: str | None = None
    """The only organization that the token can see; None for all organizations."""
    token_id: str = ""

    @property
    def sees_keys(self) -> bool:
        return self.role is not Role.AUDITOR

    def require(self, role: Role) -> None:
        if _RANK[self.role] < _RANK[role]:
            raise ForbiddenError(f"this needs the role {role}; the token's role is {self.role}")

    def require_everywhere(self, role: Role) -> None:
        """Require a role for all organizations, for an operation that affects more than one."""
        self.require(role)
        if self.org_id is not None:
            raise ForbiddenError(
                "this needs a token for all organizations; this one is for a single one"
            )

    def see(self, org_id: str) -> None:
        """Raise `NotFoundError` for another organization, which does not exist as far as this token
        knows.
        """
        if self.org_id not in (None, org_id):
            raise NotFoundError("there is no such organization")


LOCAL = Access(Role.ADMIN)
"""Local access: a user who can read the key file and the database needs no token."""
