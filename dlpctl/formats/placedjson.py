"""Texts in JSON with a place on a page, as programs write them that read PDFs and pictures.

A place is in the object of its text (`{"x0": 41, "top": 63, "text": "Name"}`) or in one within it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.formats.placed import PlacedText
from dlpctl.regex import lazy

_NUMBER = r"-?[0-9]{1,9}(?:\.[0-9]{1,20})?"
_LEFT, _TOP = "(?i:x|x0|left|xmin|x_min)", "(?i:y|y0|top|ymin|y_min)"
_IS_PLACED = lazy(rf'"{_LEFT}"\s*:\s*{_NUMBER}|"bbox"\s*:\s*\[')
_PART = lazy(
    r'"(?i:text|c|char|content|word|description)"\s*:\s*"(?P<text>(?:[^"\\]|\\.)*+)"'
    rf'|"{_LEFT}"\s*:\s*(?P<left>{_NUMBER})|"{_TOP}"\s*:\s*(?P<top>{_NUMBER})'
    rf'|"bbox"\s*:\s*\[\s*(?P<x>{_NUMBER})\s*,\s*(?P<y>{_NUMBER})'
    r'|"(?:[^"\\]|\\.)*+(?:"|\Z)|(?P<open>\{)|(?P<end>\})'
)


class _Object:
    """The text and the place of an open object, as far as they are read."""

    left: float | None = None
    top: float | None = None
    text: tuple[int, int] | None = None


def placed_texts_of_json(source: str) -> Iterator[PlacedText]:
    """Yield the texts of objects that have a place."""
    opened = [_Object()]
    for part in _PART.finditer(source) if _IS_PLACED.search(source) else ():
        current = opened[-1]
        if part["open"]:
            opened.append(_Object())
        elif part["end"] and len(opened) > 1:
            del opened[-1]
            if current.left is None or current.top is None:
                continue
            if current.text and current.text[0] < current.text[1]:
                yield PlacedText(*current.text, current.left, current.top, 0.0)
            elif opened[-1].left is None:
                opened[-1].left, opened[-1].top = current.left, current.top
        elif part["text"] is not None:
            current.text = part.span("text")
        elif left := part["left"] or part["x"]:
            current.left = float(left)
            current.top = float(part["y"]) if part["y"] else current.top
        elif part["top"]:
            current.top = float(part["top"])
