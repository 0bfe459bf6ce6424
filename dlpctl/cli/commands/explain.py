"""Explain the score of each finding, and why near misses were rejected.

Examples:
    dlpctl explain config.py
    echo 'Card 4111 1111 1111 1111' | dlpctl explain
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlpctl.cli import inputs, options
from dlpctl.cli.app import App
from dlpctl.cli.line_index import LineIndex
from dlpctl.cli.session import Session, print_gaps

if TYPE_CHECKING:
    from dlpctl.cli.render import Printer
    from dlpctl.detect.explain import Explained

SECTION = ("Content", 5)

app = App()


@app.command(help=__doc__)
def explain(
    file: options.TextFile = None,
    min_score: options.MinScore = None,
    misses: Annotated[int, typer.Option(metavar="N", min=0, help="Show N near misses.")] = 5,
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    from dlpctl.detect.explain import explain as find

    session = Session.start(patterns)
    detector = session.detector()
    score = session.config.min_score if min_score is None else min_score
    text = inputs.read_text(file or inputs.STDIN, required=file is None)
    found = detector.scan(text, score)
    accepts = session.allow_list().acceptor(text)
    allowed = {
        explained
        for explained in found
        if accepts and accepts(explained, text[explained.start : explained.end])
    }
    print_gaps(detector)
    explanation = find(detector, text, score, allowed, misses)
    lines = LineIndex(text)
    counting = [describe(explained, text, lines) for explained in explanation.counts]
    near = [describe(explained, text, lines) for explained in explanation.misses]
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json({"findings": counting, "near_misses": near})
        return
    for explained in counting:
        _show(explained, printer)
    if not counting:
        printer.line("no findings")
    if near:
        printer.line(printer.style("near misses", "bold"))
    for explained in near:
        _show(explained, printer)


def describe(explained: Explained, text: str, lines: LineIndex) -> dict[str, Any]:
    """Return the description of a finding or a near miss, without its value."""
    from dlpctl.operators.partial import sample

    finding = explained.finding
    line, column = lines.line_and_column(finding.start)
    return {
        "line": line,
        "column": column,
        "type": finding.type,
        "score": finding.score,
        "sample": sample(finding.type, finding.category, text[finding.start : finding.end]),
        "pattern_id": finding.pattern_id,
        "label": explained.label,
        "steps": list(explained.steps),
        "lost": explained.lost or None,
    }


def _show(record: dict[str, Any], printer: Printer) -> None:
    head = "{line}:{column}  {type}  {score:.2f}  {shown}".format(
        **record, shown=record["sample"] or "(hidden)"
    )
    printer.line(f"{printer.style(head, 'bold')}  {record['label']} ({record['pattern_id']})")
    for step in record["steps"]:
        printer.line(f"    {step}")
    if record["lost"]:
        printer.line(f"    {printer.style(record['lost'], 'yellow')}")
