"""Measure the control plane: throughput, latency over a million checks, and memory.

    python tests/bench/control.py [--checks 1000000] [--threads 16] [--folder DIR]

The checks of the million are written by the ledger itself, a thousand to a transaction, without
detection.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dlpctl.control.access import LOCAL
from dlpctl.control.clock import written
from dlpctl.control.directory import Directory
from dlpctl.control.ledger import Entry, Ledger
from dlpctl.control.service import ControlPlane
from dlpctl.preflight import default_detector

_DAYS = 120
_ORGANIZATIONS = 20
_PER_TRANSACTION = 1_000
_TEXT = "Please write to jane.doe@corp.example.net about invoice 4711. " * 16


def _million(control: ControlPlane, policies: list[str], checks: int) -> None:
    chance = random.Random(4)
    core = control._core
    directory = Directory(core.ring)
    begin = datetime.now(UTC) - timedelta(days=_DAYS)
    outcomes = ("ALLOWED", "ALLOWED_WITH_MASKING", "ALLOWED_WITH_MASKING", "BLOCKED")
    for first in range(0, checks, _PER_TRANSACTION):

        def job(batch: Any, first: int = first) -> None:
            ledger = batch.tally(Ledger, lambda connection: Ledger(connection, directory, core))
            for number in range(first, min(first + _PER_TRANSACTION, checks)):
                moment = begin + timedelta(days=_DAYS) * (number / checks)
                emails, phones = chance.randrange(1, 40), int(chance.expovariate(0.2))
                ledger.record(
                    Entry(
                        policies[min(int(chance.expovariate(0.3)), len(policies) - 1)],
                        f"pf_{number:024x}",
                        datetime.now(UTC),
                        written(moment),
                        chance.choice(("AI_TOOL", "VENDOR", "CUSTOMER")),
                        chance.choice(outcomes),
                        f"Masked {emails} emails and {phones} phone numbers; nothing blocked",
                        (("EMAIL", emails, "j***@example.com"), ("PHONE", phones, None)),
                        "1.0",
                        900,
                        False,
                    )
                )

        core.store.run(job)


def _timed(name: str, target: float, call: Callable[[], object], times: int = 20) -> None:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    verdict = "ok" if taken[len(taken) // 2] <= target else "MISSED"
    print(
        f"{name:<44} {taken[len(taken) // 2]:8.1f} ms median {taken[-1]:8.1f} worst   <= {target:g}  {verdict}"
    )


def _throughput(control: ControlPlane, key: str, threads: int) -> None:
    each = 200

    def work() -> None:
        for _ in range(each):
            control.checks.check_text(key, _TEXT, "VENDOR")

    workers = [threading.Thread(target=work) for _ in range(threads)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(
        f"{threads} threads: {threads * each / (time.perf_counter() - began):,.0f} durable checks of 1 KB a second"
    )


def _memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at most"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--checks", type=int, default=1_000_000)
    options.add_argument("--threads", type=int, default=16)
    options.add_argument("--folder", type=Path, default=None)
    given = options.parse_args()
    with (
        tempfile.TemporaryDirectory() as temporary,
        ControlPlane.open(given.folder or Path(temporary), default_detector) as control,
    ):
        policies, keys = [], []
        for number in range(_ORGANIZATIONS):
            made = control.organizations.create(
                LOCAL, {"name": f"Organization {number}"}
            ).organization
            control.licenses.create(LOCAL, made.org_id, {"license_type": "enterprise"})
            (policy,) = control.policies.list(LOCAL, made.org_id)
            policies.append(policy.policy_id)
            keys.append(policy.api_key)
        control.checks.check_text(keys[0], _TEXT, "VENDOR")
        for threads in (1, given.threads):
            _throughput(control, keys[0], threads)
        print(f"memory after these checks: {_memory()}")
        began = time.perf_counter()
        _million(control, policies, given.checks)
        rate = given.checks / (time.perf_counter() - began)
        with control._core.store.reading() as connection:
            phrases = connection.execute("SELECT count(*) FROM phrases").fetchone()[0]
        size = (control.folder / "control.db").stat().st_size / 1e6
        print(
            f"{given.checks:,} checks recorded, {rate:,.0f} a second; {phrases:,} phrases, {size:,.0f} MB"
        )
        big, small = "organization-0", f"organization-{_ORGANIZATIONS - 2}"
        analytics, audit = control.analytics, control.audit
        for period in ("30d", "90d"):
            _timed(
                f"analytics {period}",
                20,
                lambda period=period: analytics.organization(LOCAL, big, period),
            )
            _timed(
                f"time series {period}",
                20,
                lambda period=period: analytics.timeseries(LOCAL, big, period),
            )
            _timed(
                f"detections {period}",
                20,
                lambda period=period: analytics.detections(LOCAL, big, period),
            )
        searches: list[dict[str, Any]] = [
            {},
            {"offset": 500_000},
            {"search": "emails"},
            {"search": "blocked"},
            {"search": "39 emails vendor"},
            {"search": "zebra"},
            {"search": "phone", "org_id": big},
            {"search": "phone", "org_id": small},
            {"org_id": big},
            {"org_id": small},
            {"search": "pf_00000000000000000000ab"},
            {"search": f"pf_{4711:024x}"},
        ]
        for search in searches:
            _timed(f"audit {search}", 50, lambda search=search: audit.search(LOCAL, **search))
        print(f"memory: {_memory()}")
        began = time.perf_counter()
        report = audit.verify(LOCAL)
        print(
            f"verify: {report.checked:,} links in {time.perf_counter() - began:.1f} s, intact: {report.intact}"
        )


if __name__ == "__main__":
    sys.exit(main())
