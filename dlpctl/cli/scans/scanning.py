"""A scan as `dlpctl scan` and the hooks run it, from the request to reports and exit status."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.cli import accepted, inputs
from dlpctl.cli.concealing import concealing
from dlpctl.cli.documents import cleaning_up
from dlpctl.cli.hints import print_hint
from dlpctl.cli.scans.cluster import cluster_of, require_cluster_scan
from dlpctl.cli.scans.coverage import scan_of, state_of
from dlpctl.cli.scans.outputs import (
    Delivery,
    Output,
    all_failed,
    failure_of,
    file_output,
    require_distinct,
    stdout_output,
)
from dlpctl.cli.search import USUAL, Defaults, Search, search
from dlpctl.cli.session import Session, print_gaps
from dlpctl.errors import DlpctlError, InputError, UsageError
from dlpctl.regex import lazy
from dlpctl.scan.reports import FORMS, Report, Setting, report_named, skipped_by_reason
from dlpctl.scan.results import Result, Skip, Summary, Why
from dlpctl.scan.source import address_shown, is_address, is_database

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from dlpctl.cli.progress import Progress
    from dlpctl.cli.scans.options import ScanRequest
    from dlpctl.scan.baseline import Acceptance
    from dlpctl.scan.git import Repository
    from dlpctl.scan.scanner import Scan

    Stopped = KeyboardInterrupt | SystemExit | DlpctlError

CLEAN, INCOMPLETE, BELOW, FOUND = 0, 1, 10, 20
HUMAN, JSONL, HTML = "human", "jsonl", "html"
USUAL_PATH = "."
_MOST_LINES = 1_000
_SIZE = lazy(r"(\d+(?:\.\d+)?)\s*([kmgtKMGT]?)[iI]?[bB]?")
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def scan(request: ScanRequest, *more: Report, defaults: Defaults = USUAL) -> int:
    """Scan, write the reports and return the exit status. `more` reports get the findings, too."""
    from dlpctl.cli.progress import Progress

    max_size = _bytes(request.max_size)
    require_cluster_scan(request, [path for path in request.paths or () if is_database(path)])
    if inputs.STDIN in (request.paths or ()):
        inputs.require_open_stdin()
    with ExitStack() as stack:
        files = _file_outputs(request, stack)
        session = Session.start(request.patterns)
        stack.enter_context(cleaning_up())
        wanted = search(
            session,
            types=request.types,
            policy=request.policy,
            destination=request.destination,
            min_score=request.min_score,
            sensitivity=request.sensitivity,
            defaults=defaults,
        )
        if request.no_names:
            wanted = wanted._replace(detector=wanted.detector.without_names())
        _note_usual_path(request)
        keys, known = accepted.acceptance(request.baseline, request.destination)
        progress = Progress(None if request.quiet else sys.stderr)
        if state := state_of(session, request, wanted, keys):
            stack.callback(state.close)
        if cluster := cluster_of(session, request, wanted, keys):
            stack.callback(cluster.close)
        run = scan_of(
            session,
            wanted,
            keys,
            request,
            max_size=max_size,
            excerpts=_excerpts(request),
            accepts=known.accepts if known else None,
            on_step=progress,
            state=state,
            elsewhere=cluster,
        )
        found = (
            _from_git(run, request)
            if request.of_git
            else _from_paths(session, run, request, wanted, known, progress)
        )
        deliveries = _deliveries(session, request, wanted, files)
        stopped = _deliver(found, run.summary, deliveries, more, progress)
        stopped = _only_error(stopped, run.summary, request) or _emptiness(run.summary, request)
        if cluster is not None:
            cluster.finish(run.summary)
        _finish(run.summary, deliveries, more, known)
    print_gaps(wanted.detector)
    if not (run.summary.findings or run.summary.possible):
        _hint(wanted, request)
    if problem := stopped or failure_of(deliveries):
        raise problem
    return _status(run.summary, request)


def _hint(wanted: Search, request: ScanRequest) -> None:
    """Tell a user what the first file may hold, in which nothing was found."""
    if request.form == HUMAN and not (request.quiet or request.of_git):
        for path in [path for path in request.paths or () if not is_address(path)][:1]:
            print_hint(wanted.detector, path)


def _note_usual_path(request: ScanRequest) -> None:
    """Tell a user who may have meant stdin what is scanned."""
    if request.paths or request.of_git or not inputs.may_hold_content():
        return
    sys.stderr.write("dlpctl: note: scanning this folder, not stdin; '-' scans stdin\n")


def _file_outputs(request: ScanRequest, stack: ExitStack) -> list[tuple[str, Output]]:
    """Return format and output of each `--report`, which the stack abandons unless it is complete;
    reports of earlier runs are removed.
    """
    named: list[tuple[str, Path]] = []
    for each in request.reports or ():
        form, _, file = each.partition("=")
        if form not in FORMS or not file:
            raise UsageError(f"--report {each}: write FORMAT=FILE with one of {', '.join(FORMS)}")
        named.append((form, Path(file)))
    require_distinct([file for _, file in named], request.paths or ())
    outputs = [(form, file_output(file)) for form, file in named]
    for _, output in outputs:
        stack.callback(output.abandon)
    return outputs


def _from_paths(
    session: Session,
    run: Scan,
    request: ScanRequest,
    wanted: Search,
    known: Acceptance | None,
    progress: Progress,
) -> Generator[Result | Skip]:
    """Yield what is found in files, and then in databases."""
    paths = request.paths or [USUAL_PATH]
    addresses = [path for path in paths if is_database(path)]
    if files := [path for path in paths if path not in addresses]:
        yield from run.files(files)
    if addresses:
        from dlpctl.scan.databases import DatabaseScan

        yield from DatabaseScan(
            wanted.detector,
            wanted.min_score,
            session.allow_list(),
            run.selection,
            run.summary,
            known.accepts if known else None,
            progress,
        ).scan(addresses)


def _from_git(run: Scan, request: ScanRequest) -> Generator[Result | Skip]:
    from dlpctl.scan.git import Repository

    paths = request.paths or ()
    ranges = [path for path in paths if request.history and not os.path.lexists(path)]
    targets = [Path(path) for path in paths if path not in ranges] or [Path()]
    repository = Repository(str(targets[0] if targets[0].is_dir() else targets[0].parent))
    within = [_git_path(repository, target) for target in targets] if paths else []
    within = [inside for inside in within if inside != "."]
    if request.staged:
        return run.blobs(repository, repository.staged(within))
    if request.diff is not None:
        return run.blobs(repository, repository.added(request.diff, within))
    if repository.is_shallow:
        run.summary.remarks.append(
            "This is a shallow clone: nothing before its oldest commit was scanned."
        )
    return run.blobs(repository, repository.history(ranges, within))


def _git_path(repository: Repository, target: Path) -> str:
    """Return a path as git names it; refuse one that git does not know, which would match
    nothing.
    """
    inside = repository.within(target)
    if not os.path.lexists(target) and not repository.has_path(inside):
        raise UsageError(f"{target}: no such file or folder, neither here nor in HEAD")
    return inside


def _deliveries(
    session: Session, request: ScanRequest, wanted: Search, files: Sequence[tuple[str, Output]]
) -> list[Delivery]:
    from dlpctl.cli.render import coloured
    from dlpctl.version import __version__

    setting = Setting(
        __version__,
        request.fail_on,
        verbose=request.verbose,
        limits=wanted.limits,
        about=_about(request, wanted) if _wants(request, HTML) else (),
        conceal=concealing(session) if wanted.limits else None,
    )

    def delivery(form: str, setting: Setting, output: Output) -> Delivery:
        return Delivery(lambda write: report_named(form, write, setting), output)

    deliveries = [delivery(form, setting, output) for form, output in files]
    if not request.quiet:
        form = request.form
        shown = setting._replace(
            coloured=coloured(sys.stdout, session.config.color),
            all_findings=request.all_findings,
            width=shutil.get_terminal_size().columns if sys.stdout.isatty() else setting.width,
        )
        stdout = stdout_output(for_people=form == HUMAN, at_once=form == JSONL)
        deliveries.append(delivery(form, shown, stdout))
    return deliveries


def _wants(request: ScanRequest, form: str) -> bool:
    """Return whether a report of this format is written."""
    is_shown = request.form == form and not request.quiet
    return is_shown or any(each.startswith(f"{form}=") for each in request.reports or ())


def _excerpts(request: ScanRequest) -> int:
    """Return the number of findings of a type whose lines may be shown.

    Of those, an exceptions file may accept some.
    """
    if _wants(request, HTML):
        return sys.maxsize
    if not _wants(request, HUMAN):
        return 0
    return sys.maxsize if request.all_findings else _MOST_LINES


def _about(request: ScanRequest, wanted: Search) -> list[tuple[str, str]]:
    """Return what was scanned, when and at which commit."""
    from datetime import UTC, datetime

    from dlpctl.version import __version__

    paths = request.paths or [USUAL_PATH]
    rows = [
        ("Scanned", ", ".join(map(_named, paths))),
        ("On", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("Commit", "" if is_address(paths[0]) else _commit(Path(paths[0]))),
        ("Looked only for", wanted.limits),
        ("By", f"dlpctl {__version__}"),
    ]
    return [(name, text) for name, text in rows if text]


def _named(path: str) -> str:
    """Return a path in full, or the address of a database without user and password."""
    if is_database(path):
        scheme, _, rest = path.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    if is_address(path):
        return address_shown(path)
    return str(Path(path).absolute())


def _commit(path: Path) -> str:
    """Return the commit that is checked out where the path is; empty outside a repository."""
    from dlpctl.scan.git import Repository

    try:
        return Repository(str(path if path.is_dir() else path.parent)).head
    except InputError:
        return ""


def _deliver(
    found: Generator[Result | Skip],
    summary: Summary,
    deliveries: Sequence[Delivery],
    more: Sequence[Report],
    progress: Progress,
) -> Stopped | None:
    """Report findings as they come; return what stopped the scan, after the workers have ended."""
    stopped: Stopped | None = None
    with closing(found):
        try:
            for result in found:
                progress.erase()
                for delivery in deliveries:
                    delivery.add(result)
                for report in more:
                    report.skip(result) if isinstance(result, Skip) else report.add(result)
                if all_failed(deliveries):
                    break
        except (KeyboardInterrupt, SystemExit, DlpctlError) as problem:
            stopped = problem
    progress.end()
    if isinstance(stopped, DlpctlError):
        summary.remarks.append(stopped.message)
    return stopped


def _only_error(stopped: Stopped | None, summary: Summary, request: ScanRequest) -> Stopped | None:
    """Return what stopped a scan; raise an invalid call if people need no report with it."""
    if isinstance(stopped, UsageError) and request.form == HUMAN and not summary.files:
        raise stopped
    return stopped


def _emptiness(summary: Summary, request: ScanRequest) -> DlpctlError | None:
    """Return the error for a scan without a file: a wrong path must not pass for a clean one.

    There may be no changes, and files that the settings allow are no error.
    """
    is_reported = summary.partial or (summary.failures and not request.keep_going)
    if summary.files or is_reported:
        return None
    skipped = skipped_by_reason(summary)
    if request.of_changes or set(summary.skipped) == {Why.ALLOWED}:
        if not skipped:
            summary.remarks.append("There are no changes to scan.")
        return None
    summary.is_empty = True
    why = skipped or ("there are no commits" if request.history else "there is no file")
    if request.form != HUMAN or request.reports:  # people read the error
        summary.remarks.append(f"No file was scanned ({why}).")
    return InputError(f"no file was scanned ({why}): check the paths and what leaves files out")


def _finish(
    summary: Summary,
    deliveries: Sequence[Delivery],
    more: Sequence[Report],
    known: Acceptance | None,
) -> None:
    if known is not None:
        summary.remarks += known.remarks()
    for delivery in deliveries:
        delivery.finish(summary)
    for report in more:
        report.finish(summary)


def _status(summary: Summary, request: ScanRequest) -> int:
    if summary.failures and not request.keep_going:
        return INCOMPLETE
    if summary.worst is None:
        return CLEAN
    return FOUND if summary.worst >= request.fail_on else BELOW


def _bytes(size: str | None) -> int | None:
    if size is None:
        return None
    found = _SIZE.fullmatch(size.strip())
    if not found:
        raise UsageError(f"--max-size {size}: write a number and a unit, say 500k, 10M or 2G")
    return int(float(found[1]) * (1 << _UNITS[found[2].lower()]))
