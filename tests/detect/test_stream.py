"""A stream gives what one scan of the whole would, wherever its seams are."""

from __future__ import annotations

import pytest
from streaming import in_pieces
from synthetic import custom

from dlpctl.detect import stream
from dlpctl.detect.engine import Detector
from dlpctl.detect.library import builtin_files, load_patterns
from dlpctl.detect.lint import examples
from dlpctl.detect.pattern import Pattern

BUILTIN = load_patterns(builtin_files())


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "CHUNK", 1)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(
    "pattern", [each for each in BUILTIN if (each.width or 0) < 4096], ids=lambda each: each.id
)
def test_seam_through_every_byte_of_an_example(pattern: Pattern) -> None:
    """With chunks of a byte a seam is tried at every byte."""
    detector = Detector([pattern])
    for example in examples(pattern, "match")[:3]:
        data = f"{example}\n".encode() + b" " * 2 * detector.widest + f"é {example}".encode()
        expected = detector.scan_bytes(data)
        assert expected
        for shift in range(3):
            padding = b"." * shift
            pieces = [padding + data[:1], *(data[at : at + 97] for at in range(1, len(data), 97))]
            given, findings = in_pieces(detector, pieces)
            assert given == padding + data
            assert findings == detector.scan_bytes(padding + data)


@pytest.mark.usefixtures("small_chunks")
def test_what_lost_before_a_seam_does_not_win_behind_it() -> None:
    first = custom("first", "aab", score=0.9)
    between = custom("between", "bcc", score=0.8)
    last = custom("last", "cdd", score=0.7)
    detector = Detector([first, between, last])
    data = b"aabccdd" + b" " * 100
    assert [one.pattern_id for one in detector.scan_bytes(data)] == ["first", "last"]
    assert in_pieces(detector, [data]) == (data, detector.scan_bytes(data))


@pytest.mark.usefixtures("small_chunks")
def test_search_of_a_narrowed_detector_goes_on_where_it_was() -> None:
    """Where a rival matches depends on where it matched before, also where nobody asked for it."""
    wanted, rival = custom("wanted", "b[0-9]", score=0.9), custom("rival", "[0-9ab]{3}", score=0.8)
    detector = Detector([wanted, rival]).for_types(["WANTED"])
    results = []
    for before in range(90, 93):
        data = b"a" * before + b"b1" + b"a" * 50
        results.append(detector.scan_bytes(data))
        assert in_pieces(detector, [data]) == (data, results[-1])
    assert [] in results
    assert any(results)


def test_endless_chain_is_cut_between_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "CHUNK", 200)
    detector = Detector([custom("one", "a1b", score=0.7), custom("other", "b2a", score=0.6)])
    data = b"a1b2" * 2000
    given, findings = in_pieces(detector, [data])
    assert given == data
    assert findings == detector.scan_bytes(data)


def test_a_pause_gives_out_complete_lines(library: Detector) -> None:
    chunks = iter([b"mail john@example.com\nand mary@exam", b"", b"ple.com\n"])
    pieces = [piece.text for piece in stream.scan_pieces(library, chunks)]
    assert pieces == ["mail john@example.com\n", "and mary@example.com\n"]


def test_a_pause_within_a_block_waits_for_its_end(library: Detector) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "A1b2C3d4" * 8 + "\n-----END RSA PRIVATE KEY-----\n"
    pieces = list(
        stream.scan_pieces(library, iter([b"x\n" + key[:50].encode(), b"", key[50:].encode(), b""]))
    )
    assert "".join(piece.text for piece in pieces) == "x\n" + key
    assert [finding.type for piece in pieces for finding in piece.findings] == ["PRIVATE_KEY"]
