"""Show the checks of an organization by outcome, day and type.

Examples:
    dlpctl analytics acme
    dlpctl analytics acme --period 90d --format json
"""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, readable
from dlpctl.cli.render import Printer

SECTION = ("Control plane", 45)

app = App()

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDTH = 40
_FEW_DAYS = 2
_OUTCOMES = (("allowed", "░", "green"), ("masked", "▒", "yellow"), ("blocked", "█", "red"))
"""Glyphs that distinguish outcomes without colours."""
_SUMS = ("allowed", "masked", "blocked", "bytes_protected", "prevented_exposures")


@app.command(help=__doc__)
def analytics(
    org: options.Organization,
    control: ControlOptions,
    period: Annotated[str, typer.Option(metavar="PERIOD", help="7d, 30d or 90d.")] = "30d",
) -> None:
    with control.backend() as backend:
        sums = backend.get_analytics(org, period=period)
        series = backend.get_timeseries(org, period=period)
        types = backend.get_detections(org, period=period)
    printer = Printer()
    if control.as_json:
        printer.json({"analytics": sums, "timeseries": series, "detections": types})
        return
    printer.line(
        f"{printer.style(sums['org_name'], 'bold')}  {sums['from_date']} to {sums['to_date']}"
        f"  {sums['total_checks']:,} check{'s' * (sums['total_checks'] != 1)}"
    )
    rows = [(name.replace("_", " "), readable(name, sums[name])) for name in _SUMS]
    printer.table([*rows, ("safe share rate", f"{sums['safe_share_rate']:g} %")], indent="  ")
    _plot_days(printer, series["data"])
    _plot_types(printer, types["types"])


def _plot_days(printer: Printer, days: list[dict[str, Any]]) -> None:
    most = max(day["checks_total"] for day in days)
    if not most:
        return
    printer.line()
    for is_empty, group in groupby(days, key=lambda day: not day["checks_total"]):
        some = list(group)
        if is_empty and len(some) > _FEW_DAYS:
            line = f"  {some[0]['date']} and {len(some) - 1} more days without checks"
            printer.line(printer.style(line, "dim"))
            continue
        for day in some:
            bars = "".join(
                printer.style(glyph * cells, colour)
                for (_, glyph, colour), cells in zip(_OUTCOMES, _cells(day, most), strict=True)
            )
            printer.line(f"  {day['date']} {day['checks_total']:>9,} {bars}".rstrip())
    legend = (f"{printer.style(glyph, colour)} {name}" for name, glyph, colour in _OUTCOMES)
    printer.line("  " + "  ".join(legend))


def _cells(day: dict[str, Any], most: int) -> list[int]:
    """Return the width of each outcome's bar; an outcome with any checks is visible."""
    return [
        max(1, round(day[name] * _WIDTH / most)) if day[name] else 0 for name, _, _ in _OUTCOMES
    ]


def _plot_types(printer: Printer, types: list[dict[str, Any]]) -> None:
    if not types:
        return
    printer.line()
    width = max(len(row["label"]) for row in types)
    for row in types:
        bar = printer.style(_bar(row["count"], types[0]["count"]), "cyan")
        printer.line(
            f"  {row['label'].ljust(width)} {row['count']:>9,} {row['percentage']:>5.1f} % {bar}"
        )


def _bar(value: int, most: int) -> str:
    eighths = round(value * _WIDTH * 8 / most)
    full, rest = divmod(max(eighths, 1) if value else 0, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
