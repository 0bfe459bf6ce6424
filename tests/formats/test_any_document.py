"""Random documents in many formats: masked, readable by the format's usual library, and without the
values.
"""

from __future__ import annotations

import csv
import email
import html
import io
import json
import random
import sqlite3
import tomllib
from contextlib import closing
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import docx
import openpyxl
import pptx
import pytest
import yaml

from dlpctl.files.checking import FileChecker
from dlpctl.preflight import checker_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlpctl.detect.engine import Detector

SEEDS = 20
VALUES = [
    "536-90-4399", "4111 1111 1111 1111", "maria@Lopez.com", "DE89 3704 0044 0532 0130 00", "+1 415 555 2671",
]  # fmt: skip
SENTENCES = [
    "Grace Lee called; the grace period ends.", "Ms. Lopez agreed, lopez or not.", "Dear Mr. Chase, do not chase us",
    "Please ask Amara Okafor about it", "born 12 May 1984 in Springfield", "12 Main Street, Springfield, IL 62704",
    "Herr Klaus Weber, Lindenstr. 14a, 04317 Leipzig", "patient was diagnosed with type 2 diabetes",
]  # fmt: skip
ODD = [
    "", " ", "0", "null", "true", "3.5", "é ü 山田", "a,b", '"q"', "it's", "<b>&amp;", "\\n", "\t", "=1+2", "# x",
    "- y", ": z", "{a}", "[1]", "%s", "@me", "| x |", "a: b", "two\nlines",
]  # fmt: skip
KEYS = [
    "name",
    "ssn",
    "email",
    "id",
    "note",
    "phone",
    "address",
    "value",
    "date of birth",
    "städte",
    "user",
]


class Chance:
    """The content of a document."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return self.random.choice(self.random.choice([VALUES, SENTENCES, ODD]))

    def line(self) -> str:
        return " ".join("; ".join(self.text() for _ in range(self.random.randint(1, 3))).split())

    def key(self) -> str:
        return self.random.choice(KEYS) + self.random.choice(["", "_1", "2"])

    def tree(self, depth: int = 0) -> Any:
        kind = self.random.random()
        if depth > 2 or kind < 0.5:
            number = self.random.randrange(10 ** self.random.randrange(1, 16))
            return self.random.choice([self.text(), self.line(), number, None])
        if kind < 0.8:
            return {self.key(): self.tree(depth + 1) for _ in range(self.random.randint(1, 4))}
        return [self.tree(depth + 1) for _ in range(self.random.randint(1, 4))]

    def rows(self) -> list[list[str]]:
        width = self.random.randint(1, 5)
        header = [self.key() for _ in range(width)]
        return [
            header,
            *([self.line() for _ in range(width)] for _ in range(self.random.randint(1, 8))),
        ]

    def pieces(self, text: str) -> list[str]:
        cut = self.random.randint(0, len(text))
        return [text[:cut], text[cut:]]


def saved(document: Any) -> bytes:
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def make_json(chance: Chance) -> bytes:
    indent = chance.random.choice([None, 2])
    return json.dumps(
        chance.tree(), indent=indent, ensure_ascii=chance.random.random() < 0.5
    ).encode()


def make_yaml(chance: Chance) -> bytes:
    tree = {chance.key(): chance.tree() for _ in range(3)}
    style = chance.random.choice([None, None, '"', "'"])
    width = chance.random.choice([30, 80])
    return yaml.safe_dump(tree, allow_unicode=True, default_style=style, width=width).encode()


def make_toml(chance: Chance) -> bytes:
    return "\n".join(f"k{number} = {json.dumps(chance.line())}" for number in range(6)).encode()


def make_csv(chance: Chance) -> bytes:
    output = io.StringIO()
    csv.writer(output, delimiter=chance.random.choice(",;\t")).writerows(chance.rows())
    return output.getvalue().encode()


def make_html(chance: Chance) -> bytes:
    lines = [chance.line() for _ in range(6)]
    paragraphs = "".join(
        f"<p title='{html.escape(chance.line())}'>{html.escape(one)}<b>{html.escape(two)}</b></p>"
        for one, two in map(chance.pieces, lines)
    )
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
        for row in chance.rows()
    )
    return f"<!doctype html><html><body>{paragraphs}<table>{rows}</table></body></html>".encode()


def make_xml(chance: Chance) -> bytes:
    records = "".join(
        f"<record id='{html.escape(chance.line())}'>{html.escape(chance.line())}</record>"
        for _ in range(6)
    )
    return f"<?xml version='1.0'?><records>{records}</records>".encode()


def make_sql(chance: Chance) -> bytes:
    def quoted() -> str:
        return "'" + chance.text().replace("'", "''") + "'"

    rows = "".join(
        f"INSERT INTO t VALUES ({number}, {quoted()}, {quoted()});\n" for number in range(6)
    )
    return f"CREATE TABLE t (id INT, name TEXT, ssn TEXT);\n{rows}".encode()


def make_mail(chance: Chance) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.org", chance.line()
    message.set_content(
        f"{chance.line()}\n", cte=chance.random.choice(["base64", "quoted-printable"])
    )
    message.add_alternative(make_html(chance).decode(), subtype="html")
    message.add_attachment(
        make_csv(chance), maintype="text", subtype="csv", filename="Maria Lopez.csv"
    )
    return message.as_bytes()


def make_docx(chance: Chance) -> bytes:
    document = docx.Document()
    for _ in range(5):
        paragraph = document.add_paragraph()
        for piece in chance.pieces(chance.line()):
            paragraph.add_run(piece)
    return saved(document)


def make_xlsx(chance: Chance) -> bytes:
    book = openpyxl.Workbook()
    for row in chance.rows():
        book.active.append(row)
    return saved(book)


def make_pptx(chance: Chance) -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = chance.line(), chance.line()
    return saved(deck)


def read_sql(data: bytes) -> str:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(data.decode())
        return said(database.execute("SELECT * FROM t").fetchall())


def said(tree: Any) -> str:
    return json.dumps(tree, ensure_ascii=False, default=str)


def read_mail(data: bytes) -> str:
    parts = [part for part in email.message_from_bytes(data).walk() if not part.is_multipart()]
    return "\n".join(part.get_payload(decode=True).decode() for part in parts)


def read_xlsx(data: bytes) -> str:
    rows = openpyxl.load_workbook(io.BytesIO(data)).active.values
    return "\n".join(str(cell) for row in rows for cell in row)


def read_pptx(data: bytes) -> str:
    slides = pptx.Presentation(io.BytesIO(data)).slides
    return "\n".join(shape.text_frame.text for slide in slides for shape in slide.shapes)


MADE: dict[str, tuple[Callable[[Chance], bytes], Callable[[bytes], str]]] = {
    "json": (make_json, lambda data: said(json.loads(data))),
    "yaml": (make_yaml, lambda data: said(yaml.safe_load(data))),
    "toml": (make_toml, lambda data: said(tomllib.loads(data.decode()))),
    "csv": (make_csv, lambda data: said(list(csv.reader(io.StringIO(data.decode()))))),
    "html": (make_html, lambda data: html.unescape(data.decode())),
    "xml": (
        make_xml,
        lambda data: html.unescape(ElementTree.tostring(ElementTree.fromstring(data), "unicode")),
    ),
    "sql": (make_sql, read_sql),
    "eml": (make_mail, read_mail),
    "docx": (
        make_docx,
        lambda data: "\n".join(one.text for one in docx.Document(io.BytesIO(data)).paragraphs),
    ),
    "xlsx": (make_xlsx, read_xlsx),
    "pptx": (make_pptx, read_pptx),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_document_is_masked_and_still_valid(
    library: Detector, kind: str, seed: int
) -> None:
    """The checker itself proves that no value remains: it raises otherwise."""
    make, read = MADE[kind]
    data = make(Chance(seed))
    checking = FileChecker(checker_for("VENDOR", None, library, None, None))
    masked = checking.mask(data, f"a.{kind}").masked
    assert masked is not None
    assert not any(value in read(masked) for value in VALUES)
