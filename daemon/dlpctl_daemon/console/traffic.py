"""Traffic of the gateway and of coding agents, from the logs in the data folder of this machine."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from flask import request

from dlpctl.agents.audit import audit_log
from dlpctl.errors import ForbiddenError
from dlpctl.gateway.calls import call_log
from dlpctl_daemon.console.charts import Columns, Segment, columns, stack
from dlpctl_daemon.console.logbook import PAGE, PageOf
from dlpctl_daemon.console.pages import Answer, Pages, Visit, offset_asked

_MOST_BYTES = 1 << 20
"""The number of bytes read from the end of a log."""
_MOST_BARS = 12
_MOST_CHOICES = 50
_MOST_HOURS = 48
_MOST_DAYS = 90
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_CLASSES = ("allowed", "masked", "blocked", "to3")

Entry = Mapping[str, Any]


class TrafficLog(NamedTuple):
    """A log of traffic: its file and the fields of its lines."""

    name: str
    title: str
    noun: str
    """The noun for its entries."""
    file: Callable[[Path], Path]
    outcome: str
    """The field with the outcome."""
    source: str
    """The field by which entries are summed up."""
    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    filters: tuple[tuple[str, str], ...]
    """The fields to filter by, with their labels."""
    outcomes: Mapping[str, int]
    """The positions of outcomes in the charts; any other outcome comes last."""
    legend: tuple[str, ...]
    """The labels of these positions."""


GATEWAY = TrafficLog(
    "gateway",
    "Gateway",
    "Calls",
    call_log,
    "decision",
    "route",
    ("time", "id", "route", "model", "decision", "org", "policy"),
    ("bytes", "added_ms", "status"),
    (("decision", "Decision"), ("route", "Route"), ("model", "Model")),
    {"ALLOWED": 0, "ALLOWED_WITH_MASKING": 1, "BLOCKED": 2},
    ("allowed", "masked", "blocked", "refused"),
)
AGENTS = TrafficLog(
    "agents",
    "Agents",
    "Actions",
    lambda folder: audit_log(folder).path,
    "action",
    "agent",
    ("time", "agent", "session", "event", "tool", "action"),
    (),
    (("action", "Action"), ("agent", "Agent"), ("tool", "Tool")),
    {"restored": 0, "masked": 1, "refused": 2},
    ("restored", "masked", "refused", "other"),
)


class _Bar(NamedTuple):
    name: str
    number: int
    segments: Sequence[Segment]


def show(log: TrafficLog, visit: Visit) -> Answer:
    org_id = _organization(log, visit)
    read = [each for each in _entries(log, visit.control.folder) if org_id in (None, each["org"])]
    read.reverse()
    filters = {name: request.args.get(name, "") for name, _ in log.filters}
    filters["type"] = request.args.get("type", "")
    search = request.args.get("search", "")
    entries = [each for each in read if _is_wanted(log, each, filters, search)]
    offset = offset_asked()
    shown = entries[offset : offset + PAGE]
    query = {"search": search, **filters}
    path = f"/console/{log.name}"
    return visit.page(
        log.name,
        log.title,
        log=log,
        entries=shown,
        read=len(read),
        page=PageOf.of(path, offset, len(shown), len(entries), **query),
        search=search,
        filters=_choices(log, read, filters),
        outcomes=_outcomes(log, entries),
        legend=list(zip(_CLASSES, log.legend, strict=True)),
        over_time=_over_time(entries),
        sources=_sources(log, entries),
        types=_types(entries),
        size=sum(each.get("bytes", 0) for each in entries),
        latency=_latency(entries),
    )


def _organization(log: TrafficLog, visit: Visit) -> str | None:
    """Return the id of the organization whose entries are shown; None shows all."""
    if log is AGENTS:
        if visit.access.org_id is not None:
            raise ForbiddenError("this needs a token for all organizations")
        return None
    chosen = visit.organization() if visit.scope or visit.access.org_id else None
    return chosen.org_id if chosen else visit.access.org_id


def _entries(log: TrafficLog, folder: Path) -> Iterator[Entry]:
    """Yield the last readable entries, oldest first."""
    file = log.file(folder)
    end = _tail(file, _MOST_BYTES)
    before = _tail(file.with_suffix(".old.jsonl"), _MOST_BYTES - len(end))
    for line in (before + end).decode("ascii", "replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield _cleaned(log, entry)


def _tail(file: Path, most: int) -> bytes:
    """Return the last bytes of a file; a line that is cut off at the start is blanked."""
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - most))
            data = opened.read(most)
    except FileNotFoundError:
        return b""
    if size <= most:
        return data
    start = data.find(b"\n") + 1 or len(data)
    return b" " * start + data[start:]


def _cleaned(log: TrafficLog, entry: Mapping[str, Any]) -> Entry:
    """Return the fields to show, each with its declared type."""
    found = entry.get("counts")
    counts = found.items() if isinstance(found, dict) else ()
    cleaned: dict[str, Any] = {"org": ""}
    for name in log.texts:
        cleaned[name] = str(entry.get(name) or "")
    for name in log.numbers:
        given = entry.get(name)
        cleaned[name] = given if isinstance(given, (int, float)) and given >= 0 else 0
    cleaned["counts"] = {
        name: number for name, number in counts if isinstance(number, int) and number > 0
    }
    cleaned["outcome"] = log.outcomes.get(cleaned[log.outcome], len(_CLASSES) - 1)
    if log is AGENTS:
        cleaned["agent"] = cleaned["session"].partition(".")[0]
    return cleaned


def _is_wanted(log: TrafficLog, entry: Entry, filters: Mapping[str, str], search: str) -> bool:
    if any(wanted not in ("", entry.get(name, wanted)) for name, wanted in filters.items()):
        return False
    if filters["type"] and filters["type"] not in entry["counts"]:
        return False
    if not search:
        return True
    texts = (*map(entry.__getitem__, log.texts), *entry["counts"], str(entry.get("status", "")))
    everything = "\n".join(texts).casefold()
    return all(word in everything for word in search.casefold().split())


def _choices(
    log: TrafficLog, entries: Sequence[Entry], chosen: Mapping[str, str]
) -> list[tuple[str, str, str, list[str]]]:
    """Return the filters: field, label, chosen value, and the most frequent values."""
    found = []
    for name, label in (*log.filters, ("type", "Type")):
        if name == "type":
            counted = Counter(each for entry in entries for each in entry["counts"])
        else:
            counted = Counter(entry[name] for entry in entries)
        values = {each for each, _ in counted.most_common(_MOST_CHOICES)} | {chosen[name]}
        found.append((name, label, chosen[name], sorted(values - {""})))
    return found


def _outcomes(log: TrafficLog, entries: Sequence[Entry]) -> list[tuple[str, str, int]]:
    """Return the CSS classes of outcomes, their labels and numbers."""
    counted = Counter(each["outcome"] for each in entries)
    return [(_CLASSES[each], log.legend[each], number) for each, number in sorted(counted.items())]


def _sources(log: TrafficLog, entries: Sequence[Entry]) -> list[_Bar]:
    sums: dict[str, list[int]] = {}
    for entry in entries:
        numbers = sums.setdefault(entry[log.source], [0] * len(_CLASSES))
        numbers[entry["outcome"]] += 1
    return _bars(sums, _CLASSES)


def _types(entries: Sequence[Entry]) -> list[_Bar]:
    sums: dict[str, int] = {}
    for entry in entries:
        for name, number in entry["counts"].items():
            sums[name] = sums.get(name, 0) + number
    return _bars({name: [number] for name, number in sums.items()}, ("to0",))


def _bars(sums: Mapping[str, Sequence[int]], classes: Sequence[str]) -> list[_Bar]:
    """Return the largest sums, each with a bar."""
    largest = sorted(sums.items(), key=lambda each: (-sum(each[1]), each[0]))[:_MOST_BARS]
    top = max((sum(numbers) for _, numbers in largest), default=0)
    return [_Bar(name, sum(each), stack(each, classes, top)) for name, each in largest]


def _over_time(entries: Sequence[Entry]) -> Columns | None:
    """Return the outcomes by hour or by day, without gaps, up to the newest entry."""
    counted = Counter((each["time"][:13], each["outcome"]) for each in entries)
    hours: dict[datetime, list[int]] = {}
    for (written, outcome), number in counted.items():
        try:
            hour = datetime.fromisoformat(f"{written}:00")
        except ValueError:
            continue
        hours.setdefault(hour, [0] * len(_CLASSES))[outcome] += number
    if not hours:
        return None
    last, first = max(hours), min(hours)
    if last - first < _MOST_HOURS * _HOUR:
        steps, form = _HOUR, "%Y-%m-%d %H:00"
    else:
        steps, form = _DAY, "%Y-%m-%d"
        last, first = last.replace(hour=0), first.replace(hour=0)
        first = max(first, last - (_MOST_DAYS - 1) * _DAY)
    starts = [first + steps * number for number in range((last - first) // steps + 1)]
    rows = [[0] * len(_CLASSES) for _ in starts]
    for hour, numbers in hours.items():
        row = bisect_right(starts, hour) - 1
        if row >= 0:
            rows[row] = [a + b for a, b in zip(rows[row], numbers, strict=True)]
    labels = [f"{start:{form}}" for start in starts]
    return columns(list(zip(labels, rows, strict=True)), _CLASSES)


def _latency(entries: Sequence[Entry]) -> tuple[float, float] | None:
    """Return the median and the 95th percentile of the latency in milliseconds."""
    added = sorted(each["added_ms"] for each in entries if "added_ms" in each)
    if not added:
        return None
    return added[(len(added) - 1) // 2], added[(len(added) - 1) * 95 // 100]


def add_pages(pages: Pages) -> None:
    for log in (GATEWAY, AGENTS):
        pages.get(f"/console/{log.name}", partial(show, log))
