"""Files that are more than text: read by `dlpctl.formats`, with all files within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.scan.content import Examiner, Found
from dlpctl.scan.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.formats.files import Files, Node
    from dlpctl.formats.interface import Document, View


class Documents:
    """Reads such files; the process that does so is started with the first."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self._files: Files | None = None

    def close(self) -> None:
        if self._files is not None:
            self._files.__exit__(None, None, None)

    def read(self, path: str, name: str, data: bytes) -> tuple[Found, list[str]]:
        """What is found, and what nobody could look at; raises `FormatError` where the file cannot be read at all."""
        if self._files is None:
            from dlpctl.formats.files import Files

            self._files = Files()
        node = self._files.open(data, name)
        results: list[Result] = []
        accepted = 0
        for part, document in _documents(node):
            seen: set[tuple[str, int, int]] = set()
            for view in document.views:
                found = self._view(path, part, document, view, seen)
                results += found.results
                accepted += found.accepted
        return Found(results, accepted), [f"{one.place}: {one.reason}" for one in node.uninspected()]

    def _view(
        self, path: str, node: Node, document: Document, view: View, seen: set[tuple[str, int, int]]
    ) -> Found:
        """What one view shows that none before it did: the cells of a table are seen by row and by column."""
        found = self._examiner.decoded(path, view.text)
        results: list[Result] = []
        for one in found.results:
            pieces = view.pieces_of(one.start, one.end)
            if not pieces or (place := (one.type, pieces[0].segment, pieces[0].start)) in seen:
                continue
            seen.add(place)
            inner = node.place(document, pieces[0].segment, pieces[0].start)
            results.append(one._replace(line=1, column=1, end_line=1, end_column=1, inner=inner))
        return found._replace(results=results)


def _documents(node: Node) -> Iterator[tuple[Node, Document]]:
    for part in node.walk():
        for document in part.documents():
            yield part, document
