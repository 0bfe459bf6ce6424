"""List, show and test patterns.

Examples:
    dlpctl patterns list --types EMAIL
    dlpctl patterns test mine.toml
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.session import Session
from dlpctl.config.setting_types import split_names
from dlpctl.errors import UsageError, did_you_mean
from dlpctl.scan.reports import counted
from dlpctl.types import Category

if TYPE_CHECKING:
    from dlpctl.cli.render import Printer
    from dlpctl.detect.patterns.model import Pattern

SECTION = ("Detection and policies", 11)

app = App(__doc__)

CategoryOption = Annotated[
    str | None, typer.Option(metavar="NAME", help=f"Only this category: {', '.join(Category)}.")
]


@app.command("list")
def list_patterns(
    category: CategoryOption = None,
    types: options.Types = None,
    search: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only ids and labels that contain WORDS.")
    ] = None,
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    """List the patterns.

    Examples:
        dlpctl patterns list --search github
        dlpctl patterns list --types CREDIT_CARD,IBAN --format json
    """
    session = Session.start(patterns)
    names = {name.upper() for name in split_names(types or "")}
    listed = session.pattern_files()
    _refuse_unknown(names, {name for each in listed for name in _names(each)}, "type")
    _refuse_unknown({category.upper()} if category else set(), set(Category), "category")
    wanted = [
        pattern
        for pattern in listed
        if (category is None or pattern.category.value == category.upper())
        and (not names or names & _names(pattern))
        and (search is None or search.casefold() in f"{pattern.id} {pattern.label}".casefold())
    ]
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json([_table(pattern) for pattern in wanted])
        return
    rows = [(row.id, row.type, row.category.value, f"{row.score:.2f}", row.label) for row in wanted]
    printer.table(rows, head=("ID", "TYPE", "CATEGORY", "SCORE", "LABEL"))
    printer.line(printer.style(counted(len(wanted), "pattern"), "bold"))


def _names(pattern: Pattern) -> set[str]:
    return {pattern.type, pattern.category.value, pattern.id.upper()}


def _refuse_unknown(names: set[str], known: set[str], noun: str) -> None:
    for name in sorted(names - known):
        hint = did_you_mean(name, sorted(known)) or "; see 'dlpctl help types'"
        raise UsageError(f"{name!r} is not a {noun}{hint}")


@app.command("types")
def list_types(
    category: CategoryOption = None, form: options.Format = options.Output.HUMAN
) -> None:
    """List the types of findings, with the laws that make them sensitive.

    Examples:
        dlpctl patterns types
        dlpctl patterns types --category PHI
    """
    from dlpctl.detect.patterns.catalogue import detection_types

    session = Session.start()
    name = None if category is None else category.upper()
    wanted = [row for row in detection_types() if name in (None, row.category.value)]
    if not wanted:
        raise UsageError(f"{category!r} is not a category; there are {', '.join(Category)}")
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json([row._asdict() | {"category": row.category.value} for row in wanted])
        return
    rows = [
        (
            row.name,
            row.category.value,
            "checksum" if row.checksum else "",
            "sample" if row.sample else "no sample",
            " ".join(row.regions),
            row.label,
            ", ".join(row.laws),
        )
        for row in wanted
    ]
    head = "TYPE,CATEGORY,CHECKSUM,REPORTS SHOW,REGIONS,LABEL,LAWS AND STANDARDS"
    printer.table(rows, head=head.split(","))
    printer.line(printer.style(counted(len(wanted), "type"), "bold"))


@app.command()
def stats(
    seed: Annotated[
        int, typer.Option(metavar="N", help="The seed of the generated texts and values.")
    ] = 7,
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    """Measure precision on clean text and recall on planted values.

    Examples:
        dlpctl patterns stats
        dlpctl patterns stats --patterns mine.toml --format json
    """
    from dlpctl.detect.patterns.measure import clean, recall

    session = Session.start(patterns)
    detector = session.detector()
    precision = clean.measure(detector, seed)
    found = recall.measure(detector, seed)
    printer = session.printer()
    if form is options.Output.JSON:
        texts = [
            {
                "text": row.text_kind,
                "bytes": row.size,
                "findings": len(row.findings),
                "per_200_kb": row.rate,
            }
            for row in precision
        ]
        types = [
            {"type": row.type, "planted": row.planted, "found": row.found, "recall": row.share}
            for row in found
        ]
        printer.json({"precision": texts, "recall": types})
        return
    _print_precision(printer, precision)
    printer.line()
    _print_recall(printer, found)


def _print_precision(printer: Printer, precision: list[Any]) -> None:
    from dlpctl.detect.patterns.measure import clean

    size, count = sum(row.size for row in precision), sum(len(row.findings) for row in precision)
    rows = [
        (row.text_kind, f"{row.size:,}", str(len(row.findings)), f"{row.rate:.2f}")
        for row in precision
    ]
    rows.append(("all", f"{size:,}", str(count), f"{count * clean.UNIT / size:.2f}"))
    printer.table(rows, head=("CLEAN TEXT", "BYTES", "FINDINGS", "PER 200 KB"))
    for pattern, times in clean.by_pattern(precision).most_common():
        printer.line(f"  {times:>3}  {pattern}")


def _print_recall(printer: Printer, found: list[Any]) -> None:
    planted, kept = sum(row.planted for row in found), sum(row.found for row in found)
    rows = [(row.type, f"{row.planted:,}", f"{row.found:,}", f"{row.share:.3f}") for row in found]
    rows.append(("all", f"{planted:,}", f"{kept:,}", f"{kept / planted:.3f}"))
    printer.table(rows, head=("PLANTED", "VALUES", "FOUND", "RECALL"))


@app.command()
def show(
    pattern_id: Annotated[
        str, typer.Argument(metavar="ID", help="An id from 'dlpctl patterns list'.")
    ],
    form: options.Format = options.Output.HUMAN,
    patterns: options.Patterns = None,
) -> None:
    """Show a pattern with its examples.

    Examples:
        dlpctl patterns show email
        dlpctl patterns show acme-badge --patterns badges.toml
    """
    from dlpctl.detect.patterns.lint import examples

    session = Session.start(patterns)
    known = {pattern.id: pattern for pattern in session.pattern_files()}
    pattern = known.get(pattern_id)
    if pattern is None:
        raise UsageError(f"there is no pattern {pattern_id!r}{did_you_mean(pattern_id, known)}")
    printer = session.printer()
    samples = {name: examples(pattern, name) for name in ("match", "skip")}
    table = _table(pattern) | {"examples": samples}
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
        typer.Argument(metavar="[FILE]...", help="Pattern files; the library by default."),
    ] = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Compile patterns, run their examples, and warn of broad or costly ones.

    Examples:
        dlpctl patterns test mine.toml
        dlpctl patterns test --format json
    """
    from dlpctl.detect.patterns.library import builtin_files, load_patterns
    from dlpctl.detect.patterns.lint import check_patterns

    session = Session.start()
    patterns = load_patterns(files or builtin_files(), check_regexes=True)
    problems = list(check_patterns(patterns))
    errors = sum(problem.is_error for problem in problems)
    printer = session.printer()
    if form is options.Output.JSON:
        listed = [
            {"level": "error" if row.is_error else "warning", "message": row.message}
            for row in problems
        ]
        printer.json({"patterns": len(patterns), "problems": listed})
    else:
        for row in problems:
            level, colour = ("error", "red") if row.is_error else ("warning", "yellow")
            printer.line(f"{printer.style(level, colour)}: {row.message}")
        counts = (
            (len(patterns), "pattern"),
            (errors, "error"),
            (len(problems) - errors, "warning"),
        )
        line = ", ".join(counted(number, noun) for number, noun in counts)
        printer.line(printer.style(line, "bold"))
    raise typer.Exit(1 if errors else 0)


def _table(pattern: Pattern) -> dict[str, Any]:
    context = pattern.context._asdict() if pattern.context else None
    return {
        "id": pattern.id,
        "type": pattern.type,
        "category": pattern.category.value,
        "label": pattern.label,
        "regex": pattern.regex or None,
        "score": pattern.score,
        "validators": list(pattern.validators),
        "keywords": list(pattern.keywords),
        "context": context
        and {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in context.items()
        },
        "region": pattern.region,
        "references": list(pattern.references),
        "source": pattern.source,
    }


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
