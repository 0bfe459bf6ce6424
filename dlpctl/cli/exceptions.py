"""The exceptions that hold where a command runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.config.places import EXCEPTIONS_FILE, nearest

if TYPE_CHECKING:
    from datetime import date

    from dlpctl.scan.baseline import Acceptance


def today() -> date:
    from datetime import UTC, datetime

    return datetime.now(UTC).date()


def found(named: Path | None) -> Path | None:
    """The file of exceptions: the one that is named, else the nearest, here or above."""
    return named or nearest(EXCEPTIONS_FILE, Path.cwd())


def acceptance(named: Path | None, destination: str | None) -> tuple[tuple[bytes, ...], Acceptance | None]:
    """The keys that findings are to be fingerprinted with, and what then says which of them are excepted."""
    file = found(named)
    if file is None:
        return (), None
    from dlpctl.preflight import parse_destination
    from dlpctl.scan.baseline import Acceptance, Baseline

    baseline = Baseline.load(file, os.environ)
    where = parse_destination(destination).value if destination else None
    return baseline.keys if baseline.entries else (), Acceptance(baseline, today(), where)
