"""The Python API for files: `check_file("cv.pdf", "VENDOR").decision`."""

from __future__ import annotations

import os
from pathlib import Path

from dlpctl.detect.engine import Detector
from dlpctl.errors import InputError
from dlpctl.files.checking import FileChecker
from dlpctl.files.choices import Metadata, OnUninspected
from dlpctl.files.report import FileReport
from dlpctl.formats.interface import Limits
from dlpctl.policy.model import Policy
from dlpctl.preflight import checker_for
from dlpctl.system.newfiles import write_whole
from dlpctl.system.regular import read_regular
from dlpctl.types import Destination


def check_file(
    file: str | os.PathLike[str],
    destination: Destination | str = Destination.AI_TOOL,
    policy: Policy | None = None,
    *,
    detector: Detector | None = None,
    operator: str | None = None,
    key: bytes | None = None,
    password: str | None = None,
    limits: Limits | None = None,
    on_uninspected: OnUninspected = "block",
    metadata: Metadata = "keep",
    flatten: bool = False,
) -> FileReport:
    """Check a file of any format; `masked` of the result is the copy that may be sent."""
    checker = checker_for(destination, policy, detector, operator, key)
    checking = FileChecker(
        checker,
        limits=limits,
        on_uninspected=on_uninspected,
        metadata=metadata,
        flatten=flatten,
    )
    return checking.check(_read(Path(file)), Path(file).name, password)


def mask_file(
    file: str | os.PathLike[str],
    output: str | os.PathLike[str],
    destination: Destination | str = Destination.AI_TOOL,
    policy: Policy | None = None,
    *,
    overwrite: bool = False,
    detector: Detector | None = None,
    operator: str | None = None,
    key: bytes | None = None,
    password: str | None = None,
    limits: Limits | None = None,
    on_uninspected: OnUninspected = "block",
    metadata: Metadata = "keep",
    flatten: bool = False,
) -> FileReport:
    """Write a copy without the values that the policy masks or blocks, or raise
    `StillExposedError`.
    """
    checker = checker_for(destination, policy, detector, operator, key)
    checking = FileChecker(
        checker,
        limits=limits,
        on_uninspected=on_uninspected,
        metadata=metadata,
        flatten=flatten,
    )
    report = checking.mask(_read(Path(file)), Path(file).name, password)
    assert report.masked is not None
    write_whole(Path(output), report.masked, overwrite=overwrite)
    return report


def _read(file: Path) -> bytes:
    try:
        return read_regular(file)
    except OSError as problem:
        raise InputError(f"{file}: cannot be read: {problem.strerror}") from None
