"""The scope of a scan: from flags, else from settings, else the default of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dlpctl.config import Layer
from dlpctl.config.setting_types import split_names
from dlpctl.errors import ConfigError, UsageError
from dlpctl.types import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.cli.session import Session
    from dlpctl.detect.engine import Detector
    from dlpctl.policy.model import Policy


class Defaults(NamedTuple):
    """The scope of a command's search if neither flags nor settings choose it."""

    types: Sequence[str] = ()
    """Ignored if a policy is named."""
    sensitivity: Sensitivity = Sensitivity.BALANCED


HOOK = Defaults(("SECRETS",), Sensitivity.LOW)
"""Nearly every commit contains a person's name, and people turn off a hook that is often wrong."""
USUAL = Defaults()


class Search(NamedTuple):
    """A detector for the wanted types, and the lowest score of a finding."""

    detector: Detector
    min_score: float
    limits: str = ""
    """The limits of the search, as text; empty if it looks for everything."""


def search(
    session: Session,
    *,
    types: str | None = None,
    policy: str | None = None,
    destination: str | None = None,
    min_score: float | None = None,
    sensitivity: Sensitivity | None = None,
    defaults: Defaults = USUAL,
) -> Search:
    """Return the search that the flags describe."""
    config = session.config
    if min_score is None and sensitivity is not None:
        min_score = sensitivity.min_score
    detector, score = session.detector(), config.min_score
    if not _is_set(session, "min_score"):
        is_set = _is_set(session, "sensitivity")
        score = Sensitivity(config.sensitivity if is_set else defaults.sensitivity).min_score
    chosen = policy or (config.policy if _is_set(session, "policy") else None)
    names = _names(session, types, defaults.types if chosen is None else ())
    limits = [", ".join(names)] if names else []
    wanted: set[str] | None = None
    if chosen is not None:
        loaded = session.policy(chosen)
        detector, wanted, floor = _by_policy(session, detector, loaded, destination)
        limits.append(f"what the policy {loaded.name} masks or blocks")
        has_own = _is_set(session, "min_score") or _is_set(session, "sensitivity")
        score = score if has_own else floor
    if names:
        named = _named(session, detector, names)
        wanted = named if wanted is None else named & wanted
        if not wanted:
            raise UsageError(
                f"nothing to look for: the policy {chosen} neither masks nor blocks"
                f" {', '.join(names)}; change --types or --policy"
            )
    if wanted is not None:
        detector = detector.for_known(wanted)
    return Search(detector, score if min_score is None else min_score, "; ".join(limits))


def everything(session: Session) -> Search:
    """Return a search that finds every value that may have an exception, regardless of the
    settings.
    """
    detector = session.detector()
    if _is_set(session, "policy"):
        detector = _with_patterns(detector, session.policy(session.config.policy))
    return Search(detector, 0.0)


def _is_set(session: Session, key: str) -> bool:
    return session.config.origin(key).layer is not Layer.DEFAULT


def _names(session: Session, types: str | None, default: Sequence[str]) -> Sequence[str]:
    if types is not None:
        return split_names(types)
    return session.config.types if _is_set(session, "types") else default


def _named(session: Session, detector: Detector, names: Sequence[str]) -> set[str]:
    """Return the ids of the named patterns; an unknown name is reported with its settings file."""
    try:
        detector.for_types(names)
    except UsageError as unknown:
        origin = session.config.origin("types")
        if names is not session.config.types or origin.layer is Layer.DEFAULT:
            raise
        raise ConfigError(f"{origin.location('types')}: {unknown.message}") from None
    return _ids(detector, names)


def _by_policy(
    session: Session, detector: Detector, policy: Policy, destination: str | None
) -> tuple[Detector, set[str] | None, float]:
    """Return a detector with the policy's patterns, the ids of relevant ones, and the lowest
    threshold.
    """
    from dlpctl.policy.decide import relevant_selectors
    from dlpctl.policy.selectors import parse_destination

    detector = _with_patterns(detector, policy)
    where = parse_destination(destination or session.config.destination)
    relevant = relevant_selectors(policy, where, decision_only=True)
    if relevant.selectors is None:
        return detector, None, relevant.min_score
    return detector, _ids(detector, relevant.selectors), relevant.min_score


def _with_patterns(detector: Detector, policy: Policy) -> Detector:
    from dlpctl.detect.patterns.library import custom_patterns

    if not policy.custom_patterns:
        return detector
    return detector.extended(custom_patterns(policy.custom_patterns, policy.name))


def _ids(detector: Detector, selectors: Iterable[str]) -> set[str]:
    """Return the ids of patterns that these categories, types and ids select."""
    wanted = {selector.upper() for selector in selectors}
    return {
        pattern.id
        for pattern in detector.pattern_names
        if not wanted.isdisjoint((pattern.id.upper(), pattern.type.upper(), pattern.category.value))
    }
