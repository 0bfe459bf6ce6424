"""A scan as `scan` and the hooks run it: what is read, what is looked for, and where reports go."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.cli import exceptions, inputs
from dlpctl.cli.documents import cleaning_up
from dlpctl.cli.search import search
from dlpctl.cli.report_outputs import (
    Delivery,
    all_failed,
    failure_of,
    file_output,
    require_distinct,
    stdout_output,
)
from dlpctl.cli.session import Session, say_gaps
from dlpctl.errors import DlpctlError, InputError, UsageError
from dlpctl.scan.reports import FORMS, Setting, report_named, skipped_by_reason
from dlpctl.scan.results import Skip, Why

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from dlpctl.cli.search import Search
    from dlpctl.cli.progress import Progress
    from dlpctl.cli.report_outputs import Output
    from dlpctl.scan.baseline import Acceptance
    from dlpctl.scan.git import Repository
    from dlpctl.scan.reports import Report
    from dlpctl.scan.results import Result, Summary
    from dlpctl.scan.scanner import Scan

    Stopped = KeyboardInterrupt | SystemExit | DlpctlError

CLEAN, INCOMPLETE, BELOW, FOUND = 0, 1, 10, 20
HUMAN, JSONL = "human", "jsonl"
USUAL_PATH = "."


class Request(NamedTuple):
    """The arguments of a scan."""

    paths: Sequence[str] = ()
    staged: bool = False
    history: bool = False
    diff: str | None = None
    types: str | None = None
    default_types: Sequence[str] = ()
    """The types to look for if neither flags nor settings name any; all if empty."""
    policy: str | None = None
    destination: str | None = None
    min_score: float | None = None
    fail_on: float = 0.5
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    ignore_files: bool = True
    names: bool = True
    max_size: int | None = None
    baseline: Path | None = None
    archives: bool = True
    keep_going: bool = False
    jobs: int = 0
    form: str = HUMAN
    reports: Sequence[str] = ()
    verbose: bool = False
    quiet: bool = False
    show_values: bool = False
    patterns: Sequence[Path] | None = None

    @property
    def of_changes(self) -> bool:
        """Whether changes are scanned, of which there may be none."""
        return self.staged or self.diff is not None

    @property
    def of_git(self) -> bool:
        return self.of_changes or self.history


def scan(request: Request, *more: Report) -> int:
    """Scan, write the reports and return the exit status; `more` reports take what is found, too."""
    from dlpctl.cli.progress import Progress

    if inputs.STDIN in request.paths:
        inputs.require_open_stdin()
    with ExitStack() as stack:
        files = _file_outputs(request)
        for _, output in files:
            stack.callback(output.abandon)
        session = Session.begin(request.patterns)
        stack.enter_context(cleaning_up())
        wanted = search(
            session,
            types=request.types,
            policy=request.policy,
            destination=request.destination,
            min_score=request.min_score,
            default_types=request.default_types,
        )
        if not request.names:
            wanted = wanted._replace(detector=wanted.detector.without_names())
        _say_usual_path(request)
        keys, known = exceptions.acceptance(request.baseline, request.destination)
        progress = Progress(None if request.quiet else sys.stderr)
        run = _scan(session, request, wanted, keys, known, progress)
        found = (
            _from_git(run, request) if request.of_git else run.files(request.paths or [USUAL_PATH])
        )
        deliveries = _deliveries(session, request, wanted, files)
        stopped = _deliver(found, run.summary, deliveries, more, progress)
        if stopped is None:
            stopped = _emptiness(run.summary, request)
        _finish(run.summary, deliveries, more, known)
    say_gaps(wanted.detector)
    if problem := stopped or failure_of(deliveries):
        raise problem
    return _status(run.summary, request)


def _say_usual_path(request: Request) -> None:
    """Say what is scanned to a caller who may have meant stdin."""
    if request.paths or request.of_git or not inputs.may_hold_content():
        return
    sys.stderr.write("dlpctl: note: scanning this folder, not stdin; '-' scans stdin\n")


def _file_outputs(request: Request) -> list[tuple[str, Output]]:
    """The form and the output of each `--report`; what earlier runs wrote there is gone afterwards."""
    named: list[tuple[str, Path]] = []
    for each in request.reports:
        form, _, file = each.partition("=")
        if form not in FORMS or not file:
            raise UsageError(f"--report {each}: write FORM=FILE with one of {', '.join(FORMS)}")
        named.append((form, Path(file)))
    require_distinct([file for _, file in named], request.paths)
    return [(form, file_output(file)) for form, file in named]


def _scan(
    session: Session,
    request: Request,
    wanted: Search,
    keys: tuple[bytes, ...],
    known: Acceptance | None,
    progress: Progress,
) -> Scan:
    from dlpctl.scan.content import Examiner
    from dlpctl.scan.scanner import Scan
    from dlpctl.scan.walk import Selection

    allow = session.allow_list()
    selection = Selection(
        include=request.include,
        exclude=request.exclude,
        allowed=allow.skips if session.config.allow.paths else None,
        max_size=request.max_size,
        ignore_files=request.ignore_files,
    )
    return Scan(
        Examiner(
            wanted.detector, wanted.min_score, allow, keys=keys, show_values=request.show_values
        ),
        selection,
        archives=request.archives,
        jobs=request.jobs,
        accepts=known.accepts if known else None,
        limits=session.config.limits,
        on_step=progress,
    )


def _from_git(run: Scan, request: Request) -> Generator[Result | Skip]:
    from dlpctl.scan.git import Repository

    paths = request.paths
    ranges = [path for path in paths if request.history and not os.path.lexists(path)]
    places = [Path(path) for path in paths if path not in ranges] or [Path()]
    repository = Repository(str(places[0] if places[0].is_dir() else places[0].parent))
    within = [_known(repository, place) for place in places] if paths else []
    within = [inside for inside in within if inside != "."]
    if request.staged:
        return run.blobs(repository, repository.staged(within))
    if request.diff is not None:
        return run.blobs(repository, repository.added(request.diff, within))
    if repository.is_shallow:
        run.summary.notes.append(
            "This is a shallow clone: nothing before its oldest commit was scanned."
        )
    return run.blobs(repository, repository.history(ranges, within))


def _known(repository: Repository, place: Path) -> str:
    """A path as git calls it; one that git has never heard of would match no change."""
    inside = repository.within(place)
    if not os.path.lexists(place) and not repository.has_path(inside):
        raise UsageError(f"{place}: no such file or folder, neither here nor in HEAD")
    return inside


def _deliveries(
    session: Session, request: Request, wanted: Search, files: Sequence[tuple[str, Output]]
) -> list[Delivery]:
    from dlpctl import __version__
    from dlpctl.cli.render import coloured

    setting = Setting(__version__, request.fail_on, verbose=request.verbose, limits=wanted.limits)

    def delivery(form: str, setting: Setting, output: Output) -> Delivery:
        return Delivery(lambda write: report_named(form, write, setting), output)

    deliveries = [delivery(form, setting, output) for form, output in files]
    if not request.quiet:
        form = request.form
        shown = setting._replace(coloured=coloured(sys.stdout, session.config.color))
        stdout = stdout_output(for_people=form == HUMAN, at_once=form == JSONL)
        deliveries.append(delivery(form, shown, stdout))
    return deliveries


def _deliver(
    found: Generator[Result | Skip],
    summary: Summary,
    deliveries: Sequence[Delivery],
    more: Sequence[Report],
    progress: Progress,
) -> Stopped | None:
    """Hand on what is found as it comes; return what stopped it, once the workers have ended."""
    stopped: Stopped | None = None
    with closing(found):
        try:
            for one in found:
                progress.erase()
                for delivery in deliveries:
                    delivery.add(one)
                for report in more:
                    report.skip(one) if isinstance(one, Skip) else report.add(one)
                if all_failed(deliveries):
                    break
        except (KeyboardInterrupt, SystemExit, DlpctlError) as problem:
            stopped = problem
    progress.end()
    if isinstance(stopped, DlpctlError):
        summary.notes.append(stopped.message)
    return stopped


def _emptiness(summary: Summary, request: Request) -> DlpctlError | None:
    """The error where no file was scanned: a wrong path must not pass for a clean one.

    Changes may be none, and a file that the settings allow is not asked about.
    """
    is_reported = summary.partial or (summary.failures and not request.keep_going)
    if summary.files or is_reported:
        return None
    skipped = skipped_by_reason(summary)
    if request.of_changes or set(summary.skipped) == {Why.ALLOWED}:
        if not skipped:
            summary.notes.append("There are no changes to scan.")
        return None
    summary.is_empty = True
    why = skipped or ("there are no commits" if request.history else "there is no file")
    summary.notes.append(f"No file was scanned ({why}).")
    return InputError(f"no file was scanned ({why}): check the paths and what leaves files out")


def _finish(
    summary: Summary,
    deliveries: Sequence[Delivery],
    more: Sequence[Report],
    known: Acceptance | None,
) -> None:
    if known is not None:
        summary.notes += known.notes()
    for delivery in deliveries:
        delivery.finish(summary)
    for report in more:
        report.finish(summary)


def _status(summary: Summary, request: Request) -> int:
    if summary.failures and not request.keep_going:
        return INCOMPLETE
    if summary.worst is None:
        return CLEAN
    return FOUND if summary.worst >= request.fail_on else BELOW
