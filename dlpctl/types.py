"""The words that every part of dlpctl shares."""

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


IN_BINARIES = frozenset((Category.SECRETS, Category.CUSTOM))
"""Categories that the strings of unknown binaries are searched for.

What looks like a name or a number there is machine code; only a user's own patterns may mean more.
"""


class Destination(StrEnum):
    AI_TOOL = "AI_TOOL"
    VENDOR = "VENDOR"
    CUSTOMER = "CUSTOMER"


class Action(StrEnum):
    """What a rule does with a finding; the order is from the mildest to the strictest."""

    ALLOW = "ALLOW"
    MASK = "MASK"
    BLOCK = "BLOCK"


class Decision(StrEnum):
    ALLOWED = "ALLOWED"
    ALLOWED_WITH_MASKING = "ALLOWED_WITH_MASKING"
    BLOCKED = "BLOCKED"


class Finding(NamedTuple):
    """A span of characters that holds a value of `type`.

    The value itself is never part of a finding, so a finding may be logged, stored and shown. A
    named tuple, since a hundred thousand of them a second are made and frozen dataclasses cost
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
"""The one type under which the service's interface tells of health data, whatever was found."""


class Detection(NamedTuple):
    """What the API says of all findings of one type: `sample` is partially masked, or None where
    even that tells too much.
    """

    type: str
    occurrences: int
    sample: str | None
