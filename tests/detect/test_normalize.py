"""Disguised values are found at their positions, and plain text costs and finds nothing extra."""

from __future__ import annotations

import base64
import gzip
import json
import tracemalloc
import zlib
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import in_pieces
from synthetic import custom
from timing import assert_linear

from dlpctl.detect.derived.texts import derived_texts
from dlpctl.detect.engine import Detector
from dlpctl.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

MAIL = "john@example.com"
CARD = "4111 1111 1111 1111"
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


@pytest.fixture(scope="module")
def detector() -> Detector:
    card = r"(?:^|[^0-9])(?P<value>[0-9]{4}(?:[ -]?[0-9]{4}){3})(?:$|[^0-9])"
    return Detector([custom("mail", r"\b[a-z]+@example\.com\b"), custom("card", card)])


DISGUISES = {
    "zero width": "jo\u200bhn@exam\u2060ple.com",
    "soft hyphen": "jo\u00adhn@example.com",
    "full width": MAIL.translate(FULL_WIDTH),
    "full-width digits": "\uff14\uff11\uff11\uff11 \uff11\uff11\uff11\uff11 \uff11\uff11\uff11\uff11 \uff11\uff11\uff11\uff11",
    "mathematical letters": "".join(chr(0x1D41A + ord(char) - 97) if char.isalpha() else char for char in MAIL),
    "Arabic digits": "".join(chr(0x660 + int(char)) for char in CARD.replace(" ", "")),
    "struck out": "4\u0336111 1111 1111 1111",
    "keycaps": CARD[:-1].replace("1", "1\ufe0f\u20e3") + "1",
    "circled digits": "".join(chr(0x2775 + int(char)) for char in CARD.replace(" ", "")),
    "tags": "".join(chr(0xE0000 + ord(char)) for char in MAIL),
    "selectors": "".join(chr(0xE00F0 + ord(char)) for char in MAIL),
    "no-break spaces": CARD.replace(" ", "\u00a0"),
    "typographic hyphens": CARD.replace(" ", "\u2011"),
    "spaced digits": "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "dotted digits": "4.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1",
    "spaced letters": "j o h n @ e x a m p l e . c o m",
    "decimal entities": "john&#64;example&#46;com",
    "all in entities": "".join(f"&#x{ord(char):x};" for char in MAIL),
    "percent": "john%40example.com",
    "all in percent": "".join(f"%{ord(char):02X}" for char in MAIL),
    "escapes": r"john\x40example\u002ecom",
    "escapes of ECMAScript": "".join(f"\\u{{{ord(char):x}}}" for char in MAIL),
    "escapes in escapes": r"john\\u0040example\\x2ecom",
    "octal escapes": "".join(f"\\{ord(char):03o}" for char in MAIL),
    "escapes of CSS": r"john\000040 example\00002ecom",
    "escapes of URLs": "john%u0040example%u002ecom",
    "entities without ends": "john&#64example&#46com",
    "base32": base64.b32encode(f"write to {MAIL}".encode()).decode().rstrip("="),
    "ascii85": base64.a85encode(MAIL.encode(), adobe=True).decode(),
    "hexadecimal": MAIL.encode().hex(),
    "a dump": MAIL.encode().hex(" "),
    "base64": base64.b64encode(f"write to {MAIL} today".encode()).decode(),
    "base64 of UTF-16": base64.b64encode(MAIL.encode("utf-16-le")).decode(),
    "base64 in lines": base64.encodebytes(f"{'word ' * 30}{MAIL}{' word' * 30}".encode()).decode().strip(),
    "base64 twice": base64.b64encode(base64.b64encode(MAIL.encode())).decode(),
    "base64 of gzip": base64.b64encode(gzip.compress(f"write to {MAIL}".encode())).decode(),
    "base64 of zlib": base64.b64encode(zlib.compress(f"write to {MAIL}".encode())).decode(),
    "base64 of deflate": base64.b64encode(zlib.compress(f"write to {MAIL}".encode(), wbits=-15)).decode(),
    "base64 of gzip for URLs": base64.urlsafe_b64encode(gzip.compress(f"to {MAIL}".encode())).decode(),
    "hexadecimal of gzip": gzip.compress(f"write to {MAIL}".encode()).hex(),
}  # fmt: skip


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
@pytest.mark.parametrize(("before", "after"), [("", ""), ("é it is ", " é"), ('{"to": "', '"}')])
def test_disguise_is_looked_through(
    detector: Detector, disguise: str, before: str, after: str
) -> None:
    text = before + disguise + after
    (found,) = detector.scan(text)
    assert text[found.start : found.end] == disguise


def test_several_keep_their_places_and_order(detector: Detector) -> None:
    parts = ["x" * 500, *DISGUISES.values(), "y" * 500]
    text = "\n--\n".join(parts)
    found = detector.scan(text)
    assert [text[one.start : one.end] for one in found] == list(DISGUISES.values())
    data = text.encode()
    assert [data[one.start : one.end].decode() for one in detector.scan_bytes(data)] == list(
        DISGUISES.values()
    )


def test_the_whole_of_an_encoded_run_is_the_finding(detector: Detector) -> None:
    encoded = base64.b64encode(f"first {MAIL} and then mary@example.com".encode()).decode()
    (found,) = detector.scan(f"a {encoded} b")
    assert (found.start, found.end) == (2, 2 + len(encoded))


def test_deflated_text_that_expands_to_more_than_is_searched_is_refused(detector: Detector) -> None:
    bomb = base64.b64encode(gzip.compress(bytes(8 << 20))).decode()
    with pytest.raises(FormatError, match="expand to more than"):
        detector.scan(f"see {bomb} there")


PLAIN = {
    "prose": "The ferry left the harbour a little after six, when the fog had thinned.",
    "hash": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "names": "getUserAccessTokenByIdentifier another_quite_long_identifier_name",
    "table": "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1 4 1 1 1 1 1 1 1\n" * 4,
    "percent": "100% of 50%off",
    "a mark at the beginning": "\ufeffabc",
}  # fmt: skip


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_nothing_is_seen_in_plain_text(detector: Detector, text: str) -> None:
    assert len(detector.scan(text)) <= (1 if "\n" in text else 0)


@pytest.mark.parametrize(
    "text",
    [
        *map(PLAIN.get, ("prose", "hash", "image", "names")),
        "x,4173443368266347,51426",
        "S. M., (***) ***-**86",
    ],
)
def test_plain_text_has_no_other_view(text: str) -> None:
    assert derived_texts(text.encode()) == []


def test_many_runs_take_a_few_times_the_memory_of_their_text() -> None:
    data = b"joe%40northwind.org\n" * 10_000
    derived_texts(data[:100])  # regexes take memory too
    tracemalloc.start()
    try:
        derived_texts(data)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(data)
    finally:
        tracemalloc.stop()


@given(st.text(max_size=200), st.sampled_from(list(DISGUISES.values())), st.text(max_size=200))
@settings(deadline=None)
def test_values_are_found_in_any_surroundings(
    detector: Detector, before: str, disguise: str, after: str
) -> None:
    text = before + disguise + after
    for finding in detector.scan(text):
        assert 0 <= finding.start < finding.end <= len(text)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "filling",
    [
        "%41",
        "&#65;",
        "\u200b",
        "\uff11",
        "1 ",
        "QUFB",
        "4141",
        "a\u200b",
        r"\x41",
        "\u00a01",
        r"\u{34}",
    ],
    ids=ascii,
)
def test_four_times_as_much_takes_four_times_as_long(detector: Detector, filling: str) -> None:
    def scan(size: int) -> Callable[[], object]:
        text = filling * (size // len(filling))
        return lambda: detector.scan(text)

    assert_linear(scan, 1 << 15)


@pytest.mark.parametrize("cut", range(3, 60, 7))
def test_a_stream_sees_the_same(detector: Detector, cut: int) -> None:
    data = "\n".join(DISGUISES.values()).encode() * 3
    pieces = [data[at : at + cut] for at in range(0, len(data), cut)]
    given_out, found = in_pieces(detector, pieces)
    assert given_out == data
    assert found == detector.scan_bytes(data)


@pytest.mark.parametrize("joint", ["", "\n", " "])
def test_places_far_into_escaped_text_are_those_of_the_original(
    detector: Detector, joint: str
) -> None:
    names = ("".join(letters) for letters in product("abcdefgh", repeat=3))
    mails = [f"{name}\\u0040example.com" for name in names]
    rows = [json.dumps(json.dumps({"path": "a/b\nc"})) + f' \\"{mail}\\",' for mail in mails]
    text = joint.join(rows)
    found = [text[one.start : one.end] for one in detector.scan(text)]
    assert found == mails


@pytest.mark.parametrize(
    ("text", "value", "name"),
    [
        ("IBAN:\u00a0DE89 3704 0044 0532 0130 00.", "DE89 3704 0044 0532 0130 00", "IBAN"),
        ("Tel.\u00a0:\u202f\u202f+33 6 12 34 56 78", "+33 6 12 34 56 78", "PHONE"),
        ('{"msg": "tel\\u00e9fono 0912345678"}', "0912345678", "PHONE"),
        ('{"msg": "\\u0442\\u0435\\u043b\\u0435\\u0444\\u043e\\u043d 0912345678"}', "0912345678", "PHONE"),
        ("“tax_id”: “987654321”", "987654321", "TAX_ID"),
    ],
)  # fmt: skip
def test_a_label_is_read_through_blanks_escapes_and_quotes(
    library: Detector, text: str, value: str, name: str
) -> None:
    found = {(one.type, text[one.start : one.end]) for one in library.scan(text)}
    assert (name, value) in found
