"""`dlpctl check` in this process: decide on each content, mask it and report."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.cli import documents, inputs
from dlpctl.cli.line_index import LineIndex
from dlpctl.cli.options import AnswerOptions, ContentOptions, Output
from dlpctl.cli.outputs import writing
from dlpctl.cli.shown_lines import ShownLine, lines_of, print_lines
from dlpctl.detect.possible import possible_note
from dlpctl.errors import DlpctlError, FormatError, InputError, OutputError
from dlpctl.types import Decision, Detection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dlpctl.cli.render import Printer
    from dlpctl.cli.session import Session
    from dlpctl.files.report import FileReport
    from dlpctl.formats.contents import FileBytes
    from dlpctl.preflight import Report

_MOST_PLACES = 5
_PLAIN_TEXT = "text"


class CheckedContent(NamedTuple):
    """The result for one file or stdin."""

    shown: str
    """Its name, with sensitive values masked."""
    decision: Decision
    report: Report | None = None
    """None if only the decision was requested."""
    locations: Mapping[str, Sequence[str]] = MappingProxyType({})
    """The distinct positions of the findings in a plain text, by type."""
    lines: Sequence[ShownLine] = ()
    """The lines with findings to show."""
    file: FileReport | None = None
    """The report on content that is not plain text."""
    copy: Path | None = None
    pictures: Sequence[Path] = ()
    problem: OutputError | None = None
    """The reason why a copy could not be written."""
    size: int = 0
    """The size of the content in bytes; 0 if it was not read to its end."""
    possible: int = -1
    """The number of findings that only high sensitivity counts; -1 if unknown."""

    def to_dict(self, *, findings: bool) -> dict[str, Any]:
        assert self.report is not None
        if self.file is None:
            return self.report.to_dict(findings=findings)
        return self.file.to_dict() | {"masked_file": None if self.copy is None else str(self.copy)}


class LocalCheck:
    """Checks content by the policy of options and settings."""

    def __init__(
        self, session: Session, content: ContentOptions, answer: AnswerOptions, *, required: bool
    ) -> None:
        """`required` refuses an empty stdin."""
        self._session = session
        self._content = content
        self._answer = answer
        self._required = required
        self._password = documents.password(ask=content.password, file=content.password_file)
        self._checker = session.checker(
            content.destination, content.policy, content.operator, content.sensitivity
        )

    def run(self, names: Sequence[str]) -> list[Decision]:
        """Check and print each content; raise the first problem after checking all."""
        printer = self._session.printer(quiet=self._answer.quiet)
        checked: list[CheckedContent] = []
        problems: list[DlpctlError] = []
        for name in names:
            try:
                outcome = self._check(name)
            except InputError as unreadable:
                problems.append(unreadable)
                continue
            checked.append(outcome)
            self._session.record(
                outcome.decision, outcome.report, outcome.size, is_file=outcome.file is not None
            )
            if self._answer.decision_only:
                suffix = f"  {outcome.shown}" if len(names) > 1 else ""
                printer.line(printer.decision(outcome.decision) + suffix)
            elif self._answer.form is Output.HUMAN:
                _print_content(outcome, printer)
        if self._answer.form is Output.JSON and not self._answer.decision_only and checked:
            tables = [outcome.to_dict(findings=self._answer.findings) for outcome in checked]
            many = [
                {"file": outcome.shown} | each
                for outcome, each in zip(checked, tables, strict=True)
            ]
            printer.json(tables[0] if len(names) == 1 else many)
        self._session.tell()
        problems += [outcome.problem for outcome in checked if outcome.problem is not None]
        for problem in problems[1:]:
            sys.stderr.write(f"dlpctl: {problem.message}\n")
        if problems:
            raise problems[0]
        return [outcome.decision for outcome in checked]

    def _check(self, name: str) -> CheckedContent:
        head, chunks = inputs.peeked(name, required=self._required)
        documents.refuse_other_format(self._answer.output, name, head)
        most = self._session.config.limits.input_bytes
        if not documents.is_plain(name, head):
            return self._check_file(name, documents.read_file(chunks, most))
        shown = self._shown(name)
        if self._answer.decision_only:
            try:
                decision = self._checker.decide(documents.within(chunks, most))
            except FormatError:
                decision = Decision.BLOCKED
            return CheckedContent(shown, decision)
        data = documents.read_all(chunks, most)
        # The first chunk may not show that the content is not plain text.
        if len(data) > most or not documents.is_plain(name, data):
            return self._check_file(name, documents.read_file([data], len(data)))
        text = data.decode("utf-8", "surrogateescape")
        report = self._checker.check(text)
        copy = self._answer.output
        if report.masked_content is None:
            documents.remove_stale(copy, name)
            copy = None
        elif copy is not None:
            with writing(copy) as write:
                write(report.masked_content.encode("utf-8", "surrogateescape"))
        lines = LineIndex(text)
        locations: defaultdict[str, list[str]] = defaultdict(list)
        for finding in report.findings:
            locations[finding.type].append("{}:{}".format(*lines.line_and_column(finding.start)))
        shown_lines: Sequence[ShownLine] = ()
        if self._answer.form is Output.HUMAN and not self._answer.quiet:
            shown_lines = lines_of(text, report.findings, lines)
        return CheckedContent(
            shown,
            report.decision,
            report,
            locations,
            shown_lines,
            copy=copy,
            size=len(data),
            possible=self._checker.possible(text),
        )

    def _check_file(self, name: str, content: FileBytes) -> CheckedContent:
        checker = self._session.file_checker(self._checker, self._content)
        shown, size = self._shown(name), len(content.data)
        with documents.cleaning_up():
            with documents.progress(shown) as stage:
                answer = checker.check(content, Path(name).name, self._password, stage=stage)
            report = answer.report
            done = CheckedContent(shown, report.decision, report, file=answer, size=size)
            if self._answer.decision_only:
                return done
            try:
                copy = self._save_copy(answer, content, name, shown)
                pictures = self._draw_pages(answer, content, shown)
            except OutputError as problem:
                return done._replace(problem=problem)
        return done._replace(copy=copy, pictures=pictures)

    def _save_copy(
        self, answer: FileReport, content: FileBytes, name: str, shown: str
    ) -> Path | None:
        """Save the masked copy; for plain text only if --output asks for it."""
        if answer.masked is None:
            beside = documents.beside(name, Path(shown).name) if self._content.force else None
            documents.remove_stale(self._answer.output or beside, name)
            return None
        target = self._answer.output
        if target is None:
            is_text = answer.coverage.format == _PLAIN_TEXT
            from dlpctl.files.deltalog import is_delta

            # Inside the folder of a table, a copy would not be part of the table.
            if is_text or any(map(is_delta, Path(name).parents)):
                return None
            if content.holds(answer.masked) or name == inputs.STDIN:
                return None
            target = documents.beside(name, Path(shown).name)
        documents.save(answer.masked, target, force=self._content.force)
        return target

    def _draw_pages(self, answer: FileReport, content: FileBytes, shown: str) -> list[Path]:
        folder = self._content.before_after
        if folder is None or not answer.pages:
            return []
        name = Path(shown).name
        return documents.save_pictures(answer, content.data, name, folder, self._password)

    def _shown(self, name: str) -> str:
        if name == inputs.STDIN:
            return "stdin"
        base = Path(name).name
        return name.removesuffix(base) + documents.without_values(base, self._checker)


def _print_content(outcome: CheckedContent, printer: Printer) -> None:
    report = outcome.report
    assert report is not None
    shown = printer.style(outcome.shown, "bold")
    printer.line(f"{printer.decision(report.decision)}  {shown}  {report.summary}")
    locations = outcome.locations if outcome.file is None else outcome.file.places_by_type()
    printer.table((_row(each, locations[each.type]) for each in report.detected), indent="  ")
    print_lines(outcome.lines, outcome.shown, printer)
    if left_out := possible_note(outcome.possible):
        printer.line(f"  {left_out}")
    if outcome.file is not None:
        for line in _coverage(outcome.file):
            printer.line(f"  {line}")
    is_masked = report.decision is Decision.ALLOWED_WITH_MASKING and outcome.problem is None
    if is_masked or outcome.copy is not None:
        printer.line(documents.copy_line(outcome.copy))
    if outcome.pictures:
        folder = outcome.pictures[0].parent
        printer.line(f"  before and after: {len(outcome.pictures)} pictures in {folder}")


def _row(detection: Detection, locations: Sequence[str]) -> tuple[str, ...]:
    more = f" +{len(locations) - _MOST_PLACES}" if len(locations) > _MOST_PLACES else ""
    listed = f"at {'; '.join(locations[:_MOST_PLACES])}{more}"
    return str(detection.occurrences), detection.type, detection.sample or "(hidden)", listed


def _coverage(answer: FileReport) -> Iterator[str]:
    """Yield what was verified and what could not be inspected."""
    coverage = answer.coverage
    if answer.verified is not None:
        yield f"verified: {answer.verified.summary}"
    if coverage.format and (answer.verified is None or answer.masked is None):
        gaps = coverage.not_inspected
        yield from (f"not inspected: {gap.location}: {gap.reason}" for gap in gaps[:_MOST_PLACES])
        if len(gaps) > _MOST_PLACES:
            yield f"not inspected: {len(gaps) - _MOST_PLACES} more"
        if gaps and answer.masked is None:
            yield "--on-uninspected warn accepts what could not be inspected"
    yield from (f"note: {each}" for each in coverage.remarks)
