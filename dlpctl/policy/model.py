"""What a policy is. Reading one from a file lies in `loading`, applying one in `decide`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from dlpctl.types import Action, Category, Destination

OPERATORS = ("remove", "redact", "replace", "hash", "encrypt", "token", "surrogate", "partial")
"""Names of the masking operators, from the one that tells least to the one that tells most."""

EVERYTHING = "*"
"""In `masking`: every type that the rule covers."""

DEFAULT_MIN_SCORE = 0.5

PatternCheck = Callable[[Sequence[Mapping[str, object]], str], object]
"""Validates raw pattern tables; the second argument is the place to begin its errors with."""


class Catalogue(NamedTuple):
    """The detection types and patterns that exist, so that a policy's names can be checked."""

    types: Mapping[str, frozenset[Category]]
    patterns: Mapping[str, str] = MappingProxyType({})
    """Pattern id to detection type."""

    @classmethod
    def of(
        cls, types: Mapping[Category, Iterable[str]], patterns: Mapping[str, str] | None = None
    ) -> Catalogue:
        categories: dict[str, frozenset[Category]] = {}
        for category, names in types.items():
            for name in names:
                categories[name] = categories.get(name, frozenset()) | {category}
        return cls(categories, patterns or {})


class Exemption(NamedTuple):
    """Values that a rule lets pass, who answers for that, why, and until when."""

    owner: str
    reason: str
    expires: date
    """The last day on which it acts, in UTC."""
    hmac: str | None = None
    """Fingerprint of one value (`dlpctl.values.fingerprint`)."""
    pattern: str | None = None
    """Regular expression in RE2's dialect that matches the whole value."""
    data_types: tuple[str, ...] = ()
    """Only findings of these; empty means all that the rule covers."""

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
    """What happens to some types on the way to some destinations."""

    id: str
    name: str
    data_types: tuple[str, ...]
    """Categories, detection types and pattern ids; upper case, pattern ids as they are written."""
    destinations: tuple[Destination, ...]
    action: Action
    enabled: bool = True
    min_score: float | None = None
    """Findings below it are not covered; None takes the policy's."""
    min_count: int = 1
    """The rule acts only where it covers at least this many findings."""
    min_distinct: int = 1
    """The rule acts only where it covers at least this many different values."""
    masking: tuple[tuple[str, str], ...] = ()
    """Operator by category, type, pattern id or `*`."""
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


class Policy(NamedTuple):
    """Rules, and what holds where none of them does."""

    name: str
    rules: tuple[Rule, ...] = ()
    description: str = ""
    version: str = "1.0"
    tags: tuple[str, ...] = ()
    min_score: float = DEFAULT_MIN_SCORE
    """From which score a finding counts, where a rule does not say otherwise."""
    default_action: Action | None = None
    """What happens to findings that no rule covers; None allows and lists them."""
    custom_patterns: tuple[Mapping[str, object], ...] = ()
    """Raw tables in the format of the pattern library."""

    @staticmethod
    def load(
        path: Path | str,
        *,
        known_types: Catalogue | None = None,
        check_patterns: PatternCheck | None = None,
    ) -> Policy:
        """Read a TOML, YAML or JSON file; raises `PolicyError`."""
        from pathlib import Path

        from dlpctl.policy.files import read_table_file

        file = Path(path)
        data = read_table_file(file)
        return Policy.from_dict(
            data, known_types=known_types, check_patterns=check_patterns, source=file.name
        )

    @staticmethod
    def from_dict(
        data: object,
        *,
        known_types: Catalogue | None = None,
        check_patterns: PatternCheck | None = None,
        source: str = "",
    ) -> Policy:
        """Take over what a file or a request holds; raises `PolicyError`, which begins with
        `source`.
        """
        from dlpctl.policy.loading import policy_of

        return policy_of(data, known_types, check_patterns, source)

    @staticmethod
    def builtin(name: str = "default") -> Policy:
        """One of the policies that come with dlpctl; raises `PolicyError`."""
        from dlpctl.policy.files import builtin_path

        return Policy.load(builtin_path(name))

    def to_dict(self) -> dict[str, object]:
        """What a policy file holds; `from_dict` gives the same policy again."""
        table: dict[str, object] = {
            "name": self.name,
            "description": self.description,
            "version": self.version,
            "tags": list(self.tags),
            "rules": [rule.to_dict() for rule in self.rules],
        }
        if self.min_score != DEFAULT_MIN_SCORE:
            table["minScore"] = self.min_score
        if self.default_action is not None:
            table["defaultAction"] = str(self.default_action)
        if self.custom_patterns:
            table["customPatterns"] = [dict(pattern) for pattern in self.custom_patterns]
        return table
