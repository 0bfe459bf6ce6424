"""The exceptions that are valid where a command runs, and the day by which they expire."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.config.locations import EXCEPTIONS_FILE, nearest

if TYPE_CHECKING:
    from datetime import date

    from dlpctl.scan.baseline import Acceptance


_CLOCK_FILE = "clock"
"""In the user's data folder: the history of this machine's clock."""
_NOTED_SECONDS = 600


def today() -> date:
    """Return the day by which exceptions expire; setting the clock back does not revive any."""
    from dlpctl.config.locations import locate
    from dlpctl.control.clock import ClockHistory, utc_now

    now = utc_now()
    file = locate(os.environ).data / _CLOCK_FILE
    try:
        before = ClockHistory.load(file.read_text("ascii"))
    except (OSError, ValueError, TypeError):
        before = None
    history = (before or ClockHistory(now, now)).observe(now)
    if before is None or abs((now - before.latest).total_seconds()) >= _NOTED_SECONDS:
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.write_text(history.dump(), "ascii")
    return max(now, history.trusted).date()


def exceptions_file(named: Path | None) -> Path | None:
    """Return the named file of exceptions, else the nearest one, in this folder or above."""
    return named or nearest(EXCEPTIONS_FILE, Path.cwd())


def acceptance(
    named: Path | None, destination: str | None
) -> tuple[tuple[bytes, ...], Acceptance | None]:
    """Return the keys for fingerprints of findings, and the test whether a finding is accepted."""
    file = exceptions_file(named)
    if file is None:
        return (), None
    from dlpctl.policy.selectors import parse_destination
    from dlpctl.scan.baseline import Acceptance, Baseline

    baseline = Baseline.load(file, os.environ)
    where = parse_destination(destination).value if destination else None
    return baseline.keys if baseline.entries else (), Acceptance(baseline, today(), where)
