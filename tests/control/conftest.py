from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane
from dlpctl.control.service import database_at as control_database
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.library import parse_file

_PATTERNS = [
    {
        "id": "mail",
        "type": "EMAIL",
        "category": "PII",
        "label": "E-mail address",
        "regex": r"\b[a-z.]{1,30}@(?:[a-z]{1,20}\.){1,3}[a-z]{2,6}\b",
        "score": 0.9,
    },
    {
        "id": "key",
        "type": "PRIVATE_KEY",
        "category": "SECRETS",
        "label": "Private key",
        "regex": r"-----BEGIN PRIVATE KEY-----\s[0-9A-Za-z]{40,100}\s-----END PRIVATE KEY-----",
        "score": 0.9,
    },
]


class SetClock:
    """A clock that does not move by itself."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 10, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **much: float) -> None:
        self.now += timedelta(**much)

    def pass_with(self, control: ControlPlane, *, hours: int) -> None:
        """Go forward as a clock does that a service watches."""
        for _ in range(hours):
            self.forward(hours=1)
            control.maintenance.observe()


@pytest.fixture(scope="session")
def detector() -> Detector:
    """Two patterns: what the control plane does with findings does not depend on how many there
    could be.
    """
    return Detector(patterns=parse_file({"pattern": _PATTERNS}, "tests"))


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def control(
    tmp_path: Path, detector: Detector, clock: SetClock, database: str | None
) -> Iterator[ControlPlane]:
    with ControlPlane.open(
        tmp_path / "data", lambda: detector, clock=clock, database=database
    ) as opened:
        yield opened


@pytest.fixture
def connected(control: ControlPlane, database: str | None) -> Callable[..., Any]:
    """A connection of another program, to which foreign keys and triggers are of no importance."""

    def connect() -> Any:
        connection = control_database(control.folder, database).connect()
        connection.execute(
            "PRAGMA foreign_keys = OFF"
            if database is None
            else "SET session_replication_role = replica"
        )
        return closing(connection)

    return connect


@pytest.fixture
def kept_files(
    control: ControlPlane, connected: Callable[..., Any], database: str | None
) -> Callable[[], list[bytes]]:
    """The masked files as they are kept."""

    def kept() -> list[bytes]:
        if database is None:
            return [file.read_bytes() for file in (control.folder / "masked").iterdir()]
        with connected() as connection:
            rows = connection.execute("SELECT content FROM masked_contents").fetchall()
        return [row["content"] for row in rows]

    return kept


@pytest.fixture
def change(connected: Callable[..., Any]) -> Callable[..., None]:
    """Change the database as another program would: past everything that this one does then."""

    def changed(*statements: str) -> None:
        with connected() as connection:
            for statement in statements:
                connection.execute(statement)

    return changed


@pytest.fixture
def acme(control: ControlPlane) -> str:
    """An organization's id."""
    return control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"}).org_id


@pytest.fixture
def key(control: ControlPlane, acme: str) -> str:
    """The key of its policy."""
    return control.policies.list(LOCAL, acme)[0].api_key
