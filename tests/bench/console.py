"""Time the pages of the console over a million checks.

    python tests/bench/console.py [--checks 1000000] [--times 20] [--folder DIR]

The ledger itself writes the checks, a thousand to a transaction, without detection; `--folder`
keeps them for the next run. The application runs in this process, and each page is timed in wall
and processor time. The target of a page is 300 ms.
"""

from __future__ import annotations

import argparse
import html
import io
import json
import math
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.config.settings import Serve
from dlpctl.control.access import LOCAL
from dlpctl.control.clock import written
from dlpctl.control.directory import Directory
from dlpctl.control.ledger import Entry, Ledger
from dlpctl.control.service import ControlPlane
from dlpctl.detect.engine import Detector
from dlpctl.gateway.calls import CallRecord, call_log
from dlpctl.preflight import default_detector
from dlpctl_daemon.app import create_app
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options

TARGET = 0.3
_DAYS = 120
_ORGANIZATIONS = 20
_PER_TRANSACTION = 1_000
_CALLS = 50_000
"""Calls in the log of the gateway, of which a page reads the last ones."""
_TYPES = [
    "EMAIL",
    "PHONE",
    "SSN",
    "CREDIT_CARD",
    "PERSON_NAME",
    "ADDRESS",
    "IBAN",
    "API_KEY",
    "PRIVATE_KEY",
    "PHI",
    "IP_ADDRESS",
    "PASSPORT",
]

_VERBS = {"ALLOWED_WITH_MASKING": "Masked", "BLOCKED": "Blocked because of"}


class Timing(NamedTuple):
    """The time of a page: its 95th percentile on the wall, and the median on the processor."""

    page: str
    p95: float
    processor: float


def fill(control: ControlPlane, checks: int) -> None:
    """Write checks of many organizations, types and destinations over months."""
    for number in range(_ORGANIZATIONS):
        made = control.organizations.create(LOCAL, {"name": f"Organization {number}"})
        control.licenses.create(LOCAL, made.org_id, {"license_type": "enterprise"})
        for name in ("legal", "support"):
            control.policies.create(LOCAL, made.org_id, {"name": name})
    organizations = control.organizations.list(LOCAL)
    policies = [
        policy.policy_id
        for organization in organizations
        for policy in control.policies.list(LOCAL, organization.org_id)
    ]
    choose = random.Random(4)
    core, start = control._core, datetime.now(UTC) - timedelta(days=_DAYS)
    directory = Directory(core.ring)

    def entry(number: int) -> Entry:
        moment = start + timedelta(days=_DAYS) * (number / checks)
        found = {_TYPES[min(int(choose.expovariate(0.5)), len(_TYPES) - 1)] for _ in range(2)}
        found = found if choose.random() < 0.7 else set()
        counts = [
            (name, 1 + int(choose.expovariate(0.9)), f"{choose.randrange(10_000):04}***")
            for name in sorted(found)
        ]
        named = " and ".join(f"{count} {name}" for name, count, _ in counts)
        outcomes = ("ALLOWED_WITH_MASKING", "ALLOWED_WITH_MASKING", "BLOCKED")
        decision = choose.choice(outcomes) if counts else "ALLOWED"
        return Entry(
            policies[min(int(choose.expovariate(0.1)), len(policies) - 1)],
            f"pf_{number:024x}",
            datetime.now(UTC),
            written(moment),
            choose.choice(("AI_TOOL", "VENDOR", "CUSTOMER")),
            decision,
            f"{_VERBS[decision]} {named} for this destination" if counts else "Nothing found",
            tuple(counts),
            "1.0",
            choose.randrange(100, 5_000),
            is_file=False,
        )

    for first in range(0, checks, _PER_TRANSACTION):

        def job(batch: Any, first: int = first) -> None:
            ledger = Ledger.of(batch, directory, core)
            for number in range(first, min(first + _PER_TRANSACTION, checks)):
                ledger.record(entry(number))

        core.store.run(job)


def leave_traffic(folder: Path, calls: int) -> None:
    """Write the log of a gateway with calls of some routes and models."""
    choose = random.Random(5)
    file = call_log(folder)
    file.parent.mkdir(exist_ok=True)
    start = datetime.now(UTC) - timedelta(days=20)
    with file.open("w") as log:
        for number in range(calls):
            moment = start + timedelta(days=20) * (number / calls)
            counts = {choose.choice(_TYPES): choose.randrange(1, 9) for _ in range(2)}
            decision = choose.choice(("ALLOWED", "ALLOWED_WITH_MASKING", "BLOCKED"))
            route = choose.choice(("anthropic POST /v1/messages", "openai POST /v1/responses"))
            size, added = choose.randrange(100, 500_000), choose.randrange(100) / 10
            call = CallRecord(
                f"gw_{number:024x}", route, "model", decision, counts, size, added, 200
            )
            log.write(json.dumps({"time": moment.isoformat(), **call._asdict()}) + "\n")


def time_pages(control: ControlPlane, times: int) -> list[Timing]:
    """Ask each page several times of a service that has loaded its patterns."""
    control.ready()
    app = create_app(control, Options(Serve()), Log(io.StringIO(), "json"))
    client = app.test_client()
    token = control.tokens.first().read_text("ascii").strip()
    client.post("/console/sign-in", data={"token": token})
    organization = control.organizations.list(LOCAL)[0]
    policy = control.policies.list(LOCAL, organization.org_id)[0].policy_id
    newest = control.audit.search(LOCAL, limit=1).items[0].preflight_id
    page = client.get(f"/console/policies/{policy}").text
    csrf = re.search(r'data-csrf="([^"]+)"', page)
    draft = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert csrf
    assert draft
    asked = {"draft": html.unescape(draft[1]), "checks": 10_000}
    headers = {"X-CSRF-Token": csrf[1]}
    paths = [
        "/console/?period=30d",
        "/console/?period=90d",
        f"/console/?period=90d&org={organization.slug}",
        "/console/checks?org=",
        "/console/checks?offset=500000",
        "/console/checks?search=blocked",
        "/console/checks?search=iban+vendor",
        "/console/checks?search=zebra",
        "/console/checks?search=pf_00000000000000000000ab",
        f"/console/checks?search=phone&org={organization.slug}",
        f"/console/checks/{newest}?org=",
        "/console/audit",
        "/console/organizations",
        "/console/policies",
        f"/console/policies/{policy}",
        f"/console/policies/{policy}/versions",
        "/console/groups",
        "/console/licenses",
        "/console/tokens",
        "/console/playground",
        "/console/gateway",
        "/console/gateway?search=email&decision=BLOCKED",
        "/console/agents",
    ]
    timings = [_timed(path, lambda path=path: client.get(path), times) for path in paths]
    at = f"/console/policies/{policy}/replay"
    replay = lambda: client.post(at, json=asked, headers=headers)  # noqa: E731
    lint = lambda: client.post("/console/lint", json=asked, headers=headers)  # noqa: E731
    return [
        *timings,
        _timed("replay of 10,000 checks", replay, times),
        _timed("lint", lint, times),
    ]


def _timed(page: str, ask: Callable[[], Any], times: int) -> Timing:
    walls, processors = [], []
    for _ in range(times):
        wall, processor = time.perf_counter(), time.process_time()
        answer = ask()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
        assert answer.status_code == 200, (page, answer.status_code, answer.text[:300])
    walls.sort()
    processors.sort()
    return Timing(page, walls[math.ceil(len(walls) * 0.95) - 1], processors[len(processors) // 2])


def run(
    folder: Path, make_detector: Callable[[], Detector], checks: int, times: int
) -> list[Timing]:
    """Fill the database if it is empty, and time the pages."""
    with ControlPlane.open(folder, make_detector) as control:
        if not control.organizations.list(LOCAL):
            started = time.perf_counter()
            fill(control, checks)
            print(f"{checks:,} checks recorded in {time.perf_counter() - started:.0f} s")
        leave_traffic(folder, _CALLS)
        return time_pages(control, times)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--checks", type=int, default=1_000_000)
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--folder", type=Path, default=None)
    given = options.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for page, p95, processor in run(folder, default_detector, given.checks, given.times):
            verdict = "ok" if p95 <= TARGET else "MISSED"
            print(f"{page:<60} {p95 * 1e3:7.0f} ms p95 {processor * 1e3:7.0f} ms CPU  {verdict}")


if __name__ == "__main__":
    sys.exit(main())
