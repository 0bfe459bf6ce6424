"""`dlpctl audit`: the log of all checks."""

from __future__ import annotations

import csv
import io
import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.outputs import writing
from dlpctl.cli.render import Printer
from dlpctl.cli.control_plane import backend, evidence, show_list, show_one

app = typer.Typer(add_completion=False, no_args_is_help=True)

OrgFilter = Annotated[str | None, typer.Option(metavar="ORG", help="Of this organization alone.")]
Search = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        help="In summary, policy, organization and destination; or the start of an id.",
    ),
]

Database = Annotated[
    Path | None,
    typer.Option("--database", metavar="FILE", help="A copy or a backup, which is only read."),
]
KeyFile = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="Its key file; control.key beside it.")
]


class Kind(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@app.callback()
def _group() -> None:
    """The log of all checks: what was decided, by which policy, and never what was checked."""


@app.command("list")
def list_items(
    org: OrgFilter = None,
    search: Search = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many.")] = 50,
    offset: Annotated[int, typer.Option(metavar="N", help="After how many.")] = 0,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """List checks, the newest first."""
    with backend(server) as control:
        page = control.audit(limit=limit, offset=offset, org_id=org, search=search)
    printer = Printer()
    if form is options.Output.JSON:
        printer.json(page)
        return
    for item in page["items"]:
        when = item["created_at"][:19].replace("T", " ")
        head = f"{printer.style(when, 'dim')}  {printer.decision(item['decision'])}"
        printer.line(f"{head}  {item['destination']}  {item['org_name']}  {item['preflight_id']}")
        printer.line(f"    {item['summary']}  ({item['policy_name']} {item['policy_version']})")
    shown = (
        f"{offset + 1:,} to {offset + len(page['items']):,} of " if page["items"] else "none of "
    )
    printer.line(f"{shown}{page['total']:,} checks")


@app.command()
def export(
    org: OrgFilter = None,
    search: Search = None,
    kind: Annotated[
        Kind, typer.Option("-f", "--format", help="One JSON object a line, or CSV.")
    ] = Kind.JSONL,
    output: options.OutputFile = None,
    server: options.Server = None,
) -> None:
    """Write all of them, the newest first."""
    with backend(server) as control, writing(output) as write:
        names: list[str] = []
        for item in control.export_audit(org_id=org, search=search):
            if kind is Kind.JSONL:
                write(json.dumps(item, ensure_ascii=False).encode() + b"\n")
                continue
            if not names:
                names = list(item)
                write(_csv(names))
            write(_csv([item[name] for name in names]))


@app.command()
def events(
    org: OrgFilter = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many.")] = 50,
    offset: Annotated[int, typer.Option(metavar="N", help="After how many.")] = 0,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """List administrative changes and the first use of each key on a day, the newest first."""
    with backend(server) as control:
        page = control.audit_events(limit=limit, offset=offset, org_id=org)
    if form is options.Output.JSON:
        Printer().json(page)
        return
    columns = ("number", "created_at", "actor", "action", "subject", "details")
    show_list(page["items"], columns, form, "no event")


@app.command()
def head(
    database: Database = None,
    key: KeyFile = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Print the signed end of the log, to be noted elsewhere for 'audit verify --head'."""
    with evidence(server, database, key) as source:
        answer = source.audit_head()
    if form is options.Output.JSON:
        show_one(answer, form)
    else:
        Printer().line(answer["head"])


@app.command()
def verify(
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            metavar="HEAD",
            help="A head noted earlier, or a file with one, that must be in the log.",
        ),
    ] = None,
    database: Database = None,
    key: KeyFile = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Verify log, policies, licenses, tokens and counters. Exit status 1 if anything was changed or
    removed.
    """
    noted = None if head is None else _noted_head(head)
    with evidence(server, database, key) as source:
        report = source.verify_audit(noted)
    printer = Printer()
    if form is options.Output.JSON:
        show_one(report, form)
    elif report["intact"]:
        printer.line(f"intact: {report['checked']:,} checks, {report['events']:,} events")
        printer.line(report["head"])
    else:
        printer.line(f"BROKEN: {report['checked']:,} checks, {report['events']:,} events")
        for problem in report["problems"]:
            printer.line(f"  {problem}")
    raise typer.Exit(0 if report["intact"] else 1)


def _noted_head(given: str) -> str:
    """Return the head in a file or on stdin: the line itself, or what 'audit head --format json'
    printed.
    """
    from dlpctl.cli import inputs
    from dlpctl.control.heads import PREFIX

    text = given if given.startswith(PREFIX) else inputs.read_text(given)
    try:
        return str(json.loads(text)["head"])
    except (ValueError, KeyError, TypeError):
        return text


def _csv(row: list[str]) -> bytes:
    """A cell that a spreadsheet would take for a formula is quoted as text."""
    line = io.StringIO()
    csv.writer(line).writerow(
        f"'{cell}" if cell[:1] in "=+-@\t\r" and cell else cell for cell in row
    )
    return line.getvalue().encode()
