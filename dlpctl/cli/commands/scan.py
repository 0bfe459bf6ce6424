"""`dlpctl scan`: what is in these files?"""

from __future__ import annotations

import sys
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlpctl.cli import documents, inputs, options
from dlpctl.cli.places import Lines
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session, say_gaps
from dlpctl.errors import InputError, UsageError

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
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Files of any format; '-' is stdin.")
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
        found = [] if allow.skips(name) else _scan(name, session, detector, score, allow, show_values)
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
    name: str, session: Session, detector: Detector, score: float, allow: AllowList, show_values: bool
) -> list[dict[str, Any]]:
    head, chunks = inputs.peeked(name)
    shown = "stdin" if name == inputs.STDIN else name
    if not documents.shows_all_as_text(name, head):
        data = documents.whole(chunks, session.config.limits.input_bytes)
        return _scan_document(name, shown, data, session, detector, score, allow, show_values)
    text = b"".join(chunks).decode("utf-8", "surrogateescape")
    lines = Lines(text)
    records = []
    for one in allow.remaining(text, detector.scan(text, score)):
        line, column = lines.place(one.start)
        record = _record(shown, text, one, show_values)
        records.append(record | {"line": line, "column": column, "start": one.start, "end": one.end})
    return records


def _scan_document(
    name: str,
    shown: str,
    data: bytes,
    session: Session,
    detector: Detector,
    score: float,
    allow: AllowList,
    show_values: bool,
) -> list[dict[str, Any]]:
    from dlpctl.errors import FormatError
    from dlpctl.files.scanning import find_in_file

    try:
        with documents.cleaning_up(), documents.progress(shown) as stage:
            stage("reading")
            found = find_in_file(
                data, Path(name).name, lambda text: detector.scan(text, score), limits=session.file_limits()
            )
    except FormatError as error:
        raise InputError(f"{shown}: cannot be read: {error.message}") from None
    for gap in found.not_inspected:
        sys.stderr.write(f"dlpctl: {shown}: not inspected: {gap.place}: {gap.reason}\n")
    return [
        _record(shown, found.text, one, show_values) | {"place": one.locator}
        for one in allow.remaining(found.text, found.findings)
    ]


def _record(name: str, text: str, finding: Finding, show_values: bool) -> dict[str, Any]:
    """Of a finding in a document, `place` says where it is; of one in a text, the other four do."""
    from dlpctl.masking.partial import sample

    value = text[finding.start : finding.end]
    return {
        "file": name,
        "line": None,
        "column": None,
        "type": finding.type,
        "category": finding.category.value,
        "score": finding.score,
        "sample": value if show_values else sample(finding.type, finding.category, value),
        "pattern_id": finding.pattern_id,
        "start": None,
        "end": None,
    }


def _show(records: list[dict[str, Any]], printer: Printer) -> None:
    rows = [
        (
            f"{record['file']}: {record['place']}"
            if "place" in record
            else f"{record['file']}:{record['line']}:{record['column']}",
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
