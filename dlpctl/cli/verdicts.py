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
    said: str
    remedy: str = ""
    """A command that helps, if any."""


def ok(subject: str, said: str) -> Verdict:
    return Verdict(subject, State.OK, said)


def note(subject: str, said: str, remedy: str = "") -> Verdict:
    return Verdict(subject, State.NOTE, said, remedy)


def warning(subject: str, said: str, remedy: str = "") -> Verdict:
    return Verdict(subject, State.WARNING, said, remedy)


def error(subject: str, said: str, remedy: str = "") -> Verdict:
    return Verdict(subject, State.ERROR, said, remedy)
