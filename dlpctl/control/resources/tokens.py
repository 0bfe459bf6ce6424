"""Admin tokens: the requests, answers and operations of the resource."""

from __future__ import annotations

from dlpctl.control.access import Role
from dlpctl.control.resources.fields import (
    any_value,
    array,
    given_moment,
    line,
    missing,
    moment,
    omitted,
    one_of,
    optional,
    text,
)
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer, Request

_TEXT_OR_NULL = any_value({"type": ["string", "null"]})


class Token(Answer):
    """An admin token. The token itself is there once, when it is made."""

    token_id: str = text()
    name: str = text()
    role: str = one_of(Role)
    org_id: str | None = _TEXT_OR_NULL
    created_at: str = moment()
    expires_at: str | None = _TEXT_OR_NULL
    token: str | None = omitted(text())


class TokenRequest(Request):
    """An admin token."""

    role: str = one_of(Role)
    org_id: str | None = optional(text("the only organization that it sees, by id or slug"))
    name: str = missing(line(), "")
    expires_at: str | None = optional(given_moment("a day or a moment in the future, ISO 8601"))


resource = Resource(
    "Admin tokens",
    "For all endpoints but checks: `admin` may do everything, `editor` changes policies, `auditor` reads all but keys."
    " One for an organization sees no other.",
)

resource.operation(
    "list_tokens",
    "GET /api/tokens",
    "tokens.list",
    array(Token),
    "List tokens, without the tokens themselves",
)
resource.operation(
    "create_token",
    "POST /api/tokens",
    "tokens.create",
    Token,
    "Create a token, which is shown now and never again",
    body=TokenRequest,
    status=201,
    fails=(404,),
)
resource.operation(
    "revoke_token", "DELETE /api/tokens/<token_id>", "tokens.revoke", None, "Revoke a token"
)
