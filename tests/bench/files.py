"""Time `dlpctl check FILE` as a complete process, and measure its memory, on generated files.

    python tests/bench/files.py [--json] [--short] [--home DIR]

Every file is checked for VENDOR by the default policy; what is found is masked, the copy verified
and written. `s` is the wall clock, `cpu s` the processor time of the command and its workers
together, `MB` the largest of these processes. On a busy machine only `cpu s` means anything.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from customers import csv_of_customers

WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "lazy",
    "dogs",
    "while",
    "seven",
    "wizards",
    "brew",
    "strange",
    "potions",
    "at",
    "midnight",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument(
        "--short", action="store_true", help="small files: only to see that it runs"
    )
    parser.add_argument(
        "--home", type=Path, help="a folder with compiled patterns, instead of none"
    )
    arguments = parser.parse_args()
    figures = measure(short=arguments.short, home=arguments.home)
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    for name, row in figures.items():
        print(f"{name:32} " + "  ".join(f"{key} {value}" for key, value in row.items()))


def measure(*, short: bool, home: Path | None = None) -> dict[str, dict[str, float]]:
    pages, rows, megabyte = (3, 200, 100_000) if short else (300, 100_000, 1_000_000)
    table = csv_of_customers(17 * rows)
    files: dict[str, tuple[str, Callable[[], bytes], int]] = {
        "one-page PDF with findings": ("one.pdf", lambda: pdf(1, hits=True), 10),
        f"{pages} dense pages, no findings": ("dense.pdf", lambda: pdf(pages, hits=False), 0),
        f"{pages} dense pages, findings on each": ("hits.pdf", lambda: pdf(pages, hits=True), 10),
        f"DOCX of {megabyte / 1e6:g} MB": ("big.docx", lambda: docx(megabyte), 10),
        f"XLSX of {rows:,} x 8 cells": ("big.xlsx", lambda: xlsx(rows), 10),
        f"XLSX of {rows:,} x 8, all rows": ("all.xlsx", lambda: xlsx_of_customers(rows), 10),
        f"CSV of {len(table) / 1e6:.1f} MB": ("big.csv", lambda: table, 10),
    }
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environment["DLPCTL_HOME"] = str(home or Path(folder, "home"))
        build = [sys.executable, "-m", "dlpctl", "cache", "build", "--quiet"]
        subprocess.run(build, env=environment, check=True)
        for label, (name, make, status) in files.items():
            file = Path(folder, name)
            file.write_bytes(make())
            found, figures[label] = check(file, environment)
            assert found == status, f"{label}: exit status {found}"
    return figures


def check(file: Path, environment: dict[str, str]) -> tuple[int, dict[str, float]]:
    """The exit status of one check, and what it took."""
    command = [sys.executable, "-m", "dlpctl", "check", str(file), "-d", "VENDOR", "--force"]
    code = (
        "import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss]))"
    )
    began = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    wall = time.perf_counter() - began
    status, cpu, largest = json.loads(ran.stdout)
    # Linux counts kilobytes, macOS bytes.
    megabytes = largest / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return status, {"s": round(wall, 2), "cpu s": round(cpu, 2), "MB": round(megabytes)}


def pdf(pages: int, *, hits: bool) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    chance = random.Random(pages)
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for page in range(pages):
        canvas.setFont("Helvetica", 9)
        for line in range(50):
            text = " ".join(chance.choice(WORDS) for _ in range(16))
            if hits and line == 10:
                text = f"Write to person{page}@corp-{page}.com about the SSN 536-90-{1000 + page}, which is due."
            canvas.drawString(40, 800 - 15 * line, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def docx(size: int) -> bytes:
    from docx import Document

    chance = random.Random(size)
    document = Document()
    packed = 0
    while packed < size:
        for number in range(150):
            words = [f"{chance.choice(WORDS)}{chance.randint(1, 10**6)}" for _ in range(60)]
            mail = f" person{number}@corp-{number}.com" if number % 10 == 0 else ""
            document.add_paragraph(" ".join(words) + mail)
        buffer = io.BytesIO()
        document.save(buffer)
        packed = buffer.tell()
    return buffer.getvalue()


def xlsx(rows: int) -> bytes:
    from openpyxl import Workbook

    chance = random.Random(rows)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("people")
    sheet.append(["id", "email", "ssn", "amount", "city", "note", "units", "flag"])
    for row in range(rows):
        mail = f"user{row}@corp-{row % 50}.com" if row % 100 == 0 else "-"
        ssn = f"536-{10 + row % 80}-{1000 + row % 8999}" if row % 100 == 50 else ""
        sheet.append([row, mail, ssn, chance.random(), "Town", "some words", row * 7, "x"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def xlsx_of_customers(rows: int) -> bytes:
    """Return a workbook with four values in every row."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("customers")
    for number, line in enumerate(csv_of_customers(rows).decode().splitlines()):
        further = (
            [number, "regular", "Town", number * 3.5] if number else ["id", "note", "city", "sum"]
        )
        sheet.append([*line.split(","), *further])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


if __name__ == "__main__":
    main()
