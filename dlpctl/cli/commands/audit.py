"""`dlpctl audit`: the log of all checks."""

from __future__ import annotations

import csv
import io
import json
from enum import StrEnum
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.outputs import writing
from dlpctl.cli.render import Printer
from dlpctl.cli.stored import backend, show_one

app = typer.Typer(add_completion=False, no_args_is_help=True)

OrgFilter = Annotated[str | None, typer.Option(metavar="ORG", help="Of this organization alone.")]
Search = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS", help="In summary, policy, organization and destination; or the start of an id."
    ),
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
    shown = f"{offset + 1:,} to {offset + len(page['items']):,} of " if page["items"] else "none of "
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
def verify(form: options.Format = options.Output.HUMAN, server: options.Server = None) -> None:
    """Follow the chain of hashes through the log. Exit status 1 where something was changed or removed."""
    with backend(server) as control:
        report = control.verify_audit()
    if form is options.Output.JSON:
        show_one(report, form)
    elif report["intact"]:
        Printer().line(f"intact: {report['checked']:,} checks; the last link is {report['head']}")
    else:
        where = f" at {report['broken_at']}" if report["broken_at"] else ""
        Printer().line(f"BROKEN{where} after {report['checked']:,} good links: {report['reason']}")
    raise typer.Exit(0 if report["intact"] else 1)


def _csv(row: list[str]) -> bytes:
    """A cell that a spreadsheet would take for a formula is quoted as text."""
    line = io.StringIO()
    csv.writer(line).writerow(f"'{cell}" if cell[:1] in "=+-@\t\r" and cell else cell for cell in row)
    return line.getvalue().encode()
