"""Time `scan`, `check` and `mask` as complete processes on a CSV of customers, and measure their
memory.

    python tests/bench/customers.py [--json] [--short] [--rows N] [--home DIR]

Every row holds a name, a mail address, a phone number and a card number: four findings a row,
200,000 in 50,000 rows. `s` is the wall clock, `cpu s` the processor time of the command and its
workers together, `MB` the most memory that they use at the same time, each page counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROWS = 50_000
SHORT_ROWS = 200
GIVEN = [
    "Maria",
    "James",
    "Anna",
    "Peter",
    "Laura",
    "David",
    "Julia",
    "Thomas",
    "Sophie",
    "Robert",
    "Elena",
    "Daniel",
    "Claire",
    "Martin",
    "Ingrid",
    "Paul",
    "Teresa",
    "Michael",
    "Hannah",
    "Stefan",
    "Alice",
    "George",
    "Nora",
    "Henry",
    "Emma",
    "Lucas",
    "Marta",
    "Simon",
    "Helen",
    "Victor",
]
FAMILY = [
    "Lopez",
    "Miller",
    "Schmidt",
    "Rossi",
    "Dubois",
    "Novak",
    "Jensen",
    "Silva",
    "Kowalski",
    "Meyer",
    "Garcia",
    "Walker",
    "Fischer",
    "Moreau",
    "Ricci",
    "Andersen",
    "Costa",
    "Nowak",
    "Weber",
    "Hughes",
    "Martinez",
    "Turner",
    "Wagner",
    "Laurent",
    "Greco",
    "Nilsson",
    "Pereira",
    "Bennett",
    "Keller",
    "Fontaine",
    "Hoffman",
    "Sanders",
    "Whitfield",
    "Castillo",
    "Lindgren",
    "Barbosa",
    "Zielinski",
    "Brandt",
]
DOMAINS = ("example.com", "example.org", "example.net")


def csv_of_customers(rows: int, seed: int = 7) -> bytes:
    """Return a table of invented people with card numbers that pass the Luhn check."""
    chance = random.Random(seed)
    lines = ["name,email,phone,card"]
    for number in range(rows):
        given, family = chance.choice(GIVEN), chance.choice(FAMILY)
        mail = f"{given[0].lower()}.{family.lower()}{number}@{chance.choice(DOMAINS)}"
        phone = (
            f"({chance.randint(201, 989)}) {chance.randint(200, 999)}-{chance.randint(0, 9999):04}"
        )
        lines.append(f"{given} {family},{mail},{phone},{card_number(chance)}")
    return "\n".join([*lines, ""]).encode()


def card_number(chance: random.Random) -> str:
    digits = [4, *(chance.randint(0, 9) for _ in range(14))]
    doubled = [
        sum(divmod(2 * digit, 10)) if place % 2 == 0 else digit
        for place, digit in enumerate(digits)
    ]
    return "".join(map(str, [*digits, -sum(doubled) % 10]))


def measure(rows: int, home: Path | None = None) -> dict[str, dict[str, float]]:
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environment["DLPCTL_HOME"] = str(home or Path(folder, "home"))
        source, copy = str(Path(folder, "customers.csv")), str(Path(folder, "copy.csv"))
        Path(source).write_bytes(csv_of_customers(rows))
        commands = {
            "scan": ["scan", source],
            "scan to JSON": ["scan", source, "--format", "json"],
            "check": ["check", source, "--destination", "VENDOR", "-o", copy, "--force"],
            "mask": ["mask", source, "-o", copy, "--force"],
        }
        run(["cache", "build"], environment)
        for label, command in commands.items():
            status, figures[label] = run(command, environment)
            assert status in (0, 10, 20), f"{label}: exit status {status}"
    return figures


def run(command: list[str], environment: dict[str, str]) -> tuple[int, dict[str, float]]:
    before, began = os.times(), time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "dlpctl", *command], stdout=subprocess.DEVNULL, env=environment
    ) as process:
        peak = Peak(process.pid)
        status = process.wait()
        elapsed = time.perf_counter() - began
        peak.stop()
    after = os.times()
    used = sum(after[2:4]) - sum(before[2:4])
    return status, {
        "s": round(elapsed, 2),
        "cpu s": round(used, 2),
        "MB": round(peak.kilobytes / 1024),
    }


class Peak:
    """Watches the memory of a process and its children, where the system tells."""

    def __init__(self, pid: int) -> None:
        self.kilobytes = 0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self.kilobytes = max(
                self.kilobytes, sum(map(proportional_size, descendants(self._pid)))
            )


def descendants(pid: int) -> list[int]:
    try:
        children = [
            int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return [pid]
    return [pid, *(below for child in children for below in descendants(child))]


def proportional_size(pid: int) -> int:
    """Return the kilobytes of a process, where a page shared by several is split among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--short", action="store_true", help="few rows: only to see that it runs")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the table")
    parser.add_argument(
        "--home", type=Path, help="a folder with compiled patterns, instead of none"
    )
    arguments = parser.parse_args()
    figures = measure(SHORT_ROWS if arguments.short else arguments.rows, arguments.home)
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    for name, row in figures.items():
        print(f"{name:16} " + "  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
