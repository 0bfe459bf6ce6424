"""What a scan gives: findings at their places, without their values, and an account of what was
looked at and what was not.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Result(NamedTuple):
    """One finding. All that is in it may be shown; plain types only, since results travel between
    processes.
    """

    path: str
    """As it was given or walked to, with slashes; a byte that is not UTF-8 is a lone surrogate."""
    line: int
    """From 1, as the columns, which are characters."""
    column: int
    end_line: int
    end_column: int
    """Of the character behind the value."""
    start: int
    """Characters before it in the text."""
    end: int
    type: str
    category: str
    score: float
    pattern_id: str
    label: str
    """What the pattern is called by people."""
    sample: str | None
    """The value, partially masked; None where even that tells too much."""
    identity: str
    """Names the finding in reports from one run to the next: made of the path, the pattern and the
    line without any value in it.
    """
    fingerprint: str = ""
    """Keyed hashes of type and value (`dlpctl.values.fingerprint`), one a key; empty where the scan
    was given no key.
    """
    inner: str = ""
    """Where within the file, if lines do not say: `cv.docx > page 3`."""
    commit: str = ""
    date: str = ""
    """Of the commit that brought it, in ISO 8601; its author's."""
    value_id: str = ""
    """Tells values apart, within one run alone; empty where nothing can repeat them."""

    @property
    def has_columns(self) -> bool:
        """Whether it is known where in its line the value stands."""
        return not self.inner and (self.end_line, self.end_column) > (self.line, self.column)


class Why(StrEnum):
    """Why something was not scanned."""

    IGNORED = "ignored"
    EXCLUDED = "excluded"
    ALLOWED = "on the allow list"
    TOO_LARGE = "too large"
    LINK = "symbolic link"
    SPECIAL = "special file"
    REPOSITORY = "git's own data"
    SUBMODULE = "submodule"
    ARCHIVE = "archive"
    GONE = "gone before it was read"
    UNREADABLE = "unreadable"
    UNINSPECTED = "in part unreadable"
    BINARY = "binary (strings searched for secrets)"


FAILURES = frozenset({Why.UNREADABLE})
"""What makes a scan incomplete, since nobody asked for it."""


class Skip(NamedTuple):
    """A file, or a folder with all that is in it, that was not scanned."""

    path: str
    why: Why
    detail: str = ""


class Summary:
    """What was scanned, what was skipped and why, what was found: in numbers, so that it costs the
    same however large a tree is.
    """

    def __init__(self) -> None:
        self.files = 0
        self.bytes = 0
        self.findings = 0
        self.accepted = 0
        """Findings that an allow list or a baseline took."""
        self.types: dict[str, int] = {}
        self.skipped: dict[Why, int] = {}
        self.worst: float | None = None
        self.partial = False
        """Whether the scan was stopped before its end."""
        self.is_empty = False
        """Whether no file was scanned although some should have been."""
        self.notes: list[str] = []
        """What people should know of how the scan went, one sentence each."""

    def add(self, result: Result) -> None:
        self.findings += 1
        self.types[result.type] = self.types.get(result.type, 0) + 1
        if self.worst is None or result.score > self.worst:
            self.worst = result.score

    def skip(self, skip: Skip) -> None:
        self.skipped[skip.why] = self.skipped.get(skip.why, 0) + 1

    @property
    def failures(self) -> int:
        return sum(self.skipped.get(why, 0) for why in FAILURES)

    @property
    def is_complete(self) -> bool:
        """Whether everything was scanned that should have been."""
        return not (self.partial or self.failures or self.is_empty)

    def to_dict(self) -> dict[str, object]:
        return {
            "files": self.files,
            "bytes": self.bytes,
            "findings": self.findings,
            "accepted": self.accepted,
            "types": dict(sorted(self.types.items(), key=lambda item: (-item[1], item[0]))),
            "skipped": {why.value: count for why, count in sorted(self.skipped.items())},
            "partial": self.partial,
            "complete": self.is_complete,
            "notes": self.notes,
        }
