from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane
from dlpctl.detect.cache import Cache
from dlpctl.detect.engine import Detector

EMAIL = "write to jane.doe@corp.example.net"


class SetClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 10, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **much: float) -> None:
        self.now += timedelta(**much)


@pytest.fixture(scope="session")
def detector(tmp_path_factory: pytest.TempPathFactory) -> Detector:
    return Detector(cache=Cache(tmp_path_factory.mktemp("cache", numbered=True)))


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
    return control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"}).organization.org_id


@pytest.fixture
def key(control: ControlPlane, acme: str) -> str:
    """The key of its policy."""
    return control.policies.list(LOCAL, acme)[0].api_key
