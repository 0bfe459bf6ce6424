"""`dlpctl scan`: what is in these files?"""

from __future__ import annotations

import sys
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlpctl.cli import inputs, options
from dlpctl.cli.places import Lines
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session, say_gaps
from dlpctl.errors import UsageError

if TYPE_CHECKING:
    from dlpctl.detect.allow import AllowList
    from dlpctl.detect.engine import Detector
    from dlpctl.types import Finding

app = typer.Typer(add_completion=False)

CLEAN, BELOW, FOUND = 0, 10, 20


class Form(StrEnum):
    HUMAN = "human"
    JSON = "json"
    JSONL = "jsonl"


@app.command()
def scan(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Text files; '-' is stdin.")
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Only these categories, types or patterns, joined by commas."),
    ] = None,
    min_score: options.MinScore = None,
    fail_on: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="The score from which on a finding makes the exit status 20."),
    ] = 0.5,
    form: Annotated[Form, typer.Option("-f", "--format", help="For people or for programs.")] = Form.HUMAN,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show the values themselves; on a terminal only.")
    ] = False,
    patterns: options.Patterns = None,
) -> None:
    """List what is found. Exit status: 0 nothing, 10 only findings below --fail-on, 20 others."""
    if show_values and not sys.stdout.isatty():
        raise UsageError(
            "--show-values writes to a terminal only, so that no value ends up in a file or a log"
        )
    session = Session.begin(patterns)
    detector = session.detector()
    if types:
        detector = detector.for_types(name.strip() for name in types.split(",") if name.strip())
    score = session.config.min_score if min_score is None else min_score
    allow = session.allow_list()
    printer = session.printer()
    records: list[dict[str, Any]] = []
    for name in files or [inputs.STDIN]:
        found = [] if allow.skips(name) else _scan(name, detector, score, allow, show_values)
        records += found
        if form is Form.JSONL:
            for record in found:
                printer.json(record, compact=True)
    if form is Form.JSON:
        printer.json(records)
    elif form is Form.HUMAN:
        _show(records, printer)
    say_gaps(detector)
    worst = max((record["score"] for record in records), default=None)
    raise typer.Exit(CLEAN if worst is None else FOUND if worst >= fail_on else BELOW)


def _scan(
    name: str, detector: Detector, score: float, allow: AllowList, show_values: bool
) -> list[dict[str, Any]]:
    text = inputs.read_text(name)
    lines = Lines(text)
    found = allow.remaining(text, detector.scan(text, score))
    return [
        _record("stdin" if name == inputs.STDIN else name, text, one, lines, show_values) for one in found
    ]


def _record(name: str, text: str, finding: Finding, lines: Lines, show_values: bool) -> dict[str, Any]:
    from dlpctl.masking.partial import sample

    value = text[finding.start : finding.end]
    line, column = lines.place(finding.start)
    return {
        "file": name,
        "line": line,
        "column": column,
        "type": finding.type,
        "category": finding.category.value,
        "score": finding.score,
        "sample": value if show_values else sample(finding.type, finding.category, value),
        "pattern_id": finding.pattern_id,
        "start": finding.start,
        "end": finding.end,
    }


def _show(records: list[dict[str, Any]], printer: Printer) -> None:
    rows = [
        (
            f"{record['file']}:{record['line']}:{record['column']}",
            record["type"],
            f"{record['score']:.2f}",
            record["sample"] or "(hidden)",
        )
        for record in records
    ]
    printer.table(rows)
    counts = Counter(record["type"] for record in records)
    listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    total = f"{len(records)} finding{'' if len(records) == 1 else 's'}" if records else "nothing found"
    printer.line(printer.style(f"{total}{f': {listed}' if listed else ''}", "bold"))
