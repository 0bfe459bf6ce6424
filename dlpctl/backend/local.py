"""The control plane in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dlpctl.backend.interface import Body, Json
from dlpctl.control.access import LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dlpctl.control.offline import Evidence
    from dlpctl.control.service import ControlPlane
    from dlpctl.detect.engine import Detector


class LocalEvidence:
    """The audit log of a database that is only read."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    @classmethod
    @contextmanager
    def open(cls, database: Path, key_file: Path) -> Iterator[LocalEvidence]:
        from dlpctl.control.offline import Evidence

        with Evidence.open(database, key_file) as opened:
            yield cls(opened)

    def audit_head(self) -> Json:
        return self._evidence.head().to_dict()

    def verify_audit(self, head: str | None = None) -> Json:
        return self._evidence.verify(head).to_dict()


class LocalBackend:
    """In this process. Who can read the key file may do everything."""

    def __init__(self, control: ControlPlane) -> None:
        self.control = control

    @classmethod
    def open(cls, folder: Path, make_detector: Callable[[], Detector], issuer: str) -> LocalBackend:
        """`issuer` is who license tokens say has issued them."""
        from dlpctl.control.service import ControlPlane

        return cls(ControlPlane.open(folder, make_detector, issuer=issuer))

    def close(self) -> None:
        self.control.close()

    def organizations(self) -> list[Json]:
        return [one.to_dict() for one in self.control.organizations.list(LOCAL)]

    def create_organization(self, body: Body) -> Json:
        return self.control.organizations.create(LOCAL, body).to_dict()

    def organization(self, org: str) -> Json:
        return self.control.organizations.get(LOCAL, org).to_dict()

    def update_organization(self, org: str, body: Body) -> Json:
        return self.control.organizations.update(LOCAL, org, body).to_dict()

    def delete_organization(self, org: str) -> None:
        self.control.organizations.delete(LOCAL, org)

    def policies(self, org: str) -> list[Json]:
        return [one.to_dict() for one in self.control.policies.list(LOCAL, org)]

    def create_policy(self, org: str, body: Body) -> Json:
        return self.control.policies.create(LOCAL, org, body).to_dict()

    def policy(self, org: str, policy_id: str) -> Json:
        return self.control.policies.get(LOCAL, org, policy_id).to_dict()

    def update_policy(self, org: str, policy_id: str, body: Body) -> Json:
        return self.control.policies.update(LOCAL, org, policy_id, body).to_dict()

    def delete_policy(self, org: str, policy_id: str) -> None:
        self.control.policies.delete(LOCAL, org, policy_id)

    def regenerate_key(self, org: str, policy_id: str) -> Json:
        return self.control.policies.regenerate_key(LOCAL, org, policy_id).to_dict()

    def policy_versions(self, org: str, policy_id: str) -> list[Json]:
        return [one.to_dict() for one in self.control.policies.versions(LOCAL, org, policy_id)]

    def groups(self, org: str) -> list[Json]:
        return [one.to_dict() for one in self.control.groups.list(LOCAL, org)]

    def create_group(self, org: str, body: Body) -> Json:
        return self.control.groups.create(LOCAL, org, body).to_dict()

    def group(self, org: str, group: str) -> Json:
        return self.control.groups.get(LOCAL, org, group).to_dict()

    def update_group(self, org: str, group: str, body: Body) -> Json:
        return self.control.groups.update(LOCAL, org, group, body).to_dict()

    def delete_group(self, org: str, group: str) -> None:
        self.control.groups.delete(LOCAL, org, group)

    def licenses(self, org: str) -> list[Json]:
        return [one.to_dict() for one in self.control.licenses.list(LOCAL, org)]

    def create_license(self, org: str, body: Body) -> Json:
        return self.control.licenses.create(LOCAL, org, body).to_dict()

    def extend_license(self, org: str, license_id: str, body: Body) -> Json:
        return self.control.licenses.extend(LOCAL, org, license_id, body).to_dict()

    def revoke_license(self, org: str, license_id: str) -> None:
        self.control.licenses.revoke(LOCAL, org, license_id)

    def validate_license(self, license_key: str) -> Json:
        return self.control.licenses.validate(license_key).to_dict()

    def public_key(self, key_id: str | None = None) -> Json:
        return self.control.licenses.public_key(key_id).to_dict()

    def rotate_keys(self) -> Json:
        return self.control.licenses.rotate_keys(LOCAL).to_dict()

    def tokens(self) -> list[Json]:
        return [one.to_dict() for one in self.control.tokens.list(LOCAL)]

    def create_token(self, body: Body) -> Json:
        return self.control.tokens.create(LOCAL, body).to_dict()

    def revoke_token(self, token_id: str) -> None:
        self.control.tokens.revoke(LOCAL, token_id)

    def analytics(self, org: str, period: str) -> Json:
        return self.control.analytics.organization(LOCAL, org, period).to_dict()

    def timeseries(self, org: str, period: str) -> Json:
        return self.control.analytics.timeseries(LOCAL, org, period).to_dict()

    def detections(self, org: str, period: str) -> Json:
        return self.control.analytics.detections(LOCAL, org, period).to_dict()

    def audit(self, *, limit: int, offset: int, org_id: str | None, search: str | None) -> Json:
        page = self.control.audit.search(
            LOCAL, limit=limit, offset=offset, org_id=org_id, search=search
        )
        return page.to_dict()

    def export_audit(self, *, org_id: str | None, search: str | None) -> Iterator[Json]:
        return (
            item.to_dict()
            for item in self.control.audit.export(LOCAL, org_id=org_id, search=search)
        )

    def audit_events(self, *, limit: int, offset: int, org_id: str | None) -> Json:
        return self.control.audit.events(LOCAL, limit=limit, offset=offset, org_id=org_id).to_dict()

    def audit_head(self) -> Json:
        return self.control.audit.head(LOCAL).to_dict()

    def verify_audit(self, head: str | None = None) -> Json:
        return self.control.audit.verify(LOCAL, head).to_dict()

    def check_text(
        self, key: str, text: str, destination: str, *, org_id: str | None, policy_id: str | None
    ) -> Json:
        checks = self.control.checks
        return checks.check_text(
            key, text, destination, org_id=org_id, policy_id=policy_id
        ).to_dict()

    def check_file(
        self,
        key: str,
        data: bytes,
        name: str,
        destination: str,
        *,
        org_id: str | None,
        policy_id: str | None,
    ) -> Json:
        checks = self.control.checks
        return checks.check_file(
            key, data, name, destination, org_id=org_id, policy_id=policy_id
        ).to_dict()

    def masked_file(self, key: str, url: str) -> bytes:
        path, _, query = url.partition("?")
        signed = dict(pair.split("=", 1) for pair in query.split("&"))
        preflight_id = path.split("/")[-2]
        return self.control.checks.file(
            key, preflight_id, signed["expires"], signed["signature"]
        ).data
