"""The demonstration: a made-up prompt and PDF, before and after."""

from __future__ import annotations

import io
import re
import secrets
import shutil
import string
import sys
import textwrap
from typing import TYPE_CHECKING

from dlpctl.cli.compiling import compile_visibly
from dlpctl.cli.documents import cleaning_up
from dlpctl.cli.progress import can_be_redrawn
from dlpctl.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.cli.render import Printer
    from dlpctl.files.checking import FileChecker

_PROMPT = (
    "Please answer Amara Okafor (amara.okafor@example.com): her card 4111 1111 1111 1111 was"
    " charged twice. The payment API still takes the key {key}."
)
_ANSWER = (
    "Dear <PERSON_NAME_1>, we have refunded the card <CREDIT_CARD_1> and will write to <EMAIL_1>."
)
INVOICE = (
    "Invoice 2026-0117",
    "Bill to: Amara Okafor, amara.okafor@example.com",
    "SSN 536-90-4399, card 4111 1111 1111 1111",
    "Total: 120.00",
)
_NEXT = (
    ("dlpctl scan .", "list what this folder holds"),
    ("dlpctl mask prompt.txt", "mask a prompt of yours"),
    ("dlpctl setup", "look for secrets before each commit"),
)
_CHANGED = re.compile(r"<[A-Z_]+_\d+>|\S*\*+[\S*]*(?: \*+\S*)*")
_LEADING = 16
"""The line spacing of the PDF."""
_WIDEST = 88


def show() -> None:
    """Print how masking, unmasking and checking change made-up content."""
    from dlpctl.masking.unmask import unmask
    from dlpctl.operators.tokens import TokenStore

    session = Session.start()
    printer = session.printer()
    checker = session.checker("AI_TOOL", "default", "token")
    prompt = _PROMPT.format(key=_made_up_key())
    vault = TokenStore()
    masked = checker.mask(prompt, checker.masker(vault))
    _print(printer, "A made-up prompt", prompt)
    _print(printer, "What the AI tool gets: dlpctl mask --vault ticket.vault", masked)
    _print(printer, "What it answers", _ANSWER)
    restored = unmask(_ANSWER, vault)
    _print(printer, "What you read: dlpctl unmask --vault ticket.vault", restored)
    vendor = session.checker("VENDOR", "default")
    with cleaning_up():
        _show_pdf(printer, session.file_checker(vendor))
    if can_be_redrawn(sys.stderr):
        compile_visibly(session.detector())
    printer.line(printer.style("Try it", "bold"))
    printer.table(_NEXT, indent="  ")


def _show_pdf(printer: Printer, checker: FileChecker) -> None:
    data = make_pdf(INVOICE)
    report = checker.check(data, "invoice.pdf")
    assert report.masked is not None
    assert report.verified is not None
    _print(printer, "A made-up PDF", *_lines(data))
    title = "Its masked copy: dlpctl check invoice.pdf --destination VENDOR"
    _print(printer, title, *_lines(report.masked))
    printer.line(f"  {report.verified.summary}")
    printer.line()


def _print(printer: Printer, title: str, *paragraphs: str) -> None:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    printer.line(printer.style(title, "bold"))
    for paragraph in paragraphs:
        filled = textwrap.fill(paragraph, width, initial_indent="  ", subsequent_indent="  ")
        printer.line(_CHANGED.sub(lambda found: printer.style(found[0], "green"), filled))
    printer.line()


def _made_up_key() -> str:
    characters = string.ascii_letters + string.digits
    return "sk_live_" + "".join(secrets.choice(characters) for _ in range(24))


def make_pdf(lines: Sequence[str]) -> bytes:
    import pikepdf

    text = " T* ".join(f"({line}) Tj" for line in lines)
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page(page_size=(420, 140))
        font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1)
        font.BaseFont = pikepdf.Name.Helvetica
        page.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
        page.obj.Contents = pdf.make_stream(
            f"BT /F1 12 Tf {_LEADING} TL 30 100 Td {text} ET".encode()
        )
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


def _lines(pdf: bytes) -> list[str]:
    """Return the lines of a page set in one font size, as they appear."""
    import pypdfium2

    page = pypdfium2.PdfDocument(pdf)[0].get_textpage()
    lines: dict[int, list[tuple[float, float, str]]] = {}
    for index in range(page.count_chars()):
        left, bottom, right, _ = page.get_charbox(index, loose=True)
        lines.setdefault(round(bottom / _LEADING), []).append(
            (left, right, page.get_text_range(index, 1))
        )
    return [_joined(sorted(lines[height])) for height in sorted(lines, reverse=True)]


def _joined(characters: Sequence[tuple[float, float, str]]) -> str:
    """Join the characters of a line, with a space at each gap."""
    text, end = "", characters[0][0]
    for left, right, character in characters:
        text += (" " if left - end > 1 else "") + character
        end = max(end, right)
    return " ".join(text.split())
