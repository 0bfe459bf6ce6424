"""Samples of every format, made when asked for, and a stand-in for detection: formats know nothing
of the real one.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import io
import json
import lzma
import pickle
import plistlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

import pytest

from dlpctl.formats.files import Files
from dlpctl.formats.spans import ViewEdit

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dlpctl.formats.interface import Document

SSN, CARD, MAIL = "123-45-6789", "4111111111111111", "jane.roe@acme.example"
VALUES = (SSN, CARD, MAIL)
MASKS = {"ssn": "[SSN 1]", "card": "[CARD]", "mail": "[E-MAIL]"}
_FINDER = re.compile(
    r"(?P<ssn>(?<!\d)\d{3}-\d\d-\d{4}(?!\d))|(?P<card>(?<!\d)4\d{3}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}(?!\d))|(?P<mail>[\w.]+@[\w.]+\w)"
)


def find(document: Document) -> Iterator[ViewEdit]:
    """The values that must not remain in a document."""
    for number, view in enumerate(document.views):
        for found in _FINDER.finditer(view.text):
            assert found.lastgroup is not None
            yield ViewEdit(number, *found.span(), MASKS[found.lastgroup])


@dataclass(frozen=True)
class Sample:
    name: str
    format: str
    make: Callable[[], bytes]
    kept: tuple[str, ...] = ("kept text",)
    parse: Callable[[bytes], object] = bytes
    """Reads the masked file by a parser that is not ours; raises where it is not valid."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames:
        metafunc.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@pytest.fixture(name="find")
def find_fixture() -> Callable[[Document], Iterator[ViewEdit]]:
    return find


@pytest.fixture(scope="module")
def files() -> Iterator[Files]:
    """One process that reads files for all tests of a module, as for all files of a command."""
    with Files() as opened:
        yield opened


def text(source: str, encoding: str = "utf-8") -> Callable[[], bytes]:
    return lambda: source.encode(encoding)


def lines(data: bytes) -> object:
    return [json.loads(line) for line in data.decode().splitlines()]


def xml(data: bytes) -> object:
    import xml.dom.minidom

    return xml.dom.minidom.parseString(data)


def yaml(data: bytes) -> object:
    import yaml as library

    return list(library.safe_load_all(data))


def toml(data: bytes) -> object:
    import tomllib

    return tomllib.loads(data.decode())


def csv(data: bytes) -> object:
    import csv as library

    rows = list(library.reader(io.StringIO(data.decode(), newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1
    return rows


def sql(data: bytes) -> object:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(data.decode())
        return list(database.iterdump())


def zipped(data: bytes) -> object:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return archive.namelist()


def tarred(data: bytes) -> object:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return archive.getnames()


def database(data: bytes) -> object:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.deserialize(data)
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert opened.execute("SELECT count(*) FROM notes WHERE notes MATCH 'kept'").fetchone() == (
            1,
        )
        return None


def make_mail() -> bytes:
    message = EmailMessage()
    message["From"] = f"Zoë <{MAIL}>"
    message["To"] = "undisclosed"
    message["Subject"] = f"Über {SSN}, kept text"
    message.set_content(f"Grüße {CARD}, kept text\n", cte="base64")
    message.add_alternative(
        f"<p>kept text 123-<b>45</b>-6789 &#106;ane.roe@acme.example {CARD}</p>",
        subtype="html",
        cte="quoted-printable",
    )
    message.add_attachment(
        make_zip(), maintype="application", subtype="zip", filename=f"{MAIL}.zip"
    )
    return message.as_bytes()


def make_zip() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = MAIL.encode()
        archive.writestr(f"kept text/{MAIL}.csv", f"name,ssn,mail\r\nkept text,{SSN},{MAIL}\r\n")
        archive.writestr("b/data.json", json.dumps({"card": int(CARD), "note": "kept text"}))
    return output.getvalue()


def make_packed_zip() -> bytes:
    """An archive with the methods Deflate64 and PPMd, which the standard library does not write."""
    import inflate64
    import pyppmd

    contents = f"kept text {SSN} {CARD} {MAIL} ".encode() * 9
    deflater, encoder = inflate64.Deflater(), pyppmd.Ppmd8Encoder(6, 1 << 20, 0)
    members = {
        9: deflater.deflate(contents) + deflater.flush(),
        98: b"\5\0" + encoder.encode(contents) + encoder.flush(),
    }
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for method, packed in members.items():
            archive.writestr(f"{method}.txt", packed)
    data = bytearray(output.getvalue())
    for magic, method_at in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        at = 0
        for method in members:
            at = data.index(magic, at + 1 if at else 0)
            struct.pack_into("<H", data, at + method_at, method)
            struct.pack_into("<I", data, at + method_at + 6, zlib.crc32(contents))
            struct.pack_into("<I", data, at + method_at + 14, len(contents))
    return bytes(data)


def make_tar() -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz") as archive:
        for name, contents in (
            (f"{MAIL}.txt", f"kept text {SSN}"),
            ("n.yaml", f"card: {CARD}\nnote: kept text\n"),
        ):
            member = tarfile.TarInfo(name)
            member.size, member.uname, member.pax_headers = len(contents), "jane", {"comment": MAIL}
            archive.addfile(member, io.BytesIO(contents.encode()))
    return output.getvalue()


def make_database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.executescript(
            f"""
            CREATE TABLE people (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, ssn TEXT, card INTEGER, file BLOB);
            CREATE VIRTUAL TABLE notes USING fts5(body);
            CREATE TRIGGER copy AFTER UPDATE ON people BEGIN INSERT INTO notes VALUES (old.mail); END;
            INSERT INTO people VALUES (1, '{MAIL}', '{SSN}', {CARD}, CAST('kept text {SSN}' AS BLOB));
            INSERT INTO people VALUES (2, 'x{MAIL}', 'kept text', 1, NULL), (3, 'gone{MAIL}', '{SSN}', 1, NULL);
            INSERT INTO notes VALUES ('kept text {MAIL}');
            DELETE FROM people WHERE id = 3;
            """
        )
        return opened.serialize()


def make_notebook() -> bytes:
    key = ["-----\n", f"{SSN}\n", "kept text"]
    picture = base64.b64encode(f"not a picture {MAIL}".encode()).decode()
    cells = [
        {"cell_type": "code", "metadata": {}, "source": key, "execution_count": int(CARD)},
        {
            "cell_type": "code",
            "metadata": {},
            "source": [],
            "outputs": [{"data": {"image/png": picture}}],
        },
    ]
    return json.dumps({"cells": cells, "nbformat": 4}, indent=1).encode()


def make_7z() -> bytes:
    import py7zr

    output = io.BytesIO()
    with py7zr.SevenZipFile(output, "w") as archive:
        archive.writestr(f"kept text {SSN} {CARD}", f"{MAIL}.txt")
    return output.getvalue()


def make_zst() -> bytes:
    import zstandard

    return zstandard.compress(f"{SSN} {MAIL}\n".encode()) + zstandard.compress(
        f"kept text {CARD}\n".encode()
    )


def make_lzip() -> bytes:
    raw = text(LOG)()
    packed = lzma.compress(raw, lzma.FORMAT_ALONE)[13:]
    end = struct.pack("<LQQ", zlib.crc32(raw), len(raw), len(packed) + 26)
    return b"LZIP\1\x17" + packed + end


def make_compress() -> bytes:
    """Codes of nine bits, each a byte of the text as it is."""
    raw = text(LOG)()
    codes = sum(byte << 9 * number for number, byte in enumerate(raw))
    return b"\x1f\x9d\x90" + codes.to_bytes((9 * len(raw) + 7) // 8, "little")


def make_lz4() -> bytes:
    import lz4.frame

    return b"".join(
        lz4.frame.compress(part.encode()) for part in (f"{SSN} {MAIL}\n", f"kept text {CARD}\n")
    )


def make_brotli() -> bytes:
    import brotli

    return brotli.compress(text(LOG)())


def make_ar() -> bytes:
    def member(name: str, contents: bytes) -> bytes:
        header = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(contents):<10}`\n".encode()
        return header + contents + b"\n" * (len(contents) % 2)

    table = f"a long name of {MAIL}.txt/\n".encode()
    return (
        b"!<arch>\n"
        + member("debian-binary/", b"2.0\n")
        + member("//", table)
        + member("/0", f"kept text {SSN}\n".encode())
        + member("data.tar.gz/", make_tar())
    )


def make_cpio(kind: str) -> bytes:
    def member(name: bytes, contents: bytes) -> bytes:
        name += b"\0"
        if kind == "odc":
            header = b"070707" + b"%06o" * 7 % (0, 1, 0o100644, 0, 0, 1, 0)
            return header + b"%011o%06o%011o" % (0, len(name), len(contents)) + name + contents
        numbers = (1, 0o100644, 0, 0, 1, 0, len(contents), 0, 0, 0, 0, len(name), 0)
        start = b"070701" + b"".join(b"%08X" % number for number in numbers) + name
        start += bytes(-len(start) % 4)
        return start + contents + bytes(-len(contents) % 4)

    members = ((f"{MAIL}.txt".encode(), f"kept text {SSN}".encode()), (b"b.txt", CARD.encode()))
    return b"".join(member(*each) for each in members) + member(b"TRAILER!!!", b"") + bytes(64)


def make_iso() -> bytes:
    from isowriter import image

    return image({f"{MAIL}.txt": f"kept text {SSN}".encode(), "b.txt": CARD.encode()})


def by(*command: str) -> Callable[[bytes], object]:
    """A program that has to read the copy, where it is installed."""

    def parse(data: bytes) -> object:
        if shutil.which(command[0]) is None:
            return data
        return subprocess.run(command, input=data, check=True, capture_output=True).stdout

    return parse


def make_msgpack() -> bytes:
    texts = ["note", "kept text", "ssn", SSN, "mail", MAIL, "card"]
    packed = b"".join(bytes((0xA0 | len(item),)) + item.encode() for item in texts)
    return b"\x84" + packed + b"\xcf" + int(CARD).to_bytes(8)


def make_cbor() -> bytes:
    texts = ["note", "kept text", "ssn", SSN, "mail", MAIL, "card"]
    packed = b"".join(bytes((0x60 | len(item),)) + item.encode() for item in texts)
    return b"\xa4" + packed + b"\x1b" + int(CARD).to_bytes(8)


def make_pickle(protocol: int) -> Callable[[], bytes]:
    rows = [
        {"note": "kept text", "ssn": SSN, "day": date(2026, 1, 1)},
        MAIL,
        int(CARD),
        "kept text" * 99,
        UUID(int=1 << 127),
    ]
    return lambda: pickle.dumps({"rows": rows, "bytes": b"kept"}, protocol)


def make_bencode() -> bytes:
    texts = ["note", "kept text", "ssn", SSN, "mail", MAIL, "card"]
    return f"d{''.join(f'{len(item)}:{item}' for item in texts)}i{CARD}ee".encode()


def make_dbf() -> bytes:
    columns = [("NAME", b"C", 12), ("SSN", b"C", 11), ("MAIL", b"C", 21), ("CARD", b"N", 16)]
    columns += (("NOTE", b"C", 16), ("MORE", b"C", 16))
    rows = (
        ("kept text", SSN, MAIL, CARD, "a long note: 123", "-45-6789"),
        ("Zoë", "", MAIL, "7", "", ""),
    )
    header = b"\x03\x7a\x01\x1f" + struct.pack("<IHH21x", 2, 33 + 32 * len(columns), 93)[:28]
    header += b"".join(
        struct.pack("<11sc4xB15x", name.encode(), kind, size) for name, kind, size in columns
    )
    cells = [
        " " + "".join(text.ljust(size) for text, (_, _, size) in zip(row, columns, strict=True))
        for row in rows
    ]
    return header + b"\r" + "".join(cells).encode("cp1252") + b"\x1a"


def read_dbf(data: bytes) -> object:
    size, width = struct.unpack_from("<HH", data, 8)
    assert len(data) == size + 2 * width + 1
    assert data[size + width :].startswith("\x20Zoë ".encode("cp1252"))
    return data[size:]


def make_array() -> bytes:
    import numpy

    output = io.BytesIO()
    numpy.save(output, numpy.array(["kept text", SSN, f"{MAIL} {CARD}"]))
    return output.getvalue()


def read_array(data: bytes) -> object:
    import numpy

    array = numpy.load(io.BytesIO(data))
    assert array.shape == (3,)
    return array


def make_catalog() -> bytes:
    texts = [
        ("", f"Last-Translator: Zoë <{MAIL}>\nContent-Type: text/plain; charset=UTF-8\n"),
        ("menu\4kept text", SSN),
        ("%d card\0%d cards", f"kept text\0{CARD}"),
    ]
    pairs = sorted((one.encode(), other.encode()) for one, other in texts)
    strings = [*(one for one, _ in pairs), *(other for _, other in pairs)]
    at = 28 + 8 * len(strings)
    table, body = b"", b""
    for each in strings:
        table += struct.pack("<2I", len(each), at + len(body))
        body += each + b"\0"
    header = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, at)
    return header + table + body


def read_catalog(data: bytes) -> object:
    import gettext

    catalog = gettext.GNUTranslations(io.BytesIO(data))
    assert catalog.ngettext("%d card", "%d cards", 1) == "kept text"
    assert catalog.ngettext("%d card", "%d cards", 2) == "[CARD]"
    assert catalog.pgettext("menu", "kept text") == "[SSN 1]"
    return catalog.info()


def make_diagram() -> bytes:
    cell = f'<mxGraphModel><mxCell value="kept text {MAIL} {SSN} {CARD}"/></mxGraphModel>'
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(quote(cell).encode()) + packer.flush()
    return f"<mxfile><diagram>{base64.b64encode(packed).decode()}</diagram></mxfile>".encode()


def make_uuencoded() -> bytes:
    lines = (f"{SSN} {CARD}\n", f"{MAIL}\n")
    coded = "".join(binascii.b2a_uu(line.encode()).decode() for line in lines)
    return f"kept text\nbegin 644 a.txt\n{coded}`\nend\n".encode()


def write_stream(table: Any, output: io.BytesIO) -> None:
    import pyarrow

    with pyarrow.ipc.new_stream(output, table.schema) as writer:
        writer.write_table(table)


def make_table(kind: str) -> bytes:
    import pyarrow.feather
    import pyarrow.orc
    import pyarrow.parquet

    table = pyarrow.table({"ssn": [SSN, None], "card": [int(CARD), 5], MAIL: ["kept text", MAIL]})
    output = io.BytesIO()
    write = {
        "parquet": pyarrow.parquet.write_table,
        "orc": pyarrow.orc.write_table,
        "arrow": pyarrow.feather.write_feather,
        "arrow stream": write_stream,
    }
    write[kind](table, output)
    return output.getvalue()


def make_book() -> bytes:
    import oldoffice as made

    cells = (
        *(made.string(row, 0, row) for row in range(3)),
        made.number(3, 0, int(CARD)),
        made.text_formula(4, 0, MAIL),
        made.label(5, 0, "Zoë"),
    )
    head = made.strings([f"to {MAIL}", "kept text", SSN])
    title = {"\5SummaryInformation": made.properties({2: f"kept text {MAIL}"})}
    return made.workbook({"Sheet": b"".join(cells)}, head, **title)


def read_book(data: bytes) -> object:
    import xlrd

    values = xlrd.open_workbook(file_contents=data).sheet_by_index(0).col_values(0)
    assert values[3] == 0
    return values


def make_letter() -> bytes:
    import oldoffice as made

    pieces = [(f"kept text {SSN}\r", "cp1252"), (f"Ж {MAIL}\r{CARD}\r", "utf-16-le")]
    return made.compound(made.document(pieces))


def make_slides() -> bytes:
    import oldoffice as made

    texts = [(0xFA8, f"kept text {SSN}\r{CARD}".encode()), (0xFA0, f"Ж {MAIL}".encode("utf-16-le"))]
    return made.compound(made.presentation(*(made.atom(*each) for each in texts)))


def make_message() -> bytes:
    import oldoffice as made

    return made.message(
        {"0037001F": f"kept text {SSN}", "1000001F": f"Zoë {CARD}\r\n", "0C190102": MAIL.encode()},
        {"__attach_version1.0_#00000000": {"37010102": f"a {MAIL}".encode(), "3707001F": "a.txt"}},
    )


def make_avro() -> bytes:
    import fastavro

    schema = {
        "type": "record",
        "name": "Row",
        "doc": f"kept text {MAIL}",
        "fields": [{"name": "ssn", "type": ["null", "string"]}, {"name": "card", "type": "long"}],
    }
    rows = [{"ssn": SSN, "card": int(CARD)}, {"ssn": None, "card": 5}, {"ssn": MAIL, "card": 6}]
    output = io.BytesIO()
    fastavro.writer(output, schema, rows, "deflate", metadata={"owner": f"kept text {MAIL}"})
    return output.getvalue()


def read_avro(data: bytes) -> list[object]:
    import fastavro

    return list(fastavro.reader(io.BytesIO(data)))


LOG = f"2026-01-01 kept text {SSN} {CARD}\r\n\r\nuser={MAIL} é done\r\n"
SAMPLES = [
    Sample("a.log", "text", text(LOG)),
    Sample("bom.txt", "text", text(LOG, "utf-8-sig")),
    Sample("wide.txt", "text", text(LOG, "utf-16"), parse=lambda data: data.decode("utf-16")),
    Sample("wide-no-bom.txt", "text", text(LOG, "utf-16-be"), parse=lambda data: data.decode("utf-16-be")),
    Sample("widest.txt", "text", text(LOG, "utf-32"), parse=lambda data: data.decode("utf-32")),
    Sample("latin.txt", "text", text(LOG, "cp1252"), parse=lambda data: data.decode("cp1252").index("é done")),
    Sample("sjis.txt", "text", text(f"山田太郎さんの番号は{SSN} kept text {MAIL} {CARD}", "cp932"), ("山田太郎さんの番号は", "kept text")),
    Sample("jis.txt", "text", text(f"山田太郎 {SSN} kept text {MAIL} {CARD}", "iso2022_jp"), ("山田太郎",)),
    Sample("mixed.log", "text", lambda: text(LOG)() + text(LOG, "cp1252")() + b"\xff\xfe\r\n", ("kept text", "é done")),
    Sample("a.csv", "csv", text(f'name;ssn;card;mail\n"kept ""text""";{SSN};{CARD};"{MAIL}"\nx;;;\n'), ('kept ""text""',),
           lambda data: csv(data.replace(b";", b","))),
    Sample("a.tsv", "csv", text(f"name\tssn\tcard\tmail\nkept text\t{SSN}\t{CARD}\t{MAIL}\n")),
    Sample("a.json", "json", text(f'{{ "kept text": {CARD},\n\t"{MAIL}": [{CARD}, "\\u0031\\u0032\\u0033-45-6789", 1e3, true] }}\n'),
           ('{ "kept text": ', ", 1e3, true] }"), json.loads),
    Sample("a.jsonl", "json", text(f'{{"a": "{SSN}"}}\n{{"a": {CARD}, "b": "kept text \\"{MAIL}\\""}}\n'), parse=lines),
    Sample("settings.jsonc", "json", text(f'{{// kept text {MAIL}\n "a": "{SSN}", /* {CARD} */ }}')),
    Sample("export.txt", "json", text(json.dumps({"a": "kept text", "b": [SSN, int(CARD), MAIL]})), parse=json.loads),
    Sample("a.yaml", "yaml", text(
        f"# kept text {MAIL}\nssn: {SSN} # {SSN}\n{MAIL}: &x [{SSN}, '{SSN}', \"\\x31\\u0032\\U00000033-45-6789\"]\ncard: {CARD}\n"
        f"t: |\n  block {SSN}\n  kept\nf: >\n  folded 4111 1111\n  1111 1111 on\nr: *x\n---\nö: {MAIL}\n"
    ), ("# kept text ", "&x [", "r: *x\n"), yaml),
    Sample("a.toml", "toml", text(
        f"# kept text {MAIL}\n[a.'b {SSN}']\ncard = {CARD}\n{SSN} = \"\\u0031\\u0032\\u0033-45-6789\"\nm = '''\n{MAIL} '''\n"
    ), parse=toml),
    Sample("a.ini", "ini", text(f"[kept text]\nmail = {MAIL}\nssn: {SSN} ; {CARD}\n")),
    Sample(".env", "dotenv", text(f"# kept text\nexport MAIL={MAIL}\nSSN=\"{SSN}\" # {CARD}\n"),
           parse=lambda data: data.index(b"MAIL='[E-MAIL]'")),
    Sample("a.properties", "ini", text(f"a=\\u0031\\u0032\\u0033-45-6789\nb={MAIL} kept text {CARD}\n")),
    Sample("a.xml", "xml", text(
        f'<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY e "{MAIL}">]>\n<r a="{MAIL}" b=\'{SSN}\'><!-- {CARD} --><ssn>{SSN}</ssn>'
        f"<![CDATA[{MAIL}]]> kept text &#49;23-45-67<b>89</b><c>12</c><d>34</d></r>"
    ), ("kept text ", "<c>12</c><d>34</d>"), xml),
    Sample("a.html", "html", text(
        f"<!DOCTYPE html><p CLASS = x>kept text &nbsp;123-<b>45</b>-<i>67</i>89<br>4111<wbr>111111111111<p><a href='mailto:{MAIL}'>"
        f"jane.roe&commat;acme.example</a><!-- {SSN} --><input value={MAIL}><script>var x = '{CARD}' < 1</script>"
    ), ("<p CLASS = x>kept text \u00a0", "<br>", "' < 1</script>")),
    Sample("a.sql", "sql", text(
        f"CREATE TABLE u (id INT, ssn TEXT, note TEXT);\nINSERT INTO u VALUES (1, '{SSN}', 'kept ''text'''), ({CARD}, '{MAIL}', NULL);\n"
        f"INSERT INTO u (note) VALUES ('{MAIL}'); -- {SSN}\n"
    ), ("'kept ''text'''",), sql),
    Sample("copy.sql", "sql", text(f"COPY u (id, ssn) FROM stdin;\n1\t{SSN}\n2\t\\N\n3\t{MAIL} {CARD} kept text\n\\.\n")),
    Sample("a.ipynb", "notebook", make_notebook, ("kept text",), json.loads),
    Sample("a.eml", "eml", make_mail),
    Sample("a.mbox", "mbox", lambda: b"From jane.roe@acme.example Thu\n" + make_mail() + b"\n\nFrom x Fri\n" + make_mail()),
    Sample("a.zip", "zip", make_zip, parse=zipped),
    Sample("packed.zip", "zip", make_packed_zip, parse=zipped),
    Sample("a.tgz", "gzip", make_tar, parse=tarred),
    Sample("a.txt.gz", "gzip", lambda: gzip.compress(text(LOG)()), parse=gzip.decompress),
    Sample("a.txt.bz2", "bzip2", lambda: bz2.compress(text(LOG)()), parse=bz2.decompress),
    Sample("a.txt.xz", "xz", lambda: lzma.compress(text(LOG)()), parse=lzma.decompress),
    Sample("a.txt.zst", "zstd", make_zst),
    Sample("a.txt.lz", "lzip", make_lzip, parse=by("lzip", "-dc")),
    Sample("a.txt.Z", "compress", make_compress, parse=by("gzip", "-dc")),
    Sample("a.txt.lz4", "lz4", make_lz4),
    Sample("a.txt.br", "brotli", make_brotli),
    Sample("a.deb", "ar", make_ar),
    Sample("a.cpio", "cpio", lambda: make_cpio("newc"), parse=by("cpio", "-t")),
    Sample("old.cpio", "cpio", lambda: make_cpio("odc"), parse=by("cpio", "-t")),
    Sample("a.iso", "iso", make_iso),
    Sample("a.7z", "7z", make_7z),
    Sample("a.sqlite", "sqlite", make_database, parse=database),
    Sample("a.parquet", "parquet", lambda: make_table("parquet")),
    Sample("a.orc", "orc", lambda: make_table("orc")),
    Sample("a.feather", "arrow", lambda: make_table("arrow")),
    Sample("a.arrows", "arrow stream", lambda: make_table("arrow stream")),
    Sample("a.avro", "avro", make_avro, parse=read_avro),
    Sample("a.vcf", "vcard", text(
        f"BEGIN:VCARD\r\nNOTE;ENCODING=QUOTED-PRINTABLE:kept=20text=20{SSN[:6]}=\r\n{SSN[6:]}\r\n"
        f"EMAIL;TYPE=home,\r\n work:{MAIL[:9]}\r\n {MAIL[9:]}\r\n"
        f"X;ENCODING=b:{base64.b64encode(CARD.encode()).decode()}\r\nEND:VCARD\r\n"
    )),
    Sample("a.ics", "icalendar", text(f"BEGIN:VCALENDAR\r\nSUMMARY:kept text\\, {SSN}\\n{CARD[:9]}\r\n {CARD[9:]}\r\nX:{MAIL}\r\n")),
    Sample("a.ldif", "ldif", text(
        f"version: 1\ndn: cn=kept text\nmail:: {base64.b64encode(MAIL.encode()).decode()}\nssn: {SSN[:5]}\n {SSN[5:]}\ncard: {CARD}\n"
    )),
    Sample("a.slk", "sylk", text(
        f'ID;PWXL\r\nC;Y1;X1;K"{SSN}"\r\nC;X2;K"kept text"\r\nC;Y2;X1;K{CARD}\r\nC;X2;K"a;;b {MAIL}"\r\nE\r\n'
    ), ("kept text", 'K"[CARD]"', 'K"a;b [E-MAIL]"')),
    Sample("a.dif", "dif", text(
        f'TABLE\n0,1\n"a"\nDATA\n0,0\n""\n-1,0\nBOT\n1,0\n"{SSN}"\n0,{CARD}\nV\n1,0\n"{MAIL}"\n1,0\n"kept ""text"""\n-1,0\nEOD\n'
    ), ('kept "text"', '1,0\n"[CARD]"\n1,0\n')),
    Sample("a.ged", "gedcom", text(
        f"0 HEAD\n1 CHAR UTF-8\n0 @I1@ INDI\n1 NAME kept /text/\n1 SSN {SSN}\n1 NOTE {CARD[:9]}\n2 CONC {CARD[9:]}\n1 EMAIL {MAIL}\n0 TRLR\n"
    ), ("Name: kept text",)),
    Sample("a.ldt", "xdt", text(
        f"01380006310\r\n0183101kept text\r\n0203622{SSN}\r\n0286220{CARD}\r\n0003619{MAIL}\r\n"
    ), ("Last name: kept text",)),
    Sample("a.qif", "qif", text(
        f"!Type:Bank\nD03/11/2026\nPkept text\nA{MAIL}\nMssn {SSN}\nMcard {CARD}\n^\n"
    ), ("Payee name: kept text",)),
    Sample("words.tsv", "csv", text(
        "left\ttop\twidth\theight\ttext\n9\t0\t9\t9\tkept\n19\t0\t9\t9\ttext\n"
        f"9\t20\t9\t9\t{CARD}\n9\t40\t9\t9\t{SSN}\n99\t40\t9\t9\t{MAIL}\n"
    ), ("kept", "text")),
    Sample("a.msgpack", "msgpack", make_msgpack),
    Sample("export", "cbor", make_cbor),
    Sample("framed", "pickle", make_pickle(5), parse=pickle._loads),
    Sample("a.pkl", "pickle", make_pickle(2), parse=pickle.loads),
    Sample("lines", "pickle", make_pickle(0), parse=pickle.loads),
    Sample("a.dbf", "dbf", make_dbf, ("kept text", "Zoë"), read_dbf),
    Sample("a.xls", "xls", make_book, ("kept text", "Zoë"), read_book),
    Sample("a.ppt", "ppt", make_slides, ("kept text", "Ж ")),
    Sample("a.doc", "doc", make_letter, ("kept text", "Ж ")),
    Sample("a.msg", "msg", make_message, ("kept text", "Zoë")),
    Sample("a.npy", "npy", make_array, parse=read_array),
    Sample("a.mo", "mo", make_catalog, ("kept text", "Zoë"), read_catalog),
    Sample("a.torrent", "bencode", make_bencode),
    Sample("a.plist", "bplist", lambda: plistlib.dumps(
        {"note": "kept text", MAIL: [SSN, int(CARD), CARD.encode(), 1.5, b"\0" * 9]}, fmt=plistlib.FMT_BINARY
    ), parse=plistlib.loads),
    Sample("dates.plist", "xml", text(
        f"<plist><dict><key>kept text</key><date>{SSN}</date><key>a</key><string>{CARD} {MAIL}</string></dict></plist>"
    ), parse=plistlib.loads),
    Sample("a.drawio", "xml", make_diagram, parse=xml),
    Sample("uu.txt", "text", make_uuencoded),
    Sample("page.html", "html", text(
        f"<p>kept text</p><img src='data:text/plain;base64,{base64.b64encode(f'{SSN} {CARD} {MAIL}'.encode()).decode()}'>"
    )),
    Sample("ebcdic.txt", "text", text(LOG.replace("é", "e"), "cp037"), ("kept text", "e done"), lambda data: data.decode("cp037")),
    Sample("a.lzma", "lzma", lambda: lzma.compress(text(LOG)(), lzma.FORMAT_ALONE), parse=lzma.decompress),
    Sample("a.zz", "zlib", lambda: zlib.compress(text(LOG)()), parse=zlib.decompress),
]  # fmt: skip


@pytest.fixture(scope="session", name="samples")
def samples_fixture() -> list[tuple[str, bytes]]:
    return [(sample.name, sample.make()) for sample in SAMPLES]
