"""Detectors for policies with custom patterns, which are compiled when the policy is saved.

A check loads the compiled patterns from memory or from the cache. Only on a new machine or for a
new version of the engine are the patterns compiled again, once, while other checks of that
organization wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dlpctl.errors import PatternError, StoreError
from dlpctl.system.recent import Recent

if TYPE_CHECKING:
    from datetime import date

    from dlpctl.detect.automaton.compiled import Compiled
    from dlpctl.detect.engine import Detector
    from dlpctl.detect.packing import PackLimits
    from dlpctl.detect.patterns.model import Pattern
    from dlpctl.policy.model import Policy
    from dlpctl.preflight import Checker
    from dlpctl.types import Destination

_KEPT = 256
_MOST_WAITING = 4
"""Requests of one organization that may wait for patterns; more would starve the others."""
_Key = tuple[Any, ...]


class _Turn:
    """The lock under which an organization compiles its policies one by one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting = 0


class PreparedDetectors:
    def __init__(self, base: Callable[[], Detector], limits: PackLimits | None = None) -> None:
        self._base = base
        self._limits = limits
        self._known: Recent[_Key, Detector | PatternError] = Recent(_KEPT)
        self._turns: dict[str, _Turn] = {}
        self._lock = threading.Lock()

    def get(self, policy: Policy, org_id: str) -> Detector:
        """Return a detector with the policy's patterns; raise `PatternError` for invalid ones."""
        if not policy.custom_patterns:
            return self._base()
        patterns = _patterns(policy)
        key = tuple(patterns)
        found = self._known.get(key)
        if found is None:
            with self._turn(org_id):
                found = self._known.get(key) or self._prepare(key, patterns)
        if isinstance(found, PatternError):
            raise PatternError(found.message)
        return found

    def checker(
        self, policy: Policy, destination: Destination, org_id: str, key: bytes, day: date
    ) -> Checker:
        """Return a checker for a day; exceptions that ended before do not apply."""
        from dlpctl.preflight import Checker

        detector = self.get(policy, org_id)
        # The detector already includes the patterns: compiling them again here would delay other
        # requests.
        return Checker(detector, policy._replace(custom_patterns=()), destination, key=key, on=day)

    def forget_refusal(self, policy: Policy) -> None:
        """Allow patterns that were refused to be compiled again."""
        key = tuple(_patterns(policy))
        if isinstance(self._known.get(key), PatternError):
            self._known.pop(key)

    def _prepare(self, key: _Key, patterns: Sequence[Pattern]) -> Detector | PatternError:
        base = self._base()
        found: Detector | PatternError
        try:
            found = base.extended(patterns, self._compiled(base, patterns))
        except PatternError as error:
            found = error
        self._known.put(key, found)
        return found

    def _compiled(self, base: Detector, patterns: Sequence[Pattern]) -> Compiled:
        from dlpctl.detect.automaton.compiled import Compiled, keep_packed, packed
        from dlpctl.detect.packing import PackLimits, pack_apart

        kept = packed(patterns, base.cache) if base.cache else None
        if kept is not None:
            return kept
        block = pack_apart(patterns, self._limits or PackLimits())
        if base.cache:
            keep_packed(patterns, block, base.cache)
        return Compiled(block)

    @contextmanager
    def _turn(self, org_id: str) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(org_id, _Turn())
            if turn.waiting >= _MOST_WAITING:
                raise StoreError(
                    "the patterns of the organization's policies are being compiled; try again"
                )
            turn.waiting += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._lock:
                turn.waiting -= 1
                if not turn.waiting:
                    del self._turns[org_id]


def _patterns(policy: Policy) -> list[Pattern]:
    from dlpctl.detect.patterns.library import custom_patterns

    return list(custom_patterns(policy.custom_patterns, "customPatterns"))
