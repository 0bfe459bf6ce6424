"""Record the picture of the README: `python .github/recording/record.py [FILE]`.

The commands really run, in a folder of their own, and their output is drawn as an animated SVG. It
needs nothing else, loads nothing, and shows everything at once where motion is not wanted.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from dlpctl.cli.demonstration import INVOICE, make_pdf

PICTURE = Path(__file__).with_name("tour.svg")
PROMPT = "Refund jane.doe@example.com: card 4111 1111 1111 1111, SSN 536-90-4399\n"
SCENES = (
    "cat prompt.txt",
    "dlpctl mask --vault ticket.vault prompt.txt",
    "echo 'I have written to <EMAIL_1>.' | dlpctl unmask --vault ticket.vault",
    "dlpctl check invoice.pdf --destination VENDOR",
    "dlpctl scan prompt.txt",
)
COLUMNS = 92
ROW, CHARACTER, MARGIN, BAR = 20, 8.4, 18, 34
TYPED, PAUSE = 0.03, 1.1
"""Seconds for a character of a command, and after its output."""
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff", "2": "#9aa4b2"}
STYLE = """
.row { font: 14px ui-monospace, Menlo, Consolas, monospace; white-space: pre; fill: #e6edf3; }
.out { animation: shown .01s step-end backwards; }
@keyframes shown { from { opacity: 0; } }
@keyframes typed { from { transform: scaleX(0); } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
"""
_CODES = re.compile("\x1b\\[([0-9;]*)m")


class Row(NamedTuple):
    """A line of the terminal, and when it appears."""

    text: str
    second: float
    is_command: bool = False


def record() -> list[Row]:
    rows: list[Row] = []
    second = 0.4
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "prompt.txt").write_text(PROMPT, "utf-8")
        (Path(folder) / "invoice.pdf").write_bytes(make_pdf(INVOICE))
        for command in SCENES:
            rows.append(Row(command, second, is_command=True))
            second += TYPED * len(command) + 0.3
            output = _run(command, folder).splitlines()
            while output and not output[-1].strip():
                output.pop()
            rows += (Row(part, second) for line in [*output, ""] for part in _wrapped(line))
            second += PAUSE
    return rows[:-1]


def _run(command: str, folder: str) -> str:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    environ.pop("NO_COLOR", None)
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.stderr:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def _wrapped(line: str) -> Iterator[str]:
    """Yield the rows that a terminal makes of a line."""
    row, column, codes = "", 0, ""
    for piece in re.split("(\x1b\\[[0-9;]*m)", line):
        if piece.startswith("\x1b"):
            row, codes = row + piece, piece
            continue
        for character in piece:
            if column == COLUMNS:
                yield row
                row, column = codes, 0
            row, column = row + character, column + 1
    yield row


def draw(rows: list[Row]) -> str:
    width = round(2 * MARGIN + COLUMNS * CHARACTER)
    height = BAR + len(rows) * ROW + MARGIN
    described = escape(" ".join(scene for scene in SCENES))
    dots = "".join(
        f'<circle cx="{20 + 18 * number}" cy="17" r="5.5" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    drawn = "\n".join(_row(number, row) for number, row in enumerate(rows))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>dlpctl in a terminal</title>\n<desc>{described}</desc>\n<style>{STYLE}</style>\n"
        f'<rect width="{width}" height="{height}" rx="9" fill="#0d1117"/>\n{dots}\n'
        f"{drawn}\n</svg>\n"
    )


def _row(number: int, row: Row) -> str:
    top = BAR + ROW * number
    text = f'<text class="row" x="{MARGIN}" y="{top + 14}">'
    if not row.is_command:
        shown = f"{text}{_spans(row.text)}</text>"
        return f'<g class="out" style="animation-delay:{row.second:.2f}s">{shown}</g>'
    size, seconds = len(row.text), TYPED * len(row.text)
    typed = f"animation:typed {seconds:.2f}s steps({size}) {row.second:.2f}s backwards"
    origin = MARGIN + 2 * CHARACTER
    rect = f'x="{origin}" y="{top}" width="{size * CHARACTER + 4:.1f}" height="{ROW}"'
    clip = f'<clipPath id="c{number}"><rect {rect} style="transform-origin:{origin}px 0;{typed}"/>'
    return (
        f'{clip}</clipPath><g class="out" style="animation-delay:{row.second:.2f}s">{text}'
        f'<tspan fill="#7ee787">$</tspan></text></g><g clip-path="url(#c{number})">'
        f'<text class="row" x="{origin}" y="{top + 14}" textLength="{size * CHARACTER:.1f}">'
        f"{escape(row.text)}</text></g>"
    )


def _spans(line: str) -> str:
    """Return a line with its colours, each piece at its column whatever the font is."""
    spans: list[str] = []
    column, codes = 0, ""
    for position, piece in enumerate(_CODES.split(line)):
        if position % 2:
            codes = piece
            continue
        if piece.strip():
            colour = next((COLOURS[code] for code in codes.split(";") if code in COLOURS), "")
            style = f' fill="{colour}"' if colour else ""
            style += ' font-weight="bold"' if "1" in codes.split(";") else ""
            first = len(piece) - len(piece.lstrip())
            shown = piece.strip()
            place = MARGIN + (column + first) * CHARACTER
            length = len(shown) * CHARACTER
            spans.append(
                f'<tspan x="{place:.1f}" textLength="{length:.1f}"{style}>{escape(shown)}</tspan>'
            )
        column += len(piece)
    return "".join(spans)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    target.write_text(draw(record()), "utf-8")
