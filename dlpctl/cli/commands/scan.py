"""`dlpctl scan`: list what is found in files, folders and git."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.errors import UsageError

app = typer.Typer(add_completion=False)

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
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...", help="Files and folders, usually this one; '-' is stdin."
        ),
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Look only for these categories, types or patterns, joined by commas.",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--policy",
            metavar="POLICY",
            help="Look only for what this policy masks or blocks.",
        ),
    ] = None,
    destination: options.Destination = None,
    min_score: options.MinScore = None,
    fail_on: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="The score from which on a finding makes the exit status 20."
        ),
    ] = 0.5,
    staged: Annotated[
        bool, typer.Option("--staged", help="Scan what git would commit, as it is in the index.")
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
        typer.Option(
            metavar="BASE", help="Only lines that were added since this branch left BASE."
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only such files, as in .gitignore; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="No such files or folders; repeatable.")
    ] = None,
    no_ignore: Annotated[
        bool,
        typer.Option("--no-ignore", help="Scan what .gitignore and .dlpctlignore leave out, too."),
    ] = False,
    no_names: Annotated[
        bool,
        typer.Option(
            "--no-names", help="Look for no names and addresses, which take the longest to find."
        ),
    ] = False,
    max_size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Skip larger files: 500k, 10M, 2G. Usually none is too large."
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What is accepted by name; usually the nearest .dlpctl-allow, here or above. See 'dlpctl baseline'.",
        ),
    ] = None,
    no_archives: Annotated[
        bool, typer.Option("--no-archives", help="Do not look into archives.")
    ] = False,
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going", help="Files that cannot be read do not make the exit status 1."
        ),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option("-j", "--jobs", min=0, help="Workers at once; 0 is one for each processor."),
    ] = 0,
    form: Annotated[Form, typer.Option("-f", "--format", help="What stdout gets.")] = Form.HUMAN,
    reports: Annotated[
        list[str] | None,
        typer.Option(
            "--report",
            metavar="FORM=FILE",
            help="Also write a report: sarif=scan.sarif; repeatable.",
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

    Exit status: 0 nothing found, 10 only findings below --fail-on, 20 others, 1 something could not
    be read, or no file was scanned.
    """
    if show_values and (not sys.stdout.isatty() or reports):
        raise UsageError(
            "--show-values writes to a terminal only, so that no value ends up in a file or a log"
        )
    if sum((staged, history, diff is not None)) > 1:
        raise UsageError("--staged, --history and --diff exclude each other")
    from dlpctl.cli import scanning

    request = scanning.Request(
        paths=paths or (),
        staged=staged,
        history=history,
        diff=diff,
        types=types,
        policy=policy,
        destination=destination,
        min_score=min_score,
        fail_on=fail_on,
        include=include or (),
        exclude=exclude or (),
        ignore_files=not no_ignore,
        names=not no_names,
        max_size=_bytes(max_size),
        baseline=baseline,
        archives=not no_archives,
        keep_going=keep_going,
        jobs=jobs,
        form=form.value,
        reports=reports or (),
        verbose=verbose,
        quiet=quiet,
        show_values=show_values,
        patterns=patterns,
    )
    raise typer.Exit(scanning.scan(request))


def _bytes(size: str | None) -> int | None:
    if size is None:
        return None
    found = _SIZE.fullmatch(size.strip())
    if not found:
        raise UsageError(f"--max-size {size}: write a number and a unit, say 500k, 10M or 2G")
    return int(float(found[1]) * (1 << _UNITS[found[2].lower()]))
