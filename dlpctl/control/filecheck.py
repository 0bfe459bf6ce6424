"""Check a file for the control plane, in a separate process forked from a clean one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.preflight import Checker, Report


def check_file(
    checker: Checker, data: bytes, name: str, limits: FileLimits | None = None
) -> tuple[Report, bytes | None]:
    """Return the report, with the masked copy if the file may be sent."""
    from dlpctl.files.checking import FileChecker

    answer = FileChecker(checker, limits=limits, method="forkserver").check(data, name)
    return answer.report, answer.masked
