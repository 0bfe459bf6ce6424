"""Texts of XML with an element for each character, as programs write them that read pages.

A character is the text of its element or one of the attributes (`<char x="41" c="T"/>`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from dlpctl.regex import lazy

_CHARACTER = r"(?:[^<&]|&#?[0-9A-Za-z]{1,8};)"
_IS_TOLD = lazy(r"""=(["'])[A-Za-z]\1|<([^\s<>/]++)[^<>]*+>[A-Za-z]</\2>""")
_ELEMENT = lazy(rf"<([^\W\d][^\s<>/]*+)((?:\s[^<>]*+)?)>(?:({_CHARACTER})(?=</\1\s*>))?")
_ATTRIBUTE = lazy(rf"""\s([\w:.-]++)\s*=\s*(?:"({_CHARACTER})"|'({_CHARACTER})')""")
_FEWEST, _LETTERS = 8, 4
"""The characters that a text has, and the letters among them that differ."""

Span = tuple[int, int]


def lines_of_characters(source: str) -> Iterator[Span | str]:
    """Yield the characters of each text, with a line end where further elements are between."""
    texts: dict[tuple[str, str], list[tuple[int, Span]]] = {}
    elements = _ELEMENT.finditer(source) if _IS_TOLD.search(source) else ()
    for number, found in enumerate(elements):
        if found[3] is not None:
            texts.setdefault((found[1], ""), []).append((number, found.span(3)))
        for each in _ATTRIBUTE.finditer(source, *found.span(2)):
            span = each.span(each.lastindex or 0)
            texts.setdefault((found[1], each[1]), []).append((number, span))
    for characters in texts.values():
        distinct = {source[start:end] for _, (start, end) in characters}
        if len(characters) < _FEWEST or sum(map(str.isalpha, distinct)) < _LETTERS:
            continue
        steps = [after - number for (number, _), (after, _) in pairwise(characters)]
        usual, _ = Counter(steps).most_common(1)[0]
        for (_, span), step in zip(characters, [*steps, 0], strict=True):
            yield span
            if step != usual:
                yield "\n"
