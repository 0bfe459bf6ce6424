"""Files of every format that grow in one dimension: findings, lines, columns, one line's length,
members, parts, depth.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from email.message import EmailMessage
from typing import NamedTuple


class Growing(NamedTuple):
    """A file whose cost should grow with `size`."""

    name: str
    what: str
    size: int
    make: Callable[[int], bytes]
    """Makes the file; twice the size is twice as much of what is named."""
    most: int = 1 << 30
    """The largest size that is within the limits."""

    @property
    def id(self) -> str:
        return f"{self.name}: {self.what}"


def mail(number: int) -> str:
    return f"user{number}.x@example.com"


def card(number: int) -> str:
    """A card number that passes the Luhn check, another one for every number."""
    digits = f"4{number * 7919 % 10**14:014}"
    total = sum(
        sum(divmod(2 * int(digit), 10)) if place % 2 == 0 else int(digit)
        for place, digit in enumerate(digits)
    )
    return f"{digits}{-total % 10}"


def phone(number: int) -> str:
    return f"(212) {200 + number % 800}-{number * 31 % 10_000:04}"


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
]


def name(number: int) -> str:
    return f"{GIVEN[number % len(GIVEN)]} {FAMILY[number // len(GIVEN) % len(FAMILY)]}"


def row(number: int) -> list[str]:
    return [name(number), mail(number), phone(number), card(number)]


def sentence(number: int) -> str:
    return f"Ms. {name(number)} ({mail(number)}) paid with {card(number)}, call {phone(number)}."


def text(make: Callable[[int], str]) -> Callable[[int], bytes]:
    return lambda size: make(size).encode()


def table(columns: int, rows: int) -> str:
    """Columns of mail addresses below their headers."""
    header = ",".join(f"email_{column}" for column in range(columns))
    return "\n".join(
        [
            header,
            *(
                ",".join(mail(line * columns + one) for one in range(columns))
                for line in range(rows)
            ),
            "",
        ]
    )


def nested(opening: str, inner: str, closing_: str, count: int, depth: int) -> str:
    return "\n".join(
        f"{opening * depth}{inner.format(mail(number))}{closing_ * depth}"
        for number in range(count)
    )


def yaml_of_depth(depth: int) -> str:
    chains = (
        "".join(f"{' ' * level}a{level}:\n" for level in range(depth))
        + f"{' ' * depth}b: {mail(number)}"
        for number in range(20)
    )
    return "\n".join(
        f"c{number}:\n" + "\n".join(f" {line}" for line in chain.split("\n"))
        for number, chain in enumerate(chains)
    )


def message(parts: int = 0, headers: int = 0, depth: int = 0, lines: int = 0) -> bytes:
    whole = EmailMessage()
    whole["From"], whole["Subject"] = f"Anna <{mail(1)}>", "hello"
    whole.set_content("\n".join([sentence(2), *map(sentence, range(lines))]), cte="base64")
    for number in range(parts):
        whole.add_attachment(
            sentence(number).encode(), maintype="text", subtype="plain", filename=f"a{number}.txt"
        )
    data = whole.as_bytes()
    extra = "".join(f"X-Note-{number}: {mail(number)}\n" for number in range(headers)).encode()
    for _ in range(depth):
        data = b"MIME-Version: 1.0\nContent-Type: message/rfc822\n\n" + data
    return extra + data


def zipped(members: int) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(members):
            archive.writestr(f"folder/{number}.txt", sentence(number))
    return output.getvalue()


def tarred(members: int) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz") as archive:
        for number in range(members):
            contents = sentence(number).encode()
            member = tarfile.TarInfo(f"folder/{number}.txt")
            member.size = len(contents)
            archive.addfile(member, io.BytesIO(contents))
    return output.getvalue()


def database(rows: int) -> bytes:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, email TEXT, phone TEXT, card TEXT)"
        )
        opened.executemany(
            "INSERT INTO people (name, email, phone, card) VALUES (?, ?, ?, ?)",
            map(row, range(rows)),
        )
        opened.commit()
        return opened.serialize()


def parquet(rows: int) -> bytes:
    import pyarrow
    import pyarrow.parquet

    columns = zip(*map(row, range(rows)), strict=True)
    output = io.BytesIO()
    pyarrow.parquet.write_table(
        pyarrow.table(
            dict(zip(("name", "email", "phone", "card"), map(list, columns), strict=True))
        ),
        output,
    )
    return output.getvalue()


def avro(rows: int) -> bytes:
    import fastavro

    names = ("name", "email", "phone", "card")
    fields = [{"name": name, "type": "string"} for name in names]
    output = io.BytesIO()
    fastavro.writer(
        output,
        {"type": "record", "name": "Row", "fields": fields},
        [dict(zip(names, map(str, row(number)), strict=True)) for number in range(rows)],
        "deflate",
    )
    return output.getvalue()


def notebook(cells: int) -> bytes:
    made = [
        {"cell_type": "markdown", "metadata": {}, "source": [sentence(number)]}
        for number in range(cells)
    ]
    return json.dumps({"cells": made, "nbformat": 4}, indent=1).encode()


def workbook(rows: int, columns: int = 4) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("people")
    sheet.append([f"email_{column}" for column in range(columns)])
    for line in range(rows):
        sheet.append([mail(line * columns + column) for column in range(columns)])
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()


def document(paragraphs: int, runs: int = 1) -> bytes:
    import docx

    made = docx.Document()
    for number in range(paragraphs):
        paragraph = made.add_paragraph()
        for run in range(runs):
            paragraph.add_run(sentence(number * runs + run) + " ")
    output = io.BytesIO()
    made.save(output)
    return output.getvalue()


def slides(count: int) -> bytes:
    import pptx

    show = pptx.Presentation()
    for number in range(count):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = name(number)
        slide.placeholders[1].text = sentence(number)
    output = io.BytesIO()
    show.save(output)
    return output.getvalue()


def open_text(paragraphs: int) -> bytes:
    head = (
        '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"><office:body><office:text>'
    )
    body = "".join(f"<text:p>{sentence(number)}</text:p>" for number in range(paragraphs))
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml", f"{head}{body}</office:text></office:body></office:document-content>"
        )
        archive.writestr(
            "META-INF/manifest.xml",
            '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>',
        )
    return output.getvalue()


def pages(count: int) -> bytes:
    from reportlab.pdfgen import canvas

    output = io.BytesIO()
    drawn = canvas.Canvas(output, invariant=True)
    for page in range(count):
        for line in range(10):
            drawn.drawString(50, 800 - 20 * line, sentence(page * 10 + line))
        drawn.showPage()
    drawn.save()
    return output.getvalue()


def crowded_page(values: int) -> bytes:
    """One page with columns of values, each shown by an operator of its own."""
    from reportlab.pdfgen import canvas

    output = io.BytesIO()
    drawn = canvas.Canvas(output, pagesize=(200 * (values // 200 + 1), 1000), invariant=True)
    drawn.setFont("Helvetica", 4)
    for number in range(values):
        column, line = divmod(number, 200)
        drawn.drawString(200 * column, 990 - 4.9 * line, mail(number))
    drawn.showPage()
    drawn.save()
    return output.getvalue()


def customers(rows: int) -> bytes:
    """A workbook with values in every row, among cells that hold none."""
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("customers")
    sheet.append(["name", "email", "phone", "card", "id", "note", "city", "amount"])
    for number in range(rows):
        sheet.append([*row(number), number, "regular", "Springfield", number * 3.5])
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()


def files_in_rows(rows: int) -> bytes:
    """A database whose rows hold files."""
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.execute("CREATE TABLE files (id INTEGER PRIMARY KEY, contents BLOB)")
        contents = ((f"{sentence(number)} {'words ' * 9}".encode(),) for number in range(rows))
        opened.executemany("INSERT INTO files (contents) VALUES (?)", contents)
        opened.commit()
        return opened.serialize()


def html(count: int) -> str:
    rows = "".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in row(number))}</tr>\n"
        for number in range(count)
    )
    return f"<!DOCTYPE html><html><body><table><tr><th>name</th><th>email</th><th>phone</th><th>card</th></tr>\n{rows}</table></body></html>"


def sentences(size: int, apart: str = "\n") -> str:
    return apart.join(map(sentence, range(size)))


def inserts(size: int) -> str:
    rows = ",\n".join(
        "({})".format(", ".join(f"'{cell}'" for cell in row(number))) for number in range(size)
    )
    return f"INSERT INTO people (name, email, phone, card) VALUES\n{rows};\n"


def records(size: int) -> list[dict[str, str]]:
    return [
        dict(zip(("name", "email", "phone", "card"), row(number), strict=True))
        for number in range(size)
    ]


GROWING = [
    Growing("a.txt", "lines with findings", 1000, text(sentences)),
    Growing("a.txt", "length of one line", 1000, text(lambda size: sentences(size, " "))),
    Growing("a.txt", "lines without findings", 20_000, text(lambda size: "the quick brown fox jumps over 13 lazy dogs\n" * size)),
    Growing("a.txt", "one character", 500_000, text(lambda size: "@" * size)),
    Growing("a.txt", "one digit", 500_000, text(lambda size: "1" * size)),
    Growing("a.txt", "one letter", 500_000, text(lambda size: "a" * size)),
    Growing("a.txt", "blanks", 500_000, text(lambda size: " " * size)),
    Growing("a.txt", "line ends", 500_000, text(lambda size: "\n" * size)),
    Growing("a.txt", "digits and blanks", 200_000, text(lambda size: "4111 " * size)),
    Growing("a.txt", "the same value", 2000, text(lambda size: f"{sentence(1)}\n" * size)),
    Growing("a.txt", "names in one line", 2000, text(lambda size: " ".join(f"Ms. {name(number)}," for number in range(size)))),
    Growing("a.txt", "addresses", 500, text(lambda size: "".join(f"{number} Evergreen Terrace, Springfield, IL 62704\n" for number in range(1, size + 1)))),
    Growing("a.txt", "labels", 2000, text(lambda size: "".join(f"patient_name: {name(number)}\n" for number in range(size)))),
    Growing("a.txt", "base64", 2000, text(lambda size: "\n".join(base64.b64encode(sentence(number).encode()).decode() for number in range(size)))),
    Growing("a.txt", "escapes", 5000, text(lambda size: "%40 &#64; \\x40 " * size)),
    Growing("a.txt", "headers of tables", 2000, text(lambda size: "name,email\nx,y\n" * size)),
    Growing("a.txt", "marks of word differences", 5000, text(lambda size: "a-]{+b " + "[-" * size)),
    Growing("a.txt", "lines of a difference", 5000, text(lambda size: "@@ -1,2 +1,2 @@ x\n" + "+a\n" * size)),
    Growing("a.txt", "labels in the first column", 500, text(lambda size: "name,a,b\nssn,c,d\n\n" * size)),
    Growing("a.txt", "turns of a chat", 4000, text(lambda size: "9:12 - Ann: hi\n" * size)),
    Growing("a.txt", "one name of words", 20_000, text(lambda size: "password = " + "aAbEb" * size)),
    Growing("a.txt", "unfinished keys", 1000, text(lambda size: "-----BEGIN PRIVATE KEY-----\nx\n" * size)),
    Growing("a.csv", "rows", 1000, text(lambda size: "name,email,phone,card\n" + "".join(",".join(row(number)) + "\n" for number in range(size)))),
    Growing("a.csv", "columns", 400, text(lambda size: table(size, 5))),
    Growing("a.csv", "length of one cell", 1000, text(lambda size: f'name,note\nx,"{sentences(size, " ")}"\n')),
    Growing("a.csv", "quotes", 20_000, text(lambda size: '"' * (2 * size + 1))),
    Growing("a.json", "objects", 500, text(lambda size: json.dumps(records(size), indent=1))),
    Growing("a.json", "length of one line", 500, text(lambda size: json.dumps(records(size)))),
    Growing("a.json", "keys", 2000, text(lambda size: json.dumps({f"key{number}": mail(number) for number in range(size)}))),
    Growing("a.json", "depth", 45, text(lambda size: "[" + nested("[", '"{}"', "]", 1500, size).replace("\n", ",\n") + "]"), 180),
    Growing("a.jsonl", "lines", 500, text(lambda size: "\n".join(map(json.dumps, records(size))))),
    Growing("a.yaml", "items", 200, text(lambda size: "\n".join(f"- name: {one['name']}\n  email: {one['email']}\n  card: '{one['card']}'" for one in records(size)))),
    Growing("a.yaml", "depth", 20, text(yaml_of_depth), 80),
    Growing("a.yaml", "length of one line", 500, text(lambda size: f"note: '{sentences(size, ' ')}'\n")),
    Growing("a.toml", "tables", 200, text(lambda size: "\n".join(f"[t{number}]\nemail = \"{mail(number)}\"\ncard = \"{card(number)}\"" for number in range(size)))),
    Growing("a.ini", "lines", 1000, text(lambda size: "[a]\n" + "\n".join(f"email{number} = {mail(number)}" for number in range(size)))),
    Growing(".env", "lines", 1000, text(lambda size: "\n".join(f"EMAIL{number}={mail(number)}" for number in range(size)))),
    Growing("a.properties", "lines", 1000, text(lambda size: "\n".join(f"email{number}={mail(number)}" for number in range(size)))),
    Growing("a.xml", "elements", 500, text(lambda size: "<r>" + "\n".join(f"<p><n>{one['name']}</n><e>{one['email']}</e><c>{one['card']}</c></p>" for one in records(size)) + "</r>")),
    Growing("a.xml", "attributes", 1000, text(lambda size: "<r " + " ".join(f'a{number}="{mail(number)}"' for number in range(size)) + "/>")),
    Growing("a.xml", "depth", 45, text(lambda size: "<r>" + nested("<a>", "{}", "</a>", 1500, size) + "</r>"), 180),
    Growing("a.xml", "length of one text", 500, text(lambda size: f"<r>{sentences(size, ' ')}</r>")),
    Growing("a.html", "rows", 500, text(html)),
    Growing("a.html", "depth", 45, text(lambda size: nested("<div>", "{}", "</div>", 1500, size)), 180),
    Growing("a.html", "elements in one line", 1000, text(lambda size: "<p>" + "".join(f"<b>{mail(number)}</b> " for number in range(size)))),
    Growing("a.html", "opening brackets", 20_000, text(lambda size: "<a " * size)),
    Growing("a.svg", "points of a path", 20_000, text(lambda size: f'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0{"".join(f"L{number} {number % 97}" for number in range(size))}Z"/>' + '<path d="M0 0L5 0 9 9Z"/>' * 9 + "</svg>")),
    Growing("a.dif", "rows", 500, text(lambda size: 'TABLE\n0,1\n"x"\nDATA\n0,0\n""\n' + "".join(f'-1,0\nBOT\n1,0\n"{mail(number)}"\n0,{number}\nV\n' for number in range(size)) + "-1,0\nEOD\n")),
    Growing("a.slk", "rows", 500, text(lambda size: "ID;PX\n" + "".join(f'C;Y{number + 1};X1;K"{mail(number)}"\n' for number in range(size)) + "E\n")),
    Growing("a.ged", "persons", 500, text(lambda size: "0 HEAD\n" + "".join(f"0 @I{number}@ INDI\n1 NAME {name(number)}\n1 BIRT\n2 DATE 5 MAY 1977\n" for number in range(size)) + "0 TRLR\n")),
    Growing("a.sql", "rows", 500, text(inserts)),
    Growing("copy.sql", "rows", 500, text(lambda size: "COPY people (name, email, phone, card) FROM stdin;\n" + "\n".join("\t".join(row(number)) for number in range(size)) + "\n\\.\n")),
    Growing("a.ipynb", "cells", 300, notebook),
    Growing("a.eml", "lines", 500, lambda size: message(lines=size)),
    Growing("a.eml", "headers", 1000, lambda size: message(headers=size)),
    Growing("a.eml", "encoded words of a field", 50_000, text(lambda size: "Subject: " + " =?utf-8?b?aGVsbG8gd29ybGQ=?=" * size + "\n\nx")),
    Growing("a.eml", "parts", 40, lambda size: message(parts=size), 1900),
    Growing("a.mbox", "messages", 40, lambda size: b"".join(b"From x Thu Jan  1 00:00:00 2026\n" + message() + b"\n" for _ in range(size)), 900),
    Growing("a.zip", "members", 60, zipped, 1900),
    Growing("a.tgz", "members", 60, tarred, 1900),
    Growing("a.txt.gz", "lines", 1000, lambda size: gzip.compress(sentences(size).encode())),
    Growing("a.txt.bz2", "lines", 1000, lambda size: bz2.compress(sentences(size).encode())),
    Growing("a.txt.xz", "lines", 1000, lambda size: lzma.compress(sentences(size).encode())),
    Growing("a.sqlite", "rows", 500, database),
    Growing("a.sqlite", "rows with files", 100, files_in_rows, 1900),
    Growing("a.parquet", "rows", 500, parquet),
    Growing("a.avro", "rows", 500, avro),
    Growing("a.xlsx", "rows", 500, workbook),
    Growing("a.xlsx", "rows of customers", 250, customers),
    Growing("a.xlsx", "columns", 200, lambda size: workbook(5, size)),
    Growing("a.docx", "paragraphs", 500, document),
    Growing("a.docx", "runs of one paragraph", 500, lambda size: document(1, size)),
    Growing("a.pptx", "slides", 20, slides, 900),
    Growing("a.odt", "paragraphs", 500, open_text),
    Growing("a.rtf", "lines", 500, text(lambda size: "{\\rtf1\\ansi " + "\\par\n".join(map(sentence, range(size))) + "}")),
    Growing("a.pdf", "pages", 10, pages, 1900),
    Growing("a.pdf", "values on one page", 100, crowded_page),
    Growing("a.bin", "strings", 500, lambda size: b"\0\1\2".join(sentence(number).encode() for number in range(size))),
]  # fmt: skip
