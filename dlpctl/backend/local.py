"""The backend in this process: the control plane in this user's folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from dlpctl.backend.interface import Backend
from dlpctl.control.access import LOCAL
from dlpctl.control.resources.operations import LINES, Credential, Operation
from dlpctl.control.resources.shapes import Json, plain

if TYPE_CHECKING:
    from pathlib import Path

    from dlpctl.control.offline import Evidence
    from dlpctl.control.service import ControlPlane
    from dlpctl.detect.engine import Detector


class LocalEvidence:
    """The audit log of a database that is opened read-only."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    @classmethod
    @contextmanager
    def open(cls, database: Path | str, key_file: Path) -> Iterator[LocalEvidence]:
        """Open a file, or the database at an address."""
        from dlpctl.control.offline import Evidence

        with Evidence.open(database, key_file) as opened:
            yield cls(opened)

    def get_head(self) -> Json:
        return self._evidence.head().to_dict()

    def verify_audit(self, head: str | None = None) -> Json:
        return self._evidence.verify(head).to_dict()


class LocalBackend(Backend):
    """The control plane itself. Anyone who can read its key file may do everything."""

    def __init__(self, control: ControlPlane) -> None:
        self.control = control

    @classmethod
    def open(
        cls,
        folder: Path,
        make_detector: Callable[[], Detector],
        issuer: str,
        environ: Mapping[str, str],
        database: str | None = None,
        *,
        restoring: bool = False,
    ) -> LocalBackend:
        """`issuer` is the name of the issuer in license tokens; `restoring` accepts a database that
        is damaged or lost.
        """
        from dlpctl.control.service import ControlPlane

        control = ControlPlane.open(
            folder,
            make_detector,
            issuer=issuer,
            environ=environ,
            database=database,
            restoring=restoring,
        )
        return cls(control)

    def close(self) -> None:
        self.control.close()

    def ask(self, operation: Operation, *given: Any, **query: Any) -> Any:
        access = (LOCAL,) if operation.credential is Credential.ADMIN_TOKEN else ()
        answer = attrgetter(operation.does)(self.control)(*access, *given, **query)
        return map(plain, answer) if operation.media == LINES else plain(answer)

    def check_text(self, key: str, text: str, destination: str, **selection: str | None) -> Json:
        return self.control.checks.check_text(key, text, destination, **selection).to_dict()

    def check_file(
        self, key: str, data: bytes, name: str, destination: str, **selection: str | None
    ) -> Json:
        checks = self.control.checks
        return checks.check_file(key, data, name, destination, **selection).to_dict()

    def masked_file(self, key: str, url: str) -> bytes:
        path, _, query = url.partition("?")
        signed = dict(pair.split("=", 1) for pair in query.split("&"))
        preflight_id = path.split("/")[-2]
        return self.control.checks.file(
            key, preflight_id, signed["expires"], signed["signature"]
        ).data
