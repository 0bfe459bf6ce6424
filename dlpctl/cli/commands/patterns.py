"""`dlpctl patterns`: what can be found, and whether a pattern file is good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.session import Session
from dlpctl.errors import UsageError, did_you_mean
from dlpctl.types import Category

if TYPE_CHECKING:
    from dlpctl.detect.patterns.model import Pattern

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List, show and test patterns.")

ListOption = Annotated[str | None, typer.Option(metavar="NAME", help="Only patterns with this.")]


@app.command("list")
def list_patterns(
    category: ListOption = None,
    type_name: Annotated[
        str | None, typer.Option("--type", metavar="NAME", help="Only patterns of this type.")
    ] = None,
    search: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only patterns whose id or label holds this.")
    ] = None,
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    """List the patterns."""
    session = Session.begin(patterns)
    wanted = [
        pattern
        for pattern in session.pattern_files()
        if (category is None or pattern.category.value == category.upper())
        and (type_name is None or pattern.type == type_name.upper())
        and (search is None or search.casefold() in f"{pattern.id} {pattern.label}".casefold())
    ]
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json([_table(pattern) for pattern in wanted])
        return
    rows = [(one.id, one.type, one.category.value, f"{one.score:.2f}", one.label) for one in wanted]
    printer.table(rows, head=("ID", "TYPE", "CATEGORY", "SCORE", "LABEL"))
    printer.line(printer.style(_count(len(wanted), "pattern"), "bold"))


@app.command()
def types(category: ListOption = None, form: options.Format = options.Output.HUMAN) -> None:
    """List what can be found, with the laws that make it sensitive."""
    from dlpctl.detect.patterns.catalogue import detection_types

    session = Session.begin()
    wanted = [
        one
        for one in detection_types()
        if category is None or one.category.value == category.upper()
    ]
    if not wanted:
        raise UsageError(f"{category!r} is not a category; there are {', '.join(Category)}")
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json([one._asdict() | {"category": one.category.value} for one in wanted])
        return
    rows = [
        (
            one.name,
            one.category.value,
            "checksum" if one.checksum else "",
            "sample" if one.sample else "no sample",
            " ".join(one.regions),
            one.label,
            ", ".join(one.laws),
        )
        for one in wanted
    ]
    printer.table(
        rows,
        head=(
            "TYPE",
            "CATEGORY",
            "CHECKSUM",
            "REPORTS SHOW",
            "REGIONS",
            "LABEL",
            "LAWS AND STANDARDS",
        ),
    )
    printer.line(printer.style(_count(len(wanted), "type"), "bold"))


@app.command()
def stats(
    seed: Annotated[
        int, typer.Option(metavar="N", help="What is planted and written depends on it.")
    ] = 7,
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    """Measure the patterns: findings in clean text, and planted values that are found."""
    from dlpctl.detect.patterns.measure import clean, recall

    session = Session.begin(patterns)
    detector = session.detector()
    precision = clean.measure(detector, seed)
    found = recall.measure(detector, seed)
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json(
            {
                "precision": [
                    {
                        "text": one.kind,
                        "bytes": one.size,
                        "findings": len(one.findings),
                        "per_200_kb": one.rate,
                    }
                    for one in precision
                ],
                "recall": [
                    {
                        "type": one.type,
                        "planted": one.planted,
                        "found": one.found,
                        "recall": one.share,
                    }
                    for one in found
                ],
            }
        )
        return
    size, count = sum(one.size for one in precision), sum(len(one.findings) for one in precision)
    rows = [
        (one.kind, f"{one.size:,}", str(len(one.findings)), f"{one.rate:.2f}") for one in precision
    ]
    rows.append(("all", f"{size:,}", str(count), f"{count * clean.UNIT / size:.2f}"))
    printer.table(rows, head=("CLEAN TEXT", "BYTES", "FINDINGS", "PER 200 KB"))
    for pattern, times in clean.by_pattern(precision).most_common():
        printer.line(f"  {times:>3}  {pattern}")
    printer.line()
    planted, kept = sum(one.planted for one in found), sum(one.found for one in found)
    rows = [(one.type, f"{one.planted:,}", f"{one.found:,}", f"{one.share:.3f}") for one in found]
    rows.append(("all", f"{planted:,}", f"{kept:,}", f"{kept / planted:.3f}"))
    printer.table(rows, head=("PLANTED", "VALUES", "FOUND", "RECALL"))


@app.command()
def show(
    pattern_id: Annotated[
        str, typer.Argument(metavar="ID", help="As 'dlpctl patterns list' names it.")
    ],
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    """Show one pattern whole, with its examples."""
    from dlpctl.detect.patterns.lint import examples

    session = Session.begin(patterns)
    known = {pattern.id: pattern for pattern in session.pattern_files()}
    pattern = known.get(pattern_id)
    if pattern is None:
        raise UsageError(f"there is no pattern {pattern_id!r}{did_you_mean(pattern_id, known)}")
    printer = session.printer()
    table = _table(pattern) | {
        "examples": {kind: examples(pattern, kind) for kind in ("match", "skip")}
    }
    if form is options.Output.JSON:
        printer.json(table)
        return
    for key, value in table.items():
        if isinstance(value, dict):
            for inner, each in value.items():
                printer.line(f"{printer.style(f'{key}.{inner}', 'cyan')}  {_shown(each)}")
        elif value not in (None, []):
            printer.line(f"{printer.style(key, 'cyan')}  {_shown(value)}")


@app.command()
def test(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Pattern files; the library without one."),
    ] = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Compile each pattern in both engines, run its examples, and warn of what is broad or costly."""
    from dlpctl.detect.patterns.library import builtin_files, load_patterns
    from dlpctl.detect.patterns.lint import check_patterns

    session = Session.begin()
    patterns = load_patterns(files or builtin_files())
    problems = list(check_patterns(patterns))
    errors = sum(problem.is_error for problem in problems)
    printer = session.printer()
    if form is options.Output.JSON:
        listed = [
            {"level": "error" if one.is_error else "warning", "message": one.message}
            for one in problems
        ]
        printer.json({"patterns": len(patterns), "problems": listed})
    else:
        for problem in problems:
            level = (
                printer.style("error", "red")
                if problem.is_error
                else printer.style("warning", "yellow")
            )
            printer.line(f"{level}: {problem.message}")
        warnings = len(problems) - errors
        printer.line(
            printer.style(
                f"{_count(len(patterns), 'pattern')}, {_count(errors, 'error')}, {_count(warnings, 'warning')}",
                "bold",
            )
        )
    raise typer.Exit(1 if errors else 0)


def _table(pattern: Pattern) -> dict[str, Any]:
    context = pattern.context
    return {
        "id": pattern.id,
        "type": pattern.type,
        "category": pattern.category.value,
        "label": pattern.label,
        "regex": pattern.regex or None,
        "score": pattern.score,
        "validators": list(pattern.validators),
        "keywords": list(pattern.keywords),
        "context": {
            key: list(v) if isinstance(v, tuple) else v for key, v in context._asdict().items()
        }
        if context
        else None,
        "region": pattern.region,
        "references": list(pattern.references),
        "source": pattern.source,
    }


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
