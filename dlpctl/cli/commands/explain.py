"""`dlpctl explain`: why each finding counts, and what nearly did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlpctl.cli import inputs, options
from dlpctl.cli.line_index import Lines
from dlpctl.cli.session import Session, say_gaps

if TYPE_CHECKING:
    from dlpctl.cli.render import Printer
    from dlpctl.detect.explain import Explained

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    file: Annotated[
        str | None, typer.Argument(help="A text file; '-' is stdin, as is no file at all.")
    ] = None,
    min_score: options.MinScore = None,
    misses: Annotated[int, typer.Option(min=0, help="How many near misses to show.")] = 5,
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    """Show for each finding the pattern, its score and what moved it, and for near misses what
    killed them.
    """
    from dlpctl.detect.explain import explain as find

    session = Session.begin(patterns)
    detector = session.detector()
    score = session.config.min_score if min_score is None else min_score
    text = inputs.read_text(file or inputs.STDIN, required=file is None)
    found = detector.scan(text, score)
    allowed = set(found) - set(session.allow_list().remaining(text, found))
    say_gaps(detector)
    explanation = find(detector, text, score, allowed, misses)
    lines = Lines(text)
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json(
            {
                "findings": [_record(one, text, lines) for one in explanation.counts],
                "near_misses": [_record(one, text, lines) for one in explanation.misses],
            }
        )
        return
    for one in explanation.counts:
        _show(_record(one, text, lines), printer)
    if not explanation.counts:
        printer.line("nothing counts")
    if explanation.misses:
        printer.line(printer.style("near misses", "bold"))
    for one in explanation.misses:
        _show(_record(one, text, lines), printer)


def _record(one: Explained, text: str, lines: Lines) -> dict[str, Any]:
    from dlpctl.masking.partial import sample

    finding = one.finding
    line, column = lines.place(finding.start)
    return {
        "line": line,
        "column": column,
        "type": finding.type,
        "score": finding.score,
        "sample": sample(finding.type, finding.category, text[finding.start : finding.end]),
        "pattern_id": finding.pattern_id,
        "label": one.label,
        "steps": list(one.steps),
        "lost": one.lost or None,
    }


def _show(record: dict[str, Any], printer: Printer) -> None:
    head = f"{record['line']}:{record['column']}  {record['type']}  {record['score']:.2f}  {record['sample'] or '(hidden)'}"
    printer.line(f"{printer.style(head, 'bold')}  {record['label']} ({record['pattern_id']})")
    for step in record["steps"]:
        printer.line(f"    {step}")
    if record["lost"]:
        printer.line(f"    {printer.style(record['lost'], 'yellow')}")
