"""Checks a file for the service: in processes of its own, forked from a clean one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.preflight import Checker, Report


def check_file(
    checker: Checker, data: bytes, name: str, limits: FileLimits | None = None
) -> tuple[Report, bytes | None]:
    """The report, and the masked copy where the file may go."""
    from dlpctl.files.checking import FileChecker

    answer = FileChecker(checker, limits=limits, method="forkserver").check(data, name)
    return answer.report, answer.masked
