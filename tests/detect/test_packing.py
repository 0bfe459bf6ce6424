"""Possibly hostile patterns are compiled in a separate process, whose answers are validated."""

from __future__ import annotations

import struct
import sys

import pytest

from dlpctl.detect.automaton.compiled import Block, Compiled, pack
from dlpctl.detect.engine import Detector
from dlpctl.detect.packer import REPLY, Cost, Packed, Problem, Started, TooLarge
from dlpctl.detect.packing import PACKER, PackLimits, pack_apart
from dlpctl.detect.patterns.library import parse_file
from dlpctl.errors import EngineError, PatternError, StoreError
from dlpctl.processes.schema import TEXT, encode

BADGE = r"\bAC-(?P<value>[0-9]{8})\b"
HEAVY = r"x(?:.{1,30}[ya]){1,30}z"
LARGE = r"(?:(?:a|b|c|d)x?){900}"


def _patterns(*regexes, **more):
    tables = [
        {
            "id": f"p-{number}",
            "type": f"P_{number}",
            "category": "CUSTOM",
            "label": "P",
            "regex": regex,
            "score": 0.8,
        }
        | more
        for number, regex in enumerate(regexes)
    ]
    return parse_file({"pattern": tables}, "customPatterns")


def test_the_result_equals_that_of_this_process():
    context = {"words": ["badge"], "score": 0.9, "against": ["order"]}
    patterns = _patterns(
        BADGE, "[a-z]{3}é", context=context, keywords=["k"], validators=["luhn"], width=30
    )
    assert pack_apart(patterns, PackLimits()) == pack(patterns)
    badge = _patterns(BADGE)
    detector = Detector(patterns=_patterns("[0-9]{3}y", id="other"))
    wider = detector.extended(badge, Compiled(pack_apart(badge, PackLimits())))
    assert [one.type for one in wider.scan("AC-12345674 and 123y")] == ["P_0", "P_0"]


def test_a_pattern_that_takes_too_long_is_named():
    with pytest.raises(
        PatternError, match=r"^customPatterns: pattern 'p-1': takes more than 1 seconds"
    ):
        pack_apart(_patterns(BADGE, HEAVY, BADGE.replace("AC", "BD")), PackLimits(seconds=1))


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ((0, 0.5, 1, 0.25), "'p-0': is the costliest of patterns that together take more than 1"),
        ((0, 0.5, 1, 0.25, 2), "'p-2': takes more than 1 seconds to compile, those before it 0.8"),
        ((0, 0.01, 1), "'p-1': takes more than 1 seconds to compile; write"),
    ],
)
def test_patterns_that_take_too_long_together_name_one(messages, reason):
    """Messages are the start of a pattern, by its number, and the seconds that it took."""
    sent = b"".join(
        _framed(Started(each) if index % 2 == 0 else Cost(each, 5))
        for index, each in enumerate(messages)
    )
    code = f"sys.stdout.buffer.write({sent!r}); sys.stdout.flush(); os.kill(os.getpid(), 24)"
    with pytest.raises(PatternError, match=reason):
        pack_apart(_patterns(BADGE, "b", "c"), PackLimits(seconds=1), _hijacked(code))


def _framed(message):
    data = encode(REPLY, message)
    return struct.pack("<Q", len(data)) + data


def test_patterns_that_compile_to_too_much_name_the_largest():
    with pytest.raises(PatternError, match="'p-1': is the largest of patterns that together"):
        pack_apart(_patterns(BADGE, LARGE), PackLimits(database_bytes=20_000))


@pytest.mark.parametrize(
    ("regex", "reason"),
    [("(?=x)y", "lookaround"), ("a*", "matches the empty text"), ("(", "is not valid")],
)
def test_unusable_patterns_are_refused_with_the_reason(regex, reason):
    with pytest.raises(PatternError, match=f"pattern 'p-1': regex: .*{reason}"):
        pack_apart(_patterns(BADGE, regex), PackLimits())


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are held there")
def test_memory_is_limited():
    limits = PackLimits(memory_bytes=1 << 20)
    with pytest.raises(PatternError, match="takes more than 1 MB of memory"):
        pack_apart(_patterns(HEAVY), limits)


def test_a_process_that_does_not_answer_is_ended_and_tried_again_later():
    command = (sys.executable, "-c", "import time; time.sleep(600)")
    with pytest.raises(StoreError, match="try again later"):
        pack_apart(_patterns(BADGE), PackLimits(patience=0.2), command)


def _hijacked(code):
    return (sys.executable, "-c", f"import os, struct, sys, pickle\n{_SAY}{code}")


_SAY = """
def frame(message):
    sys.stdout.buffer.write(struct.pack("<Q", len(message)) + message)
    sys.stdout.flush()
"""
_LIES = {
    "nothing": "",
    "garbage": "frame(bytes(range(256)) * 20)",
    "a pickle": "frame(pickle.dumps(print))",
    "an unknown message": "frame(b'?')",
    "a message that is cut off": "frame(b's')",
    "a huge size": "sys.stdout.buffer.write(b'\\xff' * 100)",
    "a huge length within": "frame(b'p' + b'\\xff' * 8)",
    "a cost that is no number": "frame(b'c' + struct.pack('<dq', float('nan'), 1))",
    "a pattern that is not there": f"frame({encode(REPLY, Started(70))!r}); os.kill(os.getpid(), 24)",
    "a pattern below zero": f"frame({encode(REPLY, Started(-5))!r}); os.kill(os.getpid(), 24)",
    "a cost without a start": f"frame({encode(REPLY, Cost(1.0, 5))!r})",
    "costs without an end": f"while True: frame({encode(REPLY, Cost(1.0, 5))!r})",
    "starts without an end": f"while True: frame({encode(REPLY, Started(0))!r})",
    "too large without a cost": f"frame({encode(REPLY, TooLarge())!r})",
    "no end": "while True: sys.stdout.buffer.write(bytes(1 << 20))",
    "an exit status": "sys.exit(3)",
    "a signal before the start": "os.kill(os.getpid(), 24)",
}


@pytest.mark.parametrize("code", _LIES.values(), ids=_LIES)
def test_a_hijacked_process_can_refuse_and_nothing_else(code):
    with pytest.raises(EngineError):
        pack_apart(_patterns(BADGE), PackLimits(), _hijacked(code))


def _answering(records, database):
    return _hijacked(f"frame({encode(REPLY, Packed(records, database))!r})")


def test_a_hijacked_process_cannot_put_other_patterns_in_the_place_of_these():
    ours, others = pack(_patterns(BADGE)), pack(_patterns("never"))
    lies = (
        others,
        Block(others.records, ours.database),
        Block(ours.records, b"x" * 50),
        Block(b"", b""),
    )
    for lie in lies:
        with pytest.raises(EngineError):
            pack_apart(_patterns(BADGE), PackLimits(), _answering(*lie))
    assert pack_apart(_patterns(BADGE), PackLimits(), _answering(*ours)) == ours


def test_a_reason_that_a_hijacked_process_gives_is_one_short_line():
    problem = encode(REPLY, Problem("x" * 1_000))
    with pytest.raises(PatternError) as caught:
        pack_apart(_patterns(BADGE), PackLimits(), _hijacked(f"frame({problem!r})"))
    assert len(caught.value.message) <= 300
    obeyed = b"p" + encode(TEXT, "x\n\x1b[31m")
    with pytest.raises(EngineError, match="cannot be trusted"):
        pack_apart(_patterns(BADGE), PackLimits(), _hijacked(f"frame({obeyed!r})"))


def test_limits_reach_the_process_as_numbers():
    with pytest.raises((ValueError, TypeError)):
        pack_apart(_patterns(BADGE), PackLimits(memory_bytes="1); print(1"))  # type: ignore[arg-type]
    assert PACKER[1:] == ("-P", "-m", "dlpctl.detect.packer")
