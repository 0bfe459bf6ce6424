"""Bytes decoded from the usual encodings of texts: percent, escapes, hexadecimal and base64."""

from __future__ import annotations

import binascii
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPES = lazy(
    rb"\\[uU][0-9A-Fa-f]{4}|\\[xX][0-9A-Fa-f]{2}"
    rb"|&(?:#(?:[0-9]{2,7}|[xX][0-9A-Fa-f]{2,6})|[A-Za-z]{2,31});"
)
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
        yield Form("escaped", _ESCAPES.sub(_unescaped, data))
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


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[0][:1] == b"&" and found[0][1:2] != b"#":
        import html

        return html.unescape(found[0].decode()).encode()
    digits = found[0].lstrip(b"\\xXuU&#").rstrip(b";")
    code = int(digits, 10 if found[0][1:2] == b"#" and found[0][2:3] not in b"xX" else 16)
    if found[0][1:2] in b"xX":
        return bytes((code,))
    return chr(code).encode("utf-8", "replace") if code < _CODES else found[0]


def _from_base64(run: bytes) -> bytes:
    quads = run[: len(run) - (len(run) % 4 == 1)]
    return binascii.a2b_base64(quads + b"=" * (-len(quads) % 4))
