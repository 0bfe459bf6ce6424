"""Mask texts, columns and files until their copy is clean: the one loop for all of them.

A round masks and inspects, and what remains decides how masking continues. A finding that appears
only in the copy, since an overlapping one or its neighbors hid it, is masked there by the next
round. A masked value that remains elsewhere makes masking start over from the original, once.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

Copy = TypeVar("Copy")
Evidence = TypeVar("Evidence")

ROUNDS = 6
"""The maximum number of rounds for the original, and again when masking starts over."""
_ROUNDS_BY_POLICY = 2


class Residue(Enum):
    """The content that should be gone from a copy."""

    NOTHING = "nothing"
    FINDING = "a finding that appears only in the copy"
    VALUE = "a value that was masked"
    UNKNOWN = "the copy cannot be inspected"


class Round(NamedTuple, Generic[Copy, Evidence]):
    """The result of one round."""

    copy: Copy
    residue: Residue
    evidence: Evidence
    """The findings of the inspection, for the reason to reject the copy."""


def keeps_shape(number: int) -> bool:
    """Return whether a round uses the operators of the policy; all later ones redact.

    The initials of one name may make the next word look like another, and so on.
    """
    return number < _ROUNDS_BY_POLICY


def mask_until_clean(
    mask: Callable[[Copy | None, int], Round[Copy, Evidence]], start_over: Callable[[], None]
) -> Round[Copy, Evidence]:
    """Return the last round; its copy may be used only if its residue is `NOTHING`.

    `mask` takes the copy of the round before, or None for the original, and the number of the
    round. `start_over` prepares to mask the original again, with the repetitions of its values.
    """
    done = mask_in_rounds(mask)
    if done.residue is Residue.VALUE:
        start_over()
        done = mask_in_rounds(mask)
    return done


def mask_in_rounds(
    mask: Callable[[Copy | None, int], Round[Copy, Evidence]],
) -> Round[Copy, Evidence]:
    """Return the last round, without starting over."""
    done = mask(None, 0)
    for number in range(1, ROUNDS):
        if done.residue is not Residue.FINDING:
            break
        done = mask(done.copy, number)
    return done
