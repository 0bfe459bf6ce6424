"""The options of `dlpctl scan`, which are also the request for a scan that hooks make."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dlpctl.cli import options


class ReportFormat(StrEnum):
    HUMAN = "human"
    JSON = "json"
    JSONL = "jsonl"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    GITLAB = "gitlab"
    HTML = "html"
    MARKDOWN = "markdown"


class ScanRequest(NamedTuple):
    """The files to scan, the types to look for, and the reports to write."""

    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Files, folders, buckets and databases, or '-' for stdin; '.' if none.",
        ),
    ] = None
    types: options.Types = None
    policy: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--policy",
            metavar="POLICY",
            help="A policy file or a built-in policy: only what it masks or blocks.",
        ),
    ] = None
    destination: options.Destination = None
    min_score: options.MinScore = None
    sensitivity: options.Sensitivity = None
    fail_on: Annotated[
        float,
        typer.Option(
            metavar="SCORE",
            min=0.0,
            max=1.0,
            help="Exit with status 20 for findings of at least SCORE, with 10 for others.",
        ),
    ] = 0.5
    staged: Annotated[bool, typer.Option("--staged", help="Scan what git would commit.")] = False
    history: Annotated[
        bool,
        typer.Option("--history", help="Scan all commits, or ranges of commits given as PATH."),
    ] = False
    diff: Annotated[
        str | None,
        typer.Option(metavar="BASE", help="Scan the lines added since the branch left BASE."),
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Scan only such files, as in .gitignore. Repeatable."),
    ] = None
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Skip such files. Repeatable.")
    ] = None
    no_ignore: Annotated[
        bool, typer.Option("--no-ignore", help="Ignore .gitignore and .dlpctlignore files.")
    ] = False
    no_names: Annotated[
        bool, typer.Option("--no-names", help="Skip names and addresses, which are the slowest.")
    ] = False
    max_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Skip larger files: 500k, 10M or 2G.")
    ] = None
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The accepted findings; the nearest .dlpctl-allow."),
    ] = None
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Remember in FILE what was scanned; read only what is new or changed.",
        ),
    ] = None
    sample: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Scan only a sample of each folder and format: 5%."),
    ] = None
    seed: Annotated[int, typer.Option(metavar="N", help="The seed by which a sample is drawn.")] = 1
    no_archives: Annotated[bool, typer.Option("--no-archives", help="Skip archives.")] = False
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Do not exit with status 1 for unreadable files.")
    ] = False
    jobs: Annotated[
        int,
        typer.Option(
            "-j", "--jobs", metavar="N", min=0, max=256, help="Use N workers; 0: all processors."
        ),
    ] = 0
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Scan on a Dask cluster: tcp://HOST:PORT, or local:N for N workers here.",
        ),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a scan of a cluster that was stopped.")
    ] = False
    form: Annotated[
        ReportFormat,
        typer.Option(
            "-f",
            "--format",
            metavar="FORMAT",
            help=f"Output format: {', '.join(ReportFormat)}.",
            show_default=False,
        ),
    ] = ReportFormat.HUMAN
    reports: Annotated[
        list[str] | None,
        typer.Option(
            "--report",
            metavar="FORMAT=FILE",
            help="Also write a report, e.g. sarif=scan.sarif. Repeatable.",
        ),
    ] = None
    verbose: Annotated[
        bool,
        typer.Option("-v", "--verbose", help="List what was not scanned, and finding ids."),
    ] = False
    all_findings: Annotated[
        bool, typer.Option("--all", help="List every finding, however many there are of a type.")
    ] = False
    quiet: options.Quiet = False
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show the values themselves, on a terminal only.")
    ] = False
    patterns: options.Patterns = None

    @property
    def of_changes(self) -> bool:
        """Return whether changes are scanned, of which there may be none."""
        return self.staged or self.diff is not None

    @property
    def of_git(self) -> bool:
        return self.of_changes or self.history
