"""The parts of a decoded text as columns of numbers: a long text has millions of them."""

from __future__ import annotations

from array import array

from dlpctl.texts.positions import positions


class Pieces:
    """The parts of a decoded text with their spans in the original; a decoded part has the span of
    its run.
    """

    __slots__ = ("decoded", "ends", "origins", "starts")

    def __init__(self, size: int) -> None:
        """`size` is that of the original."""
        self.starts = array("q")
        """The start of each part in the decoded text, which may be much longer."""
        self.origins, self.ends = positions(size), positions(size)
        self.decoded = bytearray()
        """True for each part that was decoded."""

    def add(self, start: int, origin: int, end: int, *, decoded: bool) -> None:
        self.starts.append(start)
        self.origins.append(origin)
        self.ends.append(end)
        self.decoded.append(decoded)
