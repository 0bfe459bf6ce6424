"""Bytes decoded from the usual encodings of texts: percent, escapes, hexadecimal and base64."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from dlpctl.regex import lazy


class Escape(NamedTuple):
    """A way to spell a character by its number, as regular expressions without groups."""

    before: str
    of_text: str
    """The digits of characters that texts consist of."""
    digits: str
    after: str = ""
    base: int = 16
    is_byte: bool = False


_HEX = "[0-9A-Fa-f]"
_UNIT = f"(?:00[2-7C-Fc-f]|0[1-9A-Fa-f]{_HEX}|[1-9A-Fa-f]{_HEX}{{2}}){_HEX}"
ESCAPES = (
    Escape(r"\\{1,4}x", f"[2-7]{_HEX}", f"{_HEX}{{2}}", is_byte=True),
    Escape(r"(?:\\{1,4}|%)u", _UNIT, f"{_HEX}{{4}}"),
    Escape(r"\\{1,4}U", f"000[01]{_UNIT}", f"{_HEX}{{8}}"),
    Escape(
        r"\\{1,4}[ux]\{", f"0{{0,4}}(?:[2-7C-Fc-f]|[1-9A-Fa-f]{_HEX}{{1,3}}){_HEX}",
        f"{_HEX}{{1,6}}", r"\}",
    ),
    # Those of CSS, around octal ones.
    Escape(r"\\", f"0{{2,4}}[2-7]{_HEX}", f"0{{2,4}}{_HEX}{{2}}", " ?"),
    Escape(r"\\", "(?:0[4-7]|1[0-7])[0-7]", "[0-3][0-7]{2}", base=8, is_byte=True),
    Escape(r"\\", f"[2-7]{_HEX} ", f"{_HEX}{{2}}", " ?"),
    # Those of HL7, and of XML that serializes objects or sheets.
    Escape(r"\\{1,4}X", f"[2-7]{_HEX}", f"{_HEX}{{2}}", r"\\{1,4}", is_byte=True),
    Escape("_x", f"00[2-7]{_HEX}", f"{_HEX}{{4}}", "_"),
    Escape("&(?:amp;)?#", "[0-9]{2,6}", "[0-9]{2,7}", ";?", base=10),
    Escape("&(?:amp;)?#[xX]", f"{_HEX}{{2,6}}", f"{_HEX}{{2,6}}", ";?"),
)  # fmt: skip
_ANY_ESCAPE = lazy(
    "|".join(f"{each.before}({each.digits}){each.after}" for each in ESCAPES).encode()
)
_NAMED_ENTITY = lazy(rb"&[A-Za-z]{2,31};")
_MOST_REMEMBERED = 1 << 14
_CODES = 0x110000
_LONGEST_WORD = 16
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


class Form(NamedTuple):
    """Bytes in one way to read them."""

    name: str
    data: bytes


def forms(data: bytes, shortest: int) -> Iterator[Form]:
    """Yield bytes as they are, and what they say in each encoding that they may have; encoded texts
    of fewer bytes than `shortest` are left out.
    """
    yield Form("as it is", data)
    if b"%" in data:
        yield Form("percent-encoded", unquote_to_bytes(data))
    if b"\\" in data or b"&" in data:
        yield Form("escaped", unescaped(data))
    hexadecimal, base64 = _runs(shortest)
    runs = hexadecimal.findall(data)
    for first in (0, 1) if runs else ():
        yield Form(
            "in hexadecimal",
            b"\n".join(
                bytes.fromhex(run[first : len(run) - (len(run) - first) % 2].decode())
                for run in runs
            ),
        )
    runs = [run.translate(_URL_SAFE) for run in base64.findall(data) if not _is_word(run)]
    for first in range(4) if runs else ():
        yield Form("in base64", b"\n".join(_from_base64(run[first:]) for run in runs))


@cache
def _runs(shortest: int) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    hexadecimal, base64 = b"%d" % (2 * shortest), b"%d" % -(-4 * shortest // 3)
    return (
        re.compile(rb"[0-9A-Fa-f]{" + hexadecimal + rb",}+"),
        re.compile(rb"[0-9A-Za-z+/_-]{" + base64 + rb",}+"),
    )


def _is_word(run: bytes) -> bool:
    """Tell a word of a text, as which hardly anything is encoded."""
    is_cased = run.islower() or run.istitle() or run.isupper()
    return is_cased and run.isalpha() and len(run) < _LONGEST_WORD


def unescaped(data: bytes) -> bytes:
    """Return data with all escapes replaced by the characters that they spell, in UTF-8, which
    may be halves of characters.
    """
    known: dict[bytes, bytes] = {}

    def spelled(found: re.Match[bytes]) -> bytes:
        text = known.get(found[0])
        if text is None:
            if len(known) == _MOST_REMEMBERED:
                known.clear()
            text = known[found[0]] = _spelled(found)
        return text

    data = _ANY_ESCAPE.sub(spelled, data)
    return _NAMED_ENTITY.sub(_entity, data) if b"&" in data else data


def _spelled(found: re.Match[bytes]) -> bytes:
    number = found.lastindex or 0
    escape = ESCAPES[number - 1]
    code = int(found[number], escape.base)
    if escape.is_byte:
        return bytes((code,))
    return chr(code).encode("utf-8", "surrogatepass") if code < _CODES else found[0]


def _entity(found: re.Match[bytes]) -> bytes:
    import html

    return html.unescape(found[0].decode()).encode()


def _from_base64(run: bytes) -> bytes:
    quads = run[: len(run) - (len(run) % 4 == 1)]
    return binascii.a2b_base64(quads + b"=" * (-len(quads) % 4))
