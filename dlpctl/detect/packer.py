"""The process that compiles patterns which may be hostile, and its messages.

`packing` starts it as `python -P -m dlpctl.detect.packer`, and checks all that it sends. It reads
one request and tells its progress pattern by pattern, so that the costly one is known if it is
ended.
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
"""A policy that is being saved gives way to checks."""


class Pack(NamedTuple):
    """Compile patterns within these limits."""

    memory_bytes: int
    seconds: int
    database_bytes: int
    patterns: list[str]
    """The fields of each, as JSON."""


class Started(NamedTuple):
    """The pattern of this number is compiled by itself."""

    number: int


class Cost(NamedTuple):
    """The cost of the pattern that was started last."""

    seconds: float
    database_bytes: int


class Problem(NamedTuple):
    """The patterns cannot be used."""

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
    # Loaded before memory is limited.
    import hyperscan  # noqa: F401
    import re2  # noqa: F401

    from dlpctl.detect.automaton import compiled, database  # noqa: F401
    from dlpctl.detect.confirm import runner  # noqa: F401

    request = parent.receive()
    try:
        confinement.confine(request.memory_bytes, folder="")
        if hasattr(os, "nice"):
            os.nice(NICENESS)  # after the session has its priority, which is to stay the usual one
        confinement.limit_processor_time(request.seconds, spare=0)
        _pack(request, parent)
    except (PatternError, EngineError) as error:
        parent.send(Problem(error.message))
    except (MemoryError, SystemError, ImportError):  # also of an interpreter without memory
        os._exit(OUT_OF_MEMORY)


def _pack(request: Pack, parent: Parent[Pack]) -> None:
    from dlpctl.detect.automaton.compiled import Compiled, pack, pattern_of
    from dlpctl.detect.confirm.runner import Runner

    patterns = [pattern_of(json.loads(fields)) for fields in request.patterns]
    for number, pattern in enumerate(patterns):
        parent.send(Started(number))
        before = time.process_time()
        block = pack([pattern])
        Runner(Compiled(block).record(0), 0)  # raises what a check would find to be unusable
        parent.send(Cost(time.process_time() - before, len(block.database)))
    block = pack(patterns)
    is_too_large = len(block.database) > request.database_bytes
    parent.send(TooLarge() if is_too_large else Packed(block.records, block.database))


if __name__ == "__main__":
    main()
