"""`python -m dlpctl.detect.packer MEMORY_BYTES SECONDS DATABASE_BYTES`: compiles patterns that may
be hostile.

It reads a JSON list of patterns from stdin and writes JSON objects to stdout, one a line: `{"at":
N}` before it compiles pattern N by itself, `{"seconds": S, "bytes": B}` after it, and at the end
`{"problem": TEXT}`, or `{"records": R, "database": D}` followed by so many bytes of each where
the database is not too large. `packing` starts it, and checks all that it says.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from dlpctl.errors import EngineError, PatternError

OUT_OF_MEMORY = 71
"""The exit status of a process that has no memory left to say so."""
NICENESS = 10
"""A policy that is being saved gives way to checks."""


def main(memory_bytes: int, seconds: int, database_bytes: int) -> None:
    replies = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("r+b") as nothing:
        os.dup2(nothing.fileno(), 1)  # a native library that prints must not write into the replies
    # Loaded before memory is limited.
    import hyperscan  # noqa: F401
    import re2  # noqa: F401

    from dlpctl.detect.automaton import compiled, database  # noqa: F401
    from dlpctl.detect.confirm import runner  # noqa: F401

    patterns = json.load(sys.stdin.buffer)
    _confine(memory_bytes, seconds)
    try:
        _pack(patterns, replies, database_bytes)
    except (PatternError, EngineError) as error:
        _say(replies, problem=error.message)
    except (
        MemoryError,
        SystemError,
        ImportError,
    ):  # the last two are what an interpreter without memory raises
        os._exit(OUT_OF_MEMORY)


def _pack(fields: list[dict[str, Any]], replies: IO[bytes], database_bytes: int) -> None:
    from dlpctl.detect.automaton.compiled import Compiled, pack, pattern_of
    from dlpctl.detect.confirm.runner import Runner

    patterns = [pattern_of(one) for one in fields]
    for number, pattern in enumerate(patterns):
        _say(replies, at=number)
        before = time.process_time()
        block = pack([pattern])
        Runner(Compiled(block).record(0), 0)  # what a check would find to be unusable
        _say(replies, seconds=time.process_time() - before, bytes=len(block.database))
    block = pack(patterns)
    _say(replies, records=len(block.records), database=len(block.database))
    if len(block.database) <= database_bytes:
        replies.write(block.records + block.database)
        replies.flush()


def _say(replies: IO[bytes], **message: object) -> None:
    replies.write(json.dumps(message).encode() + b"\n")
    replies.flush()


def _confine(memory_bytes: int, seconds: int) -> None:
    os.umask(0o077)
    if sys.platform == "win32":
        return
    import resource

    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    # macOS takes the call and does not hold it: there, the time limit is what ends a growing
    # process.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
