"""The unit of work of a scan: a content, or a range of a large one, as plain data with a key.

A task holds several units. The outcome of a unit does not depend on where or when it is processed,
so it can be stored under its key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from itertools import chain

from dlpctl.regex import lazy
from dlpctl.scan.content import Ending
from dlpctl.scan.packing import packed, unpacked
from dlpctl.scan.reader import PART, Outcome, Task
from dlpctl.scan.results import Result, Skip, Tally, Why
from dlpctl.scan.source import File, Source

_NOTHING = lazy(r"\[\d+, \d+, \d+, \[\], \[\],")


def units_of(task: Task) -> list[Task]:
    """Return a task for each unit of a task of files."""
    if task.inputs == PART:
        return [task]
    return [task._replace(items=[item]) for item in task.items]


def joined(units: Sequence[Task]) -> Task:
    """Return one task for units of the same task."""
    if units[0].inputs == PART:
        return units[0]
    return units[0]._replace(items=[unit.items[0] for unit in units])


def file_of(unit: Task) -> File:
    return File(*unit.items[0])


def key_of(unit: Task, source: Source) -> str:
    """Return the key of a unit from its address, version and range; empty if it has no version."""
    file = file_of(unit)
    if not file.version:
        return ""
    of_range = unit.items[1:] if unit.inputs == PART else ()
    named = (unit.inputs, source.key(file), file.shown, file.version, file.size, *of_range)
    return blake2b(json.dumps(named).encode(), digest_size=16).hexdigest()


def outcomes_of(task: Task, outcome: Outcome) -> list[Outcome]:
    """Return the outcome of each unit of a task; the first has the counts of the whole task."""
    if task.inputs == PART or len(task.items) == 1:
        return [outcome]
    results: dict[str, list[Result]] = {}
    skipped: dict[str, list[Skip]] = {}
    for result in outcome.results:
        results.setdefault(result.path, []).append(result)
    for skip in outcome.skipped:
        skipped.setdefault(skip.path, []).append(skip)
    outcomes = [
        Outcome(*tally, results.pop(shown, []), skipped.pop(shown, []), tallies=[tally])
        for (_, shown, *_), tally in zip(task.items, outcome.tallies, strict=True)
    ]
    outcomes[0] = outcomes[0]._replace(possible=outcome.possible, counted=outcome.counted)
    return outcomes


def total_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a task from those of its units."""
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(
        sum(each.files for each in outcomes),
        sum(each.bytes for each in outcomes),
        sum(each.accepted for each in outcomes),
        chain.from_iterable(each.results for each in outcomes),
        list(chain.from_iterable(each.skipped for each in outcomes)),
        possible=sum(each.possible for each in outcomes),
        counted=sum(each.counted for each in outcomes),
        tallies=list(chain.from_iterable(each.tallies for each in outcomes)),
    )


def encoded(outcome: Outcome) -> str:
    """Return an outcome as one line of JSON."""
    files, size, accepted, results, *others = outcome
    return json.dumps((files, size, accepted, packed(results), *others))


def has_nothing(line: str) -> bool:
    """Return whether an encoded outcome has neither results nor skips, without decoding it."""
    return _NOTHING.match(line) is not None


def decoded(line: str) -> Outcome:
    return _outcome(*json.loads(line))


def _outcome(
    files: int,
    size: int,
    accepted: int,
    results: Sequence[Sequence[object] | str],
    skipped: Sequence[Sequence[str]],
    ending: Sequence[int],
    possible: int,
    counted: int,
    tallies: Sequence[Sequence[int]],
) -> Outcome:
    return Outcome(
        files,
        size,
        accepted,
        unpacked(results),
        [Skip(path, Why(why), detail) for path, why, detail in skipped],
        Ending(*ending),
        possible,
        counted,
        [Tally(*tally) for tally in tallies],
    )
