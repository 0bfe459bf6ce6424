"""Advice on findings, for reports that have room for it."""

from __future__ import annotations

from dlpctl.detect.patterns.rotation import Rotation, rotation_of
from dlpctl.scan.results import Result

_BY_CATEGORY = {
    "SECRETS": (
        "Anyone who could read this file or the history of its repository may have it. Keep the new"
        " one in the environment or in a secret store."
    ),
    "PII": (
        "Remove it, or replace it by generated data: 'dlpctl mask --operator surrogate' does that."
        " If it must stay, add an exception that says who answers for it and until when."
    ),
    "PHI": (
        "Health data must only be where it is needed. Remove it, or mask the file with 'dlpctl"
        " mask', and ask whoever is responsible for privacy whether this has to be reported."
    ),
    "FINANCIAL": (
        "Remove it, or mask it with 'dlpctl mask'. Card numbers must never be kept in the clear;"
        " test data should use the numbers that the networks publish for tests."
    ),
    "CUSTOM": "Your organization defined this pattern: do what its policy says.",
}
_ACCEPT = (
    "To accept this finding: dlpctl allow FILE:LINE --reason TEXT. Lines with 'dlpctl:allow' are"
    " accepted, and so are the values in the table [allow] of the settings."
)


def advice(result: Result) -> str:
    how = rotation(result)
    first = "" if how is None else " ".join(filter(None, (how.advice, how.page, how.command))) + " "
    return f"{first}{_BY_CATEGORY[result.category]} {_ACCEPT}"


def rotation(result: Result) -> Rotation | None:
    """Return how a secret is revoked and replaced; None for other findings."""
    return rotation_of(result.pattern_id, result.type) if result.category == "SECRETS" else None


class Rotations:
    """The rotation advice for the secrets of a scan, by pattern."""

    def __init__(self) -> None:
        self._of_pattern: dict[str, dict[str, str]] = {}

    def add(self, result: Result) -> None:
        if result.pattern_id not in self._of_pattern and (how := rotation(result)):
            self._of_pattern[result.pattern_id] = how.to_dict()

    def to_dict(self) -> dict[str, dict[str, dict[str, str]]]:
        """Return the advice as JSON data under the key `rotation`, if there is any."""
        return {"rotation": self._of_pattern} if self._of_pattern else {}
