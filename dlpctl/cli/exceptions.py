"""The exceptions that hold where a command runs."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

from dlpctl.config.places import nearest
from dlpctl.scan.baseline import FILE_NAME, Acceptance, Baseline


def today() -> date:
    return datetime.now(UTC).date()


def found(named: Path | None) -> Path | None:
    """The file of exceptions: the one that is named, else the nearest, here or above."""
    return named or nearest(FILE_NAME, Path.cwd())


def acceptance(
    named: Path | None, destination: str | None = None
) -> tuple[tuple[bytes, ...], Acceptance | None]:
    """The keys that findings are to be fingerprinted with, and what then says which of them are excepted."""
    file = found(named)
    if file is None:
        return (), None
    baseline = Baseline.load(file, os.environ)
    return baseline.keys if baseline.entries else (), Acceptance(baseline, today(), destination)
