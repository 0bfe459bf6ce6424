"""Plain English prose in which no pattern should find anything, to measure broad regexes."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def plain_prose() -> str:
    import dlpctl_patterns

    file = Path(dlpctl_patterns.__path__[0], "planted", "prose.txt")
    return file.read_text(encoding="utf-8")
