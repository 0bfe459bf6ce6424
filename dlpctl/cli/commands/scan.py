"""`dlpctl scan`: what is in these files, in this tree, in this history?"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import ExitStack, closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli import exceptions, options
from dlpctl.cli.session import Session, say_gaps
from dlpctl.errors import DlpctlError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from dlpctl.cli.progress import Progress
    from dlpctl.detect.engine import Detector
    from dlpctl.scan.baseline import Acceptance
    from dlpctl.scan.reports import Report
    from dlpctl.scan.results import Result, Skip, Summary
    from dlpctl.scan.scanner import Scan

app = typer.Typer(add_completion=False)

CLEAN, INCOMPLETE, BELOW, FOUND = 0, 1, 10, 20
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


class Form(StrEnum):
    HUMAN = "human"
    JSON = "json"
    JSONL = "jsonl"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    GITLAB = "gitlab"
    HTML = "html"
    MARKDOWN = "markdown"


@app.command()
def scan(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Files and folders; '-' is stdin.")
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Only these categories, types or patterns, joined by commas."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("-p", "--policy", metavar="POLICY", help="Only what this policy masks or blocks."),
    ] = None,
    destination: options.Destination = None,
    min_score: options.MinScore = None,
    fail_on: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="The score from which on a finding makes the exit status 20."),
    ] = 0.5,
    staged: Annotated[
        bool, typer.Option("--staged", help="What git would commit, as it is in the index.")
    ] = False,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="All that was ever committed, each content once; a PATH that is no file is a range of commits.",
        ),
    ] = False,
    diff: Annotated[
        str | None,
        typer.Option(metavar="BASE", help="Only lines that were added since this branch left BASE."),
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only such files, as in .gitignore; repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="No such files or folders; repeatable.")
    ] = None,
    no_ignore: Annotated[
        bool, typer.Option("--no-ignore", help="Scan what .gitignore and .dlpctlignore leave out, too.")
    ] = False,
    no_names: Annotated[
        bool,
        typer.Option("--no-names", help="Look for no names and addresses, which take the longest to find."),
    ] = False,
    max_size: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Skip larger files: 500k, 10M, 2G. Usually none is too large."),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What is accepted by name; usually the nearest .dlpctl-allow, here or above. See 'dlpctl baseline'.",
        ),
    ] = None,
    no_archives: Annotated[bool, typer.Option("--no-archives", help="Do not look into archives.")] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Files that cannot be read do not make the exit status 1.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("-j", "--jobs", min=0, help="Workers at once; 0 is one for each processor.")
    ] = 0,
    form: Annotated[Form, typer.Option("-f", "--format", help="What stdout gets.")] = Form.HUMAN,
    reports: Annotated[
        list[str] | None,
        typer.Option(
            "--report", metavar="FORM=FILE", help="Write a report, too: sarif=scan.sarif; repeatable."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="List everything that was not scanned.")
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Write nothing to stdout.")] = False,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show the values themselves; on a terminal only.")
    ] = False,
    patterns: options.Patterns = None,
) -> None:
    """List what is found in files, folders and git.

    Exit status: 0 nothing, 10 only findings below --fail-on, 20 others, 1 something could not be read.
    """
    if show_values and (not sys.stdout.isatty() or reports):
        raise UsageError(
            "--show-values writes to a terminal only, so that no value ends up in a file or a log"
        )
    if sum((staged, history, diff is not None)) > 1:
        raise UsageError("--staged, --history and --diff exclude each other")
    from dlpctl.cli.progress import Progress
    from dlpctl.scan.content import Examiner
    from dlpctl.scan.scanner import Scan
    from dlpctl.scan.walk import Selection

    session = Session.begin(patterns)
    detector, score = _narrowed(session, types, policy, destination)
    if no_names:
        detector = detector.without_names()
    if min_score is not None:
        score = min_score
    allow = session.allow_list()
    selection = Selection(
        include=include or (),
        exclude=exclude or (),
        allowed=allow.skips if session.config.allow.paths else None,
        max_size=_bytes(max_size),
        ignore_files=not no_ignore,
    )
    keys, known = exceptions.acceptance(baseline, destination)
    progress = Progress(None if quiet else sys.stderr)
    run = Scan(
        Examiner(detector, score, allow, keys=keys, show_values=show_values),
        selection,
        archives=not no_archives,
        jobs=jobs,
        accepts=known.accepts if known else None,
        limits=session.config.limits,
        on_step=progress,
    )
    if staged or history or diff is not None:
        found = _from_git(run, paths or [], staged=staged, base=diff)
    else:
        found = run.files(paths or [_usual_path()])
    with ExitStack() as stack:
        writers = _reports(session, stack, form, reports or [], quiet=quiet, fail_on=fail_on, verbose=verbose)
        stopped = _write(found, run.summary, writers, known, progress)
    say_gaps(detector)
    if stopped is not None:
        raise stopped
    raise typer.Exit(_status(run.summary, fail_on, keep_going=keep_going))


def _narrowed(
    session: Session, types: str | None, policy: str | None, destination: str | None
) -> tuple[Detector, float]:
    """A detector for what is asked for alone, and the score from which on its findings count."""
    detector, score = session.detector(), session.config.min_score
    if policy is not None:
        from dlpctl.policy.decide import relevant_selectors
        from dlpctl.preflight import custom_patterns, parse_destination

        chosen = session.policy(policy)
        if chosen.custom_patterns:
            detector = detector.extended(custom_patterns(chosen.custom_patterns, chosen.name))
        where = parse_destination(destination or session.config.destination)
        relevant = relevant_selectors(chosen, where, decision_only=True)
        score = relevant.min_score
        if relevant.selectors is not None:
            detector = detector.for_known(relevant.selectors)
    if types:
        detector = detector.for_types(name.strip() for name in types.split(",") if name.strip())
    return detector, score


def _usual_path() -> str:
    """What is scanned if nothing is named: stdin where something may come from it, else this folder."""
    if sys.stdin is None:
        return "."
    mode = os.fstat(0).st_mode
    return "-" if stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode) else "."


def _from_git(run: Scan, paths: Sequence[str], *, staged: bool, base: str | None) -> Generator[Result | Skip]:
    from dlpctl.scan.git import Repository

    history = not staged and base is None
    ranges = [path for path in paths if history and not os.path.lexists(path)]
    places = [Path(path) for path in paths if path not in ranges] or [Path()]
    repository = Repository(str(places[0] if places[0].is_dir() else places[0].parent))
    within = [inside for place in places if paths and (inside := repository.within(place)) != "."]
    if history and repository.is_shallow:
        run.summary.notes.append(
            "This is a shallow clone: what lies behind its oldest commit was not scanned."
        )
    if staged:
        return run.blobs(repository, repository.staged(within))
    listed = repository.history(ranges, within) if base is None else repository.added(base, within)
    return run.blobs(repository, listed)


def _reports(
    session: Session,
    stack: ExitStack,
    form: Form,
    named: Sequence[str],
    *,
    quiet: bool,
    fail_on: float,
    verbose: bool,
) -> list[Report]:
    from dlpctl import __version__
    from dlpctl.cli.outputs import writing
    from dlpctl.cli.render import coloured
    from dlpctl.scan.reports import FORMS, Setting, report_named

    setting = Setting(__version__, fail_on, verbose=verbose)
    reports: list[Report] = []
    for each in named:
        wanted, _, file = each.partition("=")
        if wanted not in FORMS or not file:
            raise UsageError(f"--report {each}: write FORM=FILE with one of {', '.join(FORMS)}")
        write = stack.enter_context(writing(Path(file)))
        reports.append(report_named(wanted, _encoded(write), setting))
    if not quiet:
        on_screen = setting._replace(coloured=coloured(sys.stdout, session.config.color))
        shown = sys.stdout.write if form is Form.HUMAN else _encoded(_to_stdout(at_once=form is Form.JSONL))
        reports.append(report_named(form.value, shown, on_screen))
    return reports


def _to_stdout(*, at_once: bool) -> Callable[[bytes], object]:
    """Bytes, since what programs read is UTF-8 everywhere."""
    sys.stdout.flush()
    stdout = sys.stdout.buffer

    def write(data: bytes) -> None:
        stdout.write(data)
        if at_once:
            stdout.flush()

    return write


def _encoded(write: Callable[[bytes], object]) -> Callable[[str], object]:
    return lambda text: write(text.encode("utf-8", "backslashreplace"))


def _write(
    found: Generator[Result | Skip],
    summary: Summary,
    reports: Sequence[Report],
    known: Acceptance | None,
    progress: Progress,
) -> KeyboardInterrupt | DlpctlError | None:
    """Hand on what is found, and say at the end how far that got; gives what stopped it, once the reports are whole."""
    from dlpctl.scan.results import Skip

    stopped: KeyboardInterrupt | DlpctlError | None = None
    with closing(found):
        try:
            for one in found:
                progress.erase()
                for report in reports:
                    if isinstance(one, Skip):
                        report.skip(one)
                    else:
                        report.add(one)
        except (KeyboardInterrupt, DlpctlError) as problem:
            stopped = problem
    progress.end()
    if isinstance(stopped, DlpctlError):
        summary.notes.append(stopped.message)
    if known is not None:
        summary.notes += known.notes()
    for report in reports:
        report.finish(summary)
    sys.stdout.flush()
    return stopped


def _status(summary: Summary, fail_on: float, *, keep_going: bool) -> int:
    if summary.failures and not keep_going:
        return INCOMPLETE
    if summary.worst is None:
        return CLEAN
    return FOUND if summary.worst >= fail_on else BELOW


def _bytes(size: str | None) -> int | None:
    if size is None:
        return None
    found = _SIZE.fullmatch(size.strip())
    if not found:
        raise UsageError(f"--max-size {size}: write a number and a unit, say 500k, 10M or 2G")
    return int(float(found[1]) * (1 << _UNITS[found[2].lower()]))
