"""Marks within values, as a reader sees them: emphasis, tags, and the frames of boxes."""

from __future__ import annotations

from dlpctl.detect.derived.runs import TAG
from dlpctl.regex import lazy

_BETWEEN_BOXES = lazy(rb"(?<=.)(?:[ ]?\|[ ]?|\][ ]?\[|\)[ ]?\()")
_TAGS = lazy(TAG.encode())


def unmarked(run: bytes) -> bytes:
    """Return a run without escapes or emphasis, and without a blank beside a sign that goes on."""
    if b"\\" in run:
        return run.replace(b"\\", b"")
    if run[:1] == b"_":
        return run.strip(b"_")
    return run.translate(None, b"*_`~'=/+").replace(b"- ", b"-").replace(b"@ ", b"@")


def untagged(run: bytes) -> bytes:
    """Return a run without its tags."""
    return _TAGS.sub(b"", run)


def unboxed(run: bytes) -> bytes:
    """Return the characters of a run that are in boxes of their own."""
    return _BETWEEN_BOXES.sub(b"", run)
