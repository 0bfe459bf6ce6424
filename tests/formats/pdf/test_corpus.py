"""Many files by several producers with planted values: none may remain, and no other word may be
lost.
"""

from __future__ import annotations

import io
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FILES = 40
WORDS = [
    "quarterly",
    "numbers",
    "office",
    "fluffy",
    "affairs",
    "customers",
    "review",
    "statement",
    "straße",
    "naïve",
    "engineers",
    "first",
    "flight",
    "account",
    "balance",
    "letter",
    "contract",
    "table",
    "figure",
    "delivery",
    "invoice",
    "holiday",
    "summary",
]
STYLES = [
    "text-align:justify",
    "letter-spacing:3px",
    "writing-mode:vertical-rl",
    "transform:rotate(30deg)",
    "columns:3",
    "direction:rtl",
    "font-weight:bold;text-shadow:1px 1px 2px",
    "font-variant:small-caps",
    "opacity:.5",
    "-webkit-text-stroke:1px",
    "font-family:monospace",
    "font-size:7px",
]


class Planter:
    """Values that occur once each, and plain words around them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.values: set[str] = set()

    def value(self) -> str:
        chance = self.chance
        kind = chance.randrange(3)
        if kind == 0:
            value = f"{chance.randrange(101, 665)}-{chance.randrange(10, 99)}-{chance.randrange(1000, 9999)}"
        elif kind == 1:
            value = " ".join(
                [
                    "4" + f"{chance.randrange(1000):03d}",
                    *[f"{chance.randrange(10**4):04d}" for _ in range(3)],
                ]
            )
        else:
            value = f"{chance.choice(['jane', 'bob', 'ann'])}.{chance.randrange(10**5)}@acme-corp.example"
        self.values.add(value)
        return value

    def words(self, count: int) -> str:
        return " ".join(self.chance.choice(WORDS) for _ in range(count))

    def sentence(self) -> str:
        return f"{self.words(self.chance.randrange(3, 14))} {self.value()} {self.words(self.chance.randrange(3, 9))}."


def _canvas_file(planter: Planter, number: int) -> bytes:
    import reportlab
    from reportlab.lib.pagesizes import A4, landscape, letter
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    chance = planter.chance
    pdfmetrics.registerFont(
        TTFont("Vera", str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"))
    )
    buffer = io.BytesIO()
    canvas = Canvas(
        buffer, pagesize=chance.choice([A4, letter, landscape(A4)]), pageCompression=number % 2
    )
    for _ in range(2):
        font, size = (
            chance.choice(["Helvetica", "Times-Italic", "Courier-Bold", "Vera"]),
            chance.choice([6, 9, 11, 14]),
        )
        canvas.saveState()
        if number % 5 == 1:
            canvas.translate(300, 100)
            canvas.rotate(chance.randrange(0, 40))
        text = canvas.beginText(50, 500)
        text.setFont(font, size)
        text.setHorizScale(chance.choice([70, 100, 130]))
        text.setWordSpace(chance.choice([0, 3]))
        for _ in range(12):
            text.textLine(planter.sentence())
        canvas.drawText(text)
        canvas.restoreState()
        canvas.showPage()
    canvas.setTitle(planter.sentence())
    canvas.save()
    return buffer.getvalue()


def _platypus_file(planter: Planter, _number: int) -> bytes:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

    buffer = io.BytesIO()
    style = getSampleStyleSheet()["Normal"]
    style.alignment = planter.chance.choice([0, 1, 2, 4])
    rows = [[planter.words(1), planter.value(), planter.words(2)] for _ in range(12)]
    paragraphs = [
        Paragraph(" ".join(planter.sentence() for _ in range(3)), style) for _ in range(6)
    ]
    SimpleDocTemplate(buffer).build([*paragraphs, Table(rows)])
    return buffer.getvalue()


def _html(planter: Planter, style: str) -> str:
    blocks = "".join(
        f'<div style="{style};margin:20px">{planter.sentence()} {planter.sentence()}</div>'
        for _ in range(8)
    )
    return f"<html><meta charset=utf-8><body>{blocks}</body></html>"


def _chromium(page: Path) -> bytes | None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return None
    target = page.with_suffix(".pdf")
    arguments = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-pdf-header-footer",
        f"--print-to-pdf={target}",
    ]
    subprocess.run(
        [browser, *arguments, str(page)],
        capture_output=True,
        timeout=300,
        check=False,
        cwd=page.parent,
    )
    return target.read_bytes() if target.exists() else None


def _office(page: Path) -> bytes | None:
    office = shutil.which("soffice")
    if office is None:
        return None
    folder = page.parent / "office"
    arguments = ["--headless", f"-env:UserInstallation={(page.parent / 'profile').as_uri()}"]
    arguments += ["--convert-to", "pdf:writer_web_pdf_Export", "--outdir", str(folder), str(page)]
    subprocess.run([office, *arguments], capture_output=True, timeout=300, check=False)
    target = folder / page.with_suffix(".pdf").name
    return target.read_bytes() if target.exists() else None


def _corpus(folder: Path) -> Iterator[tuple[str, bytes, set[str]]]:
    makers: list[Callable[[Planter, int], bytes]] = [
        _canvas_file,
        _canvas_file,
        _canvas_file,
        _platypus_file,
    ]
    for number in range(FILES):
        planter = Planter(number)
        yield f"reportlab {number}", makers[number % 4](planter, number), planter.values
    for number, style in enumerate(STYLES):
        for name, convert in (("chromium", _chromium), ("office", _office)):
            planter = Planter(1000 + number)
            page = folder / f"{name}{number}.html"
            page.write_text(_html(planter, style), encoding="utf-8")
            data = convert(page)
            if data is not None:
                yield f"{name} {style}", data, planter.values


@pytest.mark.slow
def test_no_planted_value_is_left_and_no_other_word_is_lost(
    check: Callable[..., Any], leaks: Callable[..., list[tuple[str, str]]], tmp_path: Path
) -> None:
    planted = lost = words = files = 0
    trouble = []
    for name, data, values in _corpus(tmp_path):
        result = check(data)
        files += 1
        planted += len(values)
        trouble += [(name, *leak) for leak in leaks(result.masked, values)]
        gone, total = _lost_words(data, result.masked, result.values | values)
        lost += gone
        words += total
    assert files >= FILES
    assert not trouble, trouble[:5]
    assert lost <= 0.001 * words, (lost, words)


def _lost_words(before: bytes, after: bytes, values: set[str]) -> tuple[int, int]:
    """Plain words that an independent extractor no longer gives, labels and what belongs to values
    left aside.
    """
    from pdfminer.high_level import extract_text

    parts = {part for value in values for part in re.split(r"\W+", value.lower())}

    def plain(data: bytes) -> Counter[str]:
        found = re.findall(r"[^\W\d_]{4,}", extract_text(io.BytesIO(data)).lower())
        return Counter(word for word in found if word not in parts)

    old, new = plain(before), plain(after)
    return sum((old - new).values()), sum(old.values())
