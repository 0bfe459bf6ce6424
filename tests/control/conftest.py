from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane
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
    """Stands still until it is moved."""

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
def control(tmp_path: Path, detector: Detector, clock: SetClock) -> Iterator[ControlPlane]:
    with ControlPlane.open(tmp_path / "data", lambda: detector, clock=clock) as opened:
        yield opened


@pytest.fixture
def acme(control: ControlPlane) -> str:
    """An organization's id."""
    return control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"}).org_id


@pytest.fixture
def key(control: ControlPlane, acme: str) -> str:
    """The key of its policy."""
    return control.policies.list(LOCAL, acme)[0].api_key
