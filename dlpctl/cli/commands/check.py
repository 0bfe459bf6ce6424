"""`dlpctl check`: may this content go there?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dlpctl.cli import documents, inputs, options
from dlpctl.cli.outputs import writing
from dlpctl.cli.places import Lines
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session
from dlpctl.errors import DlpctlError, InputError, OutputError, UsageError
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dlpctl.files.report import FileReport
    from dlpctl.preflight import Checker, Report
    from dlpctl.types import Detection, Finding

app = typer.Typer(add_completion=False)

EXIT_STATUS = {Decision.ALLOWED: 0, Decision.ALLOWED_WITH_MASKING: 10, Decision.BLOCKED: 20}
_MOST_PLACES = 5
_PLAIN_TEXT = "text"


@app.command()
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Files of any format; '-' is stdin, as is none."),
    ] = None,
    destination: options.Destination = None,
    policy: options.Policy = None,
    operator: options.Operator = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the masked copy here. Without it, the copy of a file that is no plain text lies beside it: a.masked.pdf.",
        ),
    ] = None,
    force: options.Force = False,
    form: options.Format = options.Output.HUMAN,
    findings: Annotated[
        bool, typer.Option("--findings", help="List every finding in the JSON.")
    ] = False,
    decision_only: Annotated[
        bool,
        typer.Option(
            "--decision-only", help="Print the decision alone; stops as soon as it is certain."
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print nothing; the exit status says it.")
    ] = False,
    password: options.Password = False,
    password_file: options.PasswordFile = None,
    on_uninspected: options.OnUninspected = None,
    before_after: options.BeforeAfter = None,
    patterns: options.Patterns = None,
    org: Annotated[
        str | None,
        typer.Option(
            metavar="ORG", help="Check by a policy of this organization, in its log and quota."
        ),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The key of the policy to check by; DLPCTL_API_KEY holds it as well.",
        ),
    ] = None,
    server: options.Server = None,
) -> None:
    """Decide by the policy. Exit status: 0 allowed, 10 allowed with masking, 20 blocked; of several
    files the worst.
    """
    names = files or [inputs.STDIN]
    if output is not None and len(names) > 1:
        raise UsageError("--output takes the masked copy of one file; check the files one by one")
    documents.refuse_unwritable(output, force=force)
    session = Session.begin(patterns, server)
    if session.asks_control_plane(org, api_key_file):
        from dlpctl.cli.stored_check import StoredCheck, show

        if any(
            (operator, patterns, findings, password, password_file, on_uninspected, before_after)
        ):
            raise UsageError(
                "a check by the control plane takes only --destination, --policy and where output goes"
            )
        stored = StoredCheck(session, org, policy, api_key_file, destination)
        answered = stored.run(names, output, force=force, required=not files)
        show(
            names,
            answered,
            session.printer(quiet=quiet),
            decision_only=decision_only,
            as_json=form is options.Output.JSON,
        )
        raise typer.Exit(max(EXIT_STATUS[Decision(one["decision"])] for one in answered))
    secret = documents.password(ask=password, file=password_file)
    wanted = _Wanted(output, force, decision_only, secret, on_uninspected, before_after, not files)
    checking = _Checking(session, session.checker(destination, policy, operator), wanted)
    printer = session.printer(quiet=quiet)
    answers = []
    unreadable: list[InputError] = []
    for name in names:
        try:
            answer = checking.check(name)
        except InputError as missing:
            unreadable.append(missing)
            continue
        answers.append(answer)
        session.record(answer.decision, answer.report, answer.size, is_file=answer.file is not None)
        if decision_only:
            printer.line(
                printer.decision(answer.decision) + (f"  {answer.shown}" if len(names) > 1 else "")
            )
        elif form is options.Output.HUMAN:
            _show(answer, printer)
    if form is options.Output.JSON and not decision_only and answers:
        tables = [one.to_dict(findings=findings) for one in answers]
        many = [{"file": one.shown} | table for one, table in zip(answers, tables, strict=True)]
        printer.json(tables[0] if len(names) == 1 else many)
    session.tell()
    problems: list[DlpctlError] = [
        *unreadable,
        *(one.problem for one in answers if one.problem is not None),
    ]
    for problem in problems[1:]:
        sys.stderr.write(f"dlpctl: {problem.message}\n")
    if problems:
        raise problems[0]
    raise typer.Exit(max(EXIT_STATUS[one.decision] for one in answers))


class _Wanted(NamedTuple):
    """What the options ask for."""

    output: Path | None
    force: bool
    decision_only: bool
    password: str | None
    on_uninspected: str | None
    before_after: Path | None
    required: bool
    """Whether a stdin without a byte is refused."""


class _Answer(NamedTuple):
    """What becomes of one file."""

    shown: str
    """Its name, without any value in it."""
    decision: Decision
    report: Report | None = None
    """None where the decision alone was asked for."""
    places: Sequence[str] = ()
    """Where each finding is."""
    file: FileReport | None = None
    """Of what is no plain text."""
    copy: Path | None = None
    pictures: Sequence[Path] = ()
    problem: OutputError | None = None
    """Why a copy could not be written."""
    size: int = 0
    """Bytes of the content; 0 where it was not read to its end."""

    def to_dict(self, *, findings: bool) -> dict[str, Any]:
        assert self.report is not None
        if self.file is None:
            return self.report.to_dict(findings=findings)
        return self.file.to_dict() | {"masked_file": None if self.copy is None else str(self.copy)}


class _Checking:
    def __init__(self, session: Session, checker: Checker, wanted: _Wanted) -> None:
        self._session = session
        self._checker = checker
        self._wanted = wanted

    def check(self, name: str) -> _Answer:
        head, chunks = inputs.peeked(name, required=self._wanted.required)
        if not documents.is_plain(name, head):
            return self._file(
                name, documents.whole(chunks, self._session.config.limits.input_bytes)
            )
        shown = self._shown(name)
        if self._wanted.decision_only:
            return _Answer(shown, self._checker.decide(chunks))
        data = b"".join(chunks)
        if not documents.is_plain(name, data):  # the first piece did not show it
            return self._file(name, data)
        text = data.decode("utf-8", "surrogateescape")
        report = self._checker.check(text)
        if report.masked_content is None:
            documents.remove_stale(self._wanted.output, name)
        elif self._wanted.output is not None:
            with writing(self._wanted.output) as write:
                write(report.masked_content.encode("utf-8", "surrogateescape"))
        lines = Lines(text)
        places = ["{}:{}".format(*lines.place(one.start)) for one in report.findings]
        return _Answer(
            shown, report.decision, report, places, copy=self._wanted.output, size=len(data)
        )

    def _file(self, name: str, data: bytes) -> _Answer:
        checker = self._session.file_checker(self._checker, self._wanted.on_uninspected)
        shown = self._shown(name)
        secret = self._wanted.password
        with documents.cleaning_up():
            with documents.progress(shown) as stage:
                answer = checker.check(data, Path(name).name, secret, stage=stage)
            report = answer.report
            places = [one.locator or "" for one in report.findings]
            done = _Answer(shown, report.decision, report, places, answer, size=len(data))
            if self._wanted.decision_only:
                return done
            try:
                copy = self._save(answer, data, name, shown)
                pictures = self._draw(answer, data, shown)
            except OutputError as problem:
                return done._replace(problem=problem)
        return done._replace(copy=copy, pictures=pictures)

    def _save(self, answer: FileReport, data: bytes, name: str, shown: str) -> Path | None:
        """The masked copy where it belongs. Plain text has none unless it is asked for: `mask`
        prints it.
        """
        wanted = self._wanted
        if answer.masked is None:
            beside = documents.beside(name, Path(shown).name) if wanted.force else None
            documents.remove_stale(wanted.output or beside, name)
            return None
        target = wanted.output
        if target is None:
            if (
                answer.masked == data
                or name == inputs.STDIN
                or answer.coverage.format == _PLAIN_TEXT
            ):
                return None
            target = documents.beside(name, Path(shown).name)
        documents.save(answer.masked, target, force=wanted.force)
        return target

    def _draw(self, answer: FileReport, data: bytes, shown: str) -> list[Path]:
        folder = self._wanted.before_after
        if folder is None or not answer.pages:
            return []
        return documents.save_pictures(
            answer, data, Path(shown).name, folder, self._wanted.password
        )

    def _shown(self, name: str) -> str:
        if name == inputs.STDIN:
            return "stdin"
        base = Path(name).name
        return name.removesuffix(base) + documents.without_values(base, self._checker)


def _show(answer: _Answer, printer: Printer) -> None:
    report = answer.report
    assert report is not None
    printer.line(
        f"{printer.decision(report.decision)}  {printer.style(answer.shown, 'bold')}  {report.summary}"
    )
    places = _places_by_type(report.findings, answer.places)
    printer.table((_row(one, places[one.type]) for one in report.detected), indent="  ")
    if answer.file is not None:
        for line in _about(answer.file):
            printer.line(f"  {line}")
        if answer.copy is not None:
            printer.line(f"  masked copy: {answer.copy}")
        if answer.pictures:
            printer.line(
                f"  before and after: {len(answer.pictures)} pictures in {answer.pictures[0].parent}"
            )


def _places_by_type(findings: Sequence[Finding], places: Sequence[str]) -> dict[str, list[str]]:
    """The places of each type, each once."""
    found: dict[str, dict[str, None]] = {}
    for finding, place in zip(findings, places, strict=True):
        found.setdefault(finding.type, {})[place] = None
    return {name: list(those) for name, those in found.items()}


def _row(one: Detection, places: Sequence[str]) -> tuple[str, ...]:
    more = f" +{len(places) - _MOST_PLACES}" if len(places) > _MOST_PLACES else ""
    listed = f"at {'; '.join(places[:_MOST_PLACES])}{more}"
    return str(one.occurrences), one.type, one.sample or "(hidden)", listed


def _about(answer: FileReport) -> Iterator[str]:
    """What was looked at, said plainly."""
    coverage = answer.coverage
    if answer.verified is not None:
        yield f"verified: {answer.verified.summary}"
    if coverage.format and (answer.verified is None or answer.masked is None):
        gaps = coverage.not_inspected
        yield from (f"not inspected: {gap.place}: {gap.reason}" for gap in gaps[:_MOST_PLACES])
        if len(gaps) > _MOST_PLACES:
            yield f"not inspected: {len(gaps) - _MOST_PLACES} more"
        if gaps and answer.masked is None:
            yield "--on-uninspected warn accepts what could not be inspected"
    yield from (f"note: {note}" for note in coverage.notes)
