"""Processor time of this thread, compared with that of other work in the same run: how much more
work costs, which no number of seconds says on every machine.
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NOISE = 0.005
"""Seconds below which a measurement says nothing."""
_ATTEMPTS = 8


def seconds(work: Callable[[], object], runs: int = 3) -> float:
    """Return the processor time of the fastest run, without the garbage of other tests."""
    times = []
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(runs):
            began = time.thread_time()
            work()
            times.append(time.thread_time() - began)
    finally:
        if was_enabled:
            gc.enable()
    return min(times)


def assert_linear(
    work: Callable[[int], Callable[[], object]], size: int, *, times: int = 4, most: float = 8
) -> None:
    """Check that `times` as much work takes at most `most` times as long.

    What is too slow is measured again, and its fastest run counts: another program may have had the
    processor's cache.
    """
    once, more = work(size), work(times * size)
    spent = float("inf")
    for _ in range(_ATTEMPTS):
        allowed = most * max(seconds(once), _NOISE)
        spent = min(spent, seconds(more, runs=1))
        if spent <= allowed:
            return
    raise AssertionError(f"{times} times as much took {spent:.2f} s, more than {allowed:.2f} s")
