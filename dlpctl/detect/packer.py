"""The process that compiles possibly hostile patterns, and its messages.

`packing` starts it as `python -P -m dlpctl.detect.packer`, and validates everything that it sends.
The process reads one request and reports its progress pattern by pattern, so that the costly
pattern is known if the process is killed.
"""

from __future__ import annotations

import json
import os
import time
from typing import NamedTuple

from dlpctl.errors import EngineError, PatternError
from dlpctl.processes import confinement
from dlpctl.processes.parent import Parent
from dlpctl.processes.schema import Line, OneOf, Record

OUT_OF_MEMORY = 71
"""The exit status of a process that has no memory left for a message."""
NICENESS = 10
"""Saving a policy yields to checks."""


class Pack(NamedTuple):
    """A request to compile patterns within these limits."""

    memory_bytes: int
    seconds: int
    database_bytes: int
    patterns: list[str]
    """The fields of each pattern, as JSON."""


class Started(NamedTuple):
    """The pattern with this number is being compiled by itself."""

    number: int


class Cost(NamedTuple):
    """The cost of the pattern that was started last."""

    seconds: float
    database_bytes: int


class Problem(NamedTuple):
    """The patterns are not usable."""

    message: Line


class TooLarge(NamedTuple):
    """The patterns together compile to more than the limit."""


class Packed(NamedTuple):
    """The compiled patterns."""

    records: bytes
    database: bytes


REQUEST = Record(Pack)
REPLY = OneOf(
    s=Record(Started), c=Record(Cost), p=Record(Problem), l=Record(TooLarge), d=Record(Packed)
)


def main() -> None:
    parent = Parent(REQUEST, REPLY)
    # Imported before memory is limited.
    import hyperscan  # noqa: F401
    import re2  # noqa: F401

    from dlpctl.detect.automaton import compiled, database  # noqa: F401
    from dlpctl.detect.confirm import runner  # noqa: F401

    request = parent.receive()
    try:
        confinement.confine(request.memory_bytes, folder="")
        if hasattr(os, "nice"):
            os.nice(NICENESS)  # after the session has its priority, which must stay the usual one
        confinement.limit_processor_time(request.seconds, spare=0)
        _pack(request, parent)
    except (PatternError, EngineError) as error:
        parent.send(Problem(error.message))
    except (MemoryError, SystemError, ImportError):  # also from an interpreter without memory
        os._exit(OUT_OF_MEMORY)


def _pack(request: Pack, parent: Parent[Pack]) -> None:
    from dlpctl.detect.automaton.compiled import Compiled, pack, pattern_of
    from dlpctl.detect.confirm.runner import Runner

    patterns = [pattern_of(json.loads(fields)) for fields in request.patterns]
    for number, pattern in enumerate(patterns):
        parent.send(Started(number))
        before = time.process_time()
        block = pack([pattern])
        Runner(Compiled(block).record(0), 0)  # raises for patterns that a check could not use
        parent.send(Cost(time.process_time() - before, len(block.database)))
    block = pack(patterns)
    is_too_large = len(block.database) > request.database_bytes
    parent.send(TooLarge() if is_too_large else Packed(block.records, block.database))


if __name__ == "__main__":
    main()
