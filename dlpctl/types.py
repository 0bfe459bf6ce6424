"""The types that every part of dlpctl shares."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

LARGEST_NUMBER = 2**53 - 1
"""The largest integer that every JSON reader reads exactly: the bound of all numbers."""


class Category(StrEnum):
    PII = "PII"
    PHI = "PHI"
    FINANCIAL = "FINANCIAL"
    SECRETS = "SECRETS"
    CUSTOM = "CUSTOM"

    __hash__ = str.__hash__  # that of enumerations is ten times slower


IN_BINARIES = frozenset((Category.SECRETS, Category.CUSTOM))
"""Categories that the strings of unknown binaries are searched for.

What resembles a name or a number in them is machine code; only custom patterns may mean more.
"""


class Destination(StrEnum):
    """The recipient of a content."""

    AI_TOOL = "AI_TOOL"
    VENDOR = "VENDOR"
    CUSTOMER = "CUSTOMER"


class Sensitivity(StrEnum):
    """The tier from which findings count: all that is possible, or only what is likely."""

    HIGH = "high"
    BALANCED = "balanced"
    LOW = "low"

    @property
    def min_score(self) -> float:
        return _MIN_SCORES[self]


_MIN_SCORES = {Sensitivity.HIGH: 0.4, Sensitivity.BALANCED: 0.5, Sensitivity.LOW: 0.6}


class Action(StrEnum):
    """The action of a rule on a finding, from the mildest to the strictest."""

    ALLOW = "ALLOW"
    MASK = "MASK"
    BLOCK = "BLOCK"


class Decision(StrEnum):
    """The decision on a content for a destination."""

    ALLOWED = "ALLOWED"
    ALLOWED_WITH_MASKING = "ALLOWED_WITH_MASKING"
    BLOCKED = "BLOCKED"


class Finding(NamedTuple):
    """A span of characters that contains a value of `type`.

    The value itself is never part of a finding, so a finding may be logged, stored and shown. A
    named tuple, since a hundred thousand of them are made a second and frozen dataclasses cost
    three times as much.
    """

    type: str
    category: Category
    start: int
    end: int
    score: float
    pattern_id: str
    locator: str | None = None


PHI_TYPE = "PHI"
"""The one type under which the service's interface reports health data."""


class Detection(NamedTuple):
    """All findings of one type in the API: `sample` is partially masked, or None."""

    type: str
    occurrences: int
    sample: str | None
