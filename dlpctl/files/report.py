"""The report on the check of a file."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.files.decided import LocatedFindings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dlpctl.preflight import Report
    from dlpctl.types import Decision


class Gap(NamedTuple):
    """A part of the file that was not inspected."""

    location: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        return {"place": self.location, "reason": self.reason}


class Coverage(NamedTuple):
    """The parts that were inspected, and those that were not."""

    format: str
    """Empty if the file could not be read at all."""
    files: int = 0
    """The number of files: the file itself and those within it."""
    texts: int = 0
    characters: int = 0
    not_inspected: tuple[Gap, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "files": self.files,
            "texts": self.texts,
            "characters": self.characters,
            "not_inspected": [gap.to_dict() for gap in self.not_inspected],
            "notes": list(self.remarks),
        }


class Verified(NamedTuple):
    """The result of inspecting the masked copy."""

    values: int
    """The number of distinct values that must be gone."""
    remaining: int
    summary: str


class FileReport(NamedTuple):
    """A report whose findings have locations, with the file's coverage and masked copy."""

    report: Report
    coverage: Coverage
    masked: bytes | None
    """The copy that may be sent, which may be the file itself; None if the file is blocked."""
    verified: Verified | None = None
    """None if nothing was masked."""
    pages: tuple[int, ...] = ()
    """The pages of a PDF that differ in the copy."""

    @property
    def decision(self) -> Decision:
        """The decision on the file."""
        return self.report.decision

    @property
    def summary(self) -> str:
        """Return a sentence about findings and decision."""
        return self.report.summary

    def places_by_type(self) -> Mapping[str, Sequence[str]]:
        """Return the distinct locations of the findings of each type."""
        findings = self.report.findings
        if isinstance(findings, LocatedFindings):
            return findings.places_by_type()
        located: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for finding in findings:
            located[finding.type][finding.locator or ""] = None
        return {name: list(distinct) for name, distinct in located.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        answer = self.report.to_dict()
        del answer["masked_content"]
        return answer | {
            "findings": [
                {
                    "type": each.type,
                    "category": each.category.value,
                    "place": each.locator,
                    "score": each.score,
                    "pattern_id": each.pattern_id,
                }
                for each in self.report.findings
            ],
            "coverage": self.coverage.to_dict(),
            "verification": None if self.verified is None else self.verified._asdict(),
        }
