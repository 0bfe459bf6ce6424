"""`dlpctl analytics`: what an organization's checks came to."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.render import Printer
from dlpctl.cli.control_plane import Org, backend, readable

app = typer.Typer(add_completion=False)

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDTH = 40
_FEW_DAYS = 2
_OUTCOMES = (("allowed", "░", "green"), ("masked", "▒", "yellow"), ("blocked", "█", "red"))
"""Told apart without colours too."""


@app.command()
def analytics(
    org: Org,
    period: Annotated[str, typer.Option(metavar="PERIOD", help="7d, 30d or 90d.")] = "30d",
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Show the checks of an organization by outcome, day and type."""
    with backend(server) as control:
        sums = control.analytics(org, period)
        series = control.timeseries(org, period)
        types = control.detections(org, period)
    printer = Printer()
    if form is options.Output.JSON:
        printer.json({"analytics": sums, "timeseries": series, "detections": types})
        return
    printer.line(
        f"{printer.style(sums['org_name'], 'bold')}  {sums['from_date']} to {sums['to_date']}"
        f"  {sums['total_checks']:,} checks"
    )
    printer.table(
        [
            (name.replace("_", " "), readable(name, sums[name]))
            for name in ("allowed", "masked", "blocked", "bytes_protected", "prevented_exposures")
        ]
        + [("safe share rate", f"{sums['safe_share_rate']:g} %")],
        indent="  ",
    )
    _plot_days(printer, series["data"])
    _plot_types(printer, types["types"])


def _plot_days(printer: Printer, days: list[dict[str, Any]]) -> None:
    most = max(day["checks_total"] for day in days)
    if not most:
        return
    printer.line()
    for empty, group in groupby(days, key=lambda day: not day["checks_total"]):
        some = list(group)
        if empty and len(some) > _FEW_DAYS:
            printer.line(
                printer.style(
                    f"  {some[0]['date']} and {len(some) - 1} more days without checks", "dim"
                )
            )
            continue
        for day in some:
            bars = "".join(
                printer.style(glyph * cells, colour)
                for (_, glyph, colour), cells in zip(_OUTCOMES, _cells(day, most), strict=True)
            )
            printer.line(f"  {day['date']} {day['checks_total']:>9,} {bars}".rstrip())
    printer.line(
        "  "
        + "  ".join(f"{printer.style(glyph, colour)} {name}" for name, glyph, colour in _OUTCOMES)
    )


def _cells(day: dict[str, Any], most: int) -> list[int]:
    """How wide the part of each outcome is; what is there at all is seen."""
    return [
        max(1, round(day[name] * _WIDTH / most)) if day[name] else 0 for name, _, _ in _OUTCOMES
    ]


def _plot_types(printer: Printer, types: list[dict[str, Any]]) -> None:
    if not types:
        return
    printer.line()
    width = max(len(one["label"]) for one in types)
    for one in types:
        bar = printer.style(_bar(one["count"], types[0]["count"]), "cyan")
        printer.line(
            f"  {one['label'].ljust(width)} {one['count']:>9,} {one['percentage']:>5.1f} % {bar}"
        )


def _bar(value: int, most: int) -> str:
    eighths = round(value * _WIDTH * 8 / most)
    full, rest = divmod(max(eighths, 1) if value else 0, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
