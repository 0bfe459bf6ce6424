"""The answer to a check of a text: its report, and the detections in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.operators.partial import sample
from dlpctl.policy.summary import SEVERITY
from dlpctl.types import PHI_TYPE, Category, Decision, Detection, Finding

if TYPE_CHECKING:
    from dlpctl.policy.decide import Tally


class Report(NamedTuple):
    """The answer to a check, as the service's interface defines it."""

    preflight_id: str
    decision: Decision
    summary: str
    detected: tuple[Detection, ...]
    masked_content: str | None
    policy_version: str
    created_at: str
    findings: Sequence[Finding]

    def to_dict(self, *, findings: bool = False) -> dict[str, Any]:
        """Return the JSON of the command line, also with the positions of the findings."""
        answer: dict[str, Any] = {
            "preflight_id": self.preflight_id,
            "decision": self.decision.value,
            "summary": self.summary,
            "detected": [
                {"type": detection.type, "count": detection.occurrences, "sample": detection.sample}
                for detection in self.detected
            ],
            "masked_content": self.masked_content,
            "policy_version": self.policy_version,
            "created_at": self.created_at,
        }
        if findings:
            answer["findings"] = [finding_to_dict(finding) for finding in self.findings]
        return answer


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    shown = {
        "type": finding.type,
        "category": finding.category.value,
        "start": finding.start,
        "end": finding.end,
        "score": finding.score,
        "pattern_id": finding.pattern_id,
    }
    return shown if finding.locator is None else shown | {"locator": finding.locator}


def detections(text: str, tallies: Iterable[Tally]) -> tuple[Detection, ...]:
    """Findings by type, the worst to leak first."""
    counts: Counter[str] = Counter()
    firsts: dict[str, Finding] = {}
    for first, _, count in tallies:
        counts[first.type] += count
        known = firsts.setdefault(first.type, first)
        if first.start < known.start:
            firsts[first.type] = first
    ordered = sorted(
        firsts.items(),
        key=lambda item: (SEVERITY.index(item[1].category), -counts[item[0]], item[0]),
    )
    return tuple(
        Detection(
            name,
            counts[name],
            sample(name, detection.category, text[detection.start : detection.end]),
        )
        for name, detection in ordered
    )


def interface_detections(report: Report) -> tuple[Detection, ...]:
    """Return what was detected, with health data as one type without a sample."""
    health = Counter(
        detection.type for detection in report.findings if detection.category is Category.PHI
    )
    if not health:
        return report.detected
    detected: list[Detection] = []
    for detection in report.detected:
        if health[detection.type] and not any(other.type == PHI_TYPE for other in detected):
            detected.append(Detection(PHI_TYPE, health.total(), None))
        if detection.occurrences > health[detection.type]:
            detected.append(
                detection._replace(occurrences=detection.occurrences - health[detection.type])
            )
    return tuple(detected)


def written_now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
