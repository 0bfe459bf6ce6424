"""The interface of derived texts, which every module of this package implements."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dlpctl.detect.resolve import Candidate

LabelScore = Callable[[int, bytes], float | None]
"""The score that a pattern gives to a value right after a label, if the label decides it."""


class DerivedText:
    """A text in UTF-8 that is searched like the one it is derived from."""

    data: bytes

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the original; None where nothing is to be reported."""
        raise NotImplementedError

    def settle(self, found: list[Candidate], label_score: LabelScore) -> None:
        """Give candidates of the original the scores that this text gives them, so that fewer
        matches need to be confirmed.
        """

    def open_ends(self, ends: list[int], best: float, proven: bool, pattern: int) -> list[int]:
        """Return those ends of a pattern's trigger matches that may change what is found; `best` is
        the pattern's best score.
        """
        return ends

    def holders(self) -> Iterable[Candidate]:
        """Return the candidates of the original that settle something, where they are in here."""
        return ()
