"""The benchmarks run, and say what they promise to; how fast it is is for them to say, not for a
test.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def figures(*command: str) -> Any:
    ran = subprocess.run(
        [sys.executable, *command, "--short", "--json"], capture_output=True, text=True, cwd=HERE
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_engine() -> None:
    measured = figures("engine.py")
    assert set(measured["throughput"]) == {"standard library", "1 a KB", "10 a KB", "100 a KB"}
    assert all(each["MB/s"] > 0 for each in measured["throughput"].values())
    assert measured["latency"]["all"]["p50 ms"] <= measured["latency"]["all"]["p99 ms"]
    assert "worst" in measured["growth"]
    assert "memory" in measured


def test_cold_start() -> None:
    assert figures("cold_start.py")["ratio"] > 1


def test_leaks() -> None:
    judged = figures("leaks.py")
    assert judged["files"] >= 15
    assert judged["seen before"] > 0.9 * judged["planted"]
    assert (
        not judged["leaks"]
        + judged["not clean"]
        + judged["refused"]
        + judged["pixels outside boxes"]
    )
    assert judged["words lost"] == {"PDF": 0, "Office": 0}


def test_tree() -> None:
    measured = figures("tree.py")
    assert measured["SECRETS"]["s"] > 0
    assert measured["everything"]["MB"] > 0


def test_files() -> None:
    measured = figures("files.py")
    assert len(measured) == 5
    assert all(each["cpu s"] > 0 for each in measured.values())


def test_customers() -> None:
    measured = figures("customers.py")
    assert set(measured) == {"scan", "scan to JSON", "check", "mask"}
    assert all(each["cpu s"] > 0 for each in measured.values())
