"""A stream has the findings of a single scan, wherever its seams are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streaming import in_pieces
from synthetic import custom

from dlpctl.detect import stream
from dlpctl.detect.automaton.database import max_width
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.lint import examples
from dlpctl.detect.patterns.model import Pattern
from tests.detect.builtin_patterns import PATTERNS

if TYPE_CHECKING:
    from limits import Limiter


def narrow(patterns: Iterable[Pattern], widest: int) -> list[Pattern]:
    """Return those at which trying each seam takes no long text."""
    return [each for each in patterns if max_width(each)[0] < widest]


@pytest.fixture
def small_chunks(limit: Limiter) -> None:
    limit("dlpctl.detect.stream.CHUNK", 1)


def seam_through_every_byte(pattern: Pattern) -> None:
    """With chunks of a byte a seam is tried at every byte."""
    detector = Detector([pattern])
    example = examples(pattern, "match")[0]
    data = f"{example}\n".encode() + b" " * 2 * detector.widest + f"é {example}".encode()
    pieces = (data[at : at + 97] for at in range(0, len(data), 97))
    assert in_pieces(detector, pieces) == (data, detector.scan_bytes(data))


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("pattern", narrow(PATTERNS[::24], 200), ids=lambda each: each.id)
def test_seam_through_every_byte_of_an_example(pattern: Pattern) -> None:
    seam_through_every_byte(pattern)


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_seam_through_every_byte_of_every_example() -> None:
    for pattern in narrow(PATTERNS, 600):
        seam_through_every_byte(pattern)


@pytest.mark.usefixtures("small_chunks")
def test_a_candidate_that_lost_before_a_seam_does_not_win_after_it() -> None:
    first = custom("first", "aab", score=0.9)
    between = custom("between", "bcc", score=0.8)
    last = custom("last", "cdd", score=0.7)
    detector = Detector([first, between, last])
    data = b"aabccdd" + b" " * 100
    assert [one.pattern_id for one in detector.scan_bytes(data)] == ["first", "last"]
    assert in_pieces(detector, [data]) == (data, detector.scan_bytes(data))


@pytest.mark.usefixtures("small_chunks")
def test_the_search_of_a_narrowed_detector_resumes_correctly() -> None:
    """The position of a rival's match depends on its previous matches, also where rivals were not
    selected.
    """
    wanted, rival = custom("wanted", "b[0-9]", score=0.9), custom("rival", "[0-9ab]{3}", score=0.8)
    detector = Detector([wanted, rival]).for_types(["WANTED"])
    results = []
    for before in range(90, 93):
        data = b"a" * before + b"b1" + b"a" * 50
        results.append(detector.scan_bytes(data))
        assert in_pieces(detector, [data]) == (data, results[-1])
    assert [] in results
    assert any(results)


def test_endless_chain_is_cut_between_findings(limit: Limiter) -> None:
    limit("dlpctl.detect.stream.CHUNK", 200)
    detector = Detector([custom("one", "a1b", score=0.7), custom("other", "b2a", score=0.6)])
    data = b"a1b2" * 2000
    given, findings = in_pieces(detector, [data])
    assert given == data
    assert findings == detector.scan_bytes(data)


MAIL = custom("mail", r"\b[a-z]+@example\.com\b")
KEY = custom("key", "-----BEGIN [A-Z ]{1,20}-----[0-9A-Za-z\\s]{1,200}-----END [A-Z ]{1,20}-----")


def test_a_pause_returns_complete_lines() -> None:
    chunks = iter([b"mail john@example.com\nand mary@exam", b"", b"ple.com\n"])
    pieces = list(stream.scan_pieces(Detector([MAIL]), chunks))
    assert [piece.text for piece in pieces] == ["mail john@example.com\n", "and mary@example.com\n"]
    assert [len(piece.findings) for piece in pieces] == [1, 1]


def test_a_pause_within_a_block_waits_for_its_end() -> None:
    key = "-----BEGIN SECRET KEY-----\n" + "A1b2C3d4" * 8 + "\n-----END SECRET KEY-----\n"
    chunks = iter([b"x\n" + key[:50].encode(), b"", key[50:].encode(), b""])
    pieces = list(stream.scan_pieces(Detector([KEY, MAIL]), chunks))
    assert "".join(piece.text for piece in pieces) == "x\n" + key
    assert [finding.type for piece in pieces for finding in piece.findings] == ["KEY"]


STREAM = """
import resource, sys
from pathlib import Path
from synthetic import custom
from dlpctl.detect.engine import Detector
from dlpctl.detect.stream import scan_pieces

def peak():
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says may be of the process that started this one
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)

def mebibytes(count):
    block = b"the water was cold and john@example.com went home again \\n" + b"it is a far cry from here to there, they said" * 22
    block *= (1 << 20) // len(block)
    for _ in range((count << 20) // len(block)):
        yield block

detector = Detector([custom("mail", r"\\b[a-z]+@example\\.com\\b")])
count = sum(len(piece.findings) for piece in scan_pieces(detector, mebibytes(int(sys.argv[1]))))
print(count, peak())
"""


@pytest.mark.no_cover
@pytest.mark.skipif(sys.platform == "win32", reason="asks POSIX for the memory")
@pytest.mark.parametrize("mebibytes", [32, pytest.param(2048, marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_stream(mebibytes: int) -> None:
    def peak(size: int) -> int:
        command = [sys.executable, "-c", STREAM, str(size)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        findings, kibibytes = map(int, ran.stdout.split())
        assert findings > size * 900
        return kibibytes

    assert peak(mebibytes) < peak(4) + 8 * 1024
