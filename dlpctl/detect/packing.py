"""Compile patterns in a separate process: an expression of a few characters can take minutes and
gigabytes.

The process is started afresh, never forked from this one, and its answer is validated before use.
"""

from __future__ import annotations

import json
import signal
import struct
import time
from collections.abc import Sequence
from typing import NamedTuple

from dlpctl.detect import packer
from dlpctl.detect.automaton.compiled import Block, Compiled, fields_of
from dlpctl.detect.patterns.model import Pattern
from dlpctl.errors import DlpctlError, EngineError, PatternError, StoreError
from dlpctl.processes.child import Child, EndedError, python, spawn
from dlpctl.processes.pipes import DeadlineError
from dlpctl.processes.schema import InvalidMessageError

PACKER = python("dlpctl.detect.packer")
_RECORD_FACTOR = 4
"""The record of a pattern may be up to this many times as large as its JSON."""
_LONGEST_PROBLEM = 300
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
    """Processor time, so that a machine under load refuses no more than an idle one."""
    patience: float = 120.0
    """The wall-clock time in seconds after which compiling is postponed."""
    memory_bytes: int = 1 << 30
    database_bytes: int = 4 << 20


class _Progress:
    """The costs of the patterns that were compiled one after the other."""

    def __init__(self, patterns: Sequence[Pattern], limits: PackLimits) -> None:
        self._patterns = patterns
        self._limits = limits
        self._started = -1
        self._costs: list[packer.Cost] = []

    def add(self, message: packer.Started | packer.Cost) -> None:
        costs = self._costs
        if isinstance(message, packer.Cost):
            costs.append(message)
            fits = len(costs) == self._started + 1
        else:
            fits = message.number == self._started + 1 == len(costs) < len(self._patterns)
            self._started = message.number
        if not fits:
            raise InvalidMessageError("the patterns are not compiled in their order")

    def too_large(self) -> PatternError:
        sizes = [cost.database_bytes for cost in self._costs]
        largest = self._patterns[sizes.index(max(sizes))]
        return PatternError(
            f"{_named(largest)}: is the largest of patterns that together compile to more than"
            f" {self._limits.database_bytes:,} bytes; {_ADVICE}"
        )

    def ended(self, status: int | None) -> DlpctlError:
        """Return the reason why a process ended without a result."""
        limits = self._limits
        if status == _KILLED:
            return _too_late(limits)
        if status == _TOO_LATE:
            cost = f"more than {limits.seconds} seconds"
        elif status == packer.OUT_OF_MEMORY or status in _CRASHES:
            cost = f"more than {limits.memory_bytes >> 20} MB of memory"
        else:
            return EngineError(f"the process that compiles patterns ended with status {status}")
        seconds = [cost.seconds for cost in self._costs]
        if self._started == len(seconds):
            spent = sum(seconds)
            before = f", those before it {spent:.1f} seconds" if spent >= 0.1 else ""
            pattern = self._patterns[self._started]
            return PatternError(f"{_named(pattern)}: takes {cost} to compile{before}; {_ADVICE}")
        if not seconds:
            return EngineError("the process that compiles patterns ended before it started")
        costliest = self._patterns[seconds.index(max(seconds))]
        return PatternError(
            f"{_named(costliest)}: is the costliest of patterns that together take {cost} to"
            f" compile; {_ADVICE}"
        )


def pack_apart(
    patterns: Sequence[Pattern], limits: PackLimits, command: Sequence[str] = PACKER
) -> Block:
    """Compile patterns; raise a `PatternError` that names the invalid or costly pattern."""
    fields = [json.dumps(fields_of(pattern)) for pattern in patterns]
    memory, seconds, database = map(
        int, (limits.memory_bytes, limits.seconds, limits.database_bytes)
    )
    request = packer.Pack(memory, seconds, database, fields)
    largest = limits.database_bytes + _RECORD_FACTOR * (sum(map(len, fields)) + 1_000)
    progress = _Progress(patterns, limits)
    child = spawn(command, packer.REQUEST, packer.REPLY, largest)
    try:
        packed = _result(child, request, progress, time.monotonic() + limits.patience)
        return _checked(packed, patterns)
    except DeadlineError:
        raise _too_late(limits) from None
    except EndedError:
        raise progress.ended(child.end()) from None
    except (InvalidMessageError, *_MALFORMED):
        raise EngineError(
            "the process that compiles patterns sent an answer that cannot be trusted"
        ) from None
    finally:
        child.end()


def _result(
    child: Child[packer.Pack], request: packer.Pack, progress: _Progress, deadline: float
) -> packer.Packed:
    child.send(request, deadline)
    while True:
        match child.receive(deadline):
            case packer.Problem(message):
                raise PatternError(message[:_LONGEST_PROBLEM])
            case packer.TooLarge():
                raise progress.too_large()
            case packer.Packed() as packed:
                return packed
            case message:
                progress.add(message)


def _checked(packed: packer.Packed, patterns: Sequence[Pattern]) -> Block:
    """Return the block of a process, which must be that of these patterns."""
    block = Block(*packed)
    loaded = [fields_of(record.pattern) for record in Compiled(block).records]
    if loaded != [fields_of(pattern) for pattern in patterns]:
        raise InvalidMessageError("the block is one of other patterns")
    return block


def _too_late(limits: PackLimits) -> StoreError:
    return StoreError(
        f"the patterns of a policy were not compiled within {limits.patience:g} seconds;"
        " try again later"
    )


def _named(pattern: Pattern) -> str:
    return f"{pattern.source}: pattern '{pattern.id}'"
