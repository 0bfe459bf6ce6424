"""The state file of a scan, which holds for one search: what is looked for, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.patterns.model import Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.cli.scan_options import ScanRequest
    from dlpctl.cli.search import Search
    from dlpctl.cli.session import Session
    from dlpctl.scan.state import State

_DESCRIPTIVE = Pattern._fields.index("references")
"""The first field of a pattern that only describes it; the cache of patterns leaves them out."""


def described(patterns: Sequence[Pattern]) -> list[str]:
    """Return what decides what patterns find."""
    return sorted(repr(pattern[:_DESCRIPTIVE]) for pattern in patterns)


def state_of(
    session: Session, request: ScanRequest, wanted: Search, keys: tuple[bytes, ...]
) -> State | None:
    """Return the state that a request names; all that changes findings is part of its search."""
    if request.state is None:
        return None
    from dlpctl.scan.state import State
    from dlpctl.version import __version__

    config = session.config
    search = (
        described(wanted.detector.known),
        wanted.limits,
        repr(session.policy(policy)) if (policy := request.policy or config.policy) else "",
        request.destination or config.destination,
        wanted.min_score,
        request.no_names,
        request.no_archives,
        config.allow,
        config.limits,
        [key.hex() for key in keys],
    )
    return State(request.state, search, __version__)
