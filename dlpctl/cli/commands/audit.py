"""Search, export and verify the log of checks.

The log holds decisions and their policies, never the content that was checked.

Examples:
    dlpctl audit list --org acme
    dlpctl audit verify --head head.txt
"""

from __future__ import annotations

import csv
import io
import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, evidence
from dlpctl.cli.outputs import writing
from dlpctl.cli.render import Printer
from dlpctl.scan.reports import counted

SECTION = ("Control plane", 46)

app = App(__doc__)

OrganizationFilter = Annotated[
    str | None, typer.Option("--org", metavar="ORG", help="Only checks of this organization.")
]
Search = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS", help="Search summary, policy, organization, destination and start of id."
    ),
]


class PageOptions(NamedTuple):
    """The page of a long list to print."""

    limit: Annotated[int, typer.Option(metavar="N", help="Print at most N rows.")] = 50
    offset: Annotated[int, typer.Option(metavar="N", help="Skip the first N rows.")] = 0


class EvidenceOptions(NamedTuple):
    """A database other than the one in use."""

    database: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read this copy or backup instead.")
    ] = None
    key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The key file of --database; control.key next to it."),
    ] = None


class ExportFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@app.command("list")
def list_items(
    page: PageOptions,
    control: ControlOptions,
    org: OrganizationFilter = None,
    search: Search = None,
) -> None:
    """List checks, newest first.

    Examples:
        dlpctl audit list --limit 10
        dlpctl audit list --org acme --search VENDOR
    """
    found = control.ask(
        "search_audit", limit=page.limit, offset=page.offset, org_id=org, search=search
    )
    printer = Printer()
    if control.as_json:
        printer.json(found)
        return
    for item in found["items"]:
        when = item["created_at"][:19].replace("T", " ")
        head = f"{printer.style(when, 'dim')}  {printer.decision(item['decision'])}"
        printer.line(f"{head}  {item['destination']}  {item['org_name']}  {item['preflight_id']}")
        printer.line(f"    {item['summary']}  ({item['policy_name']} {item['policy_version']})")
    first, count = page.offset + 1, len(found["items"])
    shown = f"{first:,} to {first + count - 1:,} of " if count else "none of "
    printer.line(f"{shown}{counted(found['total'], 'check')}")


@app.command()
def export(
    org: OrganizationFilter = None,
    search: Search = None,
    form: Annotated[
        ExportFormat,
        typer.Option(
            "-f",
            "--format",
            metavar="FORMAT",
            help="Output format: jsonl or csv.",
            show_default=False,
        ),
    ] = ExportFormat.JSONL,
    output: options.OutputFile = None,
    server: options.Server = None,
) -> None:
    """Export all checks, newest first.

    Examples:
        dlpctl audit export -o checks.jsonl
        dlpctl audit export --org acme --format csv -o checks.csv
    """
    with ControlOptions(server=server).backend() as backend, writing(output) as write:
        names: list[str] = []
        for item in backend.export_audit(org_id=org, search=search):
            if form is ExportFormat.JSONL:
                write(json.dumps(item, ensure_ascii=False).encode() + b"\n")
                continue
            if not names:
                names = list(item)
                write(_csv(names))
            write(_csv([item[name] for name in names]))


@app.command()
def events(page: PageOptions, control: ControlOptions, org: OrganizationFilter = None) -> None:
    """List administrative changes and the first use of each key on a day, newest first.

    Examples:
        dlpctl audit events
        dlpctl audit events --org acme --limit 10
    """
    found = control.ask("list_events", limit=page.limit, offset=page.offset, org_id=org)
    if control.as_json:
        Printer().json(found)
        return
    columns = "number created_at actor action subject details"
    control.print_list(found["items"], columns, "no event")


@app.command()
def head(source: EvidenceOptions, control: ControlOptions) -> None:
    """Print the signed end of the log. Keep it elsewhere, for 'audit verify --head'.

    Examples:
        dlpctl audit head
        dlpctl audit head --database backup.db --key-file control.key
    """
    with evidence(control.server, source.database, source.key_file) as log:
        answer = log.get_head()
    if control.as_json:
        control.print_record(answer)
    else:
        Printer().line(answer["head"])


@app.command()
def verify(
    source: EvidenceOptions,
    control: ControlOptions,
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="HEAD", help="An earlier head, or a file that holds one."),
    ] = None,
) -> None:
    """Verify log, policies, licenses, tokens and counters. Exit status 1 if any was changed.

    Examples:
        dlpctl audit verify
        dlpctl audit verify --head head.txt --database backup.db
    """
    noted = None if head is None else _noted_head(head)
    with evidence(control.server, source.database, source.key_file) as log:
        report = log.verify_audit(head=noted)
    printer = Printer()
    if control.as_json:
        control.print_record(report)
    else:
        state = "intact" if report["intact"] else "BROKEN"
        logged = counted(report["checked"], "check"), counted(report["events"], "event")
        printer.line(f"{state}: {', '.join(logged)}")
        if report["intact"]:
            printer.line(report["head"])
        for problem in report["problems"]:
            printer.line(f"  {problem}")
    raise typer.Exit(0 if report["intact"] else 1)


def _noted_head(given: str) -> str:
    """Return the head in a file or on stdin: a line, or the JSON of 'audit head'."""
    from dlpctl.cli import inputs
    from dlpctl.control.heads import PREFIX

    text = given if given.startswith(PREFIX) else inputs.read_text(given)
    try:
        return str(json.loads(text)["head"])
    except (ValueError, KeyError, TypeError):
        return text


def _csv(row: list[str]) -> bytes:
    """Return a line of CSV in which no cell can be a spreadsheet formula."""
    line = io.StringIO()
    csv.writer(line).writerow(
        f"'{cell}" if cell[:1] in "=+-@\t\r" and cell else cell for cell in row
    )
    return line.getvalue().encode()
