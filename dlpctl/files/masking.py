"""The findings in every view of one file, and the values that its masked copy must not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.files.finding import (
    ValueList,
    ViewFinding,
    by_view,
    place_all,
    repeats_of,
    search_document,
)
from dlpctl.files.names import PlaceNames
from dlpctl.formats.spans import ViewEdit
from dlpctl.masking.apply import replacements
from dlpctl.masking.leaks import ForbiddenValues, Value, is_word
from dlpctl.masking.repeats import Repeats
from dlpctl.policy.decide import FindingDecision, PolicyDecision, Verdict
from dlpctl.types import Action, Decision, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dlpctl.formats.files import Node
    from dlpctl.formats.interface import Document
    from dlpctl.masking.masker import Masker
    from dlpctl.preflight import Checker


class FileMasking:
    """The findings in every view of one file, and the values that must not remain."""

    def __init__(self, checker: Checker, masker: Masker) -> None:
        self._checker = checker
        self._masker = masker
        self._seen: dict[int, dict[int, list[Finding]]] = {}
        """The findings of each view of a document."""
        self._known: list[Document] = []
        self._view_edits: dict[int, list[ViewEdit]] = {}
        self._hidden: dict[Value, FindingDecision] = {}
        self._verdicts: dict[str, Verdict] = {}
        """The verdict on repetitions of a hidden value, by type."""
        self._repeats = Repeats({})
        self.names = PlaceNames(checker.scan)
        self.value_list = ValueList([], [])
        self.written: set[str] = set()
        self._forbidden: ForbiddenValues | None = None
        self._round = 0

    @property
    def values(self) -> list[str]:
        return [value.text for value in self._hidden if not is_word(value)]

    @property
    def words(self) -> list[str]:
        """Return the values that match only as they are written, or in capitals."""
        return [value.text for value in self._hidden if is_word(value)]

    def forbid_values(self) -> None:
        """From now on, no replacement keeps a part of its value that is itself another value."""
        self._round = 0
        self._forbidden = ForbiddenValues(self._hidden)
        self._view_edits.clear()

    def rule(self, node: Node, *, everything: bool) -> PolicyDecision:
        """Decide on all findings; with `everything`, blocked ones are masked too."""
        placed = place_all(node, self._see)
        self.names.know(lambda: repeats_of(placed))
        self.value_list = ValueList(placed, self.names.shown([item.location for item in placed]))
        ruling = self._checker.ruling(self.value_list.text, self.value_list.findings)
        hidden = ruling.hidden()
        if everything:
            ruling = ruling.masking_blocked()
        self._hide(hidden)
        return ruling

    def see_again(self, node: Node, number: int = 0) -> Decision:
        """Continue with a copy of the file in a round, and return the decision on it.

        A value that lost to an overlapping one, or that its neighbors hid, only shows now, and so
        does text beside an area that was painted over.
        """
        self._round = number
        placed = place_all(node, self._see)
        value_list = ValueList(placed, [""] * len(placed))
        ruling = self._checker.ruling(value_list.text, value_list.findings)
        self._hide(ruling.hidden(), value_list)
        return ruling.decision

    def view_edits_of(self, document: Document) -> list[ViewEdit]:
        """Return the edits for findings and for repeated values; in a copy, only for findings."""
        known = id(document) in self._seen
        view_edits = self._view_edits.get(id(document))
        if view_edits is None:
            seen = (
                self._seen[id(document)]
                if known
                else by_view(search_document(document, self._checker))
            )
            view_edits = list(self._view_edits_in(document, seen, known=known))
            if known:
                self._view_edits[id(document)] = view_edits
        return view_edits

    def _see(self, document: Document) -> list[ViewFinding]:
        seen = search_document(document, self._checker)
        # Keep the document, so that no other gets its id.
        self._known.append(document)
        self._seen[id(document)] = by_view(seen)
        return seen

    def _hide(self, hidden: Sequence[FindingDecision], value_list: ValueList | None = None) -> None:
        text = (value_list or self.value_list).text
        for item in hidden:
            value = Value.of(item.finding, text)
            if value not in self._hidden:
                self._hidden[value] = item
                self._verdicts[value.type] = item.verdict
        self._repeats = Repeats({value: item.finding for value, item in self._hidden.items()})
        if self._forbidden:
            self._forbidden = ForbiddenValues(self._hidden)

    def _view_edits_in(
        self, document: Document, seen: Mapping[int, Sequence[Finding]], *, known: bool
    ) -> Iterator[ViewEdit]:
        for number, view in enumerate(document.views):
            found = seen.get(number, ())
            ruled = [
                item
                for item in self._checker.ruling(view.text, found).ruled
                if item.verdict.action is not Action.ALLOW
                or Value.of(item.finding, view.text) in self._hidden
            ]
            if not known:
                yield from (
                    ViewEdit(number, item.finding.start, item.finding.end, "") for item in ruled
                )
                continue
            if not view.repeats:
                repeated = self._repeats.outside(view.text, [item.finding for item in ruled])
                ruled += (FindingDecision(item, self._verdicts[item.type]) for item in repeated)
            for start, end, text in replacements(
                view.text,
                self._checker.operators(ruled, self._round),
                self._masker,
                self._forbidden,
            ):
                if text:
                    self.written.add(text)
                yield ViewEdit(number, start, end, text)
