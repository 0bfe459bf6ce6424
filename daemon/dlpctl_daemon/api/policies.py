"""Policies."""

from __future__ import annotations

from dlpctl_daemon.endpoints import Call, Resource
from dlpctl_daemon.schemas import array, ref

resource = Resource(
    "Policies",
    "What happens to what is found. Each has a key of its own, which opens checks by it.",
)

_ALL = "/api/orgs/<org_id>/policies"
_ONE = f"{_ALL}/<policy_id>"


@resource.endpoint("GET", _ALL, answer=array(ref("Policy")))
def list_policies(call: Call, org_id: str) -> object:
    """List an organization's policies"""
    return [one.to_dict() for one in call.control.policies.list(call.access, org_id)]


@resource.endpoint("POST", _ALL, answer="Policy", status=201, body="PolicyRequest", fails=(409,))
def create_policy(call: Call, org_id: str) -> object:
    """Create a policy, which gets a key of its own"""
    return call.control.policies.create(call.access, org_id, call.body).to_dict()


@resource.endpoint("GET", _ONE, answer="Policy")
def get_policy(call: Call, org_id: str, policy_id: str) -> object:
    """Show a policy"""
    return call.control.policies.get(call.access, org_id, policy_id).to_dict()


@resource.endpoint("PATCH", _ONE, answer="Policy", body="PolicyChange", fails=(409,))
def update_policy(call: Call, org_id: str, policy_id: str) -> object:
    """Change a policy, or switch it on or off"""
    return call.control.policies.update(call.access, org_id, policy_id, call.body).to_dict()


@resource.endpoint("DELETE", _ONE, status=204)
def delete_policy(call: Call, org_id: str, policy_id: str) -> None:
    """Delete a policy"""
    call.control.policies.delete(call.access, org_id, policy_id)


@resource.endpoint("POST", f"{_ONE}/regenerate-key", answer="PolicyKey")
def regenerate_key(call: Call, org_id: str, policy_id: str) -> object:
    """Give a policy a new key; the old one opens nothing from now on"""
    return call.control.policies.regenerate_key(call.access, org_id, policy_id).to_dict()


@resource.endpoint("GET", f"{_ONE}/versions", answer=array(ref("PolicyVersion")))
def list_versions(call: Call, org_id: str, policy_id: str) -> object:
    """List what a policy has said, the newest first"""
    return [one.to_dict() for one in call.control.policies.versions(call.access, org_id, policy_id)]
