"""Density of the characters that are frequent in source code, markup and logs."""

from __future__ import annotations

_SIGNS = b"(){}[]=_;<>/*"
_CODE = 0.05
_MOSTLY = 0.9
BLOCK = 4096
SHORT = 600
"""The number of characters below which a text is too short to be judged."""


def dense(text: str) -> bool:
    """Return whether a piece of a text has the density of code."""
    return _share(text) > _CODE


def code_blocks(text: str | bytes) -> list[bool]:
    """Return which blocks of a text are code, by their own characters and those of the complete
    text.
    """
    if len(text) < SHORT:
        return [False]
    shares = [_share(text[start : start + BLOCK]) for start in range(0, len(text), BLOCK)]
    bound = _CODE / 3 if sum(shares) > _CODE * len(shares) / 2 else _CODE
    return [share > bound for share in shares]


def is_code(blocks: list[bool]) -> bool:
    """Return whether nearly all blocks of a text are code."""
    return sum(blocks) >= _MOSTLY * len(blocks)


def _share(piece: str | bytes) -> float:
    """Return the share of such characters; deleting all of them is faster than counting each."""
    data = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
    return (len(data) - len(data.translate(None, _SIGNS))) / max(1, len(piece))
