"""Bombs and malformed files: each has a clear answer within its limits, the process survives, and
no temporary file remains.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.columnar.avro_values import long_bytes
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Document, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from dlpctl.formats.spans import ViewEdit

LIMITS = Limits(
    input_bytes=30 << 20,
    expanded_bytes=20 << 20,
    entries=200,
    seconds=60.0,
    memory_bytes=1 << 30,
    pixels=4_000_000,
)
ZEROS = b"\0" * (25 << 20)
SSN = "123-45-6789"


def zipped(*members: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", kind) as archive:
        for name, contents in members:
            archive.writestr(name, contents)
    return output.getvalue()


def tarred(*members: tarfile.TarInfo, contents: bytes = b"") -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for member in members:
            member.size = len(contents) if member.isfile() else 0
            archive.addfile(member, io.BytesIO(contents))
    return output.getvalue()


def overlapping_zip() -> bytes:
    data = zipped(("a", b"x" * 1000))
    directory = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[directory:end]
    count, size = 50, 50 * len(entry)
    return (
        data[:directory]
        + entry * count
        + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, size, directory, 0)
    )


def nested_zip(depth: int) -> bytes:
    data = b"deep"
    for _ in range(depth):
        data = zipped(("a.zip" if data != b"deep" else "a.txt", data))
    return data


def patched(data: bytes, signature: bytes, offset: int, new: bytes) -> bytes:
    at = data.index(signature) + offset
    return data[:at] + new + data[at + len(new) :]


def lying_zip() -> bytes:
    data = zipped(("a", ZEROS[: 2 << 20]))
    return patched(
        patched(data, b"PK\x01\x02", 24, struct.pack("<L", 10)),
        b"PK\x03\x04",
        22,
        struct.pack("<L", 10),
    )


def sparse_tar() -> bytes:
    info = tarfile.TarInfo("sparse")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[156:157] = b"S"
    header[386:398] = b"%011o\0" % 0
    header[398:410] = b"%011o\0" % 0
    header[483:495] = b"%011o\0" % (8 << 30)
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 256 + sum(header[156:]))
    return bytes(header) + b"\0" * 1024


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, contents: bytes) -> bytes:
        return (
            struct.pack(">L", len(contents))
            + kind
            + contents
            + struct.pack(">L", zlib.crc32(kind + contents))
        )

    header = struct.pack(">LLBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 100))
        + chunk(b"IEND", b"")
    )


def seven_zip_of_zeros() -> bytes:
    import py7zr

    output = io.BytesIO()
    with py7zr.SevenZipFile(output, "w") as archive:
        archive.writestr(ZEROS, "zeros")
    return output.getvalue()


def zst_of_zeros() -> bytes:
    import zstandard

    return zstandard.compress(ZEROS)


def lz4_of_zeros() -> bytes:
    import lz4.frame

    packed: bytes = lz4.frame.compress(ZEROS)
    return packed


def brotli_of_zeros() -> bytes:
    import brotli

    packed: bytes = brotli.compress(ZEROS, quality=1)
    return packed


def lzip_of_zeros() -> bytes:
    """A member whose trailer nobody gets to read."""
    return b"LZIP\1\x17" + lzma.compress(ZEROS, lzma.FORMAT_ALONE)[13:] + bytes(20)


def compressed_zeros() -> bytes:
    """Codes that are each one byte longer than the one before."""
    packed = bytearray(b"\x1f\x9d\x90")
    codes = iter([0, *range(257, 8000)])
    bits, known = 9, 257
    while group := [code for _, code in zip(range(8), codes, strict=False)]:
        value = sum(code << bits * number for number, code in enumerate(group))
        packed += value.to_bytes(bits, "little")
        known += 8
        bits = max(bits, min((known + 1).bit_length(), 16))
    return bytes(packed)


def cpio_of(count: int) -> bytes:
    member = b"070707" + b"%06o" * 7 % (0, 1, 0o100644, 0, 0, 1, 0) + b"%011o%06o%011o" % (0, 2, 0)
    return (member + b"a\0") * count


def nested_mail(depth: int) -> bytes:
    parts = [f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth)]
    return ("MIME-Version: 1.0\n" + "".join(parts)).encode()


def laughs() -> bytes:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    return f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "ha">{entities}]><r>&e11;</r>'.encode()


def yaml_aliases() -> bytes:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    return "\n".join(lines).encode()


def loop_tiff() -> bytes:
    return b"II*\0\x08\0\0\0" + struct.pack("<H", 0) + struct.pack("<L", 8)


def damaged_database() -> bytes:
    return b"SQLite format 3\0" + random.Random(1).randbytes(8192)


_TYPES = b"<Types><Override PartName='/word/document.xml' ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>"
_SHEETS = b"<Types><Override PartName='/xl/workbook.xml' ContentType='application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml'/></Types>"


def word(document: bytes, *more: tuple[str, bytes]) -> bytes:
    return zipped(("[Content_Types].xml", _TYPES), ("word/document.xml", document), *more)


def open_document(content: bytes, *more: tuple[str, bytes]) -> bytes:
    return zipped(
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content),
        *more,
        kind=zipfile.ZIP_STORED,
    )


def pdf(
    content: bytes = b"BT /F1 12 Tf 72 700 Td (kept) Tj ET",
    packed: bytes | None = None,
    forms: int = 0,
) -> bytes:
    """One page; `packed` is its content as stored in the file; each of the forms draws the next ten
    times.
    """
    import pikepdf
    from pikepdf import Array, Dictionary, Name

    made = pikepdf.new()
    page = made.add_blank_page().obj
    page.Resources = Dictionary(
        Font=Dictionary(F1=Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica))
    )
    page.Contents = made.make_stream(content)
    if packed is not None:
        page.Contents.write(packed, filter=Array([Name.FlateDecode, Name.FlateDecode]))
    form = None
    for _ in range(forms):
        inner = form
        form = made.make_stream(
            b"/Fm Do " * 10, Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 9, 9])
        )
        form.Resources = Dictionary(
            XObject=Dictionary(Fm=inner) if inner is not None else Dictionary()
        )
    if form is not None:
        page.Resources.XObject = Dictionary(Fm=form)
        page.Contents = made.make_stream(b"/Fm Do")
    output = io.BytesIO()
    made.save(output)
    return output.getvalue()


def avro(
    schema: object,
    blocks: Iterable[tuple[int, bytes]],
    codec: bytes = b"null",
    schema_json: bytes = b"",
) -> bytes:
    """Return a file of blocks as they are, with the number of rows that each claims."""

    def texts(*values: bytes) -> bytes:
        return b"".join(long_bytes(len(value)) + value for value in values)

    written = schema_json or json.dumps(schema).encode()
    header = b"Obj\1\x04" + texts(b"avro.codec", codec, b"avro.schema", written) + b"\0"
    sync = bytes(range(16))
    return header + sync + b"".join(long_bytes(rows) + texts(data) + sync for rows, data in blocks)


def multiplying_schema(levels: int) -> object:
    """Return a schema whose types are twice in the next one."""
    schema: object = "null"
    for level in range(levels):
        name = f"T{level}"
        both = [
            {"name": "a", "type": schema},
            {"name": "b", "type": f"T{level - 1}" if level else schema},
        ]
        schema = {"type": "record", "name": name, "fields": both}
    return schema


REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "zip bomb": ("a.zip", lambda: zipped(("a", ZEROS))),
    "zip of many bombs": ("a.zip", lambda: zipped(*((f"{n}", ZEROS[: 1 << 20]) for n in range(30)))),
    "zip entries that overlap": ("a.zip", overlapping_zip),
    "zip with wrong sizes": ("a.zip", lying_zip),
    "zip in zip in zip": ("a.zip", lambda: nested_zip(9)),
    "zip of too many entries": ("a.zip", lambda: zipped(*((f"{n}", b"") for n in range(300)))),
    "zip cut off": ("a.zip", lambda: zipped(("a", random.Random(1).randbytes(5000)))[:3000]),
    "zip with a damaged entry": ("a.zip", lambda: patched(zipped(("a", b"text " * 99)), b"PK\x03\x04", 33, b"\xff" * 9)),
    "zip that is encrypted": ("a.zip", lambda: patched(patched(zipped(("a", b"x")), b"PK\1\2", 8, b"\1"), b"PK\3\4", 6, b"\1")),
    "zip by an unknown method": ("a.zip", lambda: patched(patched(zipped(("a", b"x")), b"PK\1\2", 10, b"c"), b"PK\3\4", 8, b"c")),
    "zip of two names for an entry": ("a.zip", lambda: patched(zipped(("name", b"x")), b"PK\3\4", 30, b"mane")),
    "zip after a picture": ("a.png", lambda: png(10, 10) + zipped(("a", SSN.encode()))),
    "gz bomb": ("a.gz", lambda: gzip.compress(ZEROS)),
    "gz bomb in gz bomb": ("a.gz.gz", lambda: gzip.compress(gzip.compress(ZEROS))),
    "gz cut off": ("a.gz", lambda: gzip.compress(random.Random(1).randbytes(5000))[:-100]),
    "bz2 bomb": ("a.bz2", lambda: bz2.compress(ZEROS)),
    "xz bomb": ("a.xz", lambda: lzma.compress(ZEROS, preset=0)),
    "xz with a huge dictionary": ("a.xz", lambda: lzma.compress(b"x", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28}])),
    "zst bomb": ("a.zst", zst_of_zeros),
    "lz4 bomb": ("a.lz4", lz4_of_zeros),
    "lz4 cut off": ("a.lz4", lambda: lz4_of_zeros()[:50]),
    "brotli bomb": ("a.br", brotli_of_zeros),
    "brotli of anything": ("a.br", lambda: random.Random(1).randbytes(5000)),
    "lzip bomb": ("a.lz", lzip_of_zeros),
    "lzip with a wrong trailer": ("a.lz", lambda: b"LZIP\1\x17" + lzma.compress(b"x", lzma.FORMAT_ALONE)[13:] + bytes(20)),
    "lzip of a header": ("a.lz", lambda: b"LZIP\1\x17"),
    "compress bomb": ("a.Z", compressed_zeros),
    "compress with a code from nowhere": ("a.Z", lambda: b"\x1f\x9d\x90" + b"\xff" * 40),
    "compress of nine bits": ("a.Z", lambda: b"\x1f\x9d\x89" + b"a" * 40),
    "cpio of too many entries": ("a.cpio", lambda: cpio_of(3000)),
    "cpio cut off": ("a.cpio", lambda: cpio_of(3)[:-20]),
    "ar with a wrong size": ("a.a", lambda: b"!<arch>\n" + b"a/".ljust(48) + b"99".ljust(10) + b"`\nx"),
    "ar of no number": ("a.a", lambda: b"!<arch>\n" + b"a/".ljust(48) + b"x".ljust(10) + b"`\nx"),
    "zst cut off": ("a.zst", lambda: zst_of_zeros()[:50]),
    "7z of zeros": ("a.7z", seven_zip_of_zeros),
    "7z cut off": ("a.7z", lambda: seven_zip_of_zeros()[:-9]),
    "7z of nothing": ("a.7z", lambda: b"7z\xbc\xaf\x27\x1c" + b"\xff" * 60),
    "tar of a sparse terabyte": ("a.tar", sparse_tar),
    "tar cut off": ("a.tar", lambda: tarred(tarfile.TarInfo("a"), contents=b"x" * 5000)[:2000]),
    "tar of too many entries": ("a.tar", lambda: tarred(*(tarfile.TarInfo(f"{n}") for n in range(300)))),
    "json too deep": ("a.json", lambda: b"[" * 100_000 + b"]" * 100_000),
    "json too deep by another name": ("a.txt", lambda: b'{"a":' * 100_000),
    "xml too deep": ("a.xml", lambda: b"<?xml version='1.0'?>" + b"<a>" * 100_000),
    "yaml too deep": ("a.yaml", lambda: b"[" * 100_000),
    "toml too deep": ("a.toml", lambda: b"a = " + b"[" * 100_000),
    "mail in parts in parts": ("a.eml", lambda: nested_mail(500)),
    "mail of endless parameters": ("a.eml", lambda: b"MIME-Version: 1.0\nContent-Type: multipart/mixed;" + b";a" * 50_000 + b"\n\nx"),
    "mail with damaged base64": ("a.eml", lambda: b"MIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\nabcde"),
    "mbox of too many parts": ("a.mbox", lambda: b"From x\nSubject: y\n\nbody\n\n" * 300),
    "png of many gigapixels": ("a.png", lambda: png(100_000, 100_000)),
    "png cut off": ("a.png", lambda: png(100, 100)[:50]),
    "database of noise": ("a.db", damaged_database),
    "parquet of noise": ("a.parquet", lambda: b"PAR1" + random.Random(1).randbytes(500) + b"PAR1"),
    "avro cut off": ("a.avro", lambda: avro("string", [(1, b"\x02x")])[:-3]),
    "avro of more rows than bytes": ("a.avro", lambda: avro("long", [(1 << 40, b"\x02" * 9)])),
    "avro of fewer rows than bytes": ("a.avro", lambda: avro("long", [(1, b"\x02" * 9)])),
    "avro of a length below zero": ("a.avro", lambda: avro("string", [(1, b"\x09x")])),
    "avro of a length after its end": ("a.avro", lambda: avro("bytes", [(1, b"\xfe" * 9 + b"\x01x")])),
    "avro of a number without an end": ("a.avro", lambda: avro("long", [(1, b"\xff" * 5_000 + b"\x01")])),
    "avro of a branch that is not there": ("a.avro", lambda: avro(["null", "string"], [(1, b"\x04")])),
    "avro of endless texts in an array": ("a.avro", lambda: avro({"type": "array", "items": "string"}, [(1, b"\xfe" * 9 + b"\x01")])),
    "avro that is a bomb": ("a.avro", lambda: avro("bytes", [(1, zlib.compress(ZEROS)[2:-4])], b"deflate")),
    "avro with wrong snappy sizes": ("a.avro", lambda: avro("bytes", [(1, b"\xff\xff\xff\xff\x0fx" + bytes(4))], b"snappy")),
    "avro of a codec that is unknown": ("a.avro", lambda: avro("bytes", [(1, b"x")], b"lzo")),
    "avro of a schema too deep": ("a.avro", lambda: avro("null", [], schema_json=b"[" * 50_000)),
    "avro of arrays too deep": ("a.avro", lambda: avro("null", [], schema_json=b'{"type":"array","items":' * 300 + b'"null"' + b"}" * 300)),
    "avro of a schema that multiplies": ("a.avro", lambda: avro(multiplying_schema(30), [])),
    "avro of a record in itself": ("a.avro", lambda: avro({"type": "record", "name": "A", "fields": [{"name": "a", "type": "A"}]}, [(1, b"")])),
    "avro of lists too deep": ("a.avro", lambda: avro({"type": "record", "name": "A", "fields": [{"name": "a", "type": ["null", "A"]}]}, [(1, b"\x02" * 99_999 + b"\0")])),
    "avro of a type that is unknown": ("a.avro", lambda: avro("lists", [])),
    "word that declares a document type": ("a.docx", lambda: word(b"<!DOCTYPE d [<!ENTITY e 'x'>]><document/>")),
    "word that nests too deep": ("a.docx", lambda: word(b"<a>" * 5_000 + b"</a>" * 5_000)),
    "word that is not well-formed": ("a.docx", lambda: word(b"<document><p>")),
    "word that is a bomb": ("a.docx", lambda: word(b"<d>" + ZEROS.replace(b"\0", b" ") + b"</d>")),
    "word of too many parts": ("a.docx", lambda: word(b"<d/>", *((f"x/{n}.xml", b"<a/>") for n in range(300)))),
    "word in word in word": ("a.docx", lambda: word(b"<d/>", ("a.docx", word(b"<d/>", ("b.docx", word(b"<d/>", ("c.docx", word(b"<d/>", ("d.zip", nested_zip(4)))))))))),
    "excel with comments among its cells": ("a.xlsx", lambda: zipped(("[Content_Types].xml", _SHEETS), ("xl/workbook.xml", b"<workbook xmlns:r='r'><sheets><sheet name='a' r:id='s'/></sheets></workbook>"),
        ("_rels/.rels", b"<Relationships><Relationship Id='m' Type='x/officeDocument' Target='xl/workbook.xml'/></Relationships>"),
        ("xl/_rels/workbook.xml.rels", b"<Relationships><Relationship Id='s' Type='x/worksheet' Target='s.xml'/></Relationships>"),
        ("xl/s.xml", b"<worksheet><sheetData><row><c><v>1</v><!-- x --></c></row></sheetData></worksheet>"))),
    "odt that is encrypted": ("a.odt", lambda: open_document(b"<d/>", ("META-INF/manifest.xml", b"<m><encryption-data/></m>"))),
    "odt that nests too deep": ("a.odt", lambda: open_document(b"<a>" * 5_000 + b"</a>" * 5_000)),
    "rtf too deep": ("a.rtf", lambda: b"{\\rtf1" + b"{" * 100_000),
    "pdf of forms that multiply": ("a.pdf", lambda: pdf(forms=9)),
    "pdf of forms that nest": ("a.pdf", lambda: pdf(forms=80)),
    "pdf whose content is a bomb": ("a.pdf", lambda: pdf(packed=zlib.compress(zlib.compress(b"0 0 m " * 10_000_000)))),
    "pdf of open arrays": ("a.pdf", lambda: pdf(b"[" * 20_000)),
    "pdf of nothing": ("a.pdf", lambda: b"%PDF-1.7\ntrailer <</Root 1 0 R>>"),
    "tiff that comes round again": ("a.tif", loop_tiff),
    "file over the limit": ("a.txt", lambda: b"x" * (31 << 20)),
}  # fmt: skip

READ: dict[str, tuple[str, Callable[[], bytes]]] = {
    "nothing": ("a.txt", bytes),
    "nothing as json": ("a.json", bytes),
    "nothing as csv": ("a.csv", bytes),
    "nothing as xml": ("a.xml", bytes),
    "one huge line": ("a.log", lambda: b"x" * (10 << 20)),
    "zeros": ("a.bin", lambda: ZEROS[: 10 << 20]),
    "noise": ("a.bin", lambda: random.Random(1).randbytes(100_000)),
    "encodings mixed": ("a.log", lambda: "é\n".encode() * 99 + "é\n".encode("cp1252") + "日本\n".encode("cp932") + b"\xff\n"),
    "utf-16 of half a pair": ("a.txt", lambda: b"\xff\xfea\0\0\xd8"),
    "utf-16 cut off": ("a.txt", lambda: "hello".encode("utf-16") + b"x"),
    "laughs by the billion": ("a.xml", laughs),
    "yaml of aliases": ("a.yaml", yaml_aliases),
    "an entity that names a file": ("a.xml", lambda: b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>'),
    "csv of one open quote": ("a.csv", lambda: b'a,b\n"' + b"x,\n" * 50_000),
    "csv of many columns": ("a.csv", lambda: b"a," * 20_000 + b"\n" + b"1," * 20_000),
    "html of open comments": ("a.html", lambda: b"<!--" * 50_000),
    "html of cells over many rows": ("a.html", lambda: b"<table>" + b"<tr><td rowspan=9999 colspan=999>x" * 2000),
    "html of open tags": ("a.html", lambda: b"<a b='" * 50_000),
    "sql of open quotes": ("a.sql", lambda: b"insert into t values ('" * 20_000),
    "env of blanks": (".env", lambda: b"A=x" + b" " * 200_000 + b"y"),
    "json that is none": ("a.json", lambda: b"{not json at all"),
    "yaml that is none": ("a.yaml", lambda: b"a: [b\n\t- :"),
    "mail of soft line breaks": ("a.eml", lambda: b"MIME-Version: 1.0\nContent-Transfer-Encoding: quoted-printable\n\n" + b"=\n" * 100_000),
    "mail of boundaries": ("a.eml", lambda: b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b--\n" * 20_000),
    "tar out of its folder": ("a.tar", lambda: tarred(tarfile.TarInfo("../../../../tmp/evil"), contents=b"x")),
    "zip out of its folder": ("a.zip", lambda: zipped(("../../../../tmp/evil", b"x"), ("/etc/evil", b"x"), ("C:\\evil", b"x"))),
    "pdf of restores without saves": ("a.pdf", lambda: pdf(b"Q " * 20_000 + b"BT /F1 9 Tf (x) Tj ET")),
    "pdf of endless numbers": ("a.pdf", lambda: pdf(b"BT /F1 1e999 Tf 1e300 0 0 1e300 1e308 1e308 Tm (x) Tj ET")),
    "rtf of bytes that are not there": ("a.rtf", lambda: b"{\\rtf1 \\bin999999999 x}"),
    "rtf that never ends": ("a.rtf", lambda: b"{\\rtf1 " + b"\\u" * 50_000),
    "avro of logical types that are none": ("a.avro", lambda: avro([{"type": "int", "logicalType": []}, {"type": "bytes", "logicalType": "decimal", "scale": {}}], [(1, b"\0\2")])),
    "avro of endless empty rows": ("a.avro", lambda: avro("null", [(1 << 62, b"")])),
    "avro of endless nulls in an array": ("a.avro", lambda: avro({"type": "array", "items": "null"}, [(1, b"\xfe" * 9 + b"\x01\0")])),
    "text before a zip": ("a.txt", lambda: b"#!/bin/sh\n" * 9 + zipped(("a.txt", b"x"))),
}  # fmt: skip


@pytest.fixture(autouse=True)
def private_temporary_folder(temporary_folder: Path) -> Iterable[None]:
    yield
    assert not list(temporary_folder.iterdir())


def processor_time() -> float:
    """Seconds of this process and of those that it waited for; they do not depend on what else
    runs.
    """
    return sum(os.times()[:4])


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused_with_the_reason(what: str) -> None:
    name, make = REFUSED[what]
    data = make()
    started = processor_time()
    with Files(LIMITS) as files:
        with pytest.raises(FormatError) as refused:
            files.open(data, name)
        # What went wrong with one file does not end the next.
        assert files.open(b"fine", "a.txt").document.segments[0].text == "fine"
    assert processor_time() - started < 10
    assert refused.value.message
    assert "\n" not in refused.value.message


@pytest.mark.parametrize("what", READ)
def test_is_read_within_its_limits(what: str) -> None:
    name, make = READ[what]
    data = make()
    started = processor_time()
    with Files(LIMITS) as files:
        node = files.open(data, name)
        list(files.read_again(node.document.format, node.data))
        assert files.masked(node, lambda _: []) == data
    assert processor_time() - started < 10
    assert not any("root:" in view.text for view in node.document.views)


def test_entities_are_not_expanded() -> None:
    with Files(LIMITS) as files:
        node = files.open(laughs(), "a.xml")
        assert all(len(view.text) < 2_000 for view in node.document.views)
        assert sum(map(len, files.read_again(node.document.format, node.data))) < 20_000


def test_bytes_between_the_members_of_a_zip_are_read_and_dropped(
    find: Callable[[Document], Iterable[ViewEdit]],
) -> None:
    hidden = f"hidden {SSN} between".encode() * 4 + b"\0\1\2"
    with Files(LIMITS) as files:
        node = files.open(hidden + zipped(("a.txt", b"kept")), "a.zip")
        assert [child.name for child in node.children] == [
            "a.txt",
            f"bytes 0-{len(hidden)} between entries",
        ]
        masked = files.masked(node, find)
    assert SSN.encode() not in masked
    assert zipfile.ZipFile(io.BytesIO(masked)).read("a.txt") == b"kept"


def test_bytes_instead_of_a_data_descriptor_are_read_and_dropped(
    find: Callable[[Document], Iterable[ViewEdit]],
) -> None:
    """Sizes and checksum follow an entry in a stream; other bytes as long are no such record."""
    first, rest = zipped(("a.txt", b"kept"), ("b.txt", b"kept")).split(b"PK\3\4")[1:]
    hidden = b"PK\x07\x08" + f"ssn: {SSN} ..".encode()[:20].ljust(20)
    data = with_gap(b"PK\3\4" + first, hidden, b"PK\3\4" + rest)
    with Files(LIMITS) as files:
        node = files.open(data, "a.zip")
        assert any("between entries" in child.name for child in node.children)
        masked = files.masked(node, find)
    assert SSN.encode() not in masked


def with_gap(first: bytes, gap: bytes, rest: bytes) -> bytes:
    """Put bytes after the first entry of an archive with two, and correct the offsets."""
    data = bytearray(first + gap + rest)
    entry = data.find(b"PK\1\2", data.find(b"PK\1\2") + 4)
    end = data.rfind(b"PK\5\6")
    for at, value in ((entry + 42, len(first) + len(gap)), (end + 16, data.find(b"PK\1\2"))):
        data[at : at + 4] = value.to_bytes(4, "little")
    return bytes(data)


def test_errors_and_places_name_no_member(find: Callable[[Document], Iterable[ViewEdit]]) -> None:
    with Files(LIMITS) as files:
        with pytest.raises(FormatError) as refused:
            files.open(zipped(("jane.roe@acme.example.gz", b"\x1f\x8b\x08damaged")), "a.zip")
        node = files.open(
            zipped(("jane.roe@acme.example.bin", f"\0\1\2\3 {SSN} \0".encode())), "a.zip"
        )
        with pytest.raises(CannotMaskError) as kept:
            files.masked(node, find)
    for error in (refused.value, kept.value):
        assert error.message.startswith("file 1 (.")
        assert "jane" not in error.message


@pytest.fixture(scope="session")
def documents(samples: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Every kind of file, those with native parsers as often as all others together."""
    import docx
    import openpyxl
    import pptx

    text, show, book = docx.Document(), pptx.Presentation(), openpyxl.Workbook()
    text.add_paragraph(f"number {SSN} kept").add_run(" and more")
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = f"number {SSN}"
    book.active.append(["SSN", SSN, 4111111111111111])
    made = []
    for name, each in (("a.docx", text), ("a.pptx", show), ("a.xlsx", book)):
        output = io.BytesIO()
        each.save(output)
        made.append((name, output.getvalue()))
    made += (
        ("b.docx", word(f"<d><p><r><t>{SSN}</t></r></p></d>".encode())),
        ("a.odt", open_document(f"<d><p>{SSN}</p></d>".encode())),
        ("a.rtf", f"{{\\rtf1\\ansi number {SSN} \\u233?\\'e9 {{\\b kept}}}}".encode()),
        ("a.pdf", pdf(f"BT /F1 12 Tf 72 700 Td [(12) -3 ({SSN[2:]})] TJ ET".encode())),
        ("a.png", png(10, 10)),
    )
    repeated = [made[number % len(made)] for number in range(len(samples))]
    return [one for pair in zip(samples, repeated, strict=True) for one in pair]


@pytest.mark.no_cover
def test_some_mutated_files(
    documents: list[tuple[str, bytes]], find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    with Files(LIMITS) as files:
        seeds = range(1_000_000, 1_000_100)
        assert sum(mutate(seed, documents, find, files) for seed in seeds) > 20


@pytest.mark.slow
def test_many_mutated_files(
    documents: list[tuple[str, bytes]], find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    with Files(LIMITS) as files:
        assert sum(mutate(seed, documents, find, files) for seed in range(2_000)) > 400


def mutate(
    seed: int,
    samples: list[tuple[str, bytes]],
    find: Callable[[Document], Iterable[ViewEdit]],
    files: Files,
) -> bool:
    """Change bytes of a file and mask it; return whether it can still be read."""
    chance = random.Random(seed)
    name, original = samples[seed % len(samples)]
    data = bytearray(original)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randrange(20)]
            case 2:
                data[at:at] = chance.choice(
                    (b"\0", b"\xff\xff\xff\x7f", b'"', b"<", b"{", b"'", b"\n", b"\\", b"&")
                )
            case _:
                data[at:at] = data[at : at + chance.randrange(200)]
        if not data:
            data = bytearray(b"x")
    try:
        masked = files.masked(files.open(bytes(data), name), find)
        again = files.open(masked, name)
    except FormatError:
        return False
    # A label may look like a value beside what is left of one.
    leaks = [
        hit
        for one in again.walk()
        for hit in find(one.document)
        if not one.document.uninspected
        and "MAIL" not in one.document.views[hit.view].text[hit.start : hit.end]
    ]
    assert not leaks, seed
    return True
