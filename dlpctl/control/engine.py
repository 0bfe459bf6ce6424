"""Detection for the control plane: one detector, and for each policy and destination in use a checker."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dlpctl.policy.model import Catalogue, Policy

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.preflight import Checker
    from dlpctl.types import Category, Destination

_KEPT_CHECKERS = 256
_Key = tuple[str, str, str, date]


class Engine:
    def __init__(self, make_detector: Callable[[], Detector], make_key: Callable[[], bytes]) -> None:
        """`make_key` gives the key for operators and exceptions that need one."""
        self._make_detector = make_detector
        self._make_key = make_key
        self._checkers: OrderedDict[_Key, Checker] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def detector(self) -> Detector:
        return self._make_detector()

    @cached_property
    def catalogue(self) -> Catalogue:
        """The types and patterns that a policy may name."""
        patterns = self.detector.known
        types: dict[Category, set[str]] = {}
        for pattern in patterns:
            types.setdefault(pattern.category, set()).add(pattern.type)
        return Catalogue.of(types, {pattern.id: pattern.type for pattern in patterns})

    def policy(self, content: Mapping[str, Any]) -> Policy:
        """Raises `PolicyError` for names that do not exist and patterns that cannot be used."""
        from dlpctl.preflight import custom_patterns

        return Policy.from_dict(content, known_types=self.catalogue, check_patterns=custom_patterns)

    def checker(
        self, policy_id: str, version: str, destination: Destination, today: date, load: Callable[[], Policy]
    ) -> Checker:
        """A checker is made for a day, since exceptions end with their days."""
        key = (policy_id, version, destination.value, today)
        with self._lock:
            checker = self._checkers.get(key)
            if checker is None:
                from dlpctl.preflight import Checker

                checker = Checker(self.detector, load(), destination, key=self._make_key(), on=today)
                self._checkers[key] = checker
                if len(self._checkers) > _KEPT_CHECKERS:
                    self._checkers.popitem(last=False)
            else:
                self._checkers.move_to_end(key)
        return checker
