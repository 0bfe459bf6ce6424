"""The data of a policy: rules, exceptions and the names that they may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import date

    from dlpctl.types import Action, Category, Destination

EVERYTHING = "*"
"""In `masking`: every type that the rule covers."""

DEFAULT_MIN_SCORE = 0.5

PatternCheck = Callable[[Sequence[Mapping[str, object]], str], object]
"""Validates raw pattern tables; the second argument is the prefix of its errors."""


class Catalogue(NamedTuple):
    """The detection types and patterns that a policy may name."""

    types: Mapping[str, frozenset[Category]]
    patterns: Mapping[str, str] = MappingProxyType({})
    """Maps pattern ids to detection types."""

    @classmethod
    def of(cls, patterns: Sequence[tuple[str, str, Category]]) -> Catalogue:
        """Return the types and patterns of these ids, types and categories."""
        types: dict[str, frozenset[Category]] = {}
        for _, name, category in patterns:
            types[name] = types.get(name, frozenset()) | {category}
        return cls(types, {pattern_id: name for pattern_id, name, _ in patterns})


class Exemption(NamedTuple):
    """Values that a rule allows, with an owner, a reason and an expiry date."""

    owner: str
    reason: str
    expires: date
    """The last day on which it applies, in UTC."""
    hmac: str | None = None
    """The fingerprint of one value (`dlpctl.values.fingerprint`)."""
    pattern: str | None = None
    """A regular expression in RE2 syntax that matches the complete value."""
    data_types: tuple[str, ...] = ()
    """Only findings of these selectors; empty means all that the rule covers."""

    def expired(self, on: date) -> bool:
        return on > self.expires

    def to_dict(self) -> dict[str, object]:
        table: dict[str, object] = {"hmac": self.hmac} if self.hmac else {"pattern": self.pattern}
        if self.data_types:
            table["dataTypes"] = list(self.data_types)
        return table | {
            "owner": self.owner,
            "reason": self.reason,
            "expires": self.expires.isoformat(),
        }


class Rule(NamedTuple):
    """An action for some types and destinations."""

    id: str
    name: str
    data_types: tuple[str, ...]
    """Categories and detection types in upper case; pattern ids as they are written."""
    destinations: tuple[Destination, ...]
    action: Action
    enabled: bool = True
    min_score: float | None = None
    """The rule does not cover findings with lower scores; None uses the policy's score."""
    min_count: int = 1
    """The rule acts only if it covers at least this many findings."""
    min_distinct: int = 1
    """The rule acts only if it covers at least this many different values."""
    masking: tuple[tuple[str, str], ...] = ()
    """The operator by category, type, pattern id or `*`."""
    exceptions: tuple[Exemption, ...] = ()

    def to_dict(self) -> dict[str, object]:
        table: dict[str, object] = {
            "id": self.id,
            "name": self.name,
            "enabled": self.enabled,
            "dataTypes": list(self.data_types),
            "destinations": [str(destination) for destination in self.destinations],
            "action": str(self.action),
        }
        if self.min_score is not None:
            table["minScore"] = self.min_score
        if self.min_count != 1:
            table["minCount"] = self.min_count
        if self.min_distinct != 1:
            table["minDistinct"] = self.min_distinct
        if self.masking:
            operators = dict(self.masking)
            table["masking"] = (
                operators[EVERYTHING] if set(operators) == {EVERYTHING} else operators
            )
        if self.exceptions:
            table["exceptions"] = [exemption.to_dict() for exemption in self.exceptions]
        return table


class PolicyFields(NamedTuple):
    """The content of a policy."""

    name: str
    rules: tuple[Rule, ...] = ()
    description: str = ""
    version: str = "1.0"
    tags: tuple[str, ...] = ()
    min_score: float = DEFAULT_MIN_SCORE
    """The score from which a finding counts, unless a rule has its own."""
    default_action: Action | None = None
    """The action on findings that no rule covers; None allows and lists them."""
    custom_patterns: tuple[Mapping[str, object], ...] = ()
    """Raw tables in the format of the pattern library."""
