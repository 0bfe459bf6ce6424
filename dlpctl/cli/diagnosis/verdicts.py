"""Verdicts of a diagnosis: the state of a subject, and the command that repairs it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Something optional is missing."""
    WARNING = "warning"
    ERROR = "error"


class Verdict(NamedTuple):
    subject: str
    state: State
    message: str
    remedy: str = ""
    """A command that helps, if any."""

    def to_dict(self) -> dict[str, str | None]:
        return {
            "subject": self.subject,
            "state": self.state,
            "said": self.message,
            "remedy": self.remedy or None,
        }


def ok(subject: str, message: str) -> Verdict:
    return Verdict(subject, State.OK, message)


def noted(subject: str, message: str, remedy: str = "") -> Verdict:
    return Verdict(subject, State.NOTE, message, remedy)


def warning(subject: str, message: str, remedy: str = "") -> Verdict:
    return Verdict(subject, State.WARNING, message, remedy)


def error(subject: str, message: str, remedy: str = "") -> Verdict:
    return Verdict(subject, State.ERROR, message, remedy)
