"""Check a file and mask it; a masked copy is returned only after its own inspection."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from dlpctl.errors import FormatError, StillExposedError
from dlpctl.files.coverage import coverage_of, pages_of, reason_of_leak, verified_of
from dlpctl.files.flattening import Refusals, flattened_copy
from dlpctl.files.longtext import LongText
from dlpctl.files.masking import FileMasking
from dlpctl.files.report import Coverage, FileReport, Gap, Verified
from dlpctl.formats.contents import FileBytes
from dlpctl.formats.files import Files, Node
from dlpctl.formats.interface import Limits, Uninspected, described
from dlpctl.formats.verify import Verification, Verifier
from dlpctl.masking.rounds import Residue, Round, mask_until_clean
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dlpctl.files.choices import Metadata, OnUninspected
    from dlpctl.formats.ocr.seen import ReadPicture
    from dlpctl.formats.worker import Method
    from dlpctl.masking.masker import Masker
    from dlpctl.policy.decide import PolicyDecision
    from dlpctl.preflight import Checker


class FileChecker:
    """A checker for files. Threads may share it: each file gets processes of its own."""

    def __init__(
        self,
        checker: Checker,
        *,
        limits: Limits | None = None,
        method: Method = "adaptive",
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
        data: bytes | FileBytes,
        name: str,
        password: str | None = None,
        *,
        masker: Masker | None = None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> FileReport:
        """Find values, decide, and mask if that is the decision; block whatever is uncertain.

        Bytes that the caller passes as `FileBytes` are freed while the text of a long file is held.
        """
        return self._examine(FileBytes.of(data), name, password, masker, stage, everything=False)

    def mask(
        self,
        data: bytes | FileBytes,
        name: str,
        password: str | None = None,
        *,
        masker: Masker | None = None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> FileReport:
        """Mask all that the policy masks or blocks; raise `StillExposedError` if that fails."""
        content = FileBytes.of(data)
        del data  # which `content` may free
        report = self._examine(content, name, password, masker, stage, everything=True)
        if report.masked is None:
            reason = report.summary.partition(": ")[2]
            raise StillExposedError(f"{reason}; no copy was returned")
        return report

    def _examine(
        self,
        content: FileBytes,
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
                node = files.open(content, name, password)
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
                node = files.open(content, name, password)
            masking = FileMasking(self._checker, masker or self._checker.masker())
            return self._examine_parts(files, node, name, password, masking, stage, everything)

    def _examine_parts(
        self,
        files: Files,
        node: Node,
        name: str,
        password: str | None,
        masking: FileMasking,
        stage: Callable[[str], None],
        everything: bool,
    ) -> FileReport:
        data, blocks = node.data, self._on_uninspected == "block"
        ruling = masking.rule(node, everything=everything)
        unsearched = self._checker.not_inspected()
        reason, masked, verified = unsearched, data, None
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
        flattens = self._flattens and not unsearched and ruling.decision is not Decision.BLOCKED
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
        masked: bytes | None = None
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
        given = None
        if report.decision is not Decision.BLOCKED:
            given = node.data if masked is None else masked
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
        masking: FileMasking,
        stage: Callable[[str], None],
    ) -> tuple[bytes, Verified, str]:
        """Return the copy, its findings, and the reason if the copy cannot be returned."""
        removing = self._on_uninspected == "block"
        until = time.monotonic() + self._limits.seconds
        reading = files, node
        pictures: Sequence[ReadPicture] = files.worker.pictures_read()

        def mask(copy: bytes | None, number: int) -> Round[bytes, Verification]:
            nonlocal reading, pictures
            # A verifier has read the copy of the round before.
            reader, opened = (files, node) if copy is None else reading
            if copy is not None:
                masking.see_again(opened, number)
            stage("masking")
            with readers.pop_all():
                # The verifying process starts while the copy is made.
                started = Verifier(node.document.format, self._limits, self._method, pictures)
                verifier = readers.enter_context(started)
                masked = reader.masked(
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
            pictures = verifier.pictures
            if verifier.node is not None:
                reading = verifier.files, verifier.node
            return Round(masked, _residue_of(found, removing=removing), found)

        with ExitStack() as readers:
            masked, residue, found = mask_until_clean(mask, masking.forbid_values)
        reason = reason_of_leak(found, masking.names)
        if not reason and self._cleans_metadata and found.metadata:
            (location,) = masking.names.shown([found.metadata[0]])
            reason = f"the masked copy still has metadata at {location}"
        return (
            masked,
            verified_of(found),
            reason or (described(found.uninspected) if residue is not Residue.NOTHING else ""),
        )


def _residue_of(found: Verification, *, removing: bool) -> Residue:
    """Return what remains; text beside an area that was painted over only shows in the copy."""
    if found.clean and not (removing and found.uninspected):
        return Residue.NOTHING
    if found.only_detected:
        return Residue.FINDING
    return Residue.UNKNOWN if found.unreadable else Residue.VALUE
