"""Patterns that may be hostile are compiled in a process of their own, whose answers are checked."""

from __future__ import annotations

import json
import sys

import pytest

from dlpctl.detect.automaton.compiled import Block, Compiled, pack
from dlpctl.detect.engine import Detector
from dlpctl.detect.packing import PACKER, PackLimits, pack_apart
from dlpctl.detect.patterns.library import parse_file
from dlpctl.errors import EngineError, PatternError, StoreError

BADGE = r"\bAC-(?P<value>[0-9]{8})\b"
HEAVY = r"x.{1,900}y[ab].{1,900}z"
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


def test_the_result_is_what_this_process_would_have_made():
    context = {"words": ["badge"], "score": 0.9, "against": ["order"]}
    patterns = _patterns(
        BADGE, "[a-z]{3}é", context=context, keywords=["k"], validators=["luhn"], width=30
    )
    assert pack_apart(patterns, PackLimits()) == pack(patterns)
    badge = _patterns(BADGE)
    detector = Detector(patterns=_patterns("[0-9]{3}y", id="other"))
    wider = detector.extended(badge, Compiled(pack_apart(badge, PackLimits())))
    assert [one.type for one in wider.scan("AC-12345674 and 123y")] == ["P_0", "P_0"]


def test_what_takes_too_long_is_refused_by_its_name():
    with pytest.raises(
        PatternError, match=r"^customPatterns: pattern 'p-1': takes more than 1 seconds"
    ):
        pack_apart(_patterns(BADGE, HEAVY, BADGE + "x"), PackLimits(seconds=1))


def test_what_takes_too_long_together_names_the_costliest():
    many = [rf"q{number}.{{1,30}}y[ab].{{1,30}}z" for number in range(150)]
    with pytest.raises(PatternError, match="takes more than 1 seconds to compile, those before it"):
        pack_apart(_patterns(BADGE, *many), PackLimits(seconds=1))


def test_what_compiles_to_too_much_names_the_largest():
    with pytest.raises(PatternError, match="'p-1': is the largest of patterns that together"):
        pack_apart(_patterns(BADGE, LARGE), PackLimits(database_bytes=20_000))


@pytest.mark.parametrize(
    ("regex", "reason"),
    [("(?=x)y", "lookaround"), ("a*", "matches the empty text"), ("(", "is not valid")],
)
def test_what_cannot_be_used_is_refused_with_the_reason(regex, reason):
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
    return (sys.executable, "-c", f"import json, os, sys, pickle\nout = sys.stdout.buffer\n{code}")


_LIES = {
    "nothing": "",
    "garbage": "out.write(os.urandom(5000))",
    "a pickle": "out.write(pickle.dumps(print))",
    "no object": "out.write(b'[1]\\n')",
    "other fields": 'out.write(b\'{"run": "x"}\\n\')',
    "text for numbers": 'out.write(b\'{"records": "__import__", "database": "x"}\\n\')',
    "a huge size": 'out.write(b\'{"records": 99999999999, "database": 5}\\nhello\')',
    "negative sizes": 'out.write(b\'{"records": -5, "database": -5}\\nhello\')',
    "a number for infinity": "out.write(b'{\"at\": 1e999}\\n')",
    "nesting": "out.write(b'[' * 100000)",
    "no end": "\nwhile True: out.write(bytes(1 << 20))",
    "an exit status": "sys.exit(3)",
    "a place that is not there": "out.write(b'{\"at\": 70}\\n'); out.flush(); os.kill(os.getpid(), 24)",
}


@pytest.mark.parametrize("code", _LIES.values(), ids=_LIES)
def test_a_hijacked_process_can_refuse_and_nothing_else(code):
    with pytest.raises(EngineError):
        pack_apart(_patterns(BADGE), PackLimits(), _hijacked(code))


def _answering(records, database):
    sizes = json.dumps({"records": len(records), "database": len(database)})
    data = sizes.encode() + b"\n" + records + database
    return (sys.executable, "-c", f"import sys; sys.stdout.buffer.write({data!r})")


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
    said = json.dumps({"problem": "x\n\x1b[31m" + "y" * 10_000})
    with pytest.raises(PatternError) as caught:
        pack_apart(_patterns(BADGE), PackLimits(), _hijacked(f"out.write({said.encode()!r})"))
    assert caught.value.message.isprintable()
    assert len(caught.value.message) <= 300


def test_limits_reach_the_process_as_numbers():
    with pytest.raises((ValueError, TypeError)):
        pack_apart(_patterns(BADGE), PackLimits(memory_bytes="1); print(1"))  # type: ignore[arg-type]
    assert PACKER[1:] == ("-P", "-m", "dlpctl.detect.packer")
