"""The strings that the cells of a workbook share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dlpctl.formats.encoding import Edit
from dlpctl.formats.office.joining import TEXT
from dlpctl.formats.office.reading import Builder, Leaf, Reading, ViewPlan
from dlpctl.formats.office.sheet import PHONETIC, decoded, encoded
from dlpctl.formats.office.writing import source_edits
from dlpctl.regex import lazy

STRINGS = "strings"
_TAG = r"(?:[^>\"'/]|\"[^\"]*+\"|'[^']*+'|/(?!>)|(?!))*+"
_ITEM = lazy(
    rf"<(?:[\w.-]+:)?si\b{_TAG}(?:/>|>(?:<t>([^<]*)</t></si>|(.*?)</(?:[\w.-]+:)?si\s*>))",
    re.DOTALL,
)
_RUN = lazy(rf"<(?:[\w.-]+:)?t(?:\s{_TAG})?>([^<]*)</")


class Strings:
    """The shared strings in order; only changed ones are parsed."""

    def __init__(self, source: str) -> None:
        self._source = source

    def texts(self) -> list[str]:
        """Return the text of each string."""
        return [
            decoded(plain if not rich else "".join(_RUN.findall(PHONETIC.sub("", rich))))
            for plain, rich in _ITEM.findall(self._source)
        ]

    def reading(self, used: Sequence[int]) -> Reading:
        """Return the strings that no cell shows, and the phonetic texts of others."""

        def leaves() -> Iterator[Leaf]:
            for index, found in enumerate(_ITEM.finditer(self._source)):
                if not used[index]:
                    yield from self._leaves(found)
                if found[2]:
                    for phonetic in PHONETIC.finditer(self._source, *found.span(2)):
                        yield from _runs(self._source, *phonetic.span())

        return as_lines(STRINGS, leaves())

    def edits(self, wanted: Mapping[int, Sequence[Edit]]) -> Iterator[Edit]:
        """Yield the edits of the source that implement edits of strings, by index."""
        for index, found in enumerate(_ITEM.finditer(self._source) if wanted else ()):
            if index not in wanted:
                continue
            builder = Builder(TEXT)
            for leaf in self._leaves(found):
                builder.leaf(leaf)
            reading = builder.done()
            changed = [(leaf, encoded(text)) for leaf, text in reading.changed(wanted[index])]
            yield from source_edits(self._source, TEXT, changed)

    def _leaves(self, found: re.Match[str]) -> Iterator[Leaf]:
        """Yield the displayed runs of one string."""
        group = 1 if found[1] is not None else 2
        if found[group] is None:
            return
        if group == 1:
            yield Leaf(*found.span(1), decoded(found[1]), "t")
            return
        at, end = found.span(2)
        for phonetic in PHONETIC.finditer(self._source, at, end):
            yield from _runs(self._source, at, phonetic.start())
            at = phonetic.end()
        yield from _runs(self._source, at, end)


def as_lines(layer: str, leaves: Iterable[Leaf]) -> Reading:
    """Return leaves as the lines of one layer."""
    builder = Builder(layer)
    for leaf in leaves:
        builder.start_paragraph()
        builder.leaf(leaf)
        builder.apart("\n")
    found = builder.done()
    found.plans.append(ViewPlan(layer, [(0, len(found.text))]))
    return found


def _runs(source: str, start: int, end: int) -> Iterator[Leaf]:
    for found in _RUN.finditer(source, start, end):
        yield Leaf(*found.span(1), decoded(found[1]), "t")
