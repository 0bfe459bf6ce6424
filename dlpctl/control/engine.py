"""Detection for the control plane: one detector, and a checker for each policy and destination in
use.

No lock is held while patterns are compiled or read: a policy that is slow to prepare delays only
its own checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dlpctl.control.prepared import PreparedDetectors
from dlpctl.errors import DlpctlError, StoreError
from dlpctl.policy.model import Catalogue, Policy
from dlpctl.system.recent import Recent
from dlpctl.types import Destination

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.preflight import Checker

_KEPT_CHECKERS = 256
_Key = tuple[str, str, str, date]


class Engine:
    def __init__(
        self, make_detector: Callable[[], Detector], make_key: Callable[[], bytes]
    ) -> None:
        """`make_key` returns the key for operators and exceptions that need one."""
        self._make_detector = make_detector
        self._make_key = make_key
        self._detectors = PreparedDetectors(lambda: self.detector)
        self._checkers: Recent[_Key, Checker] = Recent(_KEPT_CHECKERS)

    def key(self) -> bytes:
        """Return the key for operators and exceptions that need one."""
        return self._make_key()

    @cached_property
    def detector(self) -> Detector:
        return self._make_detector()

    @cached_property
    def catalogue(self) -> Catalogue:
        """Return the types and patterns that a policy may name."""
        return Catalogue.of(self.detector.pattern_names)

    def policy(self, content: Mapping[str, Any], org_id: str) -> Policy:
        """Parse a policy that is about to be saved, and compile its patterns.

        Raises `PolicyError` for unknown names, `PatternError` for patterns that are invalid or too
        costly.
        """
        from dlpctl.detect.patterns.library import custom_patterns

        policy = Policy.from_dict(
            content, known_types=self.catalogue, check_patterns=custom_patterns
        )
        self._detectors.forget_refusal(policy)
        self._detectors.get(policy, org_id)
        return policy

    def checker(
        self,
        policy_id: str,
        version: str,
        destination: Destination,
        today: date,
        org_id: str,
        load: Callable[[], Policy],
    ) -> Checker:
        """Return a checker for one day: an exception ends with its day."""
        key = (policy_id, version, destination.value, today)
        checker = self._checkers.get(key)
        if checker is None:
            checker = self._detectors.checker(load(), destination, org_id, self._make_key(), today)
            self._checkers.put(key, checker)
        return checker

    def ready(self) -> None:
        """Check a text as a request would; raise `StoreError` if that fails."""
        try:
            self.checker("", "", Destination.AI_TOOL, date.min, "", Policy.builtin).check("ready")
        except DlpctlError as error:
            raise StoreError(f"no text can be checked: {error.message}") from None
