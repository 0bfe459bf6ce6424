"""Admin tokens."""

from __future__ import annotations

from dlpctl_daemon.endpoints import Call, Resource
from dlpctl_daemon.schemas import array, ref

resource = Resource(
    "Admin tokens",
    "For all endpoints but checks: `admin` may do everything, `editor` changes policies, `auditor` reads all but keys."
    " One for an organization sees no other.",
)


@resource.endpoint("GET", "/api/tokens", answer=array(ref("Token")))
def list_tokens(call: Call) -> object:
    """List tokens, without the tokens themselves"""
    return [one.to_dict() for one in call.control.tokens.list(call.access)]


@resource.endpoint(
    "POST", "/api/tokens", answer="Token", status=201, body="TokenRequest", fails=(404,)
)
def create_token(call: Call) -> object:
    """Create a token, which is shown now and never again"""
    return call.control.tokens.create(call.access, call.body).to_dict()


@resource.endpoint("DELETE", "/api/tokens/<token_id>", status=204)
def revoke_token(call: Call, token_id: str) -> None:
    """Revoke a token"""
    call.control.tokens.revoke(call.access, token_id)
