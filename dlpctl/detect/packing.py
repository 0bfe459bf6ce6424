"""Compiles patterns in a process of their own: a short expression can take minutes and gigabytes.

The process is started afresh, never forked from this one. It replies with plain data, which is
checked before it is used.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from dlpctl.detect.automaton.compiled import Block, Compiled, fields_of
from dlpctl.detect.packer import OUT_OF_MEMORY
from dlpctl.detect.patterns.model import Pattern
from dlpctl.errors import EngineError, PatternError, StoreError

_KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")
_LINE_BYTES = 200
_RECORD_BYTES = 4
"""Times as many bytes as its JSON may a record of a pattern have."""
_SHOWN = 300
_ADVICE = "write shorter repetitions, or fewer patterns"
_KILLED, _TOO_LATE, *_CRASHES = (
    -getattr(signal, name, 1_000) for name in ("SIGKILL", "SIGXCPU", "SIGABRT", "SIGSEGV", "SIGBUS")
)
_MALFORMED = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    struct.error,
    EngineError,
)


class PackLimits(NamedTuple):
    """Limits of the cost of compiling the patterns of one policy."""

    seconds: int = 10
    """Of processor time, so that a machine under load refuses no more than an idle one."""
    patience: float = 120.0
    """Seconds by the clock after which compiling is put off."""
    memory_bytes: int = 1 << 30
    database_bytes: int = 4 << 20


class _Progress(NamedTuple):
    """The progress of compiling one pattern after the other."""

    at: int = -1
    costs: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()

    def heard(self, message: dict[str, Any]) -> _Progress:
        if "at" in message:
            return self._replace(at=int(message["at"]))
        costs = (*self.costs, float(message["seconds"]))
        return self._replace(costs=costs, sizes=(*self.sizes, int(message["bytes"])))


# -P: nothing is imported from the working directory. Limits follow as arguments of their own.
PACKER = (sys.executable, "-P", "-m", "dlpctl.detect.packer")


def pack_apart(
    patterns: Sequence[Pattern], limits: PackLimits, command: Sequence[str] = PACKER
) -> Block:
    """Compile patterns; raises `PatternError`, which names the unusable or costly one."""
    request = json.dumps([fields_of(pattern) for pattern in patterns]).encode()
    most = (
        limits.database_bytes
        + _RECORD_BYTES * (len(request) + 1_000)
        + 3 * _LINE_BYTES * len(patterns)
    )
    reply, status = _ask(command, request, limits, most)
    try:
        return _understood(reply, status, patterns, limits)
    except _MALFORMED:
        raise EngineError(
            "the process that compiles patterns gave an answer that cannot be trusted"
        ) from None


def _ask(
    command: Sequence[str], request: bytes, limits: PackLimits, most: int
) -> tuple[bytes, int]:
    """Return the reply, of which no more than `most` bytes are read, and the exit status."""
    environment = {key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [
            *command,
            *(
                str(int(limit))
                for limit in (limits.memory_bytes, limits.seconds, limits.database_bytes)
            ),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        process.kill()

    watchdog = threading.Timer(limits.patience, expire)
    watchdog.daemon = True
    watchdog.start()
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(request)
                process.stdin.close()
            reply = process.stdout.read(most + 1)
            if len(reply) <= most:
                process.wait()
        finally:
            process.kill()
            watchdog.cancel()
    if len(reply) > most:
        raise EngineError("the process that compiles patterns says more than it may")
    if expired.is_set() or process.returncode == _KILLED:
        raise StoreError(
            f"the patterns of a policy were not compiled within {limits.patience:g} seconds; try again later"
        )
    return reply, process.returncode


def _understood(
    reply: bytes, status: int, patterns: Sequence[Pattern], limits: PackLimits
) -> Block:
    progress = _Progress()
    rest = reply
    while rest:
        line, _, rest = rest.partition(b"\n")
        message = json.loads(line)
        if "problem" in message:
            raise PatternError(_one_line(str(message["problem"])))
        if "database" in message:
            return _block(message, rest, patterns, progress, limits)
        progress = progress.heard(message)
    raise PatternError(_why(status, patterns, progress, limits))


def _block(
    message: dict[str, Any],
    data: bytes,
    patterns: Sequence[Pattern],
    progress: _Progress,
    limits: PackLimits,
) -> Block:
    if int(message["database"]) > limits.database_bytes:
        largest = patterns[progress.sizes.index(max(progress.sizes))]
        raise PatternError(
            f"{_named(largest)}: is the largest of patterns that together compile to more than"
            f" {limits.database_bytes:,} bytes; {_ADVICE}"
        )
    size = int(message["records"])
    block = Block(data[:size], data[size:])
    if len(data) != size + int(message["database"]):
        raise ValueError("cut off")
    loaded = [fields_of(record.pattern) for record in Compiled(block).records]
    if loaded != [fields_of(pattern) for pattern in patterns]:
        raise ValueError("of other patterns")
    return block


def _why(status: int, patterns: Sequence[Pattern], progress: _Progress, limits: PackLimits) -> str:
    """Return why a process that compiled ended without a result."""
    if status == _TOO_LATE:
        what = f"more than {limits.seconds} seconds"
    elif status == OUT_OF_MEMORY or status in _CRASHES:
        what = f"more than {limits.memory_bytes >> 20} MB of memory"
    else:
        raise EngineError(f"the process that compiles patterns ended with status {status}")
    if progress.at == len(progress.costs):
        spent = sum(progress.costs)
        before = f", those before it {spent:.1f} seconds" if spent >= 0.1 else ""
        return f"{_named(patterns[progress.at])}: takes {what} to compile{before}; {_ADVICE}"
    costliest = progress.costs.index(max(progress.costs))
    return (
        f"{_named(patterns[costliest])}: is the costliest of patterns that together take {what} to compile;"
        f" {_ADVICE}"
    )


def _named(pattern: Pattern) -> str:
    return f"{pattern.source}: pattern '{pattern.id}'"


def _one_line(text: str) -> str:
    return "".join(character for character in text if character.isprintable())[:_SHOWN]
