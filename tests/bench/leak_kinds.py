"""Documents of many kinds with planted values, checked by the product and read by foreign readers.

    python tests/bench/leak_kinds.py [--seeds N] [--only KIND] [--json]

A document that is blocked releases nothing; of one that is released, the values are counted that
its foreign reader still shows. Every reader is of the standard library or spells out its format.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import csv
import email
import email.policy
import gzip
import html.parser
import io
import json
import lzma
import plistlib
import quopri
import random
import re
import struct
import sys
import tarfile
import textwrap
import tomllib
import urllib.parse
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from email.message import EmailMessage
from typing import Any, NamedTuple
from xml.etree import ElementTree

Reader = Callable[[bytes], str]


class Kind(NamedTuple):
    """One way to write values into a document, and a foreign way to read them."""

    name: str
    suffix: str
    make: Callable[[Values], bytes]
    read: Reader
    may_block: bool = False
    """Nothing reads the format completely, so that blocking it is right."""


class Values:
    """Generates values, each with its check digit, and remembers them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.planted: list[str] = []

    def _digits(self, count: int) -> str:
        return "".join(self.random.choice("0123456789") for _ in range(count))

    def _plant(self, value: str) -> str:
        self.planted.append(value)
        return value

    def card(self) -> str:
        bare = "4" + self._digits(14)
        total = sum(
            sum(divmod(int(digit) * (2 if at % 2 == 0 else 1), 10)) for at, digit in enumerate(bare)
        )
        number = bare + str(-total % 10)
        return self._plant(" ".join(number[at : at + 4] for at in range(0, 16, 4)))

    def iban(self) -> str:
        account = self._digits(18)
        check = 98 - int(account + "131400") % 97
        number = f"DE{check:02}{account}"
        return self._plant(" ".join(number[at : at + 4] for at in range(0, 22, 4)))

    def ssn(self) -> str:
        draw = self.random.randrange
        return self._plant(f"{draw(101, 665)}-{draw(10, 99)}-{draw(1000, 9999)}")

    def mail(self) -> str:
        name = self.random.choice(["jane", "bob", "ann", "maria"])
        return self._plant(f"{name}.{self._digits(6)}@acme-corp.example")

    def phone(self) -> str:
        draw = self.random.randrange
        return self._plant(f"+1 (612) {draw(220, 999)}-{draw(1000, 9999)}")

    def key(self) -> str:
        letters = self.random.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16)
        return self._plant("AKIA" + "".join(letters))

    def labelled(self) -> list[tuple[str, str]]:
        return [
            ("card", self.card()),
            ("iban", self.iban()),
            ("ssn", self.ssn()),
            ("email", self.mail()),
            ("phone", self.phone()),
        ]


def squeezed(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


# ---- parts of documents

_FILLER = [
    "we",
    "have",
    "reviewed",
    "the",
    "quarterly",
    "statement",
    "and",
    "the",
    "balance",
    "of",
    "the",
    "account",
    "was",
    "settled",
    "last",
    "week",
    "so",
    "that",
    "the",
    "delivery",
    "may",
    "go",
    "on",
    "as",
    "it",
    "was",
    "agreed",
    "in",
    "the",
    "letter",
    "to",
    "the",
    "customers",
]


def prose(values: Values, count: int = 2) -> str:
    """Return sentences with values in them, on one line."""
    words: list[str] = []
    for _ in range(count):
        for label, value in values.labelled():
            words += values.random.sample(_FILLER, values.random.randint(2, 9))
            words += [*label.split(), "is", value + ","]
    return " ".join(words) + " thank you."


def wrapped(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=True)


def halves(values: Values, value: str) -> tuple[str, str]:
    """Return a value in two parts, cut where a person or a program would cut it."""
    places = [found.end() for found in re.finditer(r"[ @)-]", value[:-2])] or [len(value) // 2]
    at = values.random.choice(places)
    return value[:at], value[at:]


def broken_value(values: Values, value: str, between: str) -> str:
    first, second = halves(values, value)
    return (first.rstrip() if between == "\n" else first) + between + second


def broken(values: Values, between: str, line: str = "{label}: {value}\n") -> str:
    return "".join(
        line.format(label=label, value=broken_value(values, value, between))
        for label, value in values.labelled()
    )


class _Shown(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [urllib.parse.unquote(value or "") for _, value in attrs]


def shown(data: bytes) -> str:
    parser = _Shown()
    parser.feed(data.decode())
    texts = parser.texts
    for uri in re.findall(r"data:[\w/+.;=-]*base64,([\w+/=]+)", data.decode()):
        texts.append(base64.b64decode(uri).decode("latin-1"))
    return "".join(texts)


def utf8(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def xml_texts(data: bytes) -> str:
    return "".join(ElementTree.fromstring(data).itertext())


def leaves(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(leaves(one) for pair in value.items() for one in pair)
    if isinstance(value, list | tuple):
        return "\n".join(map(leaves, value))
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


# ---- text and data


def soft(form: Callable[[Values, str], str], between: str) -> Callable[[Values], bytes]:
    return lambda values: form(values, between).encode()


def _csv_cells(values: Values, between: str) -> str:
    rows = [
        (f"row {n}", broken_value(values, v, between)) for n, (_, v) in enumerate(values.labelled())
    ]
    output = io.StringIO(newline="")
    csv.writer(output, quoting=csv.QUOTE_ALL).writerows([("id", "note"), *rows])
    return output.getvalue()


def _properties_text(data: bytes) -> str:
    return re.sub(r"\\\r?\n[ \t]*", "", data.decode())


def _unfolded(data: bytes) -> str:
    text = re.sub(r"\r?\n[ \t]", "", data.decode())
    soft = re.sub(r"=\r?\n", "", text)
    texts = [text, soft, quopri.decodestring(soft.encode()).decode("utf-8", "replace")]
    for run in re.findall(
        r":: ?([\w+/=]{8,})|BASE64:([\w+/=]{8,})|(?<=:)([\w+/]{16,}={0,2})$", text, re.MULTILINE
    ):
        try:
            texts.append(base64.b64decode("".join(run)).decode("latin-1"))
        except ValueError:
            continue
    return "\n".join(texts)


def _folded(lines: Iterable[str], width: int = 30) -> bytes:
    output = []
    for line in lines:
        output.append(line[:width])
        output += [" " + line[at : at + width] for at in range(width, len(line), width)]
    return "\r\n".join([*output, ""]).encode()


def _vcard(values: Values) -> bytes:
    (_, card), (_, iban), (_, ssn), (_, mail), (_, phone) = values.labelled()
    quoted = quopri.encodestring(f"iban {iban} of ümit".encode()).decode().replace(" ", "=20")
    coded = base64.b64encode(f"card {card}".encode()).decode()
    return _folded(
        [
            "BEGIN:VCARD", "VERSION:2.1", f"TEL;CELL:{phone}", f"EMAIL;INTERNET;PREF;TYPE=home:{mail}",
            f"NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:{quoted}", f"X-CARD;ENCODING=BASE64:{coded}",
            f"X-NOTE;TYPE=a-very-long-parameter:SSN {ssn}", "END:VCARD",
        ]
    )  # fmt: skip


def _ldif(values: Values) -> bytes:
    rows = values.labelled()
    lines = ["version: 1", "dn: cn=someone,dc=example"]
    for at, (label, value) in enumerate(rows):
        if at % 2:
            lines.append(f"x-{label}:: {base64.b64encode(value.encode()).decode()}")
        else:
            lines.append(f"x-{label}-of-this-person: {value}")
    return _folded(lines)


def _calendar(values: Values) -> bytes:
    said = "\\n".join(f"{label}: {value}" for label, value in values.labelled())
    return _folded(
        ["BEGIN:VCALENDAR", "BEGIN:VEVENT", f"DESCRIPTION:{said}", "END:VEVENT", "END:VCALENDAR"],
        40,
    )


def _record(values: Values) -> dict[str, str]:
    return dict(values.labelled())


def _gzipped_base64(values: Values) -> bytes:
    return json.dumps(
        {"blob": base64.b64encode(gzip.compress(json.dumps(_record(values)).encode())).decode()}
    ).encode()


def _read_gzipped_base64(data: bytes) -> str:
    blob = json.loads(data)["blob"]
    try:
        return gzip.decompress(base64.b64decode(blob)).decode()
    except (OSError, ValueError):
        return str(blob)


def _har(values: Values) -> bytes:
    first, second = _record(values), _record(values)
    return json.dumps(
        {"log": {"entries": [{
            "request": {"url": "https://shop.example/?" + urllib.parse.urlencode(first),
                        "postData": {"mimeType": "application/x-www-form-urlencoded", "text": urllib.parse.urlencode(first)}},
            "response": {"content": {"encoding": "base64", "text": base64.b64encode(json.dumps(second).encode()).decode()}},
        }]}}
    ).encode()  # fmt: skip


def _read_har(data: bytes) -> str:
    (entry,) = json.loads(data)["log"]["entries"]
    texts = [
        urllib.parse.unquote_plus(entry["request"]["url"]),
        urllib.parse.unquote_plus(entry["request"]["postData"]["text"]),
    ]
    with suppress(ValueError):
        texts.append(base64.b64decode(entry["response"]["content"]["text"]).decode("latin-1"))
    return "\n".join(texts)


def _form(values: Values) -> bytes:
    return urllib.parse.urlencode(_record(values)).encode()


def _sql(values: Values) -> bytes:
    rows = [
        f"0x{value.encode().hex()}" if at % 2 else f"X'{value.encode().hex()}'"
        for at, (_, value) in enumerate(values.labelled())
    ]
    return f"INSERT INTO notes (a, b, c, d, e) VALUES ({', '.join(rows)});\n".encode()


def _read_sql(data: bytes) -> str:
    return "\n".join(
        bytes.fromhex(run[: len(run) // 2 * 2]).decode("latin-1")
        for run in re.findall(r"(?:0x|X')([0-9a-f]+)", data.decode())
    )


def _uuencoded(values: Values) -> bytes:
    text = "\n".join(f"{label}: {value}" for label, value in values.labelled()).encode()
    lines = b"".join(binascii.b2a_uu(text[at : at + 45]) for at in range(0, len(text), 45))
    return b"Hello, this is the list.\n\nbegin 644 list.txt\n" + lines + b"`\nend\n"


def _read_uuencoded(data: bytes) -> str:
    block = re.search(rb"^begin [^\n]*\n(.*?)^end$", data, re.MULTILINE | re.DOTALL)
    texts = [utf8(data)]
    for line in block[1].splitlines() if block else ():
        with suppress(binascii.Error):
            texts.append(binascii.a2b_uu(line).decode("latin-1"))
    return "".join(texts)


def encoded(codec: str) -> tuple[Callable[[Values], bytes], Reader]:
    return (
        lambda values: "".join(f"{label}: {value}\n" for label, value in values.labelled()).encode(
            codec
        ),
        lambda data: data.decode(codec, "replace"),
    )


def _utf7(values: Values) -> bytes:
    text = "".join(f"{label}: {value}\n" for label, value in values.labelled()).encode("utf-7")
    return text.replace(b"@", b"+AEA-").replace(b"-", b"-")


def _cells_without_ends(values: Values) -> bytes:
    rows = "".join(f"<tr><td>row<td>{value}" for _, value in values.labelled())
    return f"<html><body><table><tr><th>id<th>ssn{rows}</table></body></html>".encode()


def _spans(values: Values) -> bytes:
    body = "".join(
        f"<p>{label} {''.join(f'<span>{char}</span>' for char in value)} thanks</p>"
        for label, value in values.labelled()
    )
    return f"<html><body>{body}</body></html>".encode()


def _xml_spans(values: Values) -> bytes:
    body = "".join(
        f"<t:p>{label} "
        + "".join(f"<t:span>{part}</t:span>" for part in halves(values, value))
        + " thanks</t:p>"
        for label, value in values.labelled()
    )
    return f'<?xml version="1.0"?><t:doc xmlns:t="urn:t">{body}</t:doc>'.encode()


def _flat_odf(values: Values) -> bytes:
    body = ""
    for label, value in values.labelled():
        first, second = halves(values, value)
        gap = values.random.choice(
            ["", "<text:s/>", "<text:line-break/>", "<text:soft-page-break/>"]
        )
        gap = "" if gap == "<text:s/>" and not first.endswith(" ") else gap
        first = first.rstrip() if gap in {"<text:s/>", "<text:line-break/>"} else first
        body += f"<text:p>{label} <text:span text:style-name='T1'>{first}</text:span>{gap}<text:span>{second}</text:span></text:p>"
    return (
        '<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:mimetype="application/vnd.oasis.opendocument.text">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document>"
    ).encode()


def _hard_html(values: Values) -> bytes:
    return f"<!DOCTYPE html><html><body><p>\n{wrapped(prose(values), values.random.randint(60, 76))}\n</p></body></html>".encode()


def _data_uri(values: Values) -> bytes:
    inner = base64.b64encode(
        f"<svg xmlns='http://www.w3.org/2000/svg'><text>{prose(values, 1)}</text></svg>".encode()
    ).decode()
    return f'<html><body><p>see</p><img src="data:image/svg+xml;base64,{inner}"></body></html>'.encode()


def _plist_data(values: Values) -> bytes:
    return plistlib.dumps(
        {
            f"k{at}": f"{label} {value}".encode()
            for at, (label, value) in enumerate(values.labelled())
        }
    )


def _long_plist_data(values: Values) -> bytes:
    return plistlib.dumps({"a": {"b": [prose(values, 1).encode()]}})


def _yaml_binary(values: Values) -> bytes:
    coded = base64.encodebytes(prose(values, 1).encode()).decode()
    return ("note: !!binary |\n" + textwrap.indent(coded, "  ")).encode()


def _read_yaml_binary(data: bytes) -> str:
    coded = data.decode().partition("|\n")[2]
    try:
        return base64.b64decode("".join(coded.split())).decode("latin-1")
    except ValueError:
        return coded


def _coloured(values: Values) -> bytes:
    lines = []
    for label, value in values.labelled():
        first, second = halves(values, value)
        lines.append(f"\x1b[1m{label}\x1b[0m \x1b[31m{first}\x1b[32;1m{second}\x1b[0m ok\n")
    return "".join(lines).encode()


def _markdown(values: Values) -> bytes:
    lines = []
    for label, value in values.labelled():
        first, second = halves(values, value)
        shown = (
            value.replace("-", "\\-").replace(".", "\\.").replace("(", "\\(").replace(")", "\\)")
        )
        lines.append(f"* {label}: {shown} and **{first.strip()}** {second}\n")
    return "".join(lines).encode()


def _read_markdown(data: bytes) -> str:
    return re.sub(r"\\([^\w\s])", r"\1", data.decode())


def _read_plist(data: bytes) -> str:
    return leaves(plistlib.loads(data))


def _yaml(values: Values, _: str) -> str:
    lines = []
    for at, (label, value) in enumerate(values.labelled()):
        first, _, second = value.partition(" ") if " " in value else (value[:-3], "", value[-3:])
        if " " not in value:
            lines.append(f'{label}: "{first}\\\n  {second}"\n')
            continue
        lines.append(
            (
                f"{label}: >\n  {first}\n  {second}\n",
                f"{label}: {first}\n  {second}\n",
                f'{label}: "{first}\n  {second}"\n',
            )[at % 3]
        )
    return "".join(lines)


def _notebook(values: Values) -> bytes:
    lines = [f"{wrapped(prose(values, 1), 60)}\n"]
    cell = {
        "cell_type": "markdown",
        "metadata": {},
        "source": [line + "\n" for text in lines for line in text.splitlines()],
    }
    return json.dumps(
        {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    ).encode()


# ---- mail


def _mail(build: Callable[[EmailMessage, Values], None]) -> Callable[[Values], bytes]:
    def make(values: Values) -> bytes:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = (
            "Desk <desk@shop.example>",
            "undisclosed",
            "Your order",
        )
        message["Date"] = "Mon, 06 Jan 2025 10:00:00 +0000"
        build(message, values)
        return message.as_bytes()

    return make


def _read_mail(data: bytes) -> str:
    message = email.message_from_bytes(data, policy=email.policy.default)
    texts = [str(message.items())]
    for part in message.walk():
        texts.append(str([(name, str(value)) for name, value in part.items()]))
        texts.append(part.get_filename("") or "")
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes):
            charset = part.get_content_charset("utf-8")
            texts.append(
                payload.decode(charset if charset != "unknown-8bit" else "latin-1", "replace")
            )
            if b"begin 644" in payload:
                texts.append(_read_uuencoded(payload))
    return "\n".join(texts)


def _wrapped_body(message: EmailMessage, values: Values) -> None:
    message.set_content(wrapped(prose(values), values.random.randint(60, 76)) + "\n")


def _quoted_body(message: EmailMessage, values: Values) -> None:
    message.set_content(prose(values) + " é\n", cte="quoted-printable")


def _replied_body(message: EmailMessage, values: Values) -> None:
    lines = wrapped(prose(values), 66).splitlines()
    message.set_content("".join(f"> {line}\n" for line in lines))


def _uu_body(message: EmailMessage, values: Values) -> None:
    message.set_content(_uuencoded(values).decode())


def _attached(message: EmailMessage, values: Values) -> None:
    message.set_content("see the files\n")
    for number, (label, value) in enumerate(values.labelled()):
        before = ("very long " * 7, "", "é ")[number % 3]
        message.add_attachment(
            b"nothing",
            maintype="application",
            subtype="octet-stream",
            filename=f"{before}{label}_{value}.txt",
        )


def _utf7_body(message: EmailMessage, values: Values) -> None:
    message.set_content("x\n")
    message.replace_header("Content-Type", 'text/plain; charset="utf-7"')
    message.set_payload(_utf7(values).decode())


# ---- binaries


def _packed(value: Any) -> bytes:
    if isinstance(value, dict):
        return (
            b"\xde"
            + struct.pack(">H", len(value))
            + b"".join(_packed(one) for pair in value.items() for one in pair)
        )
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(_packed, value))
    if isinstance(value, bytes):
        return b"\xc5" + struct.pack(">H", len(value)) + value
    if isinstance(value, int):
        return b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    raw = value.encode()
    return (
        bytes((0xA0 | len(raw),)) if len(raw) < 32 else b"\xda" + struct.pack(">H", len(raw))
    ) + raw


def _whole(double: bytes) -> str:
    return f"{struct.unpack('>d', double)[0]:.0f}"


def _read_msgpack(data: bytes) -> str:
    at = 0
    texts: list[str] = []

    def item() -> None:
        nonlocal at
        lead = data[at]
        at += 1
        if lead < 0x80 or lead >= 0xE0:
            return
        if 0xA0 <= lead < 0xC0 or lead in {0xD9, 0xDA, 0xDB, 0xC4, 0xC5, 0xC6}:
            size = lead & 31
            if lead >= 0xC0:
                width = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xC4: 1, 0xC5: 2, 0xC6: 4}[lead]
                size = int.from_bytes(data[at : at + width])
                at += width
            texts.append(data[at : at + size].decode("latin-1"))
            at += size
        elif lead < 0xA0 or lead in {0xDC, 0xDD, 0xDE, 0xDF}:
            count = lead & 15
            if lead >= 0xDC:
                width = 2 + 2 * (lead & 1)
                count = int.from_bytes(data[at : at + width])
                at += width
            for _ in range(count * (2 if lead < 0x90 or lead >= 0xDE else 1)):
                item()
        elif lead in {0xCC, 0xCD, 0xCE, 0xCF}:
            width = 1 << (lead - 0xCC)
            texts.append(str(int.from_bytes(data[at : at + width])))
            at += width
        elif lead == 0xCB:
            texts.append(_whole(data[at : at + 8]))
            at += 8

    item()
    assert at == len(data), "the MessagePack is damaged"
    return "\n".join(texts)


def _tree(values: Values) -> dict[str, Any]:
    return {
        "people": [_record(values), {"note": prose(values, 1)}],
        "raw": values.card().encode(),
        "n": int(values.card().replace(" ", "")),
        "f": float(values.card().replace(" ", "")),
    }


def _cbor(value: Any) -> bytes:
    def head(major: int, size: int) -> bytes:
        if size < 24:
            return bytes((major << 5 | size,))
        return (
            bytes((major << 5 | 25,)) + struct.pack(">H", size)
            if size < 65536
            else bytes((major << 5 | 27,)) + struct.pack(">Q", size)
        )

    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(_cbor(one) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(_cbor, value))
    if isinstance(value, int):
        return head(0, value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    raw = value if isinstance(value, bytes) else value.encode()
    return head(2 if isinstance(value, bytes) else 3, len(raw)) + raw


def _read_cbor(data: bytes) -> str:
    at = 0
    texts: list[str] = []

    def item() -> None:
        nonlocal at
        major, size = data[at] >> 5, data[at] & 31
        at += 1
        if size >= 24:
            width = 1 << (size - 24)
            size = int.from_bytes(data[at : at + width])
            at += width
        if major in {2, 3}:
            texts.append(data[at : at + size].decode("latin-1"))
            at += size
        elif major in {4, 5}:
            for _ in range(size * (major - 3)):
                item()
        elif major == 0:
            texts.append(str(size))
        elif major == 7:
            texts.append(_whole(size.to_bytes(8)))

    item()
    assert at == len(data), "the CBOR is damaged"
    return "\n".join(texts)


def _lines(values: Values) -> bytes:
    return "".join(f"{label}: {value}\n" for label, value in values.labelled()).encode() * 40


def _numpy(values: Values) -> bytes:
    rows = [value for _, value in values.labelled()]
    width = max(map(len, rows))
    header = f"{{'descr': '<U{width}', 'fortran_order': False, 'shape': ({len(rows)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    cells = b"".join(row.ljust(width, "\0").encode("utf-32-le") for row in rows)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + cells


def _lzip(data: bytes) -> bytes:
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 20}]
    alone = lzma.compress(data, lzma.FORMAT_ALONE, filters=filters)
    body = b"LZIP\x01\x14" + alone[13:]
    return body + struct.pack("<LQQ", zlib.crc32(data), len(data), len(body) + 20)


def _unlzip(data: bytes) -> bytes:
    size = struct.unpack_from("<Q", data, len(data) - 16)[0]
    alone = b"\x5d" + struct.pack("<LQ", 1 << 20, 0xFFFFFFFFFFFFFFFF) + data[6:-20]
    return lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(alone, size)


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def _lzw(data: bytes) -> bytes:
    """Return data as the old `compress` packs them, in codes of 9 to 16 bits."""
    table = {bytes((code,)): code for code in range(256)}
    output, bits, count, width, written = bytearray(b"\x1f\x9d\x90"), 0, 0, 9, 0
    following = 257

    def put(code: int) -> None:
        nonlocal bits, count, written
        bits |= code << count
        count += width
        written += 1
        while count >= 8:
            output.append(bits & 255)
            bits >>= 8
            count -= 8

    current = b""
    for byte in data:
        longer = current + bytes((byte,))
        if longer in table:
            current = longer
            continue
        put(table[current])
        if following < 512:
            table[longer] = following
            following += 1
        current = bytes((byte,))
    put(table[current])
    return bytes(output) + (bytes((bits & 255,)) if count else b"")


def _unlzw(data: bytes) -> bytes:
    table = {code: bytes((code,)) for code in range(256)}
    bits = int.from_bytes(data[3:], "little")
    codes = [bits >> 9 * at & 511 for at in range((len(data) - 3) * 8 // 9)]
    output, previous = [table[codes[0]]], table[codes[0]]
    for following, code in enumerate(codes[1:], 257):
        entry = table.get(code, previous + previous[:1])
        if following < 512:
            table[following] = previous + entry[:1]
        output.append(entry)
        previous = entry
    return b"".join(output)


def _ar(values: Values) -> bytes:
    contents = _lines(values)
    header = f"{'notes.txt/':16}{'0':12}{'0':6}{'0':6}{'100644':8}{len(contents):<10}`\n".encode()
    return b"!<arch>\n" + header + contents + b"\n" * (len(contents) % 2)


def _cpio(values: Values) -> bytes:
    def member(name: str, contents: bytes) -> bytes:
        raw = name.encode() + b"\0"
        fields = [1, 0o100644, 0, 0, 1, 0, len(contents), 0, 0, 0, 0, len(raw), 0]
        head = b"070701" + "".join(f"{field:08X}" for field in fields).encode() + raw
        return head + b"\0" * (-len(head) % 4) + contents + b"\0" * (-len(contents) % 4)

    return member("notes.txt", _lines(values)) + member("TRAILER!!!", b"")


def pixels(values: Values) -> bytes:
    """Return bytes of a picture that hold values as text, among darker and lighter ones."""
    text = prose(values, 2).encode()
    return (
        text + bytes(values.random.choices(range(32, 127), k=64 * 48 - len(text)))
        if len(text) < 64 * 48
        else text
    )


def picture(head: bytes) -> Callable[[Values], bytes]:
    return lambda values: head + pixels(values)


def _xpm(values: Values) -> bytes:
    return f'/* XPM */\nstatic char *a[] = {{\n"2 1 2 1",\n"a c #000000",\n"b c #ffffff",\n"ab"}};\n/* {prose(values, 1)} */\n'.encode()


def _drawio(values: Values) -> bytes:
    inner = f'<mxGraphModel><root><mxCell id="0" value="{prose(values, 1)}"/></root></mxGraphModel>'
    packed = base64.b64encode(_raw_deflate(urllib.parse.quote(inner).encode())).decode()
    return f'<mxfile host="app"><diagram name="Page-1" id="a">{packed}</diagram></mxfile>'.encode()


def _read_drawio(data: bytes) -> str:
    text = ElementTree.fromstring(data).findtext("diagram") or ""
    try:
        return urllib.parse.unquote(zlib.decompress(base64.b64decode(text), -15).decode())
    except (zlib.error, ValueError):
        return text


# ---- archives and documents


def _named_zip(values: Values) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, (label, value) in enumerate(values.labelled()):
            name = (
                f"{value}.txt",
                f"export_{value}.csv",
                f"{label}_{value}.txt",
                f"a/{label}-{value}/b.md",
            )[at % 4]
            archive.writestr(name, "nothing of interest\n")
    return output.getvalue()


def _read_zip(data: bytes) -> str:
    texts = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            contents = archive.read(name)
            texts += [
                name,
                contents.decode("latin-1"),
                re.sub(r"<[^>]*>", "", contents.decode("latin-1")),
            ]
            texts.append(urllib.parse.unquote_plus(texts[-2]))
    return "\n".join(texts)


def _named_tar(values: Values) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for label, value in values.labelled():
            member = tarfile.TarInfo(f"{label}_{value}.txt")
            member.size = 8
            archive.addfile(member, io.BytesIO(b"nothing\n"))
    return output.getvalue()


def _read_tar(data: bytes) -> str:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return "\n".join(archive.getnames())


def _docx(values: Values, between: Callable[[Any], None]) -> bytes:
    import docx

    document = docx.Document()
    for label, value in values.labelled():
        run = document.add_paragraph(f"{label}: ").add_run()
        first, second = halves(values, value)
        run.add_text(first.rstrip())
        between(run)
        run.add_text(second)
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def _excel(values: Values) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for label, value in values.labelled():
        book.active.append([label, f"{label}: {broken_value(values, value, chr(10))}"])
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()


def _powerpoint(values: Values) -> bytes:
    import pptx

    slides = pptx.Presentation()
    frame = slides.slides.add_slide(slides.slide_layouts[1]).placeholders[1].text_frame
    for label, value in values.labelled():
        first, second = halves(values, value)
        frame.add_paragraph().text = f"{label}: {first.rstrip()}\v{second}"
    output = io.BytesIO()
    slides.save(output)
    return output.getvalue()


def _html_breaks(values: Values) -> bytes:
    lines = "".join(
        f"<p>{label}: {broken_value(values, value, '<br>')}</p>"
        for label, value in values.labelled()
    )
    return f"<!DOCTYPE html><html><body>{lines}</body></html>".encode()


def _json_wraps(values: Values) -> bytes:
    return json.dumps([wrapped(prose(values), 60), {"t": wrapped(prose(values), 44)}]).encode()


def _docx_links(values: Values) -> bytes:
    import docx

    document = docx.Document()
    document.add_paragraph("see")
    for number, (label, value) in enumerate(values.labelled()):
        query = urllib.parse.quote_plus(value) if number % 2 else urllib.parse.quote(value)
        target = (
            f"https://shop.example/find?{label}={query}"
            if number != 3
            else f"mailto:desk@shop.example?cc={query}&subject=order"
        )
        document.part.relate_to(
            target,
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink",
            is_external=True,
        )
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def _odt(values: Values) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        flat = _flat_odf(values).decode()
        content = flat.replace("office:document ", "office:document-content ").replace(
            "</office:document>", "</office:document-content>"
        )
        archive.writestr(
            "content.xml",
            content.replace(' office:mimetype="application/vnd.oasis.opendocument.text"', ""),
        )
        archive.writestr("Configurations2/accelerator/current.xml", "")
        archive.writestr(
            "META-INF/manifest.xml",
            '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
            "</manifest:manifest>",
        )
    return output.getvalue()


def _rtf(values: Values) -> bytes:
    return (
        r"{\rtf1\ansi "
        + prose(values, 1).replace("{", "")
        + r"\par {\pict\bin99999 "
        + prose(values, 1)
        + "}}"
    ).encode()


def _text_kinds() -> Iterator[Kind]:
    yield Kind(
        "hard wraps", ".txt", lambda v: wrapped(prose(v), v.random.randint(40, 76)).encode(), utf8
    )
    yield Kind("broken lines", ".txt", soft(lambda v, b: broken(v, b), "\n"), utf8)
    yield Kind("HTML hard wraps", ".html", _hard_html, shown)
    yield Kind("CSV cells", ".csv", soft(_csv_cells, "\n"), utf8)
    yield Kind(
        "TOML",
        ".toml",
        soft(lambda v, b: broken(v, b, 'k{label} = """{value}"""\n'), "\\\n  "),
        lambda d: leaves(tomllib.loads(d.decode())),
    )
    yield Kind(
        "properties",
        ".properties",
        soft(lambda v, b: broken(v, b, "{label}={value}\n"), "\\\n    "),
        _properties_text,
    )
    yield Kind("YAML", ".yaml", soft(_yaml, ""), utf8)
    yield Kind("vCard", ".vcf", _vcard, _unfolded)
    yield Kind("LDIF", ".ldif", _ldif, _unfolded)
    yield Kind("iCalendar", ".ics", _calendar, _unfolded)
    yield Kind("base64 of gzip", ".json", _gzipped_base64, _read_gzipped_base64)
    yield Kind("HAR", ".har", _har, _read_har)
    yield Kind("form data", ".txt", _form, lambda d: urllib.parse.unquote_plus(d.decode()))
    yield Kind("SQL hexadecimal", ".sql", _sql, _read_sql)
    yield Kind("uuencode", ".txt", _uuencoded, _read_uuencoded)
    for codec in ("cp037", "cp500", "utf-16-le", "utf-16", "utf-32"):
        yield Kind(f"text in {codec}", ".txt", *encoded(codec))
    yield Kind("cells without end tags", ".html", _cells_without_ends, shown)
    yield Kind("HTML spans", ".html", _spans, shown)
    yield Kind("XML spans", ".xml", _xml_spans, xml_texts)
    yield Kind("flat OpenDocument", ".fodt", _flat_odf, xml_texts)
    yield Kind("data: URIs", ".html", _data_uri, shown)
    yield Kind("plist data", ".plist", _plist_data, _read_plist)
    yield Kind("long plist data", ".plist", _long_plist_data, _read_plist)
    yield Kind("YAML binary", ".yaml", _yaml_binary, _read_yaml_binary)
    yield Kind(
        "colours of terminals",
        ".log",
        _coloured,
        lambda d: re.sub(r"\x1b\[[\d;]*m", "", d.decode()),
    )
    yield Kind("Markdown", ".md", _markdown, _read_markdown)
    yield Kind("notebook", ".ipynb", _notebook, lambda d: leaves(json.loads(d)))
    yield Kind("RTF \\bin", ".rtf", _rtf, utf8, may_block=True)


def _other_kinds() -> Iterator[Kind]:
    yield Kind("mail hard wraps", ".eml", _mail(_wrapped_body), _read_mail)
    yield Kind("mail quoted-printable", ".eml", _mail(_quoted_body), _read_mail)
    yield Kind("mail replies", ".eml", _mail(_replied_body), _read_mail)
    yield Kind("mail uuencode", ".eml", _mail(_uu_body), _read_mail)
    yield Kind("mail attachment names", ".eml", _mail(_attached), _read_mail)
    yield Kind("mail UTF-7", ".eml", _mail(_utf7_body), _read_mail)
    yield Kind("zip names", ".zip", _named_zip, _read_zip)
    yield Kind("tar names", ".tar", _named_tar, _read_tar)
    yield Kind(
        "Word line breaks", ".docx", lambda v: _docx(v, lambda run: run.add_break()), _read_zip
    )
    yield Kind("Excel line breaks", ".xlsx", _excel, _read_zip)
    yield Kind("PowerPoint line breaks", ".pptx", _powerpoint, _read_zip)
    yield Kind("HTML line breaks", ".html", _html_breaks, shown)
    yield Kind("JSON hard wraps", ".json", _json_wraps, lambda d: leaves(json.loads(d)))
    yield Kind(
        "lines of a shell", ".sh", soft(lambda v, b: broken(v, b), "\\\n  "), _properties_text
    )
    yield Kind("Word tabs", ".docx", lambda v: _docx(v, lambda run: run.add_tab()), _read_zip)
    yield Kind("Word links", ".docx", _docx_links, _read_zip)
    yield Kind("OpenDocument", ".odt", _odt, _read_zip)
    yield Kind("drawio", ".drawio", _drawio, _read_drawio)
    yield Kind("MessagePack", ".msgpack", lambda v: _packed(_tree(v)), _read_msgpack)
    yield Kind("CBOR", ".cbor", lambda v: _cbor(_tree(v)), _read_cbor)
    yield Kind(
        "binary plist",
        ".plist",
        lambda v: plistlib.dumps(_tree(v), fmt=plistlib.FMT_BINARY),
        _read_plist,
    )
    yield Kind(
        "numpy", ".npy", _numpy, lambda d: d[128:].decode("utf-32-le", "replace"), may_block=True
    )
    yield Kind(
        "lzma",
        ".lzma",
        lambda v: lzma.compress(_lines(v), lzma.FORMAT_ALONE),
        lambda d: lzma.decompress(d).decode(),
    )
    yield Kind(
        "lzip", ".lz", lambda v: _lzip(_lines(v)), lambda d: _unlzip(d).decode(), may_block=True
    )
    yield Kind(
        "zlib", ".zz", lambda v: zlib.compress(_lines(v)), lambda d: zlib.decompress(d).decode()
    )
    yield Kind(
        "raw deflate",
        ".bin",
        lambda v: _raw_deflate(_lines(v)),
        lambda d: zlib.decompress(d, -15).decode(),
        may_block=True,
    )
    yield Kind(
        "compress",
        ".Z",
        lambda v: _lzw(_lines(v)[:300]),
        lambda d: _unlzw(d).decode("latin-1"),
        may_block=True,
    )
    yield Kind("ar", ".deb", _ar, utf8, may_block=True)
    yield Kind("cpio", ".cpio", _cpio, utf8, may_block=True)
    yield Kind(
        "squashfs",
        ".sqfs",
        lambda v: b"hsqs" + bytes(60) + _raw_deflate(_lines(v)),
        lambda d: zlib.decompress(d[64:], -15).decode(),
        may_block=True,
    )
    for name, suffix, head in (
        ("PGM", ".pgm", b"P5\n64 48\n255\n"), ("PPM", ".ppm", b"P6\n64 16\n255\n"), ("PBM", ".pbm", b"P4\n64 384\n"),
        ("TGA", ".tga", b"\0\0\2\0\0\0\0\0\0\0\0\0\x40\0\x10\0\x18\x20"), ("SGI", ".sgi", b"\x01\xda\0\1\0\2\0\x40\0\x30\0\1" + bytes(500)),
        ("DDS", ".dds", b"DDS \x7c\0\0\0\x07\x10\0\0" + bytes(116)), ("PCX", ".pcx", b"\n\5\1\x08\0\0\0\0\x3f\0\x2f\0" + bytes(116)),
    ):  # fmt: skip
        yield Kind(name, suffix, picture(head), lambda d: d.decode("latin-1"), may_block=True)
    yield Kind("XPM", ".xpm", _xpm, utf8, may_block=True)


def _line_kinds() -> Iterator[Kind]:
    """Values over two lines, or two strings, of which only signs say that they go on."""
    for name, suffix, between, line in (
        ("comments of C", ".c", "\n// ", "// {label}: {value}\n"),
        ("comments of Java", ".java", "\n * ", " * {label}: {value}\n"),
        ("comments of Python", ".py", "\n# ", "# {label}: {value}\n"),
        ("differences", ".diff", "\n+", "+{label}: {value}\n"),
        ("strings of JavaScript", ".js", '" +\n  "', 'const {label} = "{value}";\n'),
        ("strings of Python", ".py", '"\n    "', '{label} = ("{value}")\n'),
        ("strings of SQL", ".sql", "' || '", "SELECT '{label}', '{value}';\n"),
        ("translations", ".po", '"\n"', 'msgid "{label}"\nmsgstr ""\n"{value}"\n\n'),
        ("lines of PowerShell", ".ps1", "`\n", '${label} = "{value}"\n'),
        ("folded YAML", ".yaml", "\n  ", "{label}: >-\n  {value}\n"),
        ("breaks in Markdown", ".md", "<br>", "|{label}|{value}|\n"),
        ("logs", ".log", "\n10:12 INFO ", "10:11 INFO {label}: {value}\n10:12 INFO done\n"),
        ("listings", ".txt", "\n  12\t", "  9\t{label}: {value}\n  13\tok\n"),
        ("lines of old systems", ".txt", "\r", "{label}: {value}\r"),
        ("calls of Java", ".java", '");\n  b.append("', '  b.append("{label} {value}");\n'),
        (
            "messages of rich text",
            ".json",
            '"}, {"a": {"b": true}, "text": "',
            '[{{"text": "{label} {value}"}}]\n',
        ),
        ("blocks of HTML", ".html", "</p>\n<p>", "<p>{label}: {value}</p>\n"),
    ):
        yield Kind(name, suffix, _parted(between, line), _rejoined(between))


def _parted(between: str, line: str) -> Callable[[Values], bytes]:
    def make(values: Values) -> bytes:
        pairs = ((label, *halves(values, value)) for label, value in values.labelled())
        return "".join(
            line.format(label=label, value=first + between + second)
            for label, first, second in pairs
        ).encode()

    return make


def _rejoined(between: str) -> Reader:
    return lambda data: data.decode().replace(between, "")


def _zlib_base64(values: Values) -> bytes:
    packed = base64.b64encode(zlib.compress(_lines(values))).decode()
    return json.dumps({"payload": packed}).encode()


def _tar_slack(values: Values) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"hello"))
    text = _lines(values)[:400]
    values.planted = [value for value in values.planted if value.encode() in text]
    data = bytearray(output.getvalue())
    data[520 : 520 + len(text)] = text
    return bytes(data)


def _small_picture(kind: str) -> bytes:
    from PIL import Image

    output = io.BytesIO()
    Image.new("RGB", (16, 16), (255, 255, 255)).save(output, kind)
    return output.getvalue()


def _gif_comment(values: Values) -> bytes:
    text = _lines(values)[:200]
    values.planted = [value for value in values.planted if value.encode() in text]
    return _small_picture("GIF")[:-1] + b"\x21\xfe" + bytes((len(text),)) + text + b"\0;"


def _hidden_kinds() -> Iterator[Kind]:
    """Values in bytes that no usual program shows."""
    yield Kind(
        "base64 of zlib",
        ".json",
        _zlib_base64,
        lambda d: zlib.decompress(base64.b64decode(json.loads(d)["payload"])).decode(),
    )
    yield Kind("TAR slack", ".tar", _tar_slack, lambda d: d.decode("latin-1"))
    yield Kind("GIF comments", ".gif", _gif_comment, lambda d: d.decode("latin-1"))
    for name in ("GIF", "WEBP", "BMP", "TIFF"):
        yield Kind(
            f"after a {name}",
            f".{name.lower()}",
            lambda v, name=name: _small_picture(name) + _lines(v),
            lambda d: d.decode("latin-1"),
        )


# ---- marks that nobody sees, tables and escapes


def _each(line: Callable[[int, str, str, str], str], start: str = "", end: str = "") -> Any:
    """Return what makes a document of a line for each value, which gets it in two parts."""

    def make(values: Values) -> bytes:
        rows = [(label, *halves(values, value)) for label, value in values.labelled()]
        return (start + "".join(line(n, *row) for n, row in enumerate(rows)) + end).encode()

    return make


def _without(regex: str, instead: str = "") -> Reader:
    return lambda data: re.sub(regex, instead, data.decode())


def _cue(number: int, text: str, sign: str = ",") -> str:
    return f"{number}\n00:00:{number:02}{sign}000 --> 00:00:{number:02}{sign}900\n{text}\n\n"


def _row(_: int, label: str, first: str, second: str) -> str:
    rows = f"| {label:6} | {first:28} | see |\n| {'':6} | {second:28} | it |\n"
    return f"{rows}+--------+{'-' * 30}+-----+\n"


def _aligned_row(_: int, label: str, first: str, second: str) -> str:
    return f"{label:6}  {first:28}  see\n{'':6}  {second:28}  it\n"


def _second_column(start: int) -> Reader:
    return lambda data: "".join(line[start : start + 28] for line in data.decode().splitlines())


def _drawing(number: int, label: str, first: str, second: str) -> str:
    text = (
        f"  3\n{label} {first}\n  1\n{second} ok",
        f"  1\n{label} {{\\fArial|b0;{first}}}%%u{second} ok",
        f"  1\n{label} {first}\\C1;{second}\\~ok",
    )[number % 3]
    return f"  0\nMTEXT\n  8\n0\n{text}\n"


def _latex(_: int, label: str, first: str, second: str) -> str:
    value = (first + second).replace(" ", "~").replace("-", "{-}").replace("@", "\\-@")
    return f"Her {label} is \\textbf{{{value[:6]}}}{value[6:]} here.\n"


def _text(values: Values) -> str:
    return "".join(f"her {label} is {value} ok\n" for label, value in values.labelled())


def _dumped(canonical: bool) -> Callable[[Values], bytes]:
    def make(values: Values) -> bytes:
        text, lines = _text(values).encode(), []
        for at in range(0, len(text), 16):
            row = text[at : at + 16]
            shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
            pairs = f"{row[:8].hex(' '):23}  {row[8:].hex(' '):23}"
            lines.append(
                f"{at:08x}  {pairs}  |{shown}|"
                if canonical
                else f"{at:08x}: {row.hex(' ', -2):39}  {shown}"
            )
        return "\n".join(lines).encode()

    return make


def _undumped(data: bytes) -> str:
    shown = "".join(line[-18:].strip("| ") for line in data.decode().splitlines())
    digits = "".join(re.findall(r"(?<=[: ])(?:[0-9a-f]{2}){1,2}(?= )", data.decode()))
    return shown + bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("latin-1")


def _escaped(form: str) -> Callable[[Values], bytes]:
    return lambda values: "".join(
        f'{label} = "{"".join(form.format(ord(char)) for char in value)}";\n'
        for label, value in values.labelled()
    ).encode()


def _unescaped(regex: str, base: int = 16) -> Reader:
    return lambda data: re.sub(regex, lambda found: chr(int(found[1], base)), data.decode())


def _coded(encode: Callable[[bytes], bytes]) -> Callable[[Values], bytes]:
    return lambda values: b"see " + encode(_text(values).encode()) + b" there\n"


def _uncoded(decode: Callable[[bytes], bytes]) -> Reader:
    def read(data: bytes) -> str:
        try:
            return decode(data.split()[1]).decode()
        except ValueError:
            return data.decode()

    return read


def _deflated_base64(values: Values) -> bytes:
    return json.dumps(
        {"a": base64.b64encode(_raw_deflate(_text(values).encode())).decode()}
    ).encode()


def _read_deflated_base64(data: bytes) -> str:
    return zlib.decompress(base64.b64decode(json.loads(data)["a"]), -15).decode()


def _overstruck(values: Values) -> bytes:
    return re.sub(
        r"(?<=is )[^\n]*(?= ok)",
        lambda found: "".join(f"_\b{char}\b{char}" for char in found[0]),
        _text(values),
    ).encode()


def _grouped(values: Values) -> list[list[str]]:
    return [values.card().split(), values.iban().split()]


def _group_cells(values: Values) -> bytes:
    output = io.StringIO(newline="")
    csv.writer(output, quoting=csv.QUOTE_ALL).writerows(_grouped(values))
    return output.getvalue().encode()


def _shown_kinds() -> Iterator[Kind]:
    """Values that are parted or spelled by marks, which every viewer or program takes away."""
    yield Kind("VTT tags", ".vtt", _each(
        lambda n, label, first, second: _cue(n, f"{label} {first}<c.yellow>{second}</c> ok", "."), "WEBVTT\n\n"
    ), _without(r"<[^>]*>"))  # fmt: skip
    yield Kind("SRT captions", ".srt", _each(
        lambda n, label, first, second: _cue(2 * n, f"your {label} is {first}") + _cue(2 * n + 1, f"{second} ok")
    ), _without(r"\n\d+\n.*-->.*\n"))  # fmt: skip
    yield Kind(
        "grid tables", ".rst", _each(_row, f"+========+{'=' * 30}+=====+\n"), _second_column(11)
    )
    rule = f"======  {'=' * 28}  ====\n"
    yield Kind("simple tables", ".rst", _each(_aligned_row, rule, rule), _second_column(8))
    yield Kind("DXF", ".dxf", _each(_drawing, "  0\nSECTION\n", "  0\nEOF\n"),
               _without(r"\n  1\n|\\[fC][^;]*;|[{}]|%%u"))  # fmt: skip
    yield Kind("LaTeX", ".tex", _each(_latex), _without(r"\\textbf|\\-|[{}~]"))
    yield Kind("hexdump", ".txt", _dumped(canonical=True), _undumped)
    yield Kind("xxd", ".txt", _dumped(canonical=False), _undumped)
    yield Kind("numbered hexdump", ".txt", lambda v: b"\n".join(
        b"%6d\t%s" % each for each in enumerate(_dumped(canonical=True)(v).splitlines(), 1)
    ), lambda data: _undumped(re.sub(rb"(?m)^ *[0-9]+\t", b"", data)))  # fmt: skip
    for name, suffix, form, regex, base in (
        ("escapes of ECMAScript", ".js", "\\u{{{:x}}}", r"\\u\{([0-9a-f]+)\}", 16),
        ("octal escapes", ".c", "\\{:03o}", r"\\([0-7]{3})", 8),
        ("escapes of CSS", ".css", "\\{:x} ", r"\\([0-9a-f]{2}) ", 16),
        ("references without ends", ".txt", "&#x{:x}", r"&#x([0-9a-f]{2})", 16),
    ):
        yield Kind(name, suffix, _escaped(form), _unescaped(regex, base))
    yield Kind("base32", ".txt", _coded(base64.b32encode), _uncoded(base64.b32decode))
    yield Kind("ascii85", ".txt", _coded(lambda data: base64.a85encode(data, adobe=True)),
               _uncoded(lambda data: base64.a85decode(data, adobe=True)))  # fmt: skip
    yield Kind("base64 of raw deflate", ".json", _deflated_base64, _read_deflated_base64)
    yield Kind("overstruck", ".txt", _overstruck, _without("_\b|\b."))
    yield Kind("cells of groups", ".csv", _group_cells, utf8)
    yield Kind("items of groups", ".json", lambda v: json.dumps(_grouped(v)).encode(), utf8)
    yield Kind("tags in Markdown", ".md", _each(
        lambda _, label, first, second: f"- {label}: {first}<b>{second}</b>\n"
    ), _without("<[^>]*>"))  # fmt: skip


# ---- what programs write: lists of numbers, binaries in texts, streams and patches


def _listed(form: str, start: str, end: str) -> Callable[[Values], bytes]:
    def make(values: Values) -> bytes:
        return "".join(
            start + ",".join(form.format(ord(char)) for char in f"{label} {value}") + end
            for label, value in values.labelled()
        ).encode()

    return make


def _unlisted(regex: str, base: int) -> Reader:
    return lambda data: "".join(
        chr(int(code, base) % 256) for code in re.findall(regex, data.decode())
    )


def _registry(values: Values) -> bytes:
    lines = ["Windows Registry Editor Version 5.00", "", "[HKEY_CURRENT_USER\\Software\\App]"]
    for label, value in values.labelled():
        codes = [f"{code:02x}" for code in value.encode("utf-16-le") + b"\0\0"]
        rows = [",".join(codes[at : at + 20]) for at in range(0, len(codes), 20)]
        lines += f'"{label}"=hex(1):{",|  ".join(rows)}'.replace("|", "\\\n").split("\n")
    return "\r\n".join([*lines, ""]).encode("utf-16")


def _read_registry(data: bytes) -> str:
    text = re.sub(r"\\\r\n *", "", data.decode("utf-16"))
    codes = re.findall(r"hex\(1\):([0-9a-f,]+)", text)
    return "\n".join(
        bytes.fromhex(each.replace(",", "")).decode("utf-16-le", "replace") for each in codes
    )


def _certificate(values: Values) -> bytes:
    """Return what looks like a certificate: strings after their types and lengths, in base64."""
    fields = [f"{label} {value}".encode() for label, value in values.labelled()]
    coded = base64.encodebytes(
        b"\x30\x82\x01\x0a" + b"".join(b"\x0c" + bytes((len(each),)) + each for each in fields)
    ).decode()
    return f"-----BEGIN CERTIFICATE-----\n{coded}-----END CERTIFICATE-----\n".encode()


def _uncoded_runs(data: bytes) -> str:
    """Return all base64 of a text, decoded, and of what it says."""
    texts = [data.decode("latin-1")]
    for run in re.findall(r"[\w+/]{24,}(?:\n[\w+/]+)*={0,2}", texts[0]):
        with suppress(binascii.Error):
            texts.append(_uncoded_runs(base64.b64decode("".join(run.split()))))
    return "\n".join(texts)


def _configuration(values: Values) -> bytes:
    return b"user:\n  client-certificate-data: " + base64.b64encode(_certificate(values)) + b"\n"


def _streamed(start: str, end: str) -> Callable[[Values], bytes]:
    def make(values: Values) -> bytes:
        text = _text(values)
        words = (text[at : at + 4] for at in range(0, len(text), 4))
        return "".join(f"{start}{json.dumps(word)}{end}" for word in words).encode()

    return make


def _read_stream(data: bytes) -> str:
    lines = (line.removeprefix("data: ") for line in data.decode().splitlines())
    records = (json.loads(line) for line in lines if line)
    return "".join(
        each[2] if isinstance(each, list) else each["delta"]["content"] for each in records
    )


_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _patch(values: Values) -> bytes:
    text = _text(values).encode()
    packed = zlib.compress(text)
    rows = [packed[at : at + 52] for at in range(0, len(packed), 52)]
    lines = [_LENGTHS[len(row) - 1] + base64.b85encode(row, pad=True).decode() for row in rows]
    head = "diff --git a/a.bin b/a.bin\nindex 0000000..1111111\nGIT binary patch\n"
    return (
        f"{head}literal {len(text)}\n{chr(10).join(lines)}\n\nliteral 0\nHcmV?d00001\n\n".encode()
    )


def _unpatched(data: bytes) -> str:
    lines = data.decode().split("\n\n")[0].splitlines()[4:]
    rows = (base64.b85decode(line[1:])[: _LENGTHS.index(line[0]) + 1] for line in lines)
    return zlib.decompress(b"".join(rows)).decode()


def _word_2003(values: Values) -> bytes:
    run = "<w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r>"
    body = "".join(
        f"<w:p>{''.join(map(run.format, (label + ': ', *halves(values, value))))}</w:p>"
        for label, value in values.labelled()
    )
    space = 'xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"'
    return f'<?xml version="1.0"?><w:wordDocument {space}><w:body>{body}</w:body></w:wordDocument>'.encode()


def _groups(value: str) -> list[str]:
    return re.split(r"[ -]", value)


def _numbers(values: Values) -> list[tuple[str, str]]:
    return [(label, value) for label, value in values.labelled() if "@" not in value]


def _table_of_groups(values: Values) -> bytes:
    rows = ([label, *_groups(value)] for label, value in _numbers(values))
    values.planted = [value for value in values.planted if "@" not in value]
    body = "".join(f"<tr>{''.join(f'<td> {cell} </td>' for cell in row)}</tr>" for row in rows)
    return f"<html><body><table>{body}</table></body></html>".encode()


def _word_table(values: Values) -> bytes:
    import docx

    document = docx.Document()
    table = document.add_table(0, 34)
    for number, (label, value) in enumerate(_numbers(values)):
        cells = [label, *(value if number % 2 else _groups(value))]
        for cell, text in zip(table.add_row().cells, cells, strict=False):
            cell.text = text
    values.planted = [value for value in values.planted if "@" not in value]
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def _bookmarks(values: Values) -> bytes:
    import docx
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document = docx.Document()
    paragraph = document.add_paragraph("see")
    for label, value in values.labelled():
        mark = OxmlElement("w:bookmarkStart")
        mark.set(qn("w:name"), f"{label}_{value}")
        paragraph._p.append(mark)
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def _spelled_cells(values: Values) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for label, value in values.labelled():
        book.active.append([label, *value.replace(" ", "")])
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()


def _read_cells(data: bytes) -> str:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data))
    return "\n".join(
        "".join(str(cell) for cell in row if cell is not None)
        for row in book.active.iter_rows(values_only=True)
    )


def _with_extra_fields(values: Values) -> bytes:
    output = io.BytesIO()
    text = _text(values).encode()
    with zipfile.ZipFile(output, "w") as archive:
        member = zipfile.ZipInfo("a.txt")
        member.extra = struct.pack("<HH", 0xCAFE, len(text)) + text
        archive.writestr(member, "nothing\n")
    return output.getvalue()


def _after_members(values: Values) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("a.txt", "nothing\n")
    return output.getvalue() + _text(values).encode()


def _after_pages(values: Values) -> bytes:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE a (b)")
        return database.serialize() + _text(values).encode()


def _program_kinds() -> Iterator[Kind]:
    """Values in lists, binaries, streams and tables as programs write them."""
    yield Kind("bytes of JSON", ".json", lambda v: json.dumps({"data": list(_text(v).encode())}).encode(),
               _unlisted(r"\b(\d{1,3})\b", 10))  # fmt: skip
    yield Kind(
        "arrays of C", ".c", _listed("0x{:02x}", "char a[] = {", "};\n"), _unlisted(r"0x(\w\w)", 16)
    )
    yield Kind("codes of characters", ".js", _listed("{}", "f(", ");\n"), _unlisted(r"(\d+)", 10))
    yield Kind("registry", ".reg", _registry, _read_registry)
    yield Kind("certificates", ".pem", _certificate, _uncoded_runs)
    yield Kind("certificates of configurations", ".yaml", _configuration, _uncoded_runs)
    yield Kind(
        "answers of models", ".txt", _streamed('data: {"delta":{"content":', "}}\n\n"), _read_stream
    )
    yield Kind("recorded terminals", ".cast", _streamed('[0.5, "o", ', "]\n"), _read_stream)
    yield Kind("patches of git", ".patch", _patch, _unpatched)
    yield Kind("XML of Word 2003", ".xml", _word_2003, xml_texts)
    yield Kind("cells of groups in HTML", ".html", _table_of_groups, shown)
    yield Kind("cells of groups in Word", ".docx", _word_table, _read_zip)
    yield Kind("names of bookmarks", ".docx", _bookmarks, _read_zip)
    yield Kind("characters in cells", ".xlsx", _spelled_cells, _read_cells)
    yield Kind("after a ZIP", ".zip", _after_members, lambda d: d.decode("latin-1"))
    yield Kind("extra fields of a ZIP", ".zip", _with_extra_fields, lambda d: d.decode("latin-1"))
    yield Kind("after a database", ".db", _after_pages, lambda d: d.decode("latin-1"))
    for name, suffix, between, regex in (
        ("movements of a cursor", ".log", "\x1b[1C\x1b[0K", "\x1b\\[[0-9;]*[A-Z]"),
        ("named colours", ".log", "^[[31m", r"\^\[\[31m"),
        ("comments in HTML", ".html", "<!-- x -->", "<!--.*?-->"),
        ("elements of their own", ".html", "<x-y>", "<x-y>"),
        ("instructions in XML", ".xml", "<?x y?>", r"<\?.*?\?>"),
        ("fonts of man pages", ".man", r"\fB", r"\\fB"),
        ("codes of POD", ".pod", "I<", "I<"),
        ("passed text of AsciiDoc", ".adoc", "pass:[]", r"pass:\[\]"),
        ("roles of reStructuredText", ".rst", r"\ :sub:`", r"\\ :sub:`"),
        ("braces of BibTeX", ".bib", "}{", "}{"),
    ):
        yield Kind(name, suffix, _each(
            lambda _, label, first, second, between=between: f"<p>{label}: {first}{between}{second}</p>\n", "<a>", "</a>"
        ), _without(regex))  # fmt: skip


# ---- parts of packages of Office, and of files like these

_OPENXML = "http://schemas.openxmlformats.org"


def _mixed(values: Values) -> bytes:
    rows = [(label, *halves(values, value)) for label, value in values.labelled()]
    cut = values.key()
    notes = [
        f"<note>{label}{' of' * (n % 2)} <i>{first}</i><i>{second}</i>{'' if n % 2 else ' thanks'}</note>"
        for n, (label, first, second) in enumerate([*rows, ("AWS key", cut[:9], cut[9:])])
    ]
    return f"<notes>{''.join(notes)}</notes>".encode()


def _runs_of_hancom(_: int, label: str, first: str, second: str) -> str:
    return f"<h:p><h:run><h:t>{label} {first}</h:t></h:run><h:run><h:t>{second}</h:t></h:run></h:p>"


def _package(parts: dict[str, bytes | str], main: str = "", family: str = "") -> bytes:
    """Return a package of parts, with an empty main part if there is a family."""
    if family:
        parts = {
            "[Content_Types].xml": f'<Types xmlns="{_OPENXML}/package/2006/content-types">'
            '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/'
            f'{main}" ContentType="application/vnd.openxmlformats-officedocument.{family}.main+xml"/>'
            "</Types>",
            main: f'<main xmlns="{_OPENXML}/{family.partition(".")[0]}/2006/main"/>',
            **parts,
        }
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, contents in parts.items():
            archive.writestr(name, contents)
    return output.getvalue()


def _word(**parts: Callable[[Values], bytes | str]) -> Callable[[Values], bytes]:
    return lambda values: _package(
        {name: make(values) for name, make in parts.items()},
        "word/document.xml",
        "wordprocessingml.document",
    )


def _excel_parts(**parts: Callable[[Values], bytes | str]) -> Callable[[Values], bytes]:
    return lambda values: _package(
        {name: make(values) for name, make in parts.items()},
        "xl/workbook.xml",
        "spreadsheetml.sheet",
    )


def _glyphs(values: Values) -> bytes:
    """Return a page whose values are cut into glyphs that are beside each other, in two sizes."""
    lines = []
    for row, (label, value) in enumerate(values.labelled()):
        x = 40.0
        for text in (f"{label} ", *halves(values, value)):
            lines.append(
                f'<Glyphs OriginX="{x}" OriginY="{20 * row}" FontRenderingEmSize="10" '
                f'UnicodeString="{text}" Indices=",50;,50"/>'
            )
            x += 5 * len(text)
    page = (
        f'<FixedPage xmlns="http://schemas.microsoft.com/xps/2005/06">{"".join(lines)}</FixedPage>'
    )
    return _package({"Documents/1/Pages/1.fpage": page})


def _adjacent(values: Values) -> bytes:
    lines = []
    for row, (label, value) in enumerate(values.labelled()):
        first, second = value[:7], value[7:]
        start = f'<g transform="translate(0 {row})"><text x="10">{label}: {first}</text>'
        x = 10 + 8 * len(f"{label}: {first}")
        lines.append(f'{start}<text x="{x}">{second}</text></g>')
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(lines)}</svg>'.encode()


def _read_glyphs(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        page = archive.read("Documents/1/Pages/1.fpage").decode()
    assert all(
        "Indices" not in glyphs or 'Indices=""' in glyphs
        for glyphs in page.split("<Glyphs")
        if "*" in glyphs
    ), "masked characters keep their shapes"
    return "".join(re.findall(r'UnicodeString="([^"]*)"', page))


def _pivot_cache(values: Values) -> str:
    numbers = "".join(f'<n v="{re.sub("[^0-9]", "", values.ssn())}"/>' for _ in range(3))
    texts = "".join(f'<s v="{value}"/>' for _, value in values.labelled())
    return (
        '<pivotCacheDefinition><cacheFields><cacheField name="SSN"><sharedItems containsNumber="1">'
        f'{numbers}</sharedItems></cacheField><cacheField name="note"><sharedItems>{texts}'
        "</sharedItems></cacheField></cacheFields></pivotCacheDefinition>"
    )


def _annotated(values: Values) -> str:
    """Return paragraphs with a value above each value, directly before it in the source."""
    paragraphs = "".join(
        f"<w:p><w:r><w:ruby><w:rt><w:r><w:t>{values.card()}</w:t></w:r></w:rt><w:rubyBase><w:r>"
        f"<w:t>{label}: {value}</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>"
        for label, value in values.labelled()
    )
    return f'<w:hdr xmlns:w="{_OPENXML}/wordprocessingml/2006/main">{paragraphs}</w:hdr>'


def _queries(values: Values) -> bytes:
    """Return a part with queries of Excel, in UTF-16 and base64."""
    card, iban, ssn, mail = values.card(), values.iban(), values.ssn(), values.mail()
    formulas = f'section Section1; shared Q = [Query="select {mail}", Card="{card}"] in Q;'
    package = _package({"Formulas/Section1.m": formulas})
    metadata = f"<Items><Entry Value='IBAN {iban}'/></Items>".encode()
    described = bytes(4) + _sized(metadata) + _sized(b"")
    blocks = (package, b"<List/>", described, f"SSN {ssn}".encode())
    coded = base64.b64encode(bytes(4) + b"".join(map(_sized, blocks))).decode()
    return f'<?xml version="1.0"?><q><M>{coded}</M><n>{values.mail()}</n></q>'.encode("utf-16")


def _sized(block: bytes) -> bytes:
    return struct.pack("<I", len(block)) + block


def _read_queries(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        part = archive.read("customXml/item1.xml").decode("utf-16")
    queries = base64.b64decode(part.partition("<M>")[2].partition("<")[0])
    end = 8 + int.from_bytes(queries[4:8], "little")
    return part + _read_zip(queries[8:end]) + queries[end:].decode("latin-1")


def _after_bitmap(values: Values) -> bytes:
    from PIL import Image

    output = io.BytesIO()
    Image.new("RGB", (16, 16), "white").save(output, "BMP")
    return output.getvalue() + f"AWS key: {values.key()}".encode()


def _without_rowid(values: Values) -> bytes:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE a (b, c, d, PRIMARY KEY (b, c)) WITHOUT ROWID")
        for _ in range(3):
            row = (values.mail(), values.card(), f"SSN {values.ssn()}")
            database.execute("INSERT INTO a VALUES (?, ?, ?)", row)
        database.commit()
        return database.serialize()


def _segments(values: Values) -> bytes:
    """Return a picture with segments whose numbers those of JFIF and colour profiles have, too."""
    from PIL import Image

    output = io.BytesIO()
    Image.new("RGB", (16, 16), "white").save(output, "JPEG")
    data = output.getvalue()
    for number, start, value in (
        (0xE0, b"JFXX\0", values.card()), (0xE2, b"MPF\0", values.iban()), (0xEE, b"Note\0", values.mail()),
    ):  # fmt: skip
        contents = start + value.encode()
        data = data[:2] + struct.pack(">BBH", 0xFF, number, len(contents) + 2) + contents + data[2:]
    return data


def _package_kinds() -> Iterator[Kind]:
    """Values in parts of packages that the program keeps beside its document."""
    yield Kind("mixed content", ".xml", _mixed, xml_texts)
    yield Kind(
        "mixed content of Word", ".docx", _word(**{"customXml/item1.xml": _mixed}), _read_zip
    )
    yield Kind("ruby of Word", ".docx", _word(**{"word/header1.xml": _annotated}), _read_zip)
    queries = _excel_parts(**{"customXml/item1.xml": _queries})
    yield Kind("queries of Excel", ".xlsx", queries, _read_queries)
    cache = _excel_parts(**{"xl/pivotCache/pivotCacheDefinition1.xml": _pivot_cache})
    yield Kind("caches of pivot tables", ".xlsx", cache, _read_zip)
    yield Kind("after a bitmap", ".bmp", _after_bitmap, lambda d: d.decode("latin-1"))
    yield Kind("keys of SQLite", ".db", _without_rowid, lambda d: d.decode("latin-1"))
    yield Kind("segments of JPEG", ".jpg", _segments, lambda d: d.decode("latin-1"))
    yield Kind("glyphs of XPS", ".xps", _glyphs, _read_glyphs)
    yield Kind("adjacent texts in SVG", ".svg", _adjacent, _without('</text><text x="\\d+">'))
    hancom = _each(_runs_of_hancom, '<s xmlns:h="urn:h">', "</s>")
    yield Kind("runs of Hancom", ".hwpx",
               lambda v: _package({"Contents/section0.xml": hancom(v)}), _read_zip)  # fmt: skip


def _rows(values: Values, count: int = 3) -> list[list[tuple[str, str]]]:
    return [list(values.labelled()) for _ in range(count)]


def _separated(between: str, after: str) -> Callable[[Values], bytes]:
    """Return rows of values with separators, below a row of labels."""

    def make(values: Values) -> bytes:
        rows = _rows(values)
        cells = [[label for label, _ in rows[0]], *([value for _, value in row] for row in rows)]
        return "".join(between.join(row) + after for row in cells).encode()

    return make


def _tagged(values: Values) -> bytes:
    """Return messages of numbered fields, as banks exchange them."""
    fields = (f"58={label}: {value}" for row in _rows(values) for label, value in row)
    return b"8=FIX.4.4\x0135=B\x01" + "\x01".join(fields).encode() + b"\x0110=128\x01"


def _zero_padded(values: Values) -> bytes:
    lines = (f"{label}: {value}" for row in _rows(values) for label, value in row)
    return b"".join(line.encode().ljust(64, b"\0") for line in lines)


def _dbf(values: Values) -> bytes:
    rows = _rows(values)
    fields = b"".join(
        struct.pack("<11sc4xB15x", label.upper().replace(" ", "_").encode()[:10], b"C", 40)
        for label, _ in rows[0]
    )
    head = b"\x03\x7a\x01\x01" + struct.pack(
        "<IHH", len(rows), 33 + len(fields), 1 + 40 * len(rows[0])
    )
    cells = (" " + "".join(value.ljust(40) for _, value in row) for row in rows)
    return head + bytes(20) + fields + b"\r" + "".join(cells).encode() + b"\x1a"


def _bencode(value: Any) -> bytes:
    if isinstance(value, dict):
        return (
            b"d" + b"".join(map(_bencode, (part for pair in value.items() for part in pair))) + b"e"
        )
    if isinstance(value, list):
        return b"l" + b"".join(map(_bencode, value)) + b"e"
    if isinstance(value, int):
        return b"i%de" % value
    raw = value if isinstance(value, bytes) else str(value).encode()
    return b"%d:%b" % (len(raw), raw)


def _array(values: Values) -> bytes:
    import numpy

    output = io.BytesIO()
    numpy.save(
        output, numpy.array([f"{label}: {value}" for row in _rows(values) for label, value in row])
    )
    return output.getvalue()


def _read_array(data: bytes) -> str:
    import numpy

    return "\n".join(numpy.load(io.BytesIO(data)).tolist())


def _bencode_tree(values: Values) -> dict[str, Any]:
    return {
        "n": int(values.card().replace(" ", "")),
        "people": [_record(values), {"note": prose(values, 1)}],
    }


def _export_kinds() -> Iterator[Kind]:
    yield Kind("unit separators", ".dat", _separated("\x1f", "\x1e"), utf8)
    yield Kind("columns by SOH", ".csv", _separated("\x01", "\n"), utf8)
    yield Kind("vertical tabs", ".txt", _separated(";", "\x0b"), utf8)
    yield Kind("tagged messages", ".fix", _tagged, utf8)
    yield Kind("zero-padded records", ".dat", _zero_padded, utf8)
    yield Kind("dBASE", ".dbf", _dbf, utf8)
    yield Kind("bencode", ".torrent", lambda v: _bencode(_bencode_tree(v)), utf8)
    yield Kind("numpy texts", ".npy", _array, _read_array)


def _columns(number: int, label: str, first: str, second: str) -> str:
    labelled = f"{label}: {first}"
    return (
        f"{'the left column goes on':26}{labelled}\n{'with more of its words':26}{second}\n",
        f"{'Main Branch':26}{labelled:34}  page\n{'Main Street':26}{second:34}  of it\n",
        f" {label:22} | {first:34}+| x\n {'':22} | {second:34} | \n",
    )[number % 3]


def _in_columns(data: bytes) -> str:
    return "".join(line[26:60].strip() for line in data.decode().splitlines())


def _emphasized(_: int, label: str, first: str, second: str) -> str:
    return f"- {label}: _{first}{second}_\n"


def _words(form: str) -> Callable[[Values], bytes]:
    return lambda values: "".join(form.format(word) for word in _text(values).split()).encode()


def _read_words(regex: str) -> Reader:
    return lambda data: "".join(re.findall(regex, data.decode()))


_TIMES = "2026-03-04T10:11:12.123456789Z", "2026-03-04T10:11:13.5+01:00"


def _wrapped_keys(values: Values) -> bytes:
    commands = (f"$ {'x' * at} && export KEY={values.key()} && true" for at in (16, 22, 28))
    return "".join(f"{command[:48]}\n{command[48:]}\n" for command in commands).encode()


def _layout_kinds() -> Iterator[Kind]:
    """Values that a page, a table or a program that reads speech gives in places apart."""
    yield Kind("columns of text", ".txt", _each(_columns), _in_columns)
    yield Kind("emphasis by underscores", ".md", _each(_emphasized), utf8)
    yield Kind("wide gaps", ".txt", _each(
        lambda _, label, first, second: f"{label}: {first}  {second}\n"
    ), utf8)  # fmt: skip
    yield Kind("logs of containers", ".log", _each(
        lambda at, label, first, second: f"{_TIMES[at % 2]} stdout P {label} {first}\n{_TIMES[at % 2]} stdout F {second}\n"
    ), _without(r"\n\S+ stdout F "))  # fmt: skip
    yield Kind("wrapped keys", ".txt", _wrapped_keys, _without(r"\n"))
    yield Kind("words of entities", ".txt", _words("{} O\n"), _read_words(r"(?m)^(\S+)"))
    yield Kind("words of speech", ".ctm", _words("a 1 0.50 0.25 {} 0.9\n"),
               _read_words(r"(?m)^\S+ \S+ \S+ \S+ (\S+)"))  # fmt: skip
    yield Kind("characters in boxes", ".txt", lambda v: "".join(
        f"{label}: [{']['.join(value.replace(' ', ''))}]\n" for label, value in v.labelled()
    ).encode(), _without(r"[\[\] ]"))  # fmt: skip


def kinds() -> list[Kind]:
    return [
        *_text_kinds(), *_other_kinds(), *_line_kinds(), *_hidden_kinds(), *_shown_kinds(), *_program_kinds(),
        *_package_kinds(), *_export_kinds(), *_layout_kinds(),
    ]  # fmt: skip


class Outcome(NamedTuple):
    """The result for one document."""

    released: int
    """The planted values, or 0 where the document was blocked."""
    readable: int
    reason: str
    """The reason why the document was blocked, or the problem with the copy."""


def judge(kind: Kind, checker: Any, seed: int) -> Outcome:
    values = Values(seed)
    data = kind.make(values)
    before = squeezed(kind.read(data))
    unseen = [value for value in values.planted if squeezed(value) not in before]
    assert not unseen, f"{kind.name}: the foreign reader does not see {len(unseen)} values"
    report = checker.check(data, f"document{kind.suffix}")
    if report.masked is None:
        return Outcome(0, 0, report.report.summary)
    try:
        after = squeezed(kind.read(report.masked))
    except Exception as error:  # any failure of a foreign reader is damage
        return Outcome(len(values.planted), len(values.planted), f"damaged: {type(error).__name__}")
    readable = sum(squeezed(value) in after for value in values.planted)
    return Outcome(len(values.planted), readable, "")


def strict_checker() -> Any:
    """Return a checker by a policy that masks everything."""
    from dlpctl.files.checking import FileChecker
    from dlpctl.policy.model import Policy
    from dlpctl.preflight import checker_for

    policy = Policy.from_dict(
        {"name": "all", "version": "1.0", "rules": [
            {"name": "all", "dataTypes": ["PII", "PHI", "FINANCIAL", "SECRETS"], "destinations": ["VENDOR"], "action": "MASK"}
        ]}
    )  # fmt: skip
    # Forked processes read as those of a command do, and start in a tenth of the time.
    return FileChecker(checker_for("VENDOR", policy, None, None, None), method="forkserver")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="documents of each kind")
    parser.add_argument("--only", default="", help="a part of the name of a kind")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    checker = strict_checker()
    table: dict[str, dict[str, Any]] = {}
    total: Counter[str] = Counter()
    for kind in kinds():
        if chosen.only not in kind.name:
            continue
        row: dict[str, Any] = {
            "documents": 0,
            "released": 0,
            "readable": 0,
            "blocked": 0,
            "reasons": [],
        }
        for seed in range(chosen.seeds):
            outcome = judge(kind, checker, seed)
            row["documents"] += 1
            row["released"] += outcome.released
            row["readable"] += outcome.readable
            row["blocked"] += not outcome.released
            row["needless"] = 0 if kind.may_block else row["blocked"]
            if outcome.reason and outcome.reason not in row["reasons"]:
                row["reasons"].append(outcome.reason)
        table[kind.name] = row
        total.update({name: count for name, count in row.items() if isinstance(count, int)})
        if not chosen.json:
            print(
                f"{kind.name:24} {row['readable']:4} / {row['released']:4}  blocked {row['blocked']} of {row['documents']}  {'; '.join(row['reasons'])[:150]}",
                flush=True,
            )
    if chosen.json:
        json.dump({"kinds": table, "total": total}, sys.stdout)
    else:
        print(
            f"{'all':24} {total['readable']:4} / {total['released']:4}  blocked {total['blocked']}, needlessly {total['needless']}"
        )


if __name__ == "__main__":
    main()
