"""The results of a scan: findings with positions but without values, and counts."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class Result(NamedTuple):
    """One finding. All fields may be shown. Types are plain, since processes exchange results."""

    path: str
    """The path as given or walked, with slashes; a byte that is not UTF-8 is a lone surrogate."""
    line: int
    """From 1, like columns, which count characters."""
    column: int
    end_line: int
    end_column: int
    """The column of the character after the value."""
    start: int
    """The number of characters before the value in the text."""
    end: int
    type: str
    category: str
    score: float
    pattern_id: str
    label: str
    """The display name of the pattern."""
    sample: str | None
    """The value, partially masked; None if even that reveals too much."""
    identity: str
    """Identifies the finding in the reports of all runs: path, pattern and the line without any
    value.
    """
    fingerprint: str = ""
    """Keyed hashes of type and value (`dlpctl.values.fingerprint`), one for each key."""
    inner: str = ""
    """The location in the file if lines do not describe it: `cv.docx > page 3`."""
    commit: str = ""
    date: str = ""
    """The author date of the commit that added the finding, in ISO 8601."""
    value_id: str = ""
    """Distinguishes values within one run; empty if contents are not repeated."""
    excerpt: str = ""
    """The line with every value masked; empty if not requested."""
    mark: int = 0
    """The position of the masked value in the excerpt."""

    @property
    def has_columns(self) -> bool:
        """Return whether the columns of the value in its line are known."""
        return not self.inner and (self.end_line, self.end_column) > (self.line, self.column)


class Why(StrEnum):
    """The reason why something was not scanned."""

    IGNORED = "ignored"
    EXCLUDED = "excluded"
    ALLOWED = "on the allow list"
    TOO_LARGE = "too large"
    LINK = "symbolic link"
    SPECIAL = "special file"
    REPOSITORY = ".git folder"
    SUBMODULE = "submodule"
    ARCHIVE = "archive"
    GONE = "gone before it was read"
    UNREADABLE = "unreadable"
    UNINSPECTED = "in part unreadable"
    VIEW = "view"
    FOREIGN = "foreign table"
    PARTITION = "partition"
    SAMPLED = "not in the sample"
    BINARY = "binary (strings searched for secrets)"


FAILURES = frozenset({Why.UNREADABLE})
"""Reasons that make a scan incomplete."""


class Skip(NamedTuple):
    """A file, or a folder with all its files, that was not scanned."""

    path: str
    why: Why
    detail: str = ""

    @property
    def reason(self) -> str:
        return f"{self.why.value}: {self.detail}" if self.detail else self.why.value


class Tally(NamedTuple):
    """The counts of one content, or of a part of it."""

    files: int = 0
    bytes: int = 0
    accepted: int = 0


class Summary:
    """The counts of a scan; their size does not depend on the number of files."""

    def __init__(self) -> None:
        self.nouns = {"file"}
        """The noun for contents: files, objects, tables."""
        self.files = 0
        self.bytes = 0
        self.findings = 0
        self.accepted = 0
        """Findings that an allow list or a baseline accepts."""
        self.unchanged: int | None = None
        """Contents that the state knows and that were not read again; None without a state."""
        self.sample: dict[str, Any] | None = None
        """Coverage and estimates, if only a sample was scanned."""
        self.possible = 0
        """Findings that count only with high sensitivity, in the files where they were counted."""
        self.counted = 0
        """Files where possible findings were counted: short texts at the start of the scan."""
        self.types: dict[str, int] = {}
        self.skipped: dict[Why, int] = {}
        self.worst: float | None = None
        self.partial = False
        """True if the scan was stopped before its end."""
        self.is_empty = False
        """True if no file was scanned although some should have been."""
        self.remarks: list[str] = []
        """Sentences about the course of the scan."""

    def add(self, result: Result) -> None:
        self.findings += 1
        self.types[result.type] = self.types.get(result.type, 0) + 1
        if self.worst is None or result.score > self.worst:
            self.worst = result.score

    def count(self, tally: Tally) -> None:
        self.files += tally.files
        self.bytes += tally.bytes
        self.accepted += tally.accepted

    @property
    def noun(self) -> str:
        return next(iter(self.nouns)) if len(self.nouns) == 1 else "file"

    def skip(self, skip: Skip) -> None:
        self.skipped[skip.why] = self.skipped.get(skip.why, 0) + 1

    @property
    def failures(self) -> int:
        return sum(self.skipped.get(why, 0) for why in FAILURES)

    @property
    def is_complete(self) -> bool:
        """Return whether everything was scanned that should have been."""
        return not (self.partial or self.failures or self.is_empty)

    def to_dict(self) -> dict[str, object]:
        return {
            "files": self.files,
            "bytes": self.bytes,
            "findings": self.findings,
            "accepted": self.accepted,
            **({} if self.unchanged is None else {"unchanged": self.unchanged}),
            **({} if self.sample is None else {"sample": self.sample}),
            "possible": self.possible if self.counted == self.files else None,
            "types": dict(sorted(self.types.items(), key=lambda item: (-item[1], item[0]))),
            "skipped": {why.value: count for why, count in sorted(self.skipped.items())},
            "partial": self.partial,
            "complete": self.is_complete,
            "notes": self.remarks,
        }
