"""Admin tokens: the requests, answers and operations of the resource."""

from __future__ import annotations

from dlpctl.control.access import Role
from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer, Request

_TEXT_OR_NULL = fields.any_value({"type": ["string", "null"]})


class Token(Answer):
    """An admin token. The token itself is there once, when it is made."""

    token_id: str = fields.text()
    name: str = fields.text()
    role: str = fields.one_of(Role)
    org_id: str | None = _TEXT_OR_NULL
    created_at: str = fields.moment()
    expires_at: str | None = _TEXT_OR_NULL
    token: str | None = fields.omitted(fields.text())


class TokenRequest(Request):
    """An admin token."""

    role: str = fields.one_of(Role)
    org_id: str | None = fields.optional(
        fields.text("the only organization that it sees, by id or slug")
    )
    name: str = fields.missing(fields.line(), "")
    expires_at: str | None = fields.optional(
        fields.given_moment("a day or a moment in the future, ISO 8601")
    )


resource = Resource(
    "Admin tokens",
    "For all endpoints but checks: `admin` may do everything, `editor` changes policies,"
    " `auditor` reads all but keys."
    " One for an organization sees no other.",
    "/api/tokens",
    "<token_id>",
)
resource.stored("list_tokens", Token, "List tokens, without the tokens themselves")
resource.stored(
    "create_token",
    Token,
    "Create a token, which is shown now and never again",
    TokenRequest,
    fails=(404,),
)
resource.stored("revoke_token", None, "Revoke a token")
