"""Verdicts on values that several patterns judge one after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_MOST = 1 << 15
"""The most verdicts of a judge, which take some megabytes: a megabyte has no more keys."""
VerdictT = TypeVar("VerdictT")


def remembered(judge: Callable[..., VerdictT]) -> Callable[..., VerdictT]:
    """Return a function that judges the same texts once. It keeps only their keyed hashes."""
    verdicts: dict[int, VerdictT] = {}

    @wraps(judge)
    def verdict_on(*texts: Any) -> VerdictT:
        key = hash(texts)
        verdict = verdicts.get(key)
        if verdict is None:
            verdict = judge(*texts)
            if len(verdicts) >= _MOST:
                verdicts.clear()
            verdicts[key] = verdict
        return verdict

    return verdict_on
