"""A stream read to its end."""

from __future__ import annotations

from collections.abc import Iterable

from dlpctl.detect.engine import Detector
from dlpctl.detect.stream import scan_pieces
from dlpctl.types import Finding


def in_pieces(detector: Detector, chunks: Iterable[bytes]) -> tuple[bytes, list[Finding]]:
    """The bytes that came out again, and the findings with their positions, in bytes, in all of
    them.
    """
    given, findings = bytearray(), []
    for piece in scan_pieces(detector, chunks):
        for finding in piece.findings:
            start = len(given) + _size(piece.text[: finding.start])
            end = start + _size(piece.text[finding.start : finding.end])
            findings.append(finding._replace(start=start, end=end))
        given += piece.text.encode("utf-8", "surrogateescape")
    return bytes(given), findings


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))
