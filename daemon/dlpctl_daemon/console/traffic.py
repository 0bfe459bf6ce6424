"""Traffic of coding agents, where hooks on this machine have recorded it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlpctl.agents.audit import audit_log
from dlpctl.errors import ForbiddenError
from dlpctl_daemon.console.pages import Answer, Pages, Visit

_TAIL_BYTES = 1 << 18
_SHOWN = 200
_FIELDS = ("time", "session", "event", "tool", "action")


def show(visit: Visit) -> Answer:
    if visit.access.org_id is not None:
        raise ForbiddenError("this needs a token for all organizations")
    entries = list(_entries(audit_log(visit.control.folder).path))[: -_SHOWN - 1 : -1]
    actions = Counter(entry["action"] for entry in entries)
    types: Counter[str] = Counter()
    for entry in entries:
        types.update(entry["counts"])
    return visit.page(
        "agents",
        "Agents",
        entries=entries,
        actions=actions.most_common(),
        types=types.most_common(12),
    )


def _entries(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the last lines of the log that can be read, the oldest first."""
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - _TAIL_BYTES))
            lines = opened.read().splitlines()[1 if size > _TAIL_BYTES else 0 :]
    except FileNotFoundError:
        return
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            counts = entry.get("counts")
            found = counts.items() if isinstance(counts, dict) else ()
            yield {name: str(entry.get(name) or "-") for name in _FIELDS} | {
                "counts": {name: count for name, count in found if isinstance(count, int)}
            }


def add_pages(pages: Pages) -> None:
    pages.get("/console/agents", show)
