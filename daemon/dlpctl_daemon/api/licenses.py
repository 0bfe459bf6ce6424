"""Licenses, and the keys that sign their tokens."""

from __future__ import annotations

from dlpctl_daemon.endpoints import Call, Guard, Resource
from dlpctl_daemon.schemas import array, ref, text

resource = Resource("Licenses", "What an organization may check, how often and until when.")

_ALL = "/api/orgs/<org_id>/licenses"
_ONE = f"{_ALL}/<license_id>"


@resource.endpoint("GET", _ALL, answer=array(ref("License")))
def list_licenses(call: Call, org_id: str) -> object:
    """List an organization's licenses"""
    return [one.to_dict() for one in call.control.licenses.list(call.access, org_id)]


@resource.endpoint("POST", _ALL, answer="License", status=201, body="LicenseRequest", fails=(409,))
def create_license(call: Call, org_id: str) -> object:
    """Create a license"""
    return call.control.licenses.create(call.access, org_id, call.body).to_dict()


@resource.endpoint("PATCH", _ONE, answer="License", body="LicenseChange", fails=(409,))
def extend_license(call: Call, org_id: str, license_id: str) -> object:
    """Let a license last longer, or allow more"""
    return call.control.licenses.extend(call.access, org_id, license_id, call.body).to_dict()


@resource.endpoint("DELETE", _ONE, status=204)
def revoke_license(call: Call, org_id: str, license_id: str) -> None:
    """Revoke a license, which deactivates the policies of its groups at once"""
    call.control.licenses.revoke(call.access, org_id, license_id)


@resource.endpoint(
    "GET", "/v1/license/validate", answer="Validation", guard=Guard.LICENSE_KEY, fails=(429,)
)
def validate_license(call: Call) -> object:
    """Say what a license key is good for, and sign that"""
    return call.control.licenses.validate(call.key).to_dict()


@resource.endpoint(
    "GET",
    "/v1/license/public-key",
    answer="PublicKey",
    guard=Guard.OPEN,
    query={"key_id": text("an older key; the one that signs now where it is missing")},
    fails=(404,),
)
def get_public_key(call: Call) -> object:
    """Give the key that verifies license tokens"""
    return call.control.licenses.public_key(call.query.get("key_id")).to_dict()


@resource.endpoint("POST", "/v1/license/rotate-keys", answer="PublicKey")
def rotate_keys(call: Call) -> object:
    """Sign license tokens with a new key; those that are out stay good until they expire"""
    return call.control.licenses.rotate_keys(call.access).to_dict()
