"""Read documents, with all files in them, through `dlpctl.formats`."""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain
from typing import TYPE_CHECKING

from dlpctl.formats.locators import Lines
from dlpctl.formats.source import Readable
from dlpctl.regex import lazy
from dlpctl.scan.packing import packed, unpacked
from dlpctl.scan.places import Places, Position

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.config import FileLimits
    from dlpctl.files.finding import PlacedValue
    from dlpctl.formats.files import Files, Node
    from dlpctl.scan.content import Examiner, Found
    from dlpctl.scan.results import Result
    from dlpctl.types import Finding

_LINE = lazy(r"line ([0-9]+)")


class Documents:
    """Reads documents; the process that parses them is started for the first one."""

    def __init__(self, examiner: Examiner, limits: FileLimits | None = None) -> None:
        self._examiner = examiner
        self._limits = limits
        self._files: Files | None = None

    def close(self) -> None:
        if self._files is not None:
            self._files.__exit__(None, None, None)

    def read(self, path: str, name: str, data: bytes) -> tuple[Found, list[str]]:
        """Return the findings, and the parts that could not be inspected; raise `FormatError` if
        the document cannot be read.
        """
        from dlpctl.formats.files import Files
        from dlpctl.scan.content import Found

        if self._files is None:
            self._files = Files(self._limits)
        kept: list[Iterable[Result]] = []
        accepted = 0
        missed: list[str] = []
        for node in self._files.parts(data, name):
            if kept:  # without the texts of their part
                kept.append(unpacked(packed(kept.pop())))
            found, reasons = self._searched(path, node)
            kept.append(found.results)
            accepted += found.accepted
            missed += reasons
        return Found(chain.from_iterable(kept), accepted), missed

    def _searched(self, path: str, node: Node) -> tuple[Found, list[str]]:
        from dlpctl.files.finding import place_all, repeats_of, search_document
        from dlpctl.files.longtext import LONG
        from dlpctl.files.names import PlaceNames
        from dlpctl.files.sections import search_long

        found = search_long(node, self._examiner, LONG)
        if found is not None:
            return self._examiner.located_results(path, _LongPlaces(node, found)), []
        placed = place_all(node, lambda document: search_document(document, self._examiner))
        names = PlaceNames(self._examiner.scan)  # the names of members and sheets may hold values
        names.know(lambda: repeats_of(placed))
        shown = names.shown([each.location for each in placed])
        missed = list(node.uninspected())
        locations = names.shown([part.location for part in missed])
        reasons = [
            f"{location}: {part.reason}" for location, part in zip(locations, missed, strict=True)
        ]
        return self._examiner.located_results(path, _DocumentPlaces(placed, shown)), reasons


class _LongPlaces(Places):
    """The findings in one long text whose other views only repeat the text."""

    def __init__(self, node: Node, found: Sequence[Finding]) -> None:
        source = node.document.segments[0].anchor
        assert isinstance(source, Readable)
        self._line_ends = source.line_ends
        self._source = node.document.segments[0].text
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def finding(self, number: int) -> Finding:
        return self._found[number]

    def value(self, number: int, finding: Finding) -> str:
        return self._source[finding.start : finding.end]

    def position(self, number: int, finding: Finding) -> Position:
        start, end = finding.start, finding.end
        line = bisect_left(self._line_ends, start)
        column = start - self._line_ends[line - 1] if line else start + 1
        return Position(line + 1, column, line + 1, column + end - start, 0, 0)


class _DocumentPlaces(Places):
    """The findings in a document, whose positions are described in words.

    Only lines are numbers, with a column if the line contains the value unchanged.
    """

    def __init__(self, placed: Sequence[PlacedValue], shown: Sequence[str]) -> None:
        self._placed = placed
        self._shown = shown

    def __len__(self) -> int:
        return len(self._placed)

    def finding(self, number: int) -> Finding:
        return self._placed[number].finding._replace(locator=self._shown[number])

    def value(self, number: int, finding: Finding) -> str:
        return self._placed[number].value

    def position(self, number: int, finding: Finding) -> Position:
        each = self._placed[number]
        named = _LINE.fullmatch(finding.locator or "")
        if named is None:
            return Position(1, 1, 1, 1, 0, 0, finding.locator or "")
        line = int(named[1])
        source = each.document.segments[each.segment].anchor
        column = (
            source.column_of(each.start, each.value) if isinstance(source, Lines | Readable) else 0
        )
        return Position(line, column or 1, line, column + len(each.value) if column else 1, 0, 0)
