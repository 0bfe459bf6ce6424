"""Search many texts in batches, with several processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from dlpctl.system.forked import LeaveToFork, in_order
from dlpctl.types import Category, Finding

_BATCH_CHARACTERS = 1 << 16
_ROUND_TEXTS = 1 << 16
"""The number of texts in memory at the same time."""

Scan = Callable[[str], list[Finding]]


def scan_many(scan: Scan, texts: Iterable[str], processes: int) -> Iterator[list[Finding]]:
    """Yield the findings in each text, in the order of the texts."""
    processes = LeaveToFork(processes).processes()
    if processes < 2:
        yield from map(scan, texts)
        return
    remaining = iter(texts)
    while some := list(islice(remaining, _ROUND_TEXTS)):
        yield from _scan_round(scan, some, processes)


def _scan_round(scan: Scan, texts: list[str], processes: int) -> Iterator[list[Finding]]:
    borders = [0]
    size = 0
    for number, text in enumerate(texts, start=1):
        size += len(text)
        if size >= _BATCH_CHARACTERS or number == len(texts):
            borders.append(number)
            size = 0

    def search(task: bytes) -> bytes:
        first, last = borders[int(task)], borders[int(task) + 1]
        return json.dumps([scan(text) for text in texts[first:last]]).encode()

    for found in in_order(len(borders) - 1, lambda number: b"%d" % number, search, processes):
        for plain in json.loads(found):
            yield [Finding(name, Category(category), *rest) for name, category, *rest in plain]
