"""Whether a text is source code, markup or a log, by the marks that those are full of."""

from __future__ import annotations

_MARKS = b"(){}[]=_;<>/*"
_CODE = 0.05
_MOSTLY = 0.9
BLOCK = 4096
SHORT = 600
"""Nothing is won by looking away from less."""


def dense(text: str) -> bool:
    """Whether a piece of a text is."""
    return _share(text) > _CODE


def code_blocks(text: str | bytes) -> list[bool]:
    """Which blocks of a text are, by their own marks and by those of all the text."""
    if len(text) < SHORT:
        return [False]
    shares = [_share(text[start : start + BLOCK]) for start in range(0, len(text), BLOCK)]
    bound = _CODE / 3 if sum(shares) > _CODE * len(shares) / 2 else _CODE
    return [share > bound for share in shares]


def is_code(blocks: list[bool]) -> bool:
    """Whether nearly all of a text is, by its blocks."""
    return sum(blocks) >= _MOSTLY * len(blocks)


def _share(piece: str | bytes) -> float:
    """Deleting all marks at once is faster than counting each."""
    data = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
    return (len(data) - len(data.translate(None, _MARKS))) / max(1, len(piece))
