"""The contents of a stream, as a format reads them."""

from __future__ import annotations

from dataclasses import dataclass, field

from dlpctl.formats.interface import Child, Uninspected
from dlpctl.formats.office.reading import Reading, Spot


@dataclass(slots=True)
class Part:
    """The contents of a stream that were read, and those that were not."""

    readings: list[tuple[Reading, Spot]] = field(default_factory=list)
    known: list[tuple[int, int]] = field(default_factory=list)
    """The ranges of the stream that the readings show, or that hold no text."""
    uninspected: list[Uninspected] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    is_file: bool = False
    """True if the only child is all of the stream."""
