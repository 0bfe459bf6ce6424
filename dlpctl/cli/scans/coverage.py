"""A scan as flags and settings describe it, and what it reads of all it lists: by a state file, or
a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlpctl.cli.scans.options import ScanRequest
from dlpctl.detect.patterns.model import Pattern
from dlpctl.errors import UsageError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.cli.search import Search
    from dlpctl.cli.session import Session
    from dlpctl.scan.sampling import Sample
    from dlpctl.scan.scanner import Scan
    from dlpctl.scan.state import State

_DESCRIPTIVE = Pattern._fields.index("references")
"""The first field of a pattern that only describes it; the cache of patterns leaves them out."""


_SHARE = lazy(r"(\d+(?:\.\d+)?)(%?)")


def scan_of(
    session: Session,
    wanted: Search,
    keys: tuple[bytes, ...],
    request: ScanRequest = ScanRequest(),  # noqa: B008 -- a named tuple
    *,
    max_size: int | None = None,
    excerpts: int = 0,
    **settings: Any,
) -> Scan:
    """Return a scan whose results have fingerprints with these keys; see `Scan` for `settings`."""
    from dlpctl.scan.content import Examiner
    from dlpctl.scan.scanner import Scan
    from dlpctl.scan.selection import Selection

    allow = session.allow_list()
    selection = Selection(
        include=request.include or (),
        exclude=request.exclude or (),
        allowed=allow.skips if session.config.allow.paths else None,
        max_size=max_size,
        ignore_files=not request.no_ignore,
    )
    examiner = Examiner(
        wanted.detector,
        wanted.min_score,
        allow,
        keys=keys,
        show_values=request.show_values,
        excerpts=excerpts,
    )
    archives, limits = not request.no_archives, session.config.limits
    return Scan(
        examiner,
        selection,
        archives=archives,
        jobs=request.jobs,
        limits=limits,
        sample=sample_of(request),
        **settings,
    )


def sample_of(request: ScanRequest) -> Sample | None:
    if request.sample is None:
        return None
    from dlpctl.scan.sampling import Sample

    found = _SHARE.fullmatch(request.sample.replace(" ", ""))
    share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0 < share <= 1:
        raise UsageError(f"--sample {request.sample}: write a share of the files, say 5% or 0.05")
    return Sample(share, str(request.seed))


def described(patterns: Sequence[Pattern]) -> list[str]:
    """Return what decides what patterns find."""
    return sorted(repr(pattern[:_DESCRIPTIVE]) for pattern in patterns)


def search_of(
    session: Session, request: ScanRequest, wanted: Search, keys: tuple[bytes, ...]
) -> tuple[object, ...]:
    """Return all that changes what a scan finds in a content."""
    config = session.config
    return (
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


def state_of(
    session: Session, request: ScanRequest, wanted: Search, keys: tuple[bytes, ...]
) -> State | None:
    """Return the state that a request names."""
    if request.state is None:
        return None
    from dlpctl.scan.state import State
    from dlpctl.version import __version__

    return State(request.state, search_of(session, request, wanted, keys), __version__)
