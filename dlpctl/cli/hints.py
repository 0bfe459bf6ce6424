"""Hints about values that a search did not report."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from dlpctl.types import Category

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector

_LONGEST = 1 << 16
"""The size in bytes up to which a file is searched again for hints."""


def print_hint(detector: Detector, name: str) -> None:
    """Report on stderr that a small text without findings has values that look like secrets."""
    if hint := _placeholders(detector, name):
        sys.stderr.write(f"dlpctl: note: {hint}\n")


def _placeholders(detector: Detector, name: str) -> str:
    try:
        status = Path(name).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return ""
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    ends = {
        trace.finding.end
        for trace in detector.traces(text)
        if trace.finding.category is Category.SECRETS and trace.refused_by
    }
    if not ends:
        return ""
    hint = (
        "1 value looks like a secret but reads as a placeholder"
        if len(ends) == 1
        else f"{len(ends)} values look like secrets but read as placeholders"
    )
    return f"{hint}: dlpctl explain {quote(name)}"
