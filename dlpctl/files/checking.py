"""Check a file and mask it; a masked copy is returned only after its own inspection."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from dlpctl.errors import FormatError, StillExposedError
from dlpctl.files.coverage import coverage_of, pages_of, reason_of_leak, verified_of
from dlpctl.files.finding import (
    ValueList,
    ViewFinding,
    by_view,
    place_all,
    repeats_of,
    search_document,
)
from dlpctl.files.flattening import Refusals, flattened_copy
from dlpctl.files.longtext import LongText
from dlpctl.files.names import PlaceNames
from dlpctl.files.report import Coverage, FileReport, Gap, Verified
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Limits, Uninspected, described
from dlpctl.formats.spans import ViewEdit
from dlpctl.formats.verify import Verifier
from dlpctl.masking.apply import replacements
from dlpctl.masking.leaks import ForbiddenValues, Value, is_word
from dlpctl.masking.repeats import Repeats
from dlpctl.policy.decide import FindingDecision
from dlpctl.types import Action, Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dlpctl.files.choices import Metadata, OnUninspected
    from dlpctl.formats.files import Node
    from dlpctl.formats.interface import Document
    from dlpctl.formats.worker import Method
    from dlpctl.masking.operators import Masker
    from dlpctl.policy.decide import PolicyDecision, Verdict
    from dlpctl.preflight import Checker
    from dlpctl.types import Finding

_ROUNDS = 4
"""The maximum number of times that a masked copy is masked again for values that it still shows."""
_BY_DETECTION = "detection"


class FileChecker:
    """A checker for files. Threads may share it: each file gets processes of its own."""

    def __init__(
        self,
        checker: Checker,
        *,
        limits: Limits | None = None,
        method: Method = "spawn",
        on_uninspected: OnUninspected = "block",
        metadata: Metadata = "keep",
        flatten: bool = False,
    ) -> None:
        """With `metadata="clean"`, a copy loses the metadata that its format names; with `flatten`,
        a file that cannot be masked in place is drawn as pictures of its pages.
        """
        self._checker = checker
        self._limits = limits or Limits()
        self._method = method
        self._on_uninspected = on_uninspected
        self._cleans_metadata = metadata == "clean"
        self._flattens = flatten

    def check(
        self,
        data: bytes,
        name: str,
        password: str | None = None,
        *,
        masker: Masker | None = None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> FileReport:
        """Find values, decide, and mask if that is the decision; block whatever is uncertain."""
        return self._examine(data, name, password, masker, stage, everything=False)

    def mask(
        self,
        data: bytes,
        name: str,
        password: str | None = None,
        *,
        masker: Masker | None = None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> FileReport:
        """Mask all that the policy masks or blocks; raise `StillExposedError` if that fails."""
        report = self._examine(data, name, password, masker, stage, everything=True)
        if report.masked is None:
            reason = report.summary.partition(": ")[2]
            raise StillExposedError(f"{reason}; no copy was returned")
        return report

    def _examine(
        self,
        data: bytes,
        name: str,
        password: str | None,
        masker: Masker | None,
        stage: Callable[[str], None],
        *,
        everything: bool,
    ) -> FileReport:
        with Files(self._limits, self._method) as files:
            stage("reading")
            try:
                node = files.open(data, name, password)
            except FormatError as error:
                ruling = self._checker.ruling("", [])
                report = self._checker.report("", ruling, None, error.message)
                gap = Gap("file", error.message)
                return FileReport(report, Coverage("", not_inspected=(gap,)), None)
            stage("searching")
            long_text = LongText.of(self._checker, node)
            if long_text is not None and not self._checker.not_inspected():
                answer = self._examine_long(files, name, node, long_text, masker, stage, everything)
                if answer is not None:
                    return answer
                del long_text
                node = files.open(data, name, password)
            masking = _FileMasking(self._checker, masker or self._checker.masker())
            return self._examine_parts(files, node, name, password, masking, stage, everything)

    def _examine_parts(
        self,
        files: Files,
        node: Node,
        name: str,
        password: str | None,
        masking: _FileMasking,
        stage: Callable[[str], None],
        everything: bool,
    ) -> FileReport:
        data, blocks = node.data, self._on_uninspected == "block"
        ruling = masking.rule(node, everything=everything)
        reason, masked, verified = self._checker.not_inspected(), data, None
        removed: list[Uninspected] = []
        metadata = self._metadata_to_clean(node, ruling)
        if not reason and ruling.decision is not Decision.BLOCKED and blocks:
            missed = list(node.uninspected())
            reason = described(part for part in missed if not part.is_removable)
            removed = [] if reason else missed
        if removed or metadata:
            ruling = ruling._replace(decision=Decision.ALLOWED_WITH_MASKING)
        mask = partial(
            self._masked, files, name=name, password=password, masking=masking, stage=stage
        )
        if not reason and ruling.decision is Decision.ALLOWED_WITH_MASKING:
            try:
                masked, verified, reason = mask(node)
            except FormatError as error:
                reason = f"the file cannot be masked: {error.message}"
        drawn = None
        flattens = self._flattens and ruling.decision is not Decision.BLOCKED
        if reason and flattens and node.can_be_flattened:
            stage("drawing")
            read = partial(files.open, data, name, password, flattening=True)
            refusals = Refusals(values=not everything, uninspected=blocks)
            copy = flattened_copy(reason, read, masking.see_again, mask, refusals)
            masked, verified, reason, drawn = copy
            ruling = ruling._replace(decision=Decision.ALLOWED_WITH_MASKING)
            removed = list(node.uninspected()) if blocks else []
        report = self._checker.report(masking.value_list.text, ruling, None, reason, empty=not data)
        given = None if report.decision is Decision.BLOCKED else masked
        if given is None:
            removed, metadata, drawn = [], [], None
        shown = (drawn or node).document
        pages = pages_of(shown, masking.view_edits_of(shown)) if given and verified else ()
        coverage = coverage_of(node, masking.names, removed=removed, metadata=metadata, drawn=drawn)
        return FileReport(report, coverage, given, verified, pages)

    def _examine_long(
        self,
        files: Files,
        name: str,
        node: Node,
        long_text: LongText,
        masker: Masker | None,
        stage: Callable[[str], None],
        everything: bool,
    ) -> FileReport | None:
        """Return the report on one long text; None if the general code must make the report."""
        ruling = long_text.decide()
        if everything:
            ruling = ruling.masking_blocked()
        masked: bytes = node.data
        verified: Verified | None = None
        metadata = self._metadata_to_clean(node, ruling)
        if metadata:
            ruling = ruling._replace(decision=Decision.ALLOWED_WITH_MASKING)
        if ruling.decision is Decision.ALLOWED_WITH_MASKING:
            made = long_text.mask(
                files, name, masker or self._checker.masker(), stage, cleaning=bool(metadata)
            )
            if made is None:
                return None
            masked, found = made
            verified = verified_of(found)
        report = self._checker.report(long_text.text, ruling, None)
        given = None if report.decision is Decision.BLOCKED else masked
        coverage = coverage_of(
            node, long_text.names, metadata=metadata if given is not None else ()
        )
        return FileReport(report, coverage, given, verified)

    def _metadata_to_clean(self, node: Node, ruling: PolicyDecision) -> list[str]:
        """Return the places of the metadata that the copy must not have."""
        if not self._cleans_metadata or ruling.decision is Decision.BLOCKED:
            return []
        return list(node.metadata())

    def _masked(
        self,
        files: Files,
        node: Node,
        name: str,
        password: str | None,
        masking: _FileMasking,
        stage: Callable[[str], None],
    ) -> tuple[bytes, Verified, str]:
        """Return the copy, its findings, and the reason if the copy cannot be returned."""
        opened = node
        removing = self._on_uninspected == "block"
        until = time.monotonic() + self._limits.seconds
        for _ in range(_ROUNDS):
            stage("masking")
            # The verifying process starts while the copy is made.
            with Verifier(node.document.format, self._limits, self._method) as verifier:
                masked = files.masked(
                    opened,
                    masking.view_edits_of,
                    removing=removing,
                    cleaning=self._cleans_metadata,
                    until=until,
                )
                stage("verifying")
                found = verifier.verify(
                    masked,
                    name,
                    masking.values,
                    masking.view_edits_of,
                    words=masking.words,
                    replacements=masking.written,
                    password=password,
                    until=until,
                )
            missed = removing and bool(found.uninspected)
            if found.clean and not missed:
                break
            if all(leak.shown_by == _BY_DETECTION for leak in found.leaks):
                # A value that lost to an overlapping one, or that its neighbors hid, only shows
                # now, and so does text beside an area that was painted over.
                opened = files.open(masked, name, password, until=until)
                masking.see_again(opened)
            elif masking.forbidden or found.unreadable:
                break
            else:
                masking.forbid_values()
                opened = node
        reason = reason_of_leak(found, masking.names)
        if not reason and self._cleans_metadata and found.metadata:
            (location,) = masking.names.shown([found.metadata[0]])
            reason = f"the masked copy still has metadata at {location}"
        return (
            masked,
            verified_of(found),
            reason or (described(found.uninspected) if missed else ""),
        )


class _FileMasking:
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
        self.forbidden: ForbiddenValues | None = None

    @property
    def values(self) -> list[str]:
        return [value.text for value in self._hidden if not is_word(value)]

    @property
    def words(self) -> list[str]:
        """Return the values that match only as they are written, or in capitals."""
        return [value.text for value in self._hidden if is_word(value)]

    def forbid_values(self) -> None:
        """From now on, no replacement keeps a part of its value that is itself another value."""
        self.forbidden = ForbiddenValues(self._hidden)
        self._view_edits.clear()

    def rule(self, node: Node, *, everything: bool) -> PolicyDecision:
        """Decide on all findings; with `everything`, blocked ones are masked too."""
        placed = place_all(node, self._see)
        self.names.know(lambda: repeats_of(placed))
        self.value_list = ValueList(placed, self.names.shown([item.place for item in placed]))
        ruling = self._checker.ruling(self.value_list.text, self.value_list.findings)
        hidden = ruling.hidden()
        if everything:
            ruling = ruling.masking_blocked()
        self._hide(hidden)
        return ruling

    def see_again(self, node: Node) -> Decision:
        """Continue with a copy of the file, and return the decision on it."""
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
            finding = item.finding
            value = Value(finding.type, finding.category, text[finding.start : finding.end])
            if value not in self._hidden:
                self._hidden[value] = item
                self._verdicts[value.type] = item.verdict
        self._repeats = Repeats({value: item.finding for value, item in self._hidden.items()})
        if self.forbidden:
            self.forbidden = ForbiddenValues(self._hidden)

    def _view_edits_in(
        self, document: Document, seen: Mapping[int, Sequence[Finding]], *, known: bool
    ) -> Iterator[ViewEdit]:
        for number, view in enumerate(document.views):
            found = seen.get(number, ())
            ruled = [
                item
                for item in self._checker.ruling(view.text, found).ruled
                if item.verdict.action is not Action.ALLOW
                or Value(
                    item.finding.type,
                    item.finding.category,
                    view.text[item.finding.start : item.finding.end],
                )
                in self._hidden
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
                view.text, self._checker.operators(ruled), self._masker, self.forbidden
            ):
                if text:
                    self.written.add(text)
                yield ViewEdit(number, start, end, text)
