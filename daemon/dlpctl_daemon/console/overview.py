"""The first page: decisions, findings and latency over time."""

from __future__ import annotations

from collections.abc import Sequence

from flask import request

from dlpctl.control.resources.analytics import DEFAULT_PERIOD, PERIODS
from dlpctl.types import Destination
from dlpctl_daemon.console.charts import columns, stack
from dlpctl_daemon.console.pages import Answer, Pages, Visit

_OUTCOMES = ("allowed", "masked", "blocked")
_MOST_TYPES = 12


def show(visit: Visit) -> Answer:
    period = request.args.get("period", DEFAULT_PERIOD)
    sums = visit.ask("get_overview", period=period, org_id=visit.scope)
    totals = {name: sum(getattr(day, name) for day in sums.data) for name in _OUTCOMES}
    days = [(day.date, [getattr(day, name) for name in _OUTCOMES]) for day in sums.data]
    destinations = [*Destination, ""]
    types = [(each, [each.destinations.get(to, 0) for to in destinations]) for each in sums.types]
    return visit.page(
        "overview",
        "Overview",
        period=period,
        periods=PERIODS,
        sums=sums,
        totals=totals,
        total=sum(totals.values()),
        days=columns(days, _OUTCOMES),
        destinations=destinations,
        types=_bars(types[:_MOST_TYPES], [f"to{number}" for number in range(len(destinations))]),
        other_types=len(types[_MOST_TYPES:]),
        policies=_bars([(each, _decided(each)) for each in sums.policies], _OUTCOMES),
        by_destination=_bars([(each, _decided(each)) for each in sums.destinations], _OUTCOMES),
        latency=visit.service.metrics.latency() if visit.access.org_id is None else (),
    )


def _decided(sums: object) -> list[int]:
    return [getattr(sums, name) for name in _OUTCOMES]


def _bars(rows: Sequence[tuple[object, list[int]]], classes: Sequence[str]) -> list[object]:
    """Return rows with their numbers and a bar whose length is relative to the largest row."""
    largest = max((sum(numbers) for _, numbers in rows), default=0)
    return [(each, numbers, stack(numbers, classes, largest)) for each, numbers in rows]


def add_pages(pages: Pages) -> None:
    pages.get("/console/", show)
