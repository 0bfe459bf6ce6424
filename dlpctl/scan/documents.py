"""Files that are more than text: read by `dlpctl.formats`, with all files within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.regex import lazy

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.formats.files import Files
    from dlpctl.scan.content import Examiner, Found
    from dlpctl.scan.results import Result

_LINE = lazy(r"line ([0-9]+)")


class Documents:
    """Reads such files; the process that does so is started with the first."""

    def __init__(self, examiner: Examiner, limits: FileLimits | None = None) -> None:
        self._examiner = examiner
        self._limits = limits
        self._files: Files | None = None

    def close(self) -> None:
        if self._files is not None:
            self._files.__exit__(None, None, None)

    def read(self, path: str, name: str, data: bytes) -> tuple[Found, list[str]]:
        """What is found, and what nobody could look at; raises `FormatError` where the file cannot be read at all."""
        from dlpctl.files.finding import Ledger, place_all, search_document
        from dlpctl.files.names import Names
        from dlpctl.formats.files import Files

        if self._files is None:
            self._files = Files(self._limits)
        node = self._files.open(data, name)
        placed = place_all(node, lambda document: search_document(document, self._examiner))
        names = Names(self._examiner.scan)  # the names of members and sheets may hold values themselves
        names.know(placed)
        ledger = Ledger(placed, names.shown([one.place for one in placed]))
        found = self._examiner.place(path, ledger.text, ledger.findings)
        has_lines = any(_LINE.fullmatch(one.inner) for one in found.results)
        lines = data.decode("utf-8", "replace").split("\n") if has_lines else []
        results = [_at_its_place(one, ledger.text[one.start : one.end], lines) for one in found.results]
        missed = list(node.uninspected())
        places = names.shown([part.place for part in missed])
        reasons = [f"{place}: {part.reason}" for place, part in zip(places, missed, strict=True)]
        return found._replace(results=results), reasons


def _at_its_place(one: Result, value: str, lines: list[str]) -> Result:
    """Places of documents are words; only those of lines are numbers too, with a column where the line holds the value as it is."""
    named = _LINE.fullmatch(one.inner)
    line = int(named[1]) if named else 1
    inner = "" if named else one.inner
    column = lines[line - 1].find(value) + 1 if named and line <= len(lines) else 0
    end = column + len(value) if column else 1
    return one._replace(
        line=line, column=column or 1, end_line=line, end_column=end, start=0, end=0, inner=inner
    )
