"""Mask the values in shown lines that a narrowed search did not look for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlpctl.cli.session import Session
    from dlpctl.scan.reports import Conceal, Marks


def concealing(session: Session) -> Conceal:
    """Return a function that masks all remaining values in a line whose findings are masked."""
    detector = cache(session.detector)

    def conceal(line: str, marks: Marks) -> tuple[str, Marks]:
        from dlpctl.operators.partial import sample
        from dlpctl.scan.excerpts import HIDDEN

        moved = list(marks)
        for finding in reversed(detector().scan(line)):
            if any(start < finding.end and finding.start < start + size for start, size in marks):
                continue
            shown = (
                sample(finding.type, finding.category, line[finding.start : finding.end]) or HIDDEN
            )
            line = line[: finding.start] + shown + line[finding.end :]
            wider = len(shown) - (finding.end - finding.start)
            moved = [(at + wider if at >= finding.end else at, size) for at, size in moved]
        return line, moved

    return conceal
